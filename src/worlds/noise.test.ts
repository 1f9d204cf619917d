import assert from "node:assert/strict";
import { test } from "node:test";
import { Generator, randn } from "#tensor";
import { FixedSeedNoise, SlotNoise } from "./noise.ts";

test("a slot's noise does not depend on who else is in the batch", () => {
  const [both, alone] = [new SlotNoise(3, 5), new SlotNoise(3, 5)];
  const together = both.draw("latents", [0, 2], [4]).select(0, 1);
  assert.deepEqual(together.toArray(), alone.draw("latents", [2], [4]).select(0, 0).toArray());
});

test("slots, seeds and calls all draw other noise", () => {
  const noise = new SlotNoise(2, 5);
  const rows = [noise.draw("latents", [0, 1], [4]), noise.draw("latents", [0, 1], [4])];
  const drawn = rows.flatMap((row) => row.unbind(0).map((each) => each.toArray().join()));
  drawn.push(new SlotNoise(2, 6).draw("latents", [0], [4]).toArray().join());
  assert.equal(new Set(drawn).size, 5);
});

test("fixed noise is torch's of that seed at every call, dealt by slot", () => {
  const noise = new FixedSeedNoise(3, 0);
  const all = randn([3, 20], { generator: new Generator(0) });
  for (let call = 0; call < 2; call++) {
    assert.deepEqual(noise.draw("latents", [2], [20]).toArray(), all.select(0, 2).toArray());
  }
});

test("a saved stream goes on from where it was", () => {
  const noise = new SlotNoise(1, 3);
  noise.draw("step", [0], [5]);
  const saved = noise.getState();
  const next = noise.draw("step", [0], [5]).toArray();
  const other = new SlotNoise(1, 99);
  other.setState(saved);
  assert.deepEqual(other.draw("step", [0], [5]).toArray(), next);
});
