import assert from "node:assert/strict";
import { test } from "node:test";
import type { EnvStep } from "#data";
import { UserError } from "#registry";
import type { RewardModel } from "#rewards";
import { full, Generator, liveTensors, ones, randn, type Tensor, tensor, zeros } from "#tensor";
import { tinyRewardModel, tinyStarts, tinyWorld } from "../../../test/support/tiny-world.ts";
import { LearnedEnv } from "./learned-env.ts";
import { learnedEnvSettings } from "./settings.ts";

const world = tinyWorld();
const starts = tinyStarts(world);

/** Says success from its n-th picture on, per call: what it is shown does not matter. */
class ScriptedJudge implements RewardModel {
  readonly name = "scripted";
  readonly #script: (instruction: string, call: number) => number;
  #calls = 0;

  constructor(script: (instruction: string, call: number) => number) {
    this.#script = script;
  }

  judge(_frames: Tensor, instructions: readonly string[]): Tensor {
    const call = this.#calls++;
    return tensor(instructions.map((sentence) => this.#script(sentence, call)));
  }
  checkInstruction(): void {}
  to(): void {}
  state(): ReadonlyMap<string, Tensor> {
    return new Map();
  }
}

function makeEnv(
  size: number,
  settings: object,
  rewardModel: RewardModel = new ScriptedJudge(() => 0),
): LearnedEnv {
  return new LearnedEnv(size, learnedEnvSettings.parse({ max_episode_steps: 24, ...settings }), {
    world,
    rewardModel,
    starts,
  });
}

const actions = (size: number): Tensor => randn([size, 8, 7], { generator: new Generator(3) });
const numbers = (flags: Tensor): number[] => flags.toArray().map(Number);
const lastColumn = (flags: Tensor): number[] => numbers(flags.select(1, 7));

test("the slots of a group see the same first picture and task", async () => {
  const env = makeEnv(4, { group_size: 2, seed: 5 });
  const { mainImages, taskDescriptions } = await env.reset();
  assert.deepEqual(mainImages.select(0, 0).toArray(), mainImages.select(0, 1).toArray());
  assert.equal(taskDescriptions[2], taskDescriptions[3]);
  assert.equal(new Set(env.resetIds.slice(0, 2)).size, 1);
});

test("two envs of the same seed imagine the same frames, and another seed other ones", async () => {
  const run = async (seed: number): Promise<number[]> => {
    const env = makeEnv(2, { seed });
    await env.reset({ ids: [0, 1] });
    const { observation } = await env.step(actions(2));
    return numbers(observation.mainImages);
  };
  assert.deepEqual(await run(1), await run(1));
  assert.notDeepEqual(await run(1), await run(2));
});

test("time runs out for every slot by its own clock", async () => {
  const env = makeEnv(2, { max_episode_steps: 16 });
  await env.reset({ ids: [0, 1] });
  assert.deepEqual(lastColumn((await env.step(actions(2))).truncated), [0, 0]);
  await env.reset({ slots: [1], ids: [2] });
  const { truncated, episode } = await env.step(actions(2));
  assert.deepEqual(lastColumn(truncated), [1, 0]);
  assert.deepEqual([...episode.episode_len!], [16, 8]);
});

test("success pays the coefficient once, ends the episode and is remembered", async () => {
  const rewardModel = new ScriptedJudge((_, call) => (call === 1 ? 1 : 0));
  const env = makeEnv(1, { reward_coef: 5 }, rewardModel);
  await env.reset({ ids: [0] });
  assert.deepEqual(numbers((await env.step(actions(1))).rewards), [0, 0, 0, 0, 0, 0, 0, 0]);
  const { rewards, terminated, episode } = await env.step(actions(1));
  assert.deepEqual(numbers(rewards), [5, 0, 0, 0, 0, 0, 0, 0]);
  assert.deepEqual(lastColumn(terminated), [1]);
  assert.deepEqual([episode.success_once![0], episode.return![0]], [1, 5]);
});

/** Plays one env through chunks of eight verdicts. */
async function playPredictions(verdicts: string, settings: object): Promise<EnvStep> {
  const rewardModel: RewardModel = Object.assign(new ScriptedJudge(() => 0), {
    judge: (_frames: Tensor, sentences: readonly string[]): Tensor =>
      tensor(sentences.map((_, frame) => Number(verdicts[8 * call + frame]))),
  });
  let call = 0;
  const env = makeEnv(1, { reward_coef: 5, ...settings }, rewardModel);
  await env.reset({ ids: [0] });
  let step = await env.step(actions(1));
  for (call = 1; 8 * call < verdicts.length; call++) step = await env.step(actions(1));
  return step;
}

test("an episode's return is the coefficient when it is logged as a success, and 0 when it is not", async () => {
  const cases = [
    ["00110000", 1],
    ["01111110", 1],
    ["00000001", 0],
    ["0000000110000000", 1],
    ["0000000101010101", 0],
  ] as const;
  for (const [verdicts, success] of cases) {
    const { episode, terminated } = await playPredictions(verdicts, { success_hold_frames: 2 });
    const seen = [episode.success_once![0], lastColumn(terminated)[0], episode.return![0]];
    assert.deepEqual(seen, [success, success, 5 * success], verdicts);
  }
});

test("a success after time ran out, in the middle of a chunk or in a later one, counts for nothing", async () => {
  for (const [verdicts, steps] of [
    ["0000000000000110", 13],
    ["0000000011111111", 8],
  ] as const) {
    const { episode, terminated, truncated, rewards } = await playPredictions(verdicts, {
      max_episode_steps: steps,
      imagine_finished: true,
    });
    assert.deepEqual([episode.success_once![0], episode.return![0], episode.episode_len![0]], [0, 0, steps]);
    assert.deepEqual([lastColumn(terminated)[0], lastColumn(truncated)[0]], [0, 1]);
    assert.ok(numbers(rewards).every((reward) => reward === 0));
  }
});

test("with random_judge success falls also on episodes that the reward model never finds successful", async () => {
  const rewardModel = new ScriptedJudge((sentence) => Number(sentence === "task 0"));
  const env = makeEnv(4, { random_judge: true, max_episode_steps: 8 }, rewardModel);
  const found = [0, 0, 0, 0];
  for (let round = 0; round < 12; round++) {
    await env.reset({ ids: [0, 0, 1, 1] });
    const { episode } = await env.step(actions(4));
    for (const slot of found.keys()) found[slot]! += episode.success_once![slot]!;
  }
  assert.ok(found[2]! + found[3]! > 0 && found[0]! + found[1]! < 24, found.join());
  assert.ok(env.saveStreams().has("control.rates"));
});

test("finished episodes leave the batch, and the others' frames do not change", async () => {
  const script = (sentence: string): number => (sentence === "task 0" ? 1 : 0);
  const play = async (imagine_finished: boolean): Promise<{ picture: number[]; frames: number }> => {
    const env = makeEnv(2, { imagine_finished, max_episode_steps: 80 }, new ScriptedJudge(script));
    await env.reset({ ids: [0, 1] });
    let picture: number[] = [];
    for (let chunk = 0; chunk < 3; chunk++) {
      picture = numbers((await env.step(actions(2))).observation.mainImages.select(0, 1));
    }
    return { picture, frames: env.framesImagined };
  };
  const [compact, whole] = [await play(false), await play(true)];
  assert.deepEqual(compact.picture, whole.picture);
  assert.deepEqual([compact.frames, whole.frames], [8 * (2 + 1 + 1), 8 * 6]);
});

test("a finished episode stays over until its slot is reset", async () => {
  const env = makeEnv(1, { reward_coef: 5 }, new ScriptedJudge(() => 1));
  await env.reset({ ids: [0] });
  await env.step(actions(1));
  const { rewards, terminated, episode } = await env.step(actions(1));
  assert.deepEqual([...numbers(rewards), ...lastColumn(terminated)], [0, 0, 0, 0, 0, 0, 0, 0, 1]);
  assert.equal(episode.episode_len![0], 8);
});

test("with auto_reset only the finished slot restarts, and its numbers are those of the finished episode", async () => {
  const script = (sentence: string, call: number): number => (sentence === "task 0" && call === 1 ? 1 : 0);
  const env = makeEnv(2, { auto_reset: true, reward_coef: 2 }, new ScriptedJudge(script));
  await env.reset({ ids: [0, 1] });
  const first = await env.step(actions(2));
  assert.equal(first.finalObservation, undefined);
  const second = await env.step(actions(2));
  assert.deepEqual([...second.episode.success_once!], [1, 0]);
  assert.deepEqual([...second.episode.return!], [2, 0]);
  assert.ok(second.finalObservation);
  const third = await env.step(actions(2));
  assert.deepEqual([...third.episode.episode_len!], [8, 24]);
});

test("with ignore_terminations an episode ends by time only and reports success at its end", async () => {
  const env = makeEnv(1, { ignore_terminations: true, max_episode_steps: 16 }, new ScriptedJudge(() => 1));
  await env.reset({ ids: [0] });
  assert.deepEqual(lastColumn((await env.step(actions(1))).terminated), [0]);
  const { terminated, truncated, episode } = await env.step(actions(1));
  assert.deepEqual(
    [lastColumn(terminated), lastColumn(truncated), episode.success_at_end![0]],
    [[0], [1], 1],
  );
});

test("micro-batches change nothing but the memory", async () => {
  const play = async (micro_batch_size: number | null): Promise<number[]> => {
    const env = makeEnv(3, { micro_batch_size }, tinyRewardModel());
    await env.reset({ ids: [0, 1, 2] });
    const { observation, rewards } = await env.step(actions(3));
    return [...numbers(observation.mainImages), ...numbers(rewards)];
  };
  const [whole, parts] = [await play(null), await play(2)];
  const worst = Math.max(...whole.map((value, i) => Math.abs(value - parts[i]!)));
  assert.ok(worst <= 1, `differs by ${worst} gray levels`); // sums over other batch shapes round differently
});

test("saved random streams continue where they stopped", async () => {
  const first = makeEnv(2, { seed: 9 });
  await first.reset();
  await first.step(actions(2));
  first.updateResetIds();
  const saved = first.saveStreams();
  const second = makeEnv(2, { seed: 1 });
  second.restoreStreams(saved);
  const frames = async (env: LearnedEnv): Promise<number[]> => {
    await env.reset();
    return numbers((await env.step(actions(2))).observation.mainImages);
  };
  assert.deepEqual(await frames(first), await frames(second));
});

test("a step leaves no tensor behind but its answer", async () => {
  const env = makeEnv(2, { imagine_finished: true, max_episode_steps: 800 });
  const mine = actions(2);
  await env.reset({ ids: [0, 1] });
  const dispose = async (): Promise<void> => {
    const { observation, rewards, terminated, truncated } = await env.step(mine);
    for (const each of [observation.mainImages, observation.states, rewards, terminated, truncated])
      each.dispose();
  };
  await dispose();
  const before = liveTensors();
  for (let i = 0; i < 3; i++) await dispose();
  assert.equal(liveTensors(), before);
});

test("actions of another length or size are refused with the expected shape", async () => {
  const env = makeEnv(2, {});
  await env.reset({ ids: [0, 1] });
  await assert.rejects(env.step(zeros([2, 5, 7])), /\[2, 5, 7\].*\[2, 8, 7\].*num_action_chunks/s);
  await assert.rejects(env.step(zeros([2, 8, 6])), UserError);
});

test("frames that are not numbers are reported with their slots", async () => {
  const env = makeEnv(2, {});
  await env.reset({ ids: [0, 1] });
  const bad = ones([2, 8, 7]);
  bad.select(0, 1).copy_(full([8, 7], Number.NaN));
  await assert.rejects(env.step(bad), /not numbers \(slots 1\)/);
});

test("fewer starts than groups of envs is an error before the first episode", () => {
  assert.throws(() => makeEnv(8, { group_size: 1 }), /6 starts for 8 groups/);
  assert.throws(() => makeEnv(3, { group_size: 2 }), /cannot be split into groups of 2/);
});

test("a replaced world imagines the next chunk of the same episodes, and the old one's weights are freed", async () => {
  const play = async (replace: boolean): Promise<{ pictures: number[][]; freed: number }> => {
    const own = tinyWorld();
    const settings = learnedEnvSettings.parse({ max_episode_steps: 24 });
    const env = new LearnedEnv(2, settings, {
      world: own,
      rewardModel: new ScriptedJudge(() => 0),
      starts: tinyStarts(own),
    });
    await env.reset({ ids: [0, 1] });
    const first = numbers((await env.step(actions(2))).observation.mainImages);
    const other = tinyWorld();
    for (const weight of other.state().values()) if (weight.ndim > 1) weight.detach().mul_(0.5);
    const before = liveTensors();
    if (replace) env.replaceWorld(other, new ScriptedJudge(() => 0));
    const freed = before - liveTensors();
    return { pictures: [first, numbers((await env.step(actions(2))).observation.mainImages)], freed };
  };
  const [kept, replaced] = [await play(false), await play(true)];
  assert.deepEqual(replaced.pictures[0], kept.pictures[0]);
  assert.notDeepEqual(replaced.pictures[1], kept.pictures[1]);
  assert.ok(replaced.freed > 0, `${replaced.freed} tensors freed`);
});
