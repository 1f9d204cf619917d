import assert from "node:assert/strict";
import { test } from "node:test";
import { UserError } from "./user-error.ts";

test("a message of megabytes is cut, and says how much is missing", () => {
  const { message } = new UserError(`unknown: ${"x".repeat(12_000_000)}`);
  assert.ok(message.length < 10_100);
  assert.match(message, /^unknown: x+… \(11990009 characters more\)$/);
});

test("control characters cannot reach the terminal, line breaks can", () => {
  assert.equal(new UserError("a\u001b[2Jb\r\n\tc\u009b").message, "a\ufffd[2Jb\ufffd\n\tc\ufffd");
});
