/** Workers in threads and in processes: one contract, kept by both. */
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import {
  asUserError,
  Late,
  type Launcher,
  loadPlugins,
  UserError,
  WorkerLost,
  type WorkerSpec,
} from "#registry";
import { liveTensors, PeerLost, tensor } from "#tensor";
import type { TestWorker } from "../../test/support/test-worker.ts";
import { processLauncher, threadLauncher } from "./launcher.ts";

const spec = (more: Partial<WorkerSpec> = {}): WorkerSpec => ({
  name: "tester",
  module: new URL("../../test/support/test-worker.ts", import.meta.url).href,
  factory: "makeTestWorker",
  options: {},
  ...more,
});
const folder = mkdtempSync(join(tmpdir(), "reverie-worker-"));
after(() => rmSync(folder, { recursive: true }));
const isLost = (hung: boolean, message: RegExp) => (error: unknown) =>
  error instanceof WorkerLost && error.hung === hung && message.test(error.message);

const kinds: [string, Launcher, RegExp][] = [
  ["thread", threadLauncher, /^the tester \(thread\) /],
  ["process", processLauncher, /^the tester \(process \d+\) /],
];
for (const [kind, launcher, who] of kinds) {
  test(`errors come back from a ${kind} as what they are`, async () => {
    const worker = launcher.start<TestWorker>(spec());
    const failing = (what: string) =>
      worker.call("fail", what).then(
        () => assert.fail("it did not fail"),
        (error: unknown) => error,
      );
    const user = await failing("user");
    assert.ok(user instanceof UserError && user.message === "your fault");
    assert.ok((await failing("late")) instanceof Late);
    assert.ok((await failing("peer")) instanceof PeerLost);
    const bug = await failing("bug");
    assert.ok(
      !(bug instanceof UserError) &&
        bug instanceof Error &&
        /internal: ours\n.*test-worker/s.test(bug.stack ?? ""),
    );
    assert.match(asUserError(await failing("disk"))?.message ?? "", /the disk is full/);
    await worker.kill();
    await assert.rejects(worker.call("fail", "bug"), isLost(false, /was closed/));
  });

  test(`a worker in a ${kind} tells before it answers, in order`, async () => {
    const worker = launcher.start<TestWorker>(spec());
    const told: number[] = [];
    const answer = await worker.call("count", 3, { onEvent: (number) => told.push(number) });
    assert.deepEqual([told, answer], [[1, 2, 3], "3 told"]);
    await worker.kill();
  });

  test(`calls to a ${kind} wait for those before them, and urgent ones do not`, async () => {
    const worker = launcher.start<TestWorker>(spec());
    const order: string[] = [];
    await worker.ready;
    const note = (what: string) => () => void order.push(what);
    await Promise.all([
      worker.call("nap", 300).then(note("nap")),
      worker.call("count", 0).then(note("next")),
      worker.call("count", 0, { urgent: true }).then(note("urgent")),
    ]);
    assert.deepEqual(order, ["urgent", "nap", "next"]);
    await worker.kill();
  });

  test(`a maker that fails in a ${kind} is told to everybody who waits, and the ${kind} is ended`, async () => {
    const worker = launcher.start<TestWorker>(spec({ options: { fault: "user" } }));
    await assert.rejects(worker.ready, UserError);
    await assert.rejects(worker.call("whoAmI"), /your fault/);
    await worker.lost;
  });

  test(`a ${kind} that ends is lost to all who wait, once, with the code it ended with`, async () => {
    const worker = launcher.start<TestWorker>(spec());
    await worker.ready;
    const calls = [worker.call("nap", 60_000, { urgent: true }), worker.call("die", 3)];
    for (const call of calls) await assert.rejects(call, isLost(false, /ended with code 3/));
    const loss = await worker.lost;
    assert.match(loss.message, who);
    await assert.rejects(worker.call("whoAmI"), (error) => error === loss);
    await worker.stop();
  });

  test(`a ${kind} that gives no answer within its deadline hangs, and is ended`, async () => {
    const worker = launcher.start<TestWorker>(spec({ patience: { answer: 60 } }));
    await worker.ready;
    const call = worker.call("spin", 60_000, { deadline: 0.2 });
    await assert.rejects(call, isLost(true, /gave no answer to "spin" within 0\.2 s/));
    assert.ok(asUserError(await worker.lost), "a hang is told without a stack");
    await worker.kill();
  });

  test(`a ${kind} that is stopped ends by itself, and one that is busy is killed`, async () => {
    const calm = launcher.start<TestWorker>(spec());
    await calm.ready;
    await calm.stop(60);
    const busy = launcher.start<TestWorker>(spec());
    await busy.ready;
    const call = busy.call("spin", 60_000);
    const stopping = busy.stop(0.2);
    await assert.rejects(call, isLost(false, /was stopped/));
    await stopping;
  });

  test(`a ${kind} has the plugins of whoever started it before it is made`, async () => {
    const path = join(folder, `${kind}.ts`);
    writeFileSync(path, "export const plugin = { install(): void {} };\n");
    await loadPlugins([path]);
    const worker = launcher.start<TestWorker>(spec());
    assert.ok((await worker.call("plugins")).includes(path));
    await worker.kill();
  });

  test(`a ${kind} on another machine is refused`, () => {
    assert.throws(() => launcher.start(spec({ place: { node: 1, devices: [] } })), /belongs on node 1/);
  });
}

test("a worker in a thread gets and gives tensors without copies", async () => {
  const before = liveTensors();
  const worker = threadLauncher.start<TestWorker>(spec({ options: { extra: 10 } }));
  const x = tensor([1, 2]);
  const sums = await worker.call("add", { x, y: 1 });
  assert.deepEqual(sums.get("sum")?.toArray(), [12, 13]);
  assert.deepEqual(x.toArray(), [2, 2], "the thread wrote into our memory");
  await worker.kill();
  x.dispose();
  sums.get("sum")?.dispose();
  assert.equal(liveTensors(), before);
});

test("a thread whose event loop turns is not silent, however long its answer takes; one that stands still is", async () => {
  const worker = threadLauncher.start<TestWorker>(spec({ patience: { silence: 5 } }));
  assert.equal(await worker.call("nap", 6000), "slept");
  await assert.rejects(worker.call("spin", 60_000), isLost(true, /no sign of life for 5 s \(spin\)/));
});

test("a process that tells nothing is silent, and what it tells is a sign of life", async () => {
  const worker = processLauncher.start<TestWorker>(spec({ patience: { silence: 5 } }));
  await worker.ready;
  await assert.rejects(worker.call("nap", 60_000), isLost(true, /no sign of life for 5 s \(nap\)/));
});

test("a process lends byte arrays of any size to the bit, until its next answer", async () => {
  const worker = processLauncher.start<TestWorker>(spec({ lendsBytes: true }));
  const plain = processLauncher.start<TestWorker>(spec());
  for (const side of [4, 64, 8]) {
    const wanted = { side, count: 3 };
    assert.deepEqual(await worker.call("pictures", wanted), await plain.call("pictures", wanted));
  }
  assert.equal(await worker.call("nap", 0), "slept");
  await Promise.all([worker.kill(), plain.kill()]);
});

test("a process that is killed says by which signal", async () => {
  const worker = processLauncher.start<TestWorker>(spec());
  const pid = await worker.call("whoAmI");
  assert.equal(worker.pid, pid);
  const call = worker.call("nap", 60_000);
  process.kill(pid, "SIGKILL");
  await assert.rejects(call, isLost(false, /was killed by SIGKILL/));
  assert.ok(!existsSync(`/proc/${pid}`));
});
