import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { ForwardInputs } from "#data";
import { cudaAvailable, Generator, liveTensors, noGrad, randn, type Tensor, zeros } from "#tensor";
import { needsShared, sharedFolder } from "../../../test/shared.ts";
import { testPi0Checkpoint, testSection } from "../../../test/support/pi0-checkpoint.ts";
import { temporaryFolder, testObservation } from "../../../test/support/prismatic-checkpoint.ts";
import { resolveConfig } from "./config.ts";
import { prolong } from "./draws.ts";
import { loadPi0, pi0Settings } from "./index.ts";
import { Pi0Model } from "./model.ts";
import type { Pi0Policy } from "./pi0-policy.ts";
import { tied } from "./weights.ts";

const [pi0, pi05] = [testPi0Checkpoint(), testPi0Checkpoint("pi05_maniskill")];
const of05 = { config_name: "pi05_maniskill" };

function load(openpi: object = {}, changes: object = {}, options = {}): Pi0Policy {
  const folder = "config_name" in openpi && openpi.config_name === of05.config_name ? pi05 : pi0;
  return loadPi0(pi0Settings.parse({ ...testSection(folder, openpi), ...changes }), options);
}

const gap = (a: Tensor, b: Tensor): number => a.sub(b).abs().flatten().amax(0).item();
const trained = (policy: Pi0Policy): string[] =>
  [...policy.module.namedParameters()].flatMap(([name, { grad }]) => (grad ? [name] : []));

const modes = {
  "π0, flow_sde": {},
  "π0, joint flow_noise": { noise_method: "flow_noise", joint_logprob: true },
  "π0, flow_cps": { noise_method: "flow_cps", ignore_last: true },
  "π0.5, flow_sde, critic on the language model": { ...of05, value_after_vlm: true },
  "π0.5, critic on the language model, everything trained": {
    ...of05,
    value_after_vlm: true,
    train_expert_only: false,
  },
  "π0.5, state in the prompt": { ...of05, discrete_state_input: true, max_token_len: 80 },
};

for (const [name, openpi] of Object.entries(modes)) {
  test(`${name}: judging repeats acting to the bit, sampled and greedy`, () => {
    const policy = load(openpi);
    for (const mode of ["sample", "greedy"] as const) {
      const step = policy.act(testObservation(3), { mode, generator: new Generator(1) });
      const judged = policy.evaluate(step, { entropy: "learned" });
      assert.equal(gap(judged.logProbs, step.logProbs), 0);
      assert.equal(gap(judged.values!, step.values!), 0);
      const learnsNoise = "noise_method" in openpi && openpi.noise_method === "flow_noise";
      assert.deepEqual(judged.entropy?.shape, learnsNoise ? step.logProbs.shape : undefined);
    }
  });
}

test("padding and absent cameras may be left out: the answer does not change beyond rounding", () => {
  for (const openpi of [{}, of05]) {
    const policy = load(openpi);
    const inputs = policy.reader.describe(testObservation(3));
    const answer = (whole: boolean) =>
      noGrad(() => {
        const memory = policy.module.remember(policy.prefix(inputs, whole), { whole, trained: false });
        return policy.module.think(memory, inputs.state!, zeros([3, 6, 8]).add(0.3), zeros([3]).add(0.5));
      });
    assert.ok(gap(answer(true), answer(false)) < 1e-5);
  }
});

test("only the expert, projections and heads train, unless train_expert_only is off", () => {
  for (const expertOnly of [true, false]) {
    const policy = load({ train_expert_only: expertOnly });
    const step = policy.act(testObservation(2), { mode: "sample" });
    policy.learn(step, {}, (now) => now.logProbs.mean().add(now.values!.mean()));
    const names = trained(policy);
    assert.ok(names.includes("action_in_proj.weight") && names.includes("value_head.mlp.0.weight"));
    assert.equal(
      names.some((name) => name.includes(".paligemma.")),
      !expertOnly,
    );
    assert.ok(!names.some((name) => name.includes("gemma_expert.lm_head")));
  }
});

for (const [name, openpi] of Object.entries(modes)) {
  test(`${name}: learning layer by layer gives the gradients of one graph`, () => {
    const [whole, layered] = [load(openpi), load(openpi)];
    const step = whole.act(testObservation(2), { mode: "sample" });
    for (const [policy, checkpointing] of [
      [whole, false],
      [layered, true],
    ] as const) {
      policy.learn(step, { entropy: "learned", checkpointing }, (now) =>
        now.logProbs
          .mean()
          .sub(now.values!.square().mean())
          .add(now.entropy?.mean() ?? 0),
      );
    }
    assert.deepEqual(trained(layered).sort(), trained(whole).sort());
    const weights = layered.module.namedParameters();
    for (const [weight, { grad }] of whole.module.namedParameters()) {
      if (grad) assert.ok(gap(grad, weights.get(weight)!.grad!) <= 1e-6 * (1 + grad.norm().item()), weight);
    }
  });
}

test("a fresh adapter changes nothing; adapters, expert and heads train, and a saved checkpoint is plain", async () => {
  const lora = { is_lora: true, lora_rank: 2 };
  const [plain, adapted] = [load(), load({}, lora)];
  const step = plain.act(testObservation(2), { mode: "sample" });
  assert.equal(gap(adapted.evaluate(step).logProbs, step.logProbs), 0);
  adapted.learn(step, { checkpointing: true }, (now) => now.logProbs.mean().add(now.values!.mean()));
  const names = trained(adapted);
  assert.ok(names.some((name) => /\.paligemma\..*lora_B\.weight$/.test(name)));
  assert.ok(names.includes("paligemma_with_expert.gemma_expert.model.norm.weight"));
  assert.ok(names.every((name) => !name.includes(".paligemma.") || /\.lora_[AB]\.weight$/.test(name)));
  for (const [name, weight] of adapted.module.namedParameters())
    if (name.includes("lora_B")) weight.detach().fill_(0.1);
  const folder = temporaryFolder();
  await adapted.save(folder);
  const again = loadPi0(pi0Settings.parse(testSection(folder)));
  const [ours, theirs] = [adapted, again].map((policy) => policy.evaluate(step).logProbs) as [Tensor, Tensor];
  assert.ok(gap(ours, theirs) < 1e-5 && gap(ours, step.logProbs) > 1e-4);
});

test("with detach_critic_input, the critic's error stops at the critic", () => {
  const policy = load({ detach_critic_input: true });
  const step = policy.act(testObservation(2), { mode: "sample" });
  policy.learn(step, {}, (now) => now.values!.mean());
  assert.ok(trained(policy).every((name) => name.startsWith("value_head.")));
});

test("only flow_noise has an entropy that can be trained", () => {
  const judge = (openpi: object) => {
    const policy = load(openpi);
    return policy.evaluate(policy.act(testObservation(2), { mode: "sample" }), { entropy: "learned" })
      .entropy;
  };
  assert.equal(judge({}), undefined);
  const learned = judge({ noise_method: "flow_noise", joint_logprob: true })!;
  assert.ok(learned.requiresGrad && learned.toArray().every((nats) => nats !== 0));
});

test("acting greedily is the same every time without a stream, and drawn with one", () => {
  const policy = load();
  const act = (generator?: Generator) =>
    policy.act(testObservation(2), { mode: "greedy", generator }).actions.toArray();
  assert.deepEqual(act(), act());
  assert.notDeepEqual(act(new Generator(1)), act(new Generator(2)));
});

test("a row's sample with a stream of its own does not depend on who is beside it", () => {
  const policy = load();
  const one = policy.act(testObservation(1), { mode: "sample", generator: [new Generator(4)] });
  const streams = [new Generator(4), new Generator(5), new Generator(6)];
  const three = policy.act(testObservation(3), { mode: "sample", generator: streams });
  assert.deepEqual(
    one.forwardInputs.denoise_inds!.toArray(),
    three.forwardInputs.denoise_inds!.narrow(0, 0, 1).toArray(),
  );
  const firstStage = (step: typeof one) => step.forwardInputs.chains!.select(0, 0).select(0, 0).toArray();
  assert.deepEqual(firstStage(one), firstStage(three));
});

test("demonstrations in the environment's units come back from the model's, relative ones too", () => {
  const stats = join(temporaryFolder(), "norm_stats.json");
  const numbers = (count: number, value: number) => Array.from({ length: count }, (_, i) => value + i / 10);
  const one = (count: number) => ({ mean: numbers(count, -0.1), std: numbers(count, 0.4) });
  writeFileSync(stats, JSON.stringify({ norm_stats: { state: one(8), actions: one(7) } }));
  const changes = { openpi_data: { norm_stats_path: stats } };
  for (const extra_delta_transform of [true, false]) {
    const { codec } = load({ extra_delta_transform }, changes);
    const states = zeros([2, 8]).add(0.7);
    const actions = zeros([2, 6, 7]).add(0.25);
    const model = codec.fromEnv(actions, states);
    assert.deepEqual(model.shape, [2, 6, 8]);
    const back = codec.toEnv(model, states);
    assert.ok(back.every((value) => Math.abs(value - 0.25) < 1e-6));
    const first = (0.25 - (extra_delta_transform ? 0.7 : 0) + 0.1) / (0.4 + 1e-6);
    assert.ok(Math.abs(model.select(0, 0).select(0, 0).toArray()[0]! - first) < 1e-6);
  }
});

test("the same stream gives the same loss of demonstrations; what prolongs short ones is not counted", () => {
  const policy = load();
  const observation = testObservation(2);
  const actions = zeros([2, 4, 7]).add(0.2);
  const sample = { forwardInputs: policy.label(observation, actions) };
  const loss = (seed: number) => policy.supervisedLoss(sample, { generator: new Generator(seed) }).item();
  assert.equal(loss(1), loss(1));
  assert.notEqual(loss(1), loss(2));
  const drawn = { noise: randn([2, 6, 8]), time: zeros([2]).add(0.4) };
  const given: ForwardInputs = { ...sample.forwardInputs, ...drawn };
  const counted = policy.denoiser.matchingLoss(
    policy.scene(given),
    prolong(given.demonstrated_actions!, 6),
    drawn.noise,
    drawn.time,
  );
  const ofFirstFour = counted.narrow(1, 0, 4).mean().item();
  assert.equal(policy.supervisedLoss({ forwardInputs: given }).item(), ofFirstFour);
  assert.throws(
    () => policy.label(observation, zeros([2, 7, 7])),
    /7 × 7; the policy answers 7 numbers .* 6 actions/,
  );
});

test("learning and acting leave no tensor behind", () => {
  const policy = load();
  const step = policy.act(testObservation(2), { mode: "sample" });
  const learn = (checkpointing: boolean) =>
    policy.learn(step, { checkpointing }, (now) => now.logProbs.mean());
  learn(false); // the first pass makes the gradients
  const before = liveTensors();
  learn(false);
  learn(true);
  assert.equal(liveTensors(), before);
});

const noGpu = cudaAvailable() ? false : "needs a GPU";

for (const [name, openpi] of Object.entries(modes)) {
  test(`${name}: captured graphs act as the plain pass does`, { skip: noGpu }, () => {
    const place = { device: "cuda" } as const;
    const plain = load(openpi, {}, place);
    const captured = load(openpi, {}, { ...place, cudaGraphs: true });
    for (const seed of [1, 2, 3, 4, 5]) {
      const act = (policy: Pi0Policy) =>
        policy.act(testObservation(3, seed), { mode: "sample", generator: new Generator(seed) });
      const [expected, actual] = [act(plain), act(captured)];
      assert.ok(gap(actual.actions, expected.actions) < 1e-5, `seed ${seed}`);
      assert.ok(
        gap(actual.logProbs, expected.logProbs) < 1e-3 && gap(actual.values!, expected.values!) < 1e-4,
      );
    }
  });
}

for (const [name, file] of [
  ["pi0_libero", "pi0_keys.json"],
  ["pi05_libero", "pi05_keys.json"],
] as const) {
  test(`at full size, every key and shape of ${name} is ours`, { skip: needsShared() }, () => {
    const published = JSON.parse(readFileSync(`${sharedFolder()}/spec/policies/${file}`, "utf8"));
    const config = resolveConfig(name, {}, undefined, "published");
    const heads = { critic: config.pi05 ? "vlm" : "expert", noise: true } as const;
    const model = new Pi0Model(config, heads, { device: "meta", dtype: "bfloat16" });
    const ours = new Map([...model.namedParameters()].map(([key, weight]) => [key, weight.shape]));
    for (const [alias, key] of Object.entries(tied)) ours.set(alias, ours.get(key)!);
    assert.deepEqual(Object.fromEntries(ours), published);
  });
}
