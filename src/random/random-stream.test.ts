import assert from "node:assert/strict";
import { test } from "node:test";
import { RandomStream } from "./random-stream.ts";
import { pairSeed } from "./seeds.ts";
import { xorshift32 } from "./xorshift32.ts";

test("a stream is a function of seed, name and numbers, and of nothing else", () => {
  const of = (seed: number) => RandomStream.ofRun(seed).branch("sampling", 3).seed(5, 7);
  assert.equal(of(1), of(1));
  const others = [
    of(2),
    RandomStream.ofRun(1).branch("shuffle", 3).seed(5, 7),
    RandomStream.ofRun(1).branch("sampling", 4).seed(5, 7),
    RandomStream.ofRun(1).branch("sampling", 3).seed(7, 5),
  ];
  assert.equal(new Set([of(1), ...others]).size, 5);
});

test("ten thousand streams have ten thousand seeds", () => {
  const stream = RandomStream.ofRun(0).branch("sampling");
  const seeds = Array.from({ length: 10_000 }, (_, i) => stream.seed(i % 100, Math.floor(i / 100)));
  assert.equal(new Set(seeds).size, 10_000);
});

test("the seeds that runs had are the seeds that runs have", () => {
  assert.equal(RandomStream.ofRun(1234).branch("sampling", 3).seed(5, 7), 7375054375771994847n);
  assert.deepEqual([pairSeed(0, 0), pairSeed(7, 12)], [467448794, 1027771111]);
  const numbers = xorshift32(5);
  assert.deepEqual([numbers(), numbers()], [0.31678621377795935, 0.9537245768588036]);
});
