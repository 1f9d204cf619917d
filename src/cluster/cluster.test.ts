import assert from "node:assert/strict";
import { test } from "node:test";
import { keep, tensor, zeros } from "#tensor";
import { LocalChannel } from "./channel.ts";
import { LocalWeightSync } from "./weight-sync.ts";

test("a channel keeps the order of each key, whoever comes first", async () => {
  const channel = new LocalChannel<number>();
  const early = channel.receive("b");
  await channel.send("a", 1);
  await channel.send("a", 2);
  await channel.send("b", 3);
  assert.deepEqual([await early, await channel.receive("a"), await channel.receive("a")], [3, 1, 2]);
});

test("closing a channel ends those who wait, with the error where there is one", async () => {
  const calm = new LocalChannel<number>();
  const waiting = calm.receive("a");
  calm.close();
  assert.equal(await waiting, undefined);
  const broken = new LocalChannel<number>();
  const hoping = broken.receive("a");
  broken.close(new Error("the policy failed"));
  await assert.rejects(hoping, /the policy failed/);
  await assert.rejects(broken.receive("a"), /the policy failed/);
  await assert.rejects(broken.send("a", 1), /the policy failed/);
});

test("weights reach a receiver to the bit, under their version; shared ones are not copied", async () => {
  const sync = new LocalWeightSync();
  await assert.rejects(sync.pull(new Map()), /before any were published/);
  const weight = keep(tensor([1.5, -2.25]));
  const copy = keep(zeros([2]));
  await sync.publish(7, new Map([["w", weight]]));
  assert.equal(await sync.pull(new Map([["w", copy]])), 7);
  assert.deepEqual(copy.toArray(), [1.5, -2.25]);
  assert.equal(await sync.pull(new Map([["w", weight]])), 7);
  await assert.rejects(sync.pull(new Map()), /no weight called w/);
});
