import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { asUserError, UserError } from "./index.ts";

test("a folder that cannot be made because a file is in the way is the user's to mend, by its path", (context) => {
  const folder = mkdtempSync(join(tmpdir(), "reverie-refusal-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "file");
  writeFileSync(file, "");
  try {
    mkdirSync(join(file, "inside"), { recursive: true });
    assert.fail("a folder inside a file");
  } catch (error) {
    assert.match(asUserError(error)?.message ?? "", /file.inside: a part of this path is a file/);
  }
});

test("a full disk says so even where the system names no file", () => {
  const full = Object.assign(new Error("ENOSPC: no space left on device, write"), {
    code: "ENOSPC",
    syscall: "write",
  });
  assert.equal(asUserError(full)?.message, "a write failed: the disk is full; make room or write elsewhere");
});

test("memory that is not there is said in words, on the host and on an accelerator", () => {
  const host = new Error(
    "[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to allocate 767999999232 bytes.",
  );
  assert.match(asUserError(host)?.message ?? "", /^not enough memory: 768\.0 GB were asked for at once/);
  const device = new Error(
    "CUDA out of memory. Tried to allocate 20.00 GiB. GPU 0 has a total capacity of 79 GiB",
  );
  assert.match(asUserError(device)?.message ?? "", /^not enough memory on the accelerator: 20\.00 GiB/);
});

test("a user's error stays itself, and a bug of ours stays a bug", () => {
  const fixable = new UserError("wrong path");
  assert.equal(asUserError(fixable), fixable);
  assert.equal(asUserError(new TypeError("x is not a function")), undefined);
  assert.equal(asUserError(null), undefined);
});
