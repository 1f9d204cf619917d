/** The shipped policy evaluated on fresh starts by the real command, twice, and every start that it played looked at. */
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDemonstrations } from "#recordings";
import { findSuite, purposeOf } from "#simulators";
import { type EvaluationFile, readEvaluation } from "#training";
import { decodeDoubles, readReplay } from "../../src/recordings/replays/replay-file.ts";
import { SceneDrawer } from "../drawn-scenes.ts";
import { Checks, type Proof } from "../proof.ts";
import { RunningCommand } from "../running-command.ts";

const suite = "tabletop_object";
const perTask = 2;
const total = 6 * perTask;

export const proof: Proof = {
  claim:
    "reverie eval --starts fresh plays scenes that are neither stored nor in demonstrations, says so, and plays the same ones again.",
  goal: "all checks hold",
  minutes: 2,
  async run(say) {
    const checks = new Checks(say);
    const folder = mkdtempSync(join(tmpdir(), "reverie-fresh-"));
    try {
      const [one, two] = [await evaluate(folder, "one"), await evaluate(folder, "two")];
      checks.check(`${total} episodes, each scene once`, one.episodes === total, `${one.episodes}`);
      checks.check("results.json says fresh starts, not seen in training", saysFresh(one));
      checks.check("a second evaluation gives the same episodes", same(one, two));
      await checkScenes(folder, checks);
      await checkComparisons(folder, checks);
      const { success } = one;
      const { ok, figure } = checks.outcome();
      return { ok, figure: `${figure}; success ${(100 * success).toFixed(1)} % of ${total}` };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

async function reverie(...args: readonly string[]): Promise<{ code: unknown; text: string }> {
  const { by, text } = await RunningCommand.reverie(...args).ended;
  return { code: by, text };
}

async function evaluate(folder: string, name: string): Promise<EvaluationFile> {
  const out = join(folder, name);
  const { code, text } = await reverie(
    ...["eval", "quickstart", "--starts", "fresh", "--starts-per-task", String(perTask), "--out", out],
    ...["env.eval.video_cfg.save_replays=True", `env.eval.video_cfg.video_base_dir=${join(out, "films")}`],
    `env.eval.total_num_envs=${total}`,
  );
  if (code !== 0) throw new Error(`the evaluation failed: ${text.slice(-1000)}`);
  return readEvaluation(join(out, "results.json"));
}

function saysFresh({ protocol }: EvaluationFile): boolean {
  const { kind, seen_in_training: seen } = protocol.starts as Record<string, unknown>;
  return kind === "fresh" && seen === "no";
}

const same = (a: EvaluationFile, b: EvaluationFile): boolean =>
  JSON.stringify(a.trials) === JSON.stringify(b.trials);

async function checkScenes(folder: string, checks: Checks): Promise<void> {
  const data = join(folder, "demonstrations");
  const made = await reverie(...["collect", suite, "--episodes", "4", "--size", "16", "--out", data]);
  checks.check("reverie collect made demonstrations to compare with", made.code === 0, made.text.slice(-500));
  const { episodes } = openDemonstrations(data);
  const replays = replaysOf(join(folder, "one", "films"));
  checks.check("a replay of every episode was written", replays.length === total, `${replays.length}`);
  checks.check(
    "every scene was drawn from the seeds of fresh starts",
    replays.every(({ seed }) => purposeOf(seed) === "fresh"),
  );
  let [stored, collected] = [0, 0];
  for (const [task, { name }] of findSuite(suite).tasks.entries()) {
    using drawer = new SceneDrawer(suite, task);
    const known = new Set(drawer.stored());
    const shown = new Set(
      episodes.filter((own) => own.task === task).map(({ seed }) => drawer.recorded(seed)),
    );
    for (const replay of replays.filter((own) => own.task === name)) {
      const key = drawer.key(decodeDoubles(replay.start));
      stored += Number(known.has(key));
      collected += Number(shown.has(key));
    }
  }
  checks.check("none of them is a stored start", stored === 0, `${stored}`);
  checks.check(`none of them is in the ${episodes.length} demonstrations`, collected === 0, `${collected}`);
  const paths = replays.map(({ path }) => path);
  const again = await reverie("replay", ...paths);
  checks.check("every episode plays again bit for bit", again.code === 0, again.text.slice(-500));
}

function replaysOf(films: string) {
  return readdirSync(films, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".replay.json"))
    .map((file) => ({ path: join(films, file), ...readReplay(join(films, file)) }));
}

async function checkComparisons(folder: string, checks: Checks): Promise<void> {
  const places = [join(folder, "one"), join(folder, "two")];
  const pair = await reverie("compare", ...places);
  checks.check(
    "reverie compare pairs the two: nothing gained, nothing lost",
    /\+0\.0 points/.test(pair.text),
  );
  const training = await reverie("train", "quickstart", "--dry-run", "env.train.starts=fresh");
  checks.check(
    "training on fresh starts is refused",
    training.code === 2 && training.text.includes("kept for evaluations"),
    training.text.slice(-300),
  );
}
