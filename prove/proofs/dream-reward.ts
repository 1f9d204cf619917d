/** In the shipped world, what an imagined episode earns is the success that is logged of it, and nothing else. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LearnedEnv, learnedEnvSettings, openImagination, openLearnedEnv, Starts } from "#envs";
import { readMetricsFile } from "#metrics";
import { loadPolicy } from "#policies";
import type { RewardModel } from "#rewards";
import { Generator, scope, tensor, zeros } from "#tensor";
import { readRun } from "#training";
import { Checks, type Proof } from "../proof.ts";
import { RunningCommand } from "../running-command.ts";

const config = "opensora_tabletop_object_grpo_openvlaoft_mini";
const dreams = 32;
const group = 8;

/** What the reward model says of the frames of an episode, and whether two in a row make it a success. */
const sequences = [
  ["00110000", true], // success that is lost again: return 0 before
  ["01111110", true],
  ["00000001", false], // a flicker in the last frame: return 5 before
  ["10101010", false],
  ["0000000110000000", true], // over the end of a chunk
  ["00000000", false],
] as const;

type Say = (line: string) => void;

export const proof: Proof = {
  claim:
    "Inside the shipped world, an episode's return is the coefficient if and only if its frames meet the success criterion.",
  goal: "return = coefficient × success, exactly, in every dream",
  minutes: 3,
  async run(say) {
    const checks = new Checks(say);
    await playSequences(checks);
    await playDreams(checks, say);
    await trainOneStep(checks, "of a training step", []);
    await trainOneStep(checks, "of a training step with a random judge", ["env.train.random_judge=True"]);
    return checks.outcome();
  },
};

const sectionOf = async () =>
  (await readRun(config, { overrides: ["cluster.simulated_devices=1"] })).config.env.train;

/** The audit's verdicts, said of the shipped world's frames. */
async function playSequences(checks: Checks): Promise<void> {
  const section = await sectionOf();
  const { world } = await openImagination(section, {});
  for (const [verdicts, success] of sequences) {
    const env = new LearnedEnv(1, learnedEnvSettings.parse({ ...section, group_size: 1 }), {
      world,
      rewardModel: saying(verdicts),
      starts: new Starts(String(section.initial_image_path), world, { enableKir: true }),
    });
    await env.reset({ ids: [0] });
    let episode = { success: 0, return: 0 };
    for (let frame = 0; frame < verdicts.length; frame += world.chunk) {
      const step = await env.step(zeros([1, world.chunk, world.actionSize]));
      episode = { success: step.episode.success_once![0]!, return: step.episode.return![0]! };
    }
    await env.close();
    const expected = success ? { success: 1, return: section.reward_coef } : { success: 0, return: 0 };
    const found = JSON.stringify(episode);
    checks.check(
      `verdicts ${verdicts}: ${JSON.stringify(expected)}`,
      found === JSON.stringify(expected),
      found,
    );
  }
}

/** A reward model that knows what it will say: one digit a frame. */
function saying(verdicts: string): RewardModel {
  let frame = 0;
  return {
    name: "scripted",
    judge: (_, sentences) => tensor(sentences.map(() => Number(verdicts[frame++]))),
    checkInstruction() {},
    to() {},
    state: () => new Map(),
  };
}

/** The shipped policy acts in the shipped world, and the shipped judge decides. */
async function playDreams(checks: Checks, say: Say): Promise<void> {
  const { config: run } = await readRun(config, { overrides: ["cluster.simulated_devices=1"] });
  const section = { ...run.env.train, group_size: group };
  const opinions: number[][] = Array.from({ length: dreams }, () => []);
  const watcher = {
    chunk: (seen: {
      slots: readonly number[];
      opinions: { toArray(): readonly (number | bigint | boolean)[] };
    }) => {
      const said = seen.opinions.toArray().map(Number);
      const frames = said.length / seen.slots.length;
      for (const [b, slot] of seen.slots.entries())
        opinions[slot]!.push(...said.slice(b * frames, (b + 1) * frames));
    },
  };
  const env = await openLearnedEnv(section, { size: dreams }, { watcher });
  const policy = await loadPolicy({ ...run.actor.model, precision: "fp32" });
  const generator = new Generator(0);
  const earned = new Float64Array(dreams);
  let seen = await env.reset();
  let last: Awaited<ReturnType<LearnedEnv["step"]>> | undefined;
  for (let acted = 0; acted < section.max_episode_steps; acted += env.chunk) {
    const { actions } = policy.act(seen, { mode: "sample", generator });
    last = await env.step(actions);
    const sums = scope(() => last!.rewards.sum(1))
      .toArray()
      .map(Number);
    for (const [slot, sum] of sums.entries()) earned[slot]! += sum;
    seen = last.observation;
    say(
      `     ${Math.min(acted + env.chunk, section.max_episode_steps)} of ${section.max_episode_steps} frames of ${dreams} dreams`,
    );
  }
  await env.close();
  const { success_once: logged, return: returns } = last!.episode;
  // Counted anew, without the product's own function: the verdicts as text, and so many 1s in a row.
  const settings = learnedEnvSettings.parse(section);
  const enough = "1".repeat(settings.success_hold_frames);
  const met = opinions.map((said) =>
    said
      .map((opinion) => Number(opinion > settings.judge_threshold))
      .join("")
      .includes(enough),
  );
  const successes = met.filter(Boolean).length;
  const all = (holds: (slot: number) => boolean): string =>
    met
      .flatMap((_, slot) =>
        holds(slot) ? [] : [`dream ${slot}: success ${logged![slot]}, return ${returns![slot]}`],
      )
      .join("; ");
  const check = (what: string, holds: (slot: number) => boolean): void => {
    const wrong = all(holds);
    checks.check(what, wrong === "", wrong);
  };
  checks.check(
    `of ${dreams} dreams some succeed and some fail (${successes} succeed)`,
    successes > 0 && successes < dreams,
  );
  check("the logged success is the criterion met", (slot) => Boolean(logged![slot]) === met[slot]);
  check(
    "the logged return is the coefficient for a success and 0 for a failure",
    (slot) => returns![slot] === (met[slot] ? section.reward_coef : 0),
  );
  check(
    "the rewards that a learner is given add up to the logged return",
    (slot) => earned[slot] === returns![slot],
  );
}

/** The real command: over all episodes of its step the mean return is the coefficient times the success rate. */
async function trainOneStep(checks: Checks, what: string, more: readonly string[]): Promise<void> {
  const logs = mkdtempSync(join(tmpdir(), "reverie-dream-reward-"));
  const command = RunningCommand.reverie(
    "train",
    config,
    "--device",
    "cpu",
    "--out",
    logs,
    "runner.max_epochs=1",
    "runner.save_interval=-1",
    "runner.val_check_interval=-1",
    "env.train.total_num_envs=16",
    "env.train.rollout_epoch=1",
    "actor.global_batch_size=80",
    ...more,
  );
  try {
    const { by, text } = await command.ended;
    if (!checks.check(`the command ${what} ends well`, by === 0, text.slice(-600))) return;
    const { metrics } = readMetricsFile(join(logs, "metrics.jsonl"))[0]!;
    const [success = Number.NaN, mean = Number.NaN] = [metrics["env/success_once"], metrics["env/return"]];
    checks.check(
      `mean return ${mean} is 5 × success rate ${success} ${what}`,
      Math.abs(mean - 5 * success) < 1e-6,
      `${mean} and ${success}`,
    );
  } finally {
    command.destroy();
    rmSync(logs, { recursive: true, force: true });
  }
}
