import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { UserError } from "#registry";
import type { FrameRecord } from "./frame-record.ts";
import { Starts } from "./starts.ts";
import { writeTrajectory } from "./trajectory-file.ts";

const needs = { imageSize: [8, 8] as const, keyframes: 4, actionSize: 7, needsPose: false };
const folder = (): string => mkdtempSync(join(tmpdir(), "reverie-starts-"));

/** A picture of one gray level; its action is that number too. */
const frame = (level: number, size = 8): FrameRecord => ({
  image: { data: new Uint8Array(size * size * 3).fill(level), shape: [size, size, 3] },
  instruction: `task ${level}`,
  action: Array<number>(7).fill(level),
});

test("a start is the first frame, its bytes spread over [-1, 1]", () => {
  const at = folder();
  writeTrajectory(join(at, "traj0.npy"), [frame(255), frame(0)]);
  const start = new Starts(at, needs, { enableKir: true }).load(0);
  assert.equal(start.instruction, "task 255");
  assert.deepEqual(start.frame.shape, [3, 8, 8]);
  assert.deepEqual([start.frame.amin().item(), start.frame.amax().item()], [1, 1]);
  assert.equal(start.keyframes, undefined);
});

test("a _kir file carries its last four frames and their actions; without enable_kir it is not drawn", () => {
  const at = folder();
  writeTrajectory(join(at, "traj0.npy"), [frame(10)]);
  writeTrajectory(
    join(at, "traj0_kir.npy"),
    [0, 51, 102, 153, 204].map((level) => frame(level)),
  );
  const all = new Starts(at, needs, { enableKir: true });
  assert.equal(all.length, 2);
  const { frame: first, keyframes } = all.load(1);
  assert.equal(first.amax().item(), -1);
  assert.deepEqual(keyframes?.frames.shape, [4, 3, 8, 8]);
  assert.deepEqual(keyframes?.actions.select(1, 0).toArray(), [51, 102, 153, 204]);
  assert.equal(new Starts(at, needs, { enableKir: false }).length, 1);
});

test("a long plain file is a keyframe start only by the reference's rule", () => {
  const at = folder();
  writeTrajectory(
    join(at, "traj0.npy"),
    [1, 2, 3, 4, 5].map((level) => frame(level)),
  );
  assert.equal(new Starts(at, needs, { enableKir: true }).load(0).keyframes, undefined);
  const loose = new Starts(at, needs, { enableKir: true, kirByLength: true });
  assert.deepEqual(loose.load(0).keyframes?.actions.select(1, 6).toArray(), [2, 3, 4, 5]);
});

test("pictures of another size are resized to the world's", () => {
  const at = folder();
  writeTrajectory(join(at, "traj0.npy"), [frame(100, 20)]);
  assert.deepEqual(new Starts(at, needs, { enableKir: false }).load(0).frame.shape, [3, 8, 8]);
});

test("a folder that is missing, empty or all _kir is named with what to do", () => {
  assert.throws(() => new Starts("/nowhere/dataset", needs, { enableKir: true }), /initial_image_path/);
  const at = folder();
  assert.throws(() => new Starts(at, needs, { enableKir: true }), /no \.npy starts/);
  writeTrajectory(join(at, "traj0_kir.npy"), [frame(1)]);
  assert.throws(() => new Starts(at, needs, { enableKir: false }), /enable_kir/);
});

test("a keyframe file with too few frames or actions of another size is refused", () => {
  const at = folder();
  writeTrajectory(join(at, "a_kir.npy"), [frame(1), frame(2)]);
  writeTrajectory(
    join(at, "b_kir.npy"),
    [1, 2, 3, 4].map((level) => ({ ...frame(level), action: [1, 2, 3] })),
  );
  const starts = new Starts(at, needs, { enableKir: true });
  assert.throws(() => starts.load(0), /needs 4 frames, it has 2/);
  assert.throws(() => starts.load(1), /has 3 numbers.*have 7/);
});

test("a world that needs a pose refuses starts without one", () => {
  const at = folder();
  writeTrajectory(join(at, "traj0.npy"), [frame(1)]);
  assert.throws(
    () => new Starts(at, { ...needs, needsPose: true }, { enableKir: false }).load(0),
    /init_ee_pose/,
  );
});

test("a hostile pickle is refused and runs nothing", () => {
  const at = folder();
  const mark = join(at, "ran");
  const header = "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }".padEnd(117);
  const magic = Buffer.from([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, 118, 0]);
  const pickle = `cos\nsystem\n(S'touch ${mark}'\ntR.`;
  writeFileSync(join(at, "traj0.npy"), Buffer.concat([magic, Buffer.from(`${header}\n${pickle}`)]));
  assert.throws(() => new Starts(at, needs, { enableKir: false }).load(0), UserError);
  assert.equal(existsSync(mark), false);
});

test("NumPy reads the trajectories that we write", { skip: numpyMissing() }, () => {
  const path = join(folder(), "traj0.npy");
  writeTrajectory(path, [{ ...frame(9), pose: [1, 2, 3, 0, 0, 0, 1, 0.5] }]);
  const program =
    "import numpy,sys; a=numpy.load(sys.argv[1],allow_pickle=True); f=a[0];" +
    "print(a.shape, f['image'].shape, f['image'].dtype, f['image'].max(), f['instruction'], f['init_ee_pose'].sum())";
  const said = execFileSync(python, ["-c", program, path], { encoding: "utf8" });
  assert.equal(said.trim(), "(1,) (8, 8, 3) uint8 9 task 9 7.5");
});

const python = ".deps/venv/bin/python";

function numpyMissing(): string | false {
  try {
    execFileSync(".deps/venv/bin/python", ["-c", "import numpy"], { stdio: "ignore" });
    return false;
  } catch {
    return "needs NumPy in the set-up's Python";
  }
}
