import assert from "node:assert/strict";
import { test } from "node:test";
import { laterWord } from "./later-word.ts";
import { migrateLegacyKeys } from "./legacy.ts";
import { mergeMaps } from "./merge.ts";
import { type MapNode, plain } from "./tree.ts";
import { parseYaml } from "./yaml-file.ts";

const migrate = (text: string) => {
  const { root, notes } = migrateLegacyKeys(parseYaml(text, "old.yaml").content, laterWord(["old.yaml"]));
  return {
    config: plain(root),
    notes: notes.map((note) => `${note.place} ${note.path}: ${note.message}`),
    root: root as MapNode,
  };
};

test("groups of environments become a number of slots", () => {
  const { config, notes } = migrate(
    "algorithm: {group_size: 2, num_group_envs: 8}\nenv: {train: {total_num_envs: null}}\n",
  );
  assert.deepEqual(config, {
    algorithm: { group_size: 2 },
    env: { train: { total_num_envs: 16, group_size: 2 } },
  });
  assert.match(
    notes[0] ?? "",
    /old\.yaml:1 algorithm\.num_group_envs: old name; understood as env\.train\.total_num_envs/,
  );
});

test("chunk steps become actions", () => {
  const { config } = migrate(
    "algorithm: {n_chunk_steps: 20}\nactor: {model: {num_action_chunks: 8}}\nenv: {train: {}}\n",
  );
  assert.deepEqual(config, {
    algorithm: {},
    actor: { model: { num_action_chunks: 8 } },
    env: { train: { max_steps_per_rollout_epoch: 160 } },
  });
});

test("of two values in one file the lower line counts, and the note says so", () => {
  const { config, notes } = migrate(
    "algorithm: {auto_reset: true}\nenv: {train: {auto_reset: false}, eval: {}}\n",
  );
  assert.deepEqual(config, {
    algorithm: {},
    env: { train: { auto_reset: false }, eval: { auto_reset: true } },
  });
  assert.match(
    notes[0] ?? "",
    /but env\.train\.auto_reset: false of old\.yaml:2 is the later word and counts/,
  );
});

test("an old key below a new one in the same file replaces its value, with a warning", () => {
  const { root, notes } = migrateLegacyKeys(
    parseYaml("env: {train: {auto_reset: false}}\nalgorithm: {auto_reset: true}\n", "old.yaml").content,
    laterWord(["old.yaml"]),
  );
  assert.deepEqual(plain(root), { env: { train: { auto_reset: true } }, algorithm: {} });
  assert.equal(notes[0]?.severity, "warning");
  assert.match(notes[0]?.message ?? "", /true replaces env\.train\.auto_reset: false of old\.yaml:1/);
});

test("a user's block of an older page is laid key by key over the preset that his file includes", () => {
  const preset = parseYaml(
    "runner: {logger: {logger_backends: [tensorboard], project_name: ours}}\n" +
      "env:\n  train: {video_cfg: {save_video: False, fps: 20, video_base_dir: a/train}}\n" +
      "  eval: {video_cfg: {save_video: False, video_base_dir: a/eval}}\n",
    "preset.yaml",
  ).content;
  const mine = parseYaml(
    "video_cfg: {save_video: True, video_base_dir: ./films/train}\n" +
      "trainer: {logger: {wandb: {enable: True, project_name: mine}}}\n",
    "mine.yaml",
  ).content;
  const { root, notes } = migrateLegacyKeys(mergeMaps(preset, mine), laterWord(["preset.yaml", "mine.yaml"]));
  assert.deepEqual(plain(root), {
    runner: { logger: { logger_backends: ["tensorboard", "wandb"], project_name: "mine" } },
    env: {
      train: { video_cfg: { save_video: true, fps: 20, video_base_dir: "./films/train" } },
      eval: { video_cfg: { save_video: true, video_base_dir: "./films/eval" } },
    },
  });
  assert.deepEqual(
    notes.map(({ severity }) => severity),
    ["warning", "warning"],
  );
});

test("Wan's guide calls the simulator that the world imitates simulator_type", () => {
  const { config } = migrate("env: {train: {simulator_type: libero, VAE_path: x.pth, enable_kir: True}}\n");
  assert.deepEqual(config, {
    env: { train: { VAE_path: "x.pth", enable_kir: true, env_type: "wan_wm", wm_env_type: "libero" } },
  });
});

test("keys of an environment's preset at the root of a file are about training", () => {
  const { config, notes } = migrate("env: {train: {}}\nenable_kir: False\nworld_model_cfg: {chunk: 8}\n");
  assert.deepEqual(config, { env: { train: { enable_kir: false, world_model_cfg: { chunk: 8 } } } });
  assert.match(notes[0] ?? "", /enable_kir: belongs to an environment; understood as env\.train\.enable_kir/);
});

test("older names of simulators, losses and models are understood", () => {
  const { config } = migrate(
    "env: {train: {simulator_type: omnigibson}}\nalgorithm: {adv_type: embodied_gae, loss_type: embodied_ppo}\nactor: {model: {model_name: openvla_oft, vh_mode: a0}}\n",
  );
  assert.deepEqual(config, {
    env: { train: { env_type: "behavior" } },
    algorithm: { adv_type: "gae", loss_type: "actor_critic" },
    actor: { model: { model_type: "openvla_oft", add_value_head: true } },
  });
});

test("greedy sampling and W&B of the seeds' older pages are understood", () => {
  const { config } = migrate(
    "algorithm: {sampling_params: {use_greedy: true, top_k: 50}}\ntrainer: {logger: {wandb: {enable: True, project_name: RLinf, experiment_name: x}}}\n",
  );
  assert.deepEqual(config, {
    algorithm: {},
    rollout: { sampling_params: { top_k: 50, do_sample: false } },
    runner: { logger: { logger_backends: ["wandb"], project_name: "RLinf", experiment_name: "x" } },
  });
});

test("what RLinf's files of 2025 wrote elsewhere is found", () => {
  const { config } = migrate(
    "cluster: {num_gpus_per_node: 8}\nalgorithm: {reward_type: step_level, sampling_params: {add_BOS: false, top_k: 5}}\n" +
      "env: {eval: {init_params: {id: x, max_episode_steps: 80}}}\n" +
      "actor: {model: {sharding_strategy: no_shard, do_sample: false, micro_batch_size: 1}}\n",
  );
  assert.deepEqual(config, {
    cluster: {},
    algorithm: { reward_type: "action_level" },
    rollout: { sampling_params: { top_k: 5 } },
    env: { eval: { init_params: { id: "x" }, max_episode_steps: 80 } },
    actor: { model: {}, fsdp_config: { sharding_strategy: "no_shard" } },
  });
});

test("a world of EVAC's first release was evaluated in the simulator", () => {
  const { config } = migrate(
    "env: {train: {simulator_type: world_model_libero}, eval: {simulator_type: world_model_libero}}\n",
  );
  assert.deepEqual(config, { env: { train: { env_type: "evac_wm" }, eval: { env_type: "libero" } } });
});

test("a video block at the top goes to training and evaluation", () => {
  const { config } = migrate("video_cfg: {save_video: True}\nenv: {train: {}, eval: {}}\n");
  assert.deepEqual(config, {
    env: { train: { video_cfg: { save_video: true } }, eval: { video_cfg: { save_video: true } } },
  });
});

test("what RLinf's files for π0 write and its π0 never reads is taken away, with a note", () => {
  const { config, notes } = migrate(
    "rollout: {recompute_logprobs: false, unnorm_key: libero_10}\nactor: {num_steps: 10, model: {model_type: openpi, num_images_in_input: 3, proprio_dim: 32}}\n",
  );
  assert.deepEqual(config, { rollout: {}, actor: { model: { model_type: "openpi" } } });
  assert.equal(notes.length, 5);
});

test("a policy that reads unnorm_key gets the one written for the rollout", () => {
  const { config } = migrate(
    "rollout: {unnorm_key: bridge_orig}\nactor: {model: {model_type: openvla, num_images_in_input: 1}}\n",
  );
  assert.deepEqual(config, {
    rollout: {},
    actor: { model: { model_type: "openvla", num_images_in_input: 1, unnorm_key: "bridge_orig" } },
  });
});

test("a file without old names is left alone", () => {
  const { config, notes } = migrate("runner: {max_epochs: 3}\n");
  assert.deepEqual([config, notes], [{ runner: { max_epochs: 3 } }, []]);
});
