/**
 * `npm run bench -- compaction`: frames that one training step generates in an imagined env when finished episodes leave the batch, against
 * generating all of them to the end, as the reference does; at 70 % success. And whether anything changes for those who still play.
 *
 * The world is a toy with random weights and the judge too; its threshold is set so that 70 % of the episodes succeed within their time. What
 * is counted does not depend on the machine. When episodes succeed does: here they spread over all chunks.
 */
import { LearnedEnv, learnedEnvSettings } from "#envs";
import { Generator, randn, type Tensor } from "#tensor";
import { tinyRewardModel, tinyStarts, tinyWorld } from "../test/support/tiny-world.ts";
import { type BenchRow, holds, lessIsBetter } from "./row.ts";

const slots = 64;
const chunks = 5;
const chunk = 8;
const wantedSuccess = 0.7;

/** What one slot lived through: its rewards and last picture, chunk by chunk, until its episode ended. */
interface Life {
  readonly rewards: number[][];
  readonly pictures: number[][];
  success: boolean;
  over: boolean;
}

interface Played {
  readonly frames: number;
  readonly lives: readonly Life[];
  /** The highest opinion of each episode, had it gone on to the end. */
  readonly highest: readonly number[];
}

export async function bench(): Promise<BenchRow[]> {
  const { highest } = await play({ imagine_finished: true, judge_threshold: 1 });
  const judge_threshold = between([...highest].sort((a, b) => a - b));
  const whole = await play({ imagine_finished: true, judge_threshold });
  const compact = await play({ imagine_finished: false, judge_threshold });
  const share = compact.lives.filter(({ success }) => success).length / slots;
  const pairs = compact.lives.map((life, slot) => [life, whole.lives[slot]!] as const);
  const differ = ([a, b]: readonly [Life, Life]): boolean =>
    a.success !== b.success || JSON.stringify(a.rewards) !== JSON.stringify(b.rewards);
  return [
    lessIsBetter({
      name: `frames per training step, ${slots} episodes of ${chunks} chunks, ${(100 * share).toFixed(0)} % success`,
      unit: "frames",
      ours: compact.frames,
      reference: whole.frames,
      goal: 1,
    }),
    holds("episodes whose rewards or end differ", pairs.filter(differ).length, "episodes"),
    holds("gray levels by which a picture differs, at most", Math.max(...pairs.map(distance)), "levels"),
  ];
}

async function play(settings: { imagine_finished: boolean; judge_threshold: number }): Promise<Played> {
  const world = tinyWorld();
  const highest = Array<number>(slots).fill(0);
  const env = new LearnedEnv(
    slots,
    learnedEnvSettings.parse({ ...settings, group_size: 16, max_episode_steps: chunks * chunk }),
    {
      world,
      rewardModel: tinyRewardModel(),
      starts: tinyStarts(world),
      watcher: {
        chunk: ({ slots: rows, opinions }) => {
          const values = opinions.toArray().map(Number);
          for (const [b, slot] of rows.entries())
            highest[slot] = Math.max(highest[slot]!, ...values.slice(b * chunk, (b + 1) * chunk));
        },
      },
    },
  );
  const lives = Array.from(
    { length: slots },
    (): Life => ({ rewards: [], pictures: [], success: false, over: false }),
  );
  await env.reset();
  for (let index = 0; index < chunks; index++) await live(env, lives, index);
  await env.close();
  return { frames: env.framesImagined, lives, highest };
}

/** One chunk. What happens to a slot after its episode's end is nobody's business. */
async function live(env: LearnedEnv, lives: readonly Life[], index: number): Promise<void> {
  const actions = randn([slots, chunk, 7], { generator: new Generator(index + 1) });
  const { rewards, observation, terminated, episode } = await env.step(actions);
  const row = (of: Tensor, slot: number): number[] => of.select(0, slot).toArray().map(Number);
  for (const [slot, life] of lives.entries()) {
    if (life.over) continue;
    life.rewards.push(row(rewards, slot));
    life.pictures.push(row(observation.mainImages.flatten(1), slot));
    life.success = (episode.success_once?.[slot] ?? 0) > 0;
    life.over = row(terminated, slot).includes(1);
  }
}

/** A threshold that the wanted share of sorted maxima exceeds, as far from any of them as possible. */
function between(sorted: readonly number[]): number {
  const at = Math.round((1 - wantedSuccess) * sorted.length);
  return (sorted[at - 1]! + sorted[at]!) / 2;
}

function distance([a, b]: readonly [Life, Life]): number {
  const gaps = a.pictures.flatMap((picture, i) =>
    picture.map((value, at) => Math.abs(value - b.pictures[i]![at]!)),
  );
  return gaps.reduce((most, gap) => Math.max(most, gap), 0);
}
