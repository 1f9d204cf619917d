import assert from "node:assert/strict";
import { test } from "node:test";
import type { RewardModel } from "#rewards";
import { full, type Tensor, tensor } from "#tensor";
import { tinyStarts, tinyWorld } from "../../../test/support/tiny-world.ts";
import type { Film, FilmedChunk } from "../../pictures/films/film.ts";
import { DreamFilm } from "./dream-film.ts";
import { LearnedEnv } from "./learned-env.ts";
import { learnedEnvSettings } from "./settings.ts";

/** Convinced by the last frame of each chunk only. */
class LateJudge implements RewardModel {
  readonly name = "late";
  judge(frames: Tensor): Tensor {
    const count = frames.shape[0]!;
    return tensor(Array.from({ length: count }, (_, i) => Number(i % 8 === 7)));
  }
  checkInstruction(): void {}
  state(): Map<string, Tensor> {
    return new Map();
  }
  to(): this {
    return this;
  }
}

interface Seen {
  readonly order: string[];
  readonly chunks: FilmedChunk[];
  readonly beginnings: Uint8Array[];
}

function watching(): { film: Film; seen: Seen } {
  const seen: Seen = { order: [], chunks: [], beginnings: [] };
  const film: Film = {
    films: () => true,
    began: async (start, _, { main }) => {
      await new Promise((resolve) => setTimeout(resolve, 2)); // films are slower than dreams
      seen.order.push(`began ${start.slot}`);
      seen.beginnings.push(main);
    },
    settled: () => void seen.order.push("settled"),
    played: (chunk) => {
      seen.order.push(`played ${chunk.slot}`);
      seen.chunks.push(chunk);
    },
    chunkEnded: () => void seen.order.push("chunk ended"),
    rolloutEnded: () => void seen.order.push("rollout ended"),
    closed: () => void seen.order.push("closed"),
  };
  return { film, seen };
}

const bytes = (pictures: Tensor, slot: number): Uint8Array =>
  Uint8Array.from(pictures.select(0, slot).contiguous().data() as Uint8Array);

test("a film is told every imagined frame, in order, before its slot begins again", async () => {
  const world = tinyWorld();
  const { film, seen } = watching();
  const env = new LearnedEnv(2, learnedEnvSettings.parse({ max_episode_steps: 16, auto_reset: true }), {
    world,
    rewardModel: new LateJudge(),
    starts: tinyStarts(world),
    film: new DreamFilm([film]),
  });
  const { mainImages } = await env.reset({ ids: [0, 1] });
  assert.deepEqual(seen.beginnings, [bytes(mainImages, 0), bytes(mainImages, 1)]);
  const { finalObservation } = await env.step(full([2, env.chunk, env.actionSize], 0.3));
  env.updateResetIds();
  await env.close();
  for (const { slot, sight, outcomes, account } of seen.chunks) {
    assert.equal(sight.film!.length, env.chunk);
    assert.deepEqual(sight.film!.at(-1), bytes(finalObservation!.mainImages, slot));
    assert.notDeepEqual(sight.film![0], sight.film!.at(-1));
    assert.deepEqual(Array.from(sight.success), [0, 0, 0, 0, 0, 0, 0, 1]);
    assert.deepEqual(outcomes.at(-1), { reward: env.settings.reward_coef, terminated: true });
    assert.deepEqual(account, { elapsed: env.chunk, successOnce: true });
  }
  const [begin, play] = [
    ["began 0", "began 1"],
    ["played 0", "played 1"],
  ];
  assert.deepEqual(seen.order, [
    ...begin!,
    "settled",
    ...play!,
    "chunk ended",
    ...begin!,
    "rollout ended",
    "closed",
  ]);
});

test("a film that cannot be written comes to light when the env next waits for it", async () => {
  const world = tinyWorld();
  const { film } = watching();
  const fullDisk: Film = { ...film, played: () => Promise.reject(new Error("no space left")) };
  const env = new LearnedEnv(1, learnedEnvSettings.parse({ max_episode_steps: 16 }), {
    world,
    rewardModel: new LateJudge(),
    starts: tinyStarts(world),
    film: new DreamFilm([fullDisk]),
  });
  await env.reset({ ids: [0] });
  await assert.rejects(env.step(full([1, env.chunk, env.actionSize], 0.3)), /no space left/);
});
