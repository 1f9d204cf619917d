/**
 * `world <what>`: makes a world model from recorded episodes, step by step, and measures how true it is.
 *
 * `make` does all of it from a recipe. `collect` records episodes; `train-vae`, `train` and `train-reward` each add their part to a folder in
 * the family's published layout; `starts` adds the frames that imagined episodes begin from; `evaluate` replays recordings
 * in the world and writes what it found beside it.
 */
import { UserError } from "#registry";
import { refreshSettings, trainingOfFamily } from "#world-training";
import type { Command, Subcommand } from "../command.ts";
import { type NextCommand, nextText } from "../next-commands.ts";
import { inOwnFolder } from "../own-folder.ts";
import { evaluationOptions, parseWorldArguments, refreshOptions, type WorldArguments } from "./arguments.ts";
import { collectFootage, collectSubcommand } from "./collect.ts";
import { evaluate, evaluationSettings } from "./evaluate.ts";
import { makeSubcommand, makeWorld } from "./make/index.ts";
import { makePart, parts } from "./parts.ts";
import { refresh } from "./refresh.ts";

const subcommands: Readonly<Record<string, Subcommand>> = {
  make: makeSubcommand,
  collect: collectSubcommand,
  ...parts,
  evaluate: {
    summary: "how true is it? against recordings, or against the simulator under a policy",
    usage:
      "world evaluate --world DIR (--data DIR… | --suite NAME --policy DIR) [--model-set KEY=VALUE…] [--out DIR] [--device cpu|cuda]\n" +
      "       [--seed N] [--set KEY=VALUE…]",
    details: `  --data DIR        recordings, replayed in the world
  --suite, --policy a policy acts in the dream, and the same actions are played in the simulator
  --model-set       keys of the policy's model section
  --out DIR         where report, plot and video go; default: beside the world`,
    options: evaluationOptions,
    settings: { settings: evaluationSettings },
  },
  refresh: {
    summary:
      "one round of co-evolution: learn from --data, measure on --exam, keep the world only if it is no worse",
    usage:
      "world refresh --world DIR --data DIR… --exam DIR… [--device cpu|cuda] [--steps N] [--batch N] [--lr X] [--seed N] [--set KEY=VALUE…]",
    details: `  --data DIR        old and new recordings, to learn from
  --exam DIR        episodes of the current policy, kept apart, to measure on`,
    options: refreshOptions,
    settings: { settings: refreshSettings },
  },
};

const list = Object.entries(subcommands).map(([name, { summary }]) => `  ${name.padEnd(14)}${summary}`);

export const worldCommand: Command = {
  usage: "world <what> [options]",
  details: `${list.join("\n")}\n\nreverie help world <what> says what each takes, with all its settings`,
  options: {},
  subcommands,

  async run(argv) {
    const [what = "", ...rest] = argv;
    if (what === "make") return makeWorld(rest);
    if (what === "collect") return collectFootage(rest);
    const subcommand = Object.hasOwn(subcommands, what) ? subcommands[what] : undefined;
    if (!subcommand) throw new UserError(`world what? there are: ${Object.keys(subcommands).join(", ")}`);
    const wishes = parseWorldArguments(rest, subcommand.options);
    if ("family" in subcommand.options) await trainingOfFamily(wishes.family); // refused before anything is read
    if (what === "evaluate") return evaluate(wishes);
    if (what === "refresh") return refresh(wishes);
    await makeNext(what, wishes);
  },
};

async function makeNext(name: string, wishes: WorldArguments): Promise<void> {
  const isDone = await inOwnFolder(wishes.world, { what: `reverie world ${name}`, part: name }, () =>
    makePart(name, wishes, "the same command and --resume"),
  );
  if (isDone) console.log(nextText([nextPart(name, wishes)]));
}

/** The parts in their order, and then the question how true the world is. */
function nextPart(name: string, { data, world, family, device }: WorldArguments): NextCommand {
  const order = [...Object.keys(parts), "evaluate"];
  const next = order[order.indexOf(name) + 1]!;
  const kind = "family" in subcommands[next]!.options ? ["--family", family] : [];
  const recordings = data.flatMap((folder) => ["--data", folder]);
  const words = ["world", next, ...recordings, "--world", world, ...kind, "--device", device];
  return { words, why: subcommands[next]!.summary };
}
