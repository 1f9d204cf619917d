import assert from "node:assert/strict";
import { test } from "node:test";
import { cat, full, Generator, noGrad, ones, randn, type Tensor, zeros } from "#tensor";
import { tinyWorld } from "../../../test/worlds/tiny-world.ts";
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
      .normalise(full([1, 1, 7], 4))
      .toArray()
      .slice(0, 3),
    [1, 2, 7],
  );
});
