/**
 * A run's numbers, written by us and read back by the real TensorBoard, W&B and SwanLab packages.
 *
 * The packages go into .deps/loggers, where a user would put them too; without a package index the tests skip.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { type LoggerSettings, openRunLog, openSideLogger, readMetricsFile } from "#metrics";
import { UserError } from "#registry";
import { knownRun, rememberRun } from "../../src/metrics/service-runs.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const python = join(root, ".deps/loggers/bin/python");
const packages = ["tensorboard==2.21.0", "wandb==0.31.0", "swanlab==0.10.3"];
const skip = installPackages();
const folder = mkdtempSync(join(tmpdir(), "reverie-loggers-"));
after(() => rmSync(folder, { recursive: true, force: true }));

type Series = Record<string, [number, number | null][]>;
interface Found {
  readonly scalars: Series;
  readonly images?: Record<string, number[][]>;
  readonly texts?: Record<string, string>;
  readonly config?: Record<string, unknown>;
  /** Of every offline part, in the order of time. */
  readonly ids?: readonly string[];
}

const warnings: string[] = [];
const options = {
  config: { algorithm: { group_size: 8 } },
  warn: (text: string) => void warnings.push(text),
};
const settings = (log_path: string, ...backends: string[]): LoggerSettings => ({
  log_path,
  project_name: "rlinf",
  experiment_name: "libero_10_grpo_openvlaoft",
  logger_backends: backends,
});
const numbers = [0, 1, 2].map((step) => ({
  "train/actor/total_loss": 1 / (step + 3),
  "env/success_once": step / 4,
  "train/critic/explained_variance": step === 1 ? Number.NaN : 0.5,
}));

before(() => {
  process.env.WANDB_MODE = "offline";
  process.env.SWANLAB_MODE = "offline";
  process.env.WANDB_SILENT = "true";
});

test("TensorBoard finds every number under every name, NaN included", { skip }, async () => {
  const log = await openRunLog(settings(join(folder, "tb"), "tensorboard"), options);
  for (const [step, metrics] of numbers.entries()) log.write(step, metrics);
  await log.close();
  const { scalars } = readBack(join(folder, "tb"), "tensorboard");
  assert.deepEqual(rounded(scalars["train/loss"]!), [
    [0, 0.3333],
    [1, 0.25],
    [2, 0.2],
  ]);
  assert.deepEqual(scalars["env/success_rate"], [
    [0, 0],
    [1, 0.25],
    [2, 0.5],
  ]);
  assert.deepEqual(scalars["train/critic/explained_variance"], [
    [0, 0.5],
    [1, null],
    [2, 0.5],
  ]);
});

test("a resumed run supersedes the steps that it does again, in TensorBoard and in metrics.jsonl", {
  skip,
}, async () => {
  const path = join(folder, "resumed");
  for (const { first, last, value } of [
    { first: 0, last: 5, value: 1 },
    { first: 3, last: 6, value: 2 },
  ]) {
    const log = await openRunLog(settings(path, "tensorboard"), { ...options, step: first });
    for (let step = first; step <= last; step++) log.write(step, { "env/return": value });
    await log.close();
    await new Promise((resolve) => setTimeout(resolve, 1100)); // TensorBoard orders files by their second
  }
  const wanted = [
    [0, 1],
    [1, 1],
    [2, 1],
    [3, 2],
    [4, 2],
    [5, 2],
    [6, 2],
  ];
  assert.deepEqual(readBack(path, "tensorboard").scalars["env/return"], wanted);
  const lines = readMetricsFile(join(path, "metrics.jsonl"));
  assert.deepEqual(
    lines.map(({ step, metrics }) => [step, metrics["env/return"]]),
    wanted,
  );
});

test("TensorBoard shows pictures, and the configuration as text", { skip }, async () => {
  const log = await openRunLog(settings(join(folder, "picture"), "tensorboard"), options);
  log.show?.(7, "env/frame", { width: 4, height: 3, data: new Uint8Array(36).fill(80) });
  await log.close();
  const { images, texts } = readBack(join(folder, "picture"), "tensorboard");
  assert.deepEqual(images, { "env/frame": [[7, 4, 3]] });
  assert.match(texts?.config ?? "", /^```yaml\nalgorithm:\n {2}group_size: 8\n/);
});

for (const service of ["wandb", "swanlab"] as const) {
  test(`${service} keeps an offline run with every number`, { skip }, async () => {
    const path = join(folder, service);
    const log = await openRunLog(settings(path, service), options);
    for (const [step, metrics] of numbers.entries()) log.write(step, metrics);
    await log.close();
    const { scalars, config } = readBack(path, service);
    assert.deepEqual(rounded(scalars["train/loss"]!), [
      [0, 0.3333],
      [1, 0.25],
      [2, 0.2],
    ]);
    assert.deepEqual(scalars["rollout/success_rate"], [
      [0, 0],
      [1, 0.25],
      [2, 0.5],
    ]);
    if (service === "wandb") assert.deepEqual(config!.algorithm, { group_size: 8 });
    assert.deepEqual(warnings, []);
  });
}

for (const service of ["wandb", "swanlab"] as const) {
  test(`a resumed run goes on in its ${service} run, and one from step 0 begins another`, {
    skip,
  }, async () => {
    const path = join(folder, `${service}-resumed`);
    for (const step of [0, 2, 0]) {
      const log = await openRunLog(settings(path, service), { ...options, step });
      log.write(step, { "env/return": step + 1 });
      await log.close();
      await new Promise((resolve) => setTimeout(resolve, 1100)); // folders are named by their second
    }
    const { scalars, ids } = readBack(path, service);
    const [first, second, third] = ids ?? [];
    assert.equal(ids?.length, 3);
    assert.ok(first && first === second && third !== first);
    assert.deepEqual(
      scalars["env/return"]?.map(([step]) => step),
      [0, 2, 0],
    );
  });
}

test("a file of services that is damaged costs a warning and a new run", () => {
  const path = mkdtempSync(join(folder, "damaged-"));
  writeFileSync(join(path, "services.json"), '{"format":1,"runs":{"wandb":"../../etc"}}');
  const said: string[] = [];
  assert.equal(
    knownRun(path, "wandb", (text) => said.push(text)),
    undefined,
  );
  assert.match(said[0]!, /services\.json .*\n?.*wandb begins a new run/s);
  rememberRun(path, "swanlab", "abc");
  assert.equal(
    knownRun(path, "swanlab", (text) => said.push(text)),
    "abc",
  );
  assert.equal(said.length, 1);
});

test("a service whose process dies is reported once, and the run goes on", { skip }, async () => {
  const said: string[] = [];
  const logger = await openSideLogger({
    ...{ service: "wandb", project: "p", experiment: "e", folder: join(folder, "dying"), config: {} },
    warn: (text) => void said.push(text),
  });
  logger.write(0, { "env/return": 1 });
  process.kill(Number(logger.facts.pid), "SIGKILL");
  for (let i = 0; i < 100 && said.length === 0; i++) await new Promise((resolve) => setTimeout(resolve, 50));
  logger.write(1, { "env/return": 2 });
  await logger.close();
  assert.equal(said.length, 1);
  assert.match(said[0]!, /wandb stopped .* the run goes on/);
});

test("a package that is not installed is an error with the command that installs it", async () => {
  const before = process.env.REVERIE_LOGGER_PYTHON;
  // The set-up's own environment has Python and neither service.
  process.env.REVERIE_LOGGER_PYTHON = join(root, ".deps/venv/bin/python");
  try {
    const opening = openRunLog(settings(join(folder, "missing"), "swanlab"), options);
    await assert.rejects(
      opening,
      (error) => error instanceof UserError && /pip install swanlab/.test(error.message),
    );
  } finally {
    if (before === undefined) delete process.env.REVERIE_LOGGER_PYTHON;
    else process.env.REVERIE_LOGGER_PYTHON = before;
  }
});

test("a backend that does not exist is refused by name", async () => {
  const opening = openRunLog(settings(join(folder, "x"), "tensorbord"), options);
  await assert.rejects(opening, /"tensorbord"; there are: swanlab, tensorboard, wandb/);
});

function readBack(path: string, service: string): Found {
  const { stdout, stderr, status } = spawnSync(
    python,
    [join(root, "test/loggers/read_back.py"), path, service],
    { encoding: "utf8" },
  );
  assert.equal(status, 0, stderr);
  return (JSON.parse(stdout) as Record<string, Found>)[service]!;
}

const rounded = (series: Series[string]): (number | null)[][] =>
  series.map(([step, value]) => [step, value === null ? null : Number(value.toFixed(4))]);

/** Why the tests cannot run, or false when the packages are there. */
function installPackages(): string | false {
  const stamp = join(root, ".deps/loggers/installed");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === packages.join(" ")) return false;
  const script =
    'python3 -m venv .deps/loggers && .deps/loggers/bin/pip install -q "$@" && printf "%s" "$*" > .deps/loggers/installed';
  const { status } = spawnSync("sh", ["-c", script, "sh", ...packages], { cwd: root, timeout: 300_000 });
  return status === 0
    ? false
    : `needs the Python packages ${packages.join(", ")}, and pip could not fetch them`;
}
