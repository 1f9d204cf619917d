import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { parquetReadObjects } from "hyparquet";
import { decodePng, readJsonFile, writeJsonFile } from "#formats";
import { UserError } from "#registry";
import { collectSettingsSchema } from "../demonstrations/collect-settings.ts";
import { ShardCollector } from "../demonstrations/collect-shard.ts";
import { infoPath, shardPath } from "../demonstrations/layout.ts";
import { openDemonstrations } from "../demonstrations/reader.ts";
import { exportLerobot } from "./export-lerobot.ts";
import { pictureStatistics, vectorStatistics } from "./statistics.ts";

const folder = mkdtempSync(join(tmpdir(), "reverie-lerobot-"));
after(() => rmSync(folder, { recursive: true }));
const dataset = join(folder, "dataset");

const settings = collectSettingsSchema.parse({ suite: "tabletop_goal", size: 32 });
using collector = new ShardCollector(settings);
const jobs = [0, 2].map((task) => ({ task, start: 5, seed: task }));
const summary = collector.collect({ jobs, path: shardPath(folder, 0) }, () => {});
writeJsonFile(infoPath(folder), {
  format: "reverie-demonstrations",
  version: 1,
  pack: "tabletop",
  suite: settings.suite,
  tasks: ["open it", "other", "turn it on"],
  width: 32,
  height: 32,
  wrist: false,
  fps: 20,
  shards: [summary],
  settings,
});
const demonstrations = openDemonstrations(folder);
exportLerobot(demonstrations, dataset);

async function readTable(path: string): Promise<Record<string, unknown>[]> {
  const bytes = readFileSync(join(dataset, path));
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
  return parquetReadObjects({ file: file as ArrayBuffer, utf8: false });
}

test("each action of each episode is one row, with its picture, state and label", async () => {
  const rows = await readTable("data/chunk-000/file-000.parquet");
  assert.equal(
    rows.length,
    demonstrations.episodes.reduce((sum, { length }) => sum + length, 0),
  );
  const [tensors] = demonstrations.shards;
  const second = demonstrations.episodes[1]!;
  const row = rows[demonstrations.episodes[0]!.length]!; // the second episode's first
  assert.equal(row.episode_index, 1n);
  assert.equal(row.task_index, 2n);
  const labels = tensors?.get("expert_actions")?.select(0, second.firstFrame).toArray();
  assert.deepEqual(row.action, labels);
  const pixels = tensors?.get("main_images")?.select(0, second.firstFrame).flatten().toArray();
  const picture = row["observation.images.image"] as { bytes: Uint8Array };
  assert.deepEqual([...decodePng(picture.bytes, (reason) => new UserError(reason)).data], pixels);
});

test("episodes say where their rows are, and the last row of a success says so", async () => {
  const episodes = await readTable("meta/episodes/chunk-000/file-000.parquet");
  const rows = await readTable("data/chunk-000/file-000.parquet");
  for (const [index, { length, sentence, succeeded }] of demonstrations.episodes.entries()) {
    const episode = episodes[index]!;
    assert.equal(Number(episode.dataset_to_index) - Number(episode.dataset_from_index), length);
    assert.equal(rows[Number(episode.dataset_to_index) - 1]?.["next.success"], succeeded);
    assert.deepEqual(
      (episode.tasks as Uint8Array[]).map((text) => Buffer.from(text).toString()),
      [sentence],
    );
  }
});

test("the description counts episodes and frames and names every column", async () => {
  const info = readJsonFile(join(dataset, "meta/info.json"));
  assert.equal(info.codebase_version, "v3.0");
  assert.equal(info.total_episodes, 2);
  const [row] = await readTable("data/chunk-000/file-000.parquet");
  assert.deepEqual(Object.keys(row ?? {}), Object.keys(info.features as object));
});

test("statistics of vectors are those of NumPy", () => {
  const { min, max, mean, std, q50, q90, count } = vectorStatistics([[1], [2], [3], [10]]);
  assert.deepEqual([min, max, mean, q50, count], [[1], [10], [4], [2.5], [4]]);
  assert.ok(Math.abs((std?.[0] as number) - Math.sqrt(12.5)) < 1e-12);
  assert.ok(Math.abs((q90?.[0] as number) - 7.9) < 1e-12);
});

test("statistics of pictures are per channel, of values in [0, 1]", () => {
  const picture = Uint8Array.of(0, 51, 255, 255, 51, 255); // two pixels
  const { min, max, mean, std } = pictureStatistics([picture]);
  assert.deepEqual(min, [[[0]], [[0.2]], [[1]]]);
  assert.deepEqual(max, [[[1]], [[0.2]], [[1]]]);
  assert.deepEqual(mean, [[[0.5]], [[0.2]], [[1]]]);
  assert.deepEqual(std, [[[0.5]], [[0]], [[0]]]);
});

const python = process.env.REVERIE_LEROBOT_PYTHON;
const reason =
  python && existsSync(python) ? false : "set REVERIE_LEROBOT_PYTHON to a Python that has lerobot";

test("the lerobot package opens the dataset and finds the same frames", { skip: reason }, () => {
  const check = fileURLToPath(new URL("../../../test/lerobot/check_dataset.py", import.meta.url));
  const said = execFileSync(python ?? "", [check, dataset, folder], { encoding: "utf8", stdio: "pipe" });
  assert.match(said, /identical: \d+ frames/);
});
