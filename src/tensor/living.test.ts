import assert from "node:assert/strict";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { addon } from "./addon.ts";
import { giveTensor, keep, liveTensors, scope, takeTensor, tensor, zeros } from "./index.ts";

test("a scope frees everything but its result, however deep the result hides it", () => {
  const before = liveTensors();
  const result = scope(() => {
    for (let i = 0; i < 10; i++) tensor([i]).add(1);
    return { list: [tensor([1]).add(1)], map: new Map([["x", tensor([5])]]) };
  });
  assert.equal(liveTensors() - before, 2);
  assert.deepEqual(result.list[0]?.toArray(), [2]);
  for (const t of [...result.list, ...result.map.values()]) t.dispose();
  assert.equal(liveTensors(), before);
});

test("an inner scope's result belongs to the outer scope", () => {
  const before = liveTensors();
  scope(() => {
    const inner = scope(() => tensor([1]));
    assert.equal(inner.disposed, false);
    return 0;
  });
  assert.equal(liveTensors(), before);
});

test("keep takes a tensor out of every scope", () => {
  const kept = scope(() => {
    const t = tensor([3]);
    keep(t);
    return { number: t.item(), later: () => t };
  });
  assert.deepEqual(kept.later().toArray(), [3]);
  kept.later().dispose();
});

test("a tensor of an outer scope that an inner one returns is not freed twice", () => {
  scope(() => {
    const outer = tensor([1]);
    assert.equal(
      scope(() => outer),
      outer,
    );
    assert.deepEqual(outer.toArray(), [1]);
    return 0;
  });
});

test("a disposed, made-up or foreign tensor is a JavaScript error", async () => {
  const x = zeros([2]);
  const { handle } = x;
  x.dispose();
  x.dispose(); // twice is harmless
  assert.throws(() => x.add(1), /not a living tensor/);
  assert.throws(() => x.shape, /not a living tensor/);
  for (const wrong of [handle, Number.NaN, -1, 0.5, 1e300, 2 ** 52 - 1, Number.POSITIVE_INFINITY]) {
    assert.throws(() => addon.tensorItem(wrong), /not a living tensor/, String(wrong));
  }
  const [message, shared] = await fromWorker();
  assert.match(message, /not a living tensor/);
  assert.deepEqual(shared, [1, 2, 3]);
});

/** A worker thread tries our handle, then gives us a tensor of its own by ticket. */
async function fromWorker(): Promise<[string, number[]]> {
  const ours = tensor([9]);
  const code = `
    const { parentPort, workerData } = require("node:worker_threads");
    (async () => {
      const { register } = await import("tsx/esm/api");
      register();
      const { addon } = await import(workerData.addon);
      const { tensor, giveTensor } = await import(workerData.index);
      let message = "no error";
      try { addon.tensorItem(workerData.handle); } catch (error) { message = error.message; }
      parentPort.postMessage([message, giveTensor(tensor([1, 2, 3]))]);
    })();`;
  const worker = new Worker(code, {
    eval: true,
    workerData: {
      handle: ours.handle,
      addon: new URL("./addon.ts", import.meta.url).href,
      index: new URL("./index.ts", import.meta.url).href,
    },
  });
  const [message, ticket] = await new Promise<[string, number]>((resolve, reject) => {
    worker.once("message", resolve).once("error", reject);
  });
  const shared = takeTensor(ticket).toArray();
  assert.throws(() => takeTensor(ticket), /already taken/);
  await worker.terminate();
  return [message, shared];
}

test("a ticket hands a tensor over once, within one thread too", () => {
  const x = tensor([4, 5]);
  const y = takeTensor(giveTensor(x));
  y.add_(1);
  assert.deepEqual(x.toArray(), [5, 6]);
});
