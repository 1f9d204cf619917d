/** `world collect SUITE`: records episodes to make a world from, by scripted experts or by a policy, which may act in a world's dream. */
import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { counted } from "#metrics";
import { recordingSettings } from "#recordings";
import { UserError } from "#registry";
import { suiteNames } from "#simulators";
import { type RecordingOrder, recordEpisodes } from "#world-training";
import { ProgressLine } from "../collect/progress-line.ts";
import type { Subcommand } from "../command.ts";
import { nextText } from "../next-commands.ts";
import { checked, deviceOf, keyValues, wholeNumber } from "../option-values.ts";
import { inEmptyFolder } from "../own-folder.ts";
import { policySection } from "./policy-section.ts";

const usage =
  "world collect SUITE --out DIR [--episodes 3000] [--workers N] [--seed 0] [--set KEY=VALUE…]\n" +
  "       [--policy DIR [--temperatures 1,1,1.3,1.6] [--model-set KEY=VALUE…] [--device cpu] [--world DIR]]";

const options = {
  out: { type: "string" },
  episodes: { type: "string", default: "3000" },
  workers: { type: "string", default: String(availableParallelism()) },
  seed: { type: "string", default: "0" },
  set: { type: "string", multiple: true },
  policy: { type: "string" },
  temperatures: { type: "string", default: "1,1,1.3,1.6" },
  "model-set": { type: "string", multiple: true },
  device: { type: "string", default: "cpu" },
  world: { type: "string" },
} as const;

export const collectSubcommand: Subcommand = {
  summary: "records episodes to make a world from, by scripted experts or by a policy",
  usage,
  details: `  --policy DIR      a policy plays instead of the experts, at each of --temperatures in turn
  --world DIR       it sees that world's dream, and the simulator plays the same actions
  --model-set       keys of its model section
  --workers N       processes; default one per core`,
  options,
  settings: { settings: recordingSettings },
  words: suiteNames,
};

export async function collectFootage(argv: string[]): Promise<void> {
  const { values, positionals } = parseArgs({ args: argv, options, allowPositionals: true });
  const [suite, ...extra] = positionals;
  if (suite === undefined || extra.length > 0) throw new UserError(`which suite? usage: reverie ${usage}`);
  if (values.out === undefined) throw new UserError("where to? give --out DIR");
  if (values.world !== undefined && values.policy === undefined)
    throw new UserError("--world DIR is where a policy acts: give --policy DIR too");
  const settings = checked(recordingSettings, {
    suite,
    seed: Number(values.seed),
    ...keyValues("--set", values.set ?? []),
  });
  const order: RecordingOrder = {
    settings,
    ...(values.policy !== undefined && {
      policy: {
        section: await policySection(
          values.policy,
          suite,
          keyValues("--model-set", values["model-set"] ?? []),
        ),
        temperatures: temperaturesOf(values.temperatures),
        device: deviceOf(values.device),
        ...(values.world !== undefined && { world: values.world }),
      },
    }),
  };
  const out = resolve(values.out);
  await inEmptyFolder(out, `reverie world collect ${suite}`, () =>
    record({
      order,
      out,
      episodes: wholeNumber("--episodes", values.episodes),
      workers: wholeNumber("--workers", values.workers),
    }),
  );
  const first = ["world", "train-vae", "--data", out, "--world", "my-world"];
  console.log(nextText([{ words: first, why: "the first part of a world" }]));
}

/** Records into an empty folder, and says how far it is and what came of it. */
export async function record(request: Parameters<typeof recordEpisodes>[0]): Promise<void> {
  const line = new ProgressLine(`recording ${request.order.settings.suite}`);
  const { episodes, frames } = await recordEpisodes({
    ...request,
    onProgress: (progress) => line.show(progress),
  });
  line.end();
  console.log(`${counted(episodes, "episode")}, ${counted(frames, "frame")} in ${request.out}`);
}

function temperaturesOf(text: string): number[] {
  const values = text.split(",").map(Number);
  if (values.every((value) => Number.isFinite(value) && value >= 0)) return values;
  throw new UserError(`--temperatures takes numbers from 0 (greedy) up, such as 1,1,1.3; not "${text}"`);
}
