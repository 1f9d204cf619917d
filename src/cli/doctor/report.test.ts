import assert from "node:assert/strict";
import { test } from "node:test";
import { readGpu } from "./machine.ts";
import { describe, type Findings, findMissing } from "./report.ts";

const healthy: Findings = {
  machine: {
    system: "Debian 12",
    node: "20.20.2",
    cpu: "a processor",
    cores: 2,
    memoryGiB: 16,
    memoryFreeGiB: 8,
    diskFreeGiB: 100,
    gpus: [],
  },
  torch: { version: "2.13.0", threads: 2, gpus: [] },
  mujoco: { version: "3.3.7" },
  renderers: [
    {
      backend: "osmesa",
      device: 0,
      works: true,
      description: "llvmpipe",
      isHardware: false,
      framesPerSecond: 30,
    },
  ],
  setUp: [{ name: "npm packages", done: true, mend: "npm ci", optional: false }],
  extras: { ffmpeg: { path: "/usr/bin/ffmpeg" }, libero: { folder: "/srv/libero", files: 495 } },
};

test("on a healthy machine nothing is missing", () => {
  assert.deepEqual(findMissing(healthy), []);
  assert.match(describe(healthy), /osmesa: 30 frames\/s[\s\S]*Nothing is missing\.$/);
});

test("a step that set-up has not done is named with the command that does it", () => {
  const setUp = [{ name: "MuJoCo 3.3.7", done: false, mend: "npm run native", optional: false }];
  assert.match(describe({ ...healthy, setUp }), /missing: MuJoCo 3\.3\.7\n {2}mend it with: npm run native/);
});

test("an addon that is built but does not open is missing, with the loader's reason", () => {
  const missing = findMissing({ ...healthy, torch: { error: "libc10.so: cannot open" } });
  assert.match(missing[0]?.what ?? "", /libc10\.so: cannot open/);
  assert.equal(missing[0]?.optional, false);
});

test("a machine where nothing draws is told which libraries to install, and may go on without", () => {
  const [missing] = findMissing({ ...healthy, renderers: [] });
  assert.match(missing?.mend ?? "", /apt-get install .*libegl1/);
  assert.equal(missing?.optional, true);
});

test("a GPU that libtorch cannot use is reported", () => {
  const machine = { ...healthy.machine, gpus: [readGpu("NVIDIA H200, 143771, 580.65.06")] };
  assert.match(
    findMissing({ ...healthy, machine })[0]?.what ?? "",
    /GPU is here, but libtorch cannot use it/,
  );
});

test("nvidia-smi's line is read into name, gibibytes and driver", () => {
  assert.deepEqual(readGpu("NVIDIA H200, 143771, 580.65.06"), {
    name: "NVIDIA H200",
    memoryGiB: 140.4,
    driver: "580.65.06",
  });
});

test("videos without ffmpeg and LIBERO without files are told, with the commands that get them", () => {
  const extras = { ffmpeg: { error: "none" }, libero: { folder: "/srv/libero", files: 0 } };
  const text = describe({ ...healthy, extras });
  assert.match(text, /LIBERO +not here; get it with: reverie fetch libero/);
  assert.match(
    text,
    /missing \(the rest works without it\): no ffmpeg for videos\n {2}mend it with: node scripts\/setup\.mjs/,
  );
  assert.match(describe(healthy), /LIBERO +495 files in \/srv\/libero/);
});
