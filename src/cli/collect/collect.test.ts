import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { collectSettingsSchema } from "#recordings";
import { collectDemonstrations } from "./collect.ts";
import { collectCommand } from "./index.ts";
import { progressText } from "./progress-line.ts";

const folder = mkdtempSync(join(tmpdir(), "reverie-collect-"));
after(() => rmSync(folder, { recursive: true }));

// Large pictures make small shards: three of them here.
const settings = collectSettingsSchema.parse({
  suite: "tabletop_goal",
  size: 256,
  max_steps: 60,
  noise: 0.1,
});

async function collect(name: string, workers: number, onEpisode: (done: number) => void = () => {}) {
  const out = mkdtempSync(join(folder, name));
  let told = 0;
  const result = await collectDemonstrations({
    settings,
    tasks: [0, 2],
    episodesPerTask: 11,
    workers,
    out,
    onProgress: ({ done }) => {
      told = done;
      onEpisode(done);
    },
  });
  const files = readdirSync(out).map((file) => [file, readFileSync(join(out, file)).toString("latin1")]);
  return { result, told, files: Object.fromEntries(files) };
}

test("one worker and two make the same files", async () => {
  const [one, two] = [await collect("one", 1), await collect("two", 2)];
  assert.ok(Object.keys(one.files).length >= 3, Object.keys(one.files).join());
  assert.deepEqual(Object.keys(two.files), Object.keys(one.files));
  for (const [name, bytes] of Object.entries(one.files)) assert.ok(two.files[name] === bytes, name);
  assert.equal(one.told, 22);
});

const noProc = existsSync("/proc/self/task") ? false : "finds its worker through /proc";

test("a worker that is killed is replaced, and nothing is lost or counted twice", {
  skip: noProc,
}, async () => {
  const undisturbed = await collect("undisturbed", 1);
  let killed = false;
  const disturbed = await collect("disturbed", 1, (done) => {
    if (killed || done < 2) return;
    killed = true;
    process.kill(childOf(process.pid), "SIGKILL");
  });
  assert.ok(killed);
  assert.deepEqual(disturbed.result, undisturbed.result);
  assert.equal(disturbed.told, 22);
  for (const [name, bytes] of Object.entries(undisturbed.files))
    assert.ok(disturbed.files[name] === bytes, name);
});

test("unknown suites, tasks and impossible settings are refused by name", async () => {
  const refused = (args: string[], message: RegExp) =>
    assert.rejects(collectCommand.run([...args, "--out", join(folder, "never")]), message);
  await refused(["tabletop_spacial"], /no suite named "tabletop_spacial"; there are: .*tabletop_spatial/);
  await refused(["tabletop_goal", "--tasks", "0,9"], /tasks 0 to 7, not "9"/);
  await refused(["tabletop_goal", "--noise", "loud"], /noise: expected number, found "loud"/);
  await refused(["tabletop_goal", "--episodes", "0"], /--episodes takes a whole number above zero/);
  await refused([], /which suite/);
});

test("progress is told with the share of successes and the time that is left", () => {
  const text = progressText({ done: 50, total: 200, successes: 40 }, 10);
  assert.match(text, /^\[#{7}-{21}\] 50\/200 80\.0 % succeeded, 5\.0 episodes\/s, 30 s left$/);
});

/** The collecting process: the child that runs its program. */
function childOf(parent: number): number {
  const children = readFileSync(`/proc/${parent}/task/${parent}/children`, "utf8").trim().split(" ");
  const child = children.find((pid) =>
    readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("collecting worker"),
  );
  assert.ok(child, "there is a collecting process");
  return Number(child);
}
