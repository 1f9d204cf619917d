/** A run inside a world model: the same loop, the same workers, another env. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { LearnedEnv, learnedEnvSettings } from "#envs";
import { loadPolicy } from "#policies";
import { RandomStream } from "#random";
import { liveTensors } from "#tensor";
import { EnvWorker, RolloutWorker } from "#workers";
import { tinyCheckpoint } from "../../test/support/tiny-run.ts";
import { tinyRewardModel, tinyStarts, tinyWorld } from "../../test/support/tiny-world.ts";
import { playTogether } from "./play-together.ts";

test("a policy plays in an imagined env: finished slots rest, everything is recorded, nothing leaks", async () => {
  const world = tinyWorld();
  const settings = {
    max_episode_steps: 24,
    group_size: 2,
    rollout_epoch: 1,
    auto_reset: false,
    ignore_terminations: false,
  };
  const env = new LearnedEnv(4, learnedEnvSettings.parse(settings), {
    world,
    rewardModel: tinyRewardModel(),
    starts: tinyStarts(world),
  });
  const policy = await loadPolicy({
    model_type: "openvla_oft",
    model_path: tinyCheckpoint(["tabletop_spatial"], "tabletop"),
    precision: "fp32",
    unnorm_key: "tabletop",
    max_prompt_length: 64,
  });
  const opened = { env, save: () => ({ plain: {}, tensors: new Map() }), load: async () => {} };
  const worker = new EnvWorker([{ env, firstSlot: 0 }], { settings: settings as never, decisions: 3 });
  const play = () =>
    playTogether(
      {
        stages: [{ opened, firstSlot: 0, envRank: 0, device: "cpu" }],
        rollouts: [new RolloutWorker(policy)],
        ranks: { env: 1, rollout: 1, actor: 1 },
        sampling: { mode: "sample", temperature: 1, topK: 0 },
      },
      (lines) => worker.interact(lines, RandomStream.ofRun(0)),
    );
  const [first] = await play();
  const { logProbs, rewards } = first!.rollouts[0]!;
  assert.deepEqual([...logProbs.shape], [3, 4, 8, 7]);
  assert.deepEqual([...rewards.shape], [3, 4, 8]);
  assert.equal(first!.episodes.episodes, 4);
  const living = liveTensors();
  const [second] = await play();
  const made = Object.values(second!.rollouts[0]!.forwardInputs).length + 6;
  assert.ok(liveTensors() - living <= made + 8, `${liveTensors() - living} tensors for ${made} fields`);
  await env.close();
});
