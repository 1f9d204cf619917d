import assert from "node:assert/strict";
import { test } from "node:test";
import { cat, full, Generator, grad, noGrad, ones, randn, type Tensor, zeros } from "#tensor";
import { tinyWorld } from "../../../test/support/tiny-world.ts";
import { OpenSoraWorld } from "./opensora-world.ts";

const world = tinyWorld();
const { denoiser } = world.parts;
const draw = (shape: number[], seed: number): Tensor => randn(shape, { generator: new Generator(seed) });

test("steps on the new frames alone, after remembering the memory, give the whole window's numbers", () => {
  const [memory, fresh, actions] = [draw([2, 4, 4, 2, 2], 1), draw([2, 4, 8, 2, 2], 2), draw([2, 8, 7], 3)];
  const time = full([2], 640);
  const noisy = cat([zeros([2, 4]), ones([2, 8])], 1).bool();
  noGrad(() => {
    const whole = denoiser.forward(cat([memory, fresh], 2), time, actions, noisy).narrow(2, 4, 8);
    const short = denoiser.continue(fresh, time, actions, denoiser.remember(memory));
    assert.ok(Number(whole.sub(short).abs().max().item()) < 1e-5);
    assert.ok(Number(whole.abs().max().item()) > 0.01);
  });
});

test("while it learns, the denoiser says of new frames what it says otherwise, with the same gradients", () => {
  const latents = cat([draw([2, 4, 4, 4, 4], 1), draw([2, 4, 8, 4, 4], 2)], 2);
  const [actions, time] = [draw([2, 8, 7], 3), full([2], 640)];
  const noisy = cat([zeros([2, 4]), ones([2, 8])], 1).bool();
  const used = (name: string): boolean =>
    !/cross_attn|embedder\.(y_|mlp.*fps)|^y_|^fps|none_action|rope/.test(name);
  const weights = [...denoiser.namedParameters()].filter(([name]) => used(name));
  const leaves = weights.map(([, weight]) => weight.requiresGrad_());
  const ways = [
    denoiser.forward(latents, time, actions, noisy).narrow(2, 4, 8),
    denoiser.learn(latents, time, actions, 4),
  ];
  assert.ok(Number(ways[0]!.sub(ways[1]!).abs().max().item()) < 1e-5);
  const [whole, learned] = ways.map((out) => grad([out.square().sum()], leaves)) as [Tensor[], Tensor[]];
  for (const [i, [name]] of weights.entries()) {
    const [a, b] = [whole[i]!, learned[i]!];
    const off = Number(a.sub(b).norm().item()) / Number(a.norm().add(1e-6).item());
    assert.ok(off < 1e-3, `${name} is off by ${off}`);
  }
  for (const each of leaves) each.requiresGrad_(false);
});

test("an action changes its own frame and later ones, never earlier ones", () => {
  const [fresh, actions] = [draw([1, 4, 8, 2, 2], 2), draw([1, 8, 7], 3)];
  const other = actions.clone();
  other.select(1, 5).add_(1);
  noGrad(() => {
    const memory = denoiser.remember(draw([1, 4, 4, 2, 2], 1));
    const [a, b] = [actions, other].map((each) => denoiser.continue(fresh, full([1], 500), each, memory));
    const change = a!.sub(b!).abs().amax([0, 1, 3, 4]).toArray().map(Number);
    assert.deepEqual(change.slice(0, 5), [0, 0, 0, 0, 0]);
    assert.ok(change.slice(5).every((value) => value > 0));
  });
});

test("actions are spread to [-1, 1] at the statistics and keep going beyond them", () => {
  const low = [0, -2, 0, 0, 0, 0, 0];
  const high = [4, 2, 1, 1, 1, 1, 1];
  const own = new OpenSoraWorld({ ...world.parts, statistics: { low, high } });
  assert.deepEqual(
    own
      .normalize(full([1, 1, 7], 4))
      .toArray()
      .slice(0, 3),
    [1, 2, 7],
  );
});
