import assert from "node:assert/strict";
import { appendFileSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Averages } from "./averages.ts";
import { metricCatalogue, renderCatalogue, withAliases } from "./catalogue.ts";
import { counted } from "./counted.ts";
import { formatDuration } from "./duration.ts";
import { JsonlWriter, readMetricsFile } from "./jsonl-writer.ts";
import { formatNumber, formatTable } from "./table-writer.ts";
import { crc32c, frameRecord, scalarsRecord } from "./tensorboard-records.ts";
import { TimeLeft } from "./time-left.ts";
import { Timers } from "./timers.ts";

const folder = mkdtempSync(join(tmpdir(), "reverie-metrics-"));

test("an average weighs each part by its size", () => {
  const averages = new Averages();
  averages.add({ loss: 1 }, 3);
  averages.add({ loss: 5 }, 1);
  assert.deepEqual(averages.take(), { loss: 2 });
  assert.deepEqual(averages.take(), {});
});

test("NaN is left out of an average, and is the average of nothing else", () => {
  const averages = new Averages();
  averages.add({ a: Number.NaN, b: Number.NaN });
  averages.add({ a: 4 });
  assert.deepEqual(averages.take(), { a: 4, b: Number.NaN });
});

test("a phase that runs twice, or throws, is timed in full", async () => {
  let now = 0;
  const timers = new Timers(() => now);
  const work = (): void => void (now += 1500);
  await timers.run("actor_training", work);
  await timers.run("actor_training", async () => work());
  await assert.rejects(
    timers.run("eval", () => {
      work();
      throw new Error("x");
    }),
    /x/,
  );
  assert.deepEqual(timers.take(), { "time/actor_training": 3, "time/eval": 1.5 });
  assert.deepEqual(timers.take(), {});
});

test("a metric goes out under every name of its family, and a name that is given keeps its value", () => {
  assert.deepEqual(withAliases({ "env/success_once": 0.5 }), {
    "env/success_once": 0.5,
    "env/success_rate": 0.5,
    "rollout/success_rate": 0.5,
  });
  const both = withAliases({ "train/actor/entropy_loss": 1, "actor/entropy": 2 });
  assert.deepEqual(both, { "train/actor/entropy_loss": 1, "actor/entropy": 2, "train/entropy_loss": 1 });
  assert.deepEqual(withAliases({ "my/own": 1 }), { "my/own": 1 });
});

test("every name in the seeds is in the catalogue", () => {
  const names = new Set(
    Object.values(metricCatalogue)
      .flat()
      .flatMap(({ name, aliases = [] }) => [name, ...aliases]),
  );
  const seeds = `train/actor/approx_kl train/actor/clip_fraction train/actor/clipped_ratio train/actor/grad_norm
    train/actor/lr train/actor/policy_loss train/critic/value_loss train/critic/value_clip_ratio
    train/critic/explained_variance train/entropy_loss train/loss rollout/advantages_max rollout/advantages_mean
    rollout/advantages_min rollout/rewards env/episode_len env/return env/reward env/success_once actor/loss
    actor/value_loss actor/entropy actor/grad_norm actor/lr rollout/reward_mean rollout/reward_std
    rollout/episode_length rollout/success_rate env/success_rate env/step_reward env/termination_rate`;
  assert.deepEqual(
    seeds.split(/\s+/).filter((name) => !names.has(name)),
    [],
  );
});

test("docs/metrics.md has the catalogue as it is in the code", () => {
  const page = readFileSync(new URL("../../docs/metrics.md", import.meta.url), "utf8");
  assert.ok(page.includes(renderCatalogue()), "run: node --import tsx scripts/document-metrics.ts");
});

test("lines read back with NaN and infinity, and a line cut short is left out", async () => {
  const path = join(folder, "a/metrics.jsonl");
  const writer = new JsonlWriter(path);
  writer.write(0, { "env/return": Number.NaN, "train/loss": -Infinity });
  writer.write(1, { "env/return": 0.1 });
  await writer.close();
  await writer.close();
  appendFileSync(path, '{"step":2,"time":17');
  assert.deepEqual(
    readMetricsFile(path).map(({ step, metrics }) => [step, metrics]),
    [
      [0, { "env/return": Number.NaN, "train/loss": -Infinity }],
      [1, { "env/return": 0.1 }],
    ],
  );
});

test("a resumed run drops the lines of steps that it does again, and the cut one", async () => {
  const path = join(folder, "b.jsonl");
  const first = new JsonlWriter(path);
  for (const step of [0, 1, 2, 3]) first.write(step, { x: step });
  await first.close();
  appendFileSync(path, '{"step":4');
  const second = new JsonlWriter(path, { step: 2 });
  second.write(2, { x: 20 });
  await second.close();
  assert.deepEqual(
    readMetricsFile(path).map(({ metrics }) => metrics.x),
    [0, 1, 20],
  );
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.includes(".tmp")),
    [],
  );
});

test("CRC-32C has the standard's check value", () => {
  assert.equal(crc32c(Buffer.from("123456789")), 0xe3069283);
  assert.equal(crc32c(new Uint8Array(32)), 0x8a9136aa); // RFC 3720, B.4
});

test("a record is framed as length, checksum, message, checksum", () => {
  const frame = Buffer.from(frameRecord(Buffer.from("abc")));
  assert.equal(frame.readBigUInt64LE(0), 3n);
  assert.equal(frame.toString("latin1", 12, 15), "abc");
  assert.equal(frame.length, 19);
});

test("a scalar event is the protobuf message that the standard encoder writes", () => {
  const message = scalarsRecord({ step: 300, time: 1 }, { a: 0.5 }).subarray(12, -4);
  assert.equal(
    Buffer.from(message).toString("hex"),
    "09000000000000f03f" + "10ac02" + "2a0a" + "0a08" + "0a0161" + "150000003f",
  );
});

test("time left forgets the slow first step and follows the latest ones", () => {
  const left = new TimeLeft(10);
  assert.ok(Number.isNaN(left.seconds()));
  left.stepTook(100);
  assert.equal(left.seconds(), 900);
  left.stepTook(10);
  assert.equal(left.seconds(), 80);
  left.stepTook(12);
  left.stepTook(300); // the machine was busy
  assert.equal(left.seconds(), 6 * 12);
  assert.equal(left.seconds(5), 6 * 12 - 5);
  assert.equal(left.seconds(60), 5 * 12);
});

test("durations and numbers are short and readable", () => {
  assert.deepEqual([0.04, 59.7, 245, 7800].map(formatDuration), ["0.0 s", "60 s", "4:05", "2:10:00"]);
  const numbers = [0.123456, 1e-7, 12, 123456.7, Number.NaN, -0.5].map(formatNumber);
  assert.deepEqual(numbers, ["0.1235", "1.000e-7", "12", "1.235e+5", "NaN", "-0.5"]);
  assert.equal(formatTable({ "b/long": 1, a: 0.5 }), "  a       0.5\n  b/long  1");
});

test("one of something is not several", () => {
  assert.deepEqual(
    [counted(1, "step"), counted(0, "step"), counted(2, "pass", "passes")],
    ["1 step", "0 steps", "2 passes"],
  );
});
