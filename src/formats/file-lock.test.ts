import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { FileLock, type Holder, holderText, isThisProcess } from "./file-lock.ts";
import { makeFolder } from "./make-folder.ts";

const folder = mkdtempSync(join(tmpdir(), "reverie-lock-"));
after(() => rmSync(folder, { recursive: true }));
let count = 0;
const newPath = (): string => join(makeFolder(join(folder, String(count++))), ".lock");

function held(path: string): FileLock {
  const lock = FileLock.take(path, "a test");
  assert.ok(lock instanceof FileLock);
  return lock;
}

function heldByOther(path: string): Holder {
  const holder = FileLock.take(path, "another");
  assert.ok(!(holder instanceof FileLock));
  return holder;
}

/** Writes the lock of a process as it would have. */
const leave = (path: string, changes: Partial<Holder>): void => {
  const lock = held(path);
  const own = JSON.parse(readFileSync(path, "utf8")) as Holder;
  lock.release();
  writeFileSync(path, JSON.stringify({ ...own, ...changes }));
};

test("a lock is held by one, who is named to others, and free after its release", () => {
  const path = newPath();
  const lock = held(path);
  const holder = heldByOther(path);
  assert.equal(holder.pid, process.pid);
  assert.ok(isThisProcess(holder));
  assert.match(holderText(holder), /^a test \(process \d+ on \S+, since 20/);
  lock.release();
  held(path).release();
  assert.deepEqual(readdirSync(join(path, "..")), []);
});

const deadPid = Number(execFileSync(process.execPath, ["-e", "console.log(process.pid)"]));
const dead: [string, Partial<Holder>][] = [
  ["a process that has ended", { pid: deadPid }],
  ["a process whose number went to another", { started: "1" }],
  ["a machine that was started again since", { boot: "another boot" }],
];
for (const [what, changes] of dead) {
  test(`the lock of ${what} is taken over`, () => {
    const path = newPath();
    leave(path, changes);
    held(path).release();
    assert.deepEqual(readdirSync(join(path, "..")), []);
  });
}

test("the lock of another machine stands: nobody here can ask it", () => {
  const path = newPath();
  leave(path, { host: "elsewhere", pid: deadPid });
  assert.equal(heldByOther(path).host, "elsewhere");
});

test("a lock that a power cut emptied is taken over, a young one that is just being written is not", () => {
  const path = newPath();
  writeFileSync(path, "");
  assert.match(holderText(heldByOther(path)), /about to write/);
  utimesSync(path, 1, 1);
  held(path).release();
});

test("one who died while taking over a dead one's lock does not stop the next", () => {
  const path = newPath();
  leave(path, { pid: deadPid, token: "first" });
  const heir = `${path}.after-first`;
  leave(heir, { pid: deadPid, token: "second" });
  held(path).release();
  assert.deepEqual(readdirSync(join(path, "..")), []);
});

test("who gives back a lock that another has taken meanwhile leaves it alone", () => {
  const path = newPath();
  const lock = held(path);
  rmSync(path);
  const other = held(path);
  lock.release();
  assert.equal(heldByOther(path).what, "a test");
  other.release();
});

test("of eight processes that find a dead holder at once, exactly one has the lock", async () => {
  const path = newPath();
  leave(path, { pid: deadPid });
  const program = `
    import { FileLock } from ${JSON.stringify(new URL("./file-lock.ts", import.meta.url).href)};
    process.stdin.once("data", () => {
      const lock = FileLock.take(${JSON.stringify(path)}, "a racer");
      console.log(lock instanceof FileLock ? "mine" : "theirs");
      process.stdin.once("data", () => process.exit(0));
    });
    console.log("ready");`;
  const racers = Array.from({ length: 8 }, () =>
    spawn(process.execPath, ["--import", "tsx", "--input-type=module", "-e", program], {
      stdio: ["pipe", "pipe", "inherit"],
      cwd: new URL("../..", import.meta.url),
    }),
  );
  const said = racers.map(({ stdout }) => {
    const words: string[] = [];
    stdout.on("data", (piece) => words.push(...String(piece).trim().split("\n")));
    return words;
  });
  const until = async (length: number): Promise<void> => {
    const deadline = Date.now() + 60_000;
    while (!said.every((words) => words.length >= length)) {
      assert.ok(Date.now() < deadline, JSON.stringify(said));
      await new Promise((resume) => setTimeout(resume, 10));
    }
  };
  await until(1);
  for (const { stdin } of racers) stdin.write("go\n");
  await until(2);
  assert.equal(said.filter(([, word]) => word === "mine").length, 1, JSON.stringify(said));
  for (const { stdin } of racers) stdin.end("end\n");
  await Promise.all(racers.map((racer) => new Promise((resume) => racer.once("exit", resume))));
  assert.deepEqual(readdirSync(join(path, "..")), [], "who had it gave it back when it ended");
});

test("a folder that cannot be made is refused in words, and at once", () => {
  assert.throws(() => makeFolder("/proc/x/y"), /folder \/proc\/x\/y cannot be made: .*takes no new folders/);
  const file = join(folder, "file");
  writeFileSync(file, "");
  assert.throws(() => makeFolder(join(file, "a", "b")), /file is a file; write elsewhere/);
  assert.equal(makeFolder(join(folder, "a", "b", "c")), join(folder, "a", "b", "c"));
});
