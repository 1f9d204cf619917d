/**
 * `npm test [words]`: runs every *.test.ts, or those whose path contains one of the words.
 *
 * Each file runs in a process of its own: a crash in native code takes down one file, not the run. As many run at a
 * time as the machine has cores, each with one libtorch thread, so that they do not fight over the cores. A file
 * that takes longer than its time-out is ended and fails.
 */
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join, relative } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { fileURLToPath } from "node:url";

const minutesPerFile = 8;
const root = fileURLToPath(new URL("..", import.meta.url));
process.chdir(root);
process.env.OMP_NUM_THREADS ??= "1";
const scratch = mkdtempSync(join(tmpdir(), "reverie-test-"));
process.env.TMPDIR = scratch; // what tests leave behind goes with it

const words = process.argv.slice(2);
const files = ["src", "test", "scripts"]
  .flatMap((room) => readdirSync(room, { recursive: true, encoding: "utf8" }).map((file) => join(room, file)))
  .filter((file) => file.endsWith(".test.ts"))
  .filter((file) => words.length === 0 || words.some((word) => file.includes(word)))
  .sort();
if (files.length === 0) {
  console.error(`no test file has ${words.join(" or ")} in its path`);
  process.exit(1);
}

const start = Date.now();
const counts = { passed: 0, failed: 0, skipped: 0 };
const skipReasons = new Map<string, number>();
const failures = new Set<string>();

const stream = run({ files, concurrency: availableParallelism(), timeout: minutesPerFile * 60_000 });
stream.on("test:pass", ({ skip, details }) => {
  if (details.type === "suite") return;
  if (skip === undefined || skip === false) counts.passed += 1;
  else {
    counts.skipped += 1;
    const reason = typeof skip === "string" && skip !== "" ? skip : "no reason given";
    skipReasons.set(reason, (skipReasons.get(reason) ?? 0) + 1);
  }
});
stream.on("test:fail", ({ file, details, name }) => {
  process.exitCode = 1;
  if (details.type !== "suite") counts.failed += 1;
  failures.add(file ? relative(root, file) : name);
});
stream.compose(new spec()).pipe(process.stdout);
process.on("exit", summarize);
process.on("exit", () => rmSync(scratch, { recursive: true, force: true }));

/** The last lines that a reader sees: how much ran, what was left out and why, which files to look at. */
function summarize(): void {
  const ran = counts.passed + counts.failed + counts.skipped;
  const seconds = ((Date.now() - start) / 1000).toFixed(1);
  if (ran === 0) process.exitCode = 1; // a run that tests nothing must not look like a success
  console.log(`\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
  console.log(`in ${files.length} files, ${seconds} s`);
  for (const [reason, times] of skipReasons) console.log(`  skipped ${times}: ${reason}`);
  for (const file of failures) console.log(`  failed: ${file}`);
}
