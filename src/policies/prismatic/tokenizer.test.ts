import assert from "node:assert/strict";
import { test } from "node:test";
import { UserError } from "#registry";
import { promptTokenizer } from "./tokenizer.ts";
import { trainTokenizer } from "./train-tokenizer.ts";

const sound = trainTokenizer(["put the red cube in the tray"], 400) as Record<string, unknown>;
const deadlines = { build: 5000, encode: 300 };
const encodes = (changes: object, text: string, options: object = {}) =>
  promptTokenizer({ ...sound, ...changes }, {}, "tokenizer.json", { deadlines, ...options }).encode(text);
const refuses = (changes: object, reason: RegExp, options: object = {}): void =>
  assert.throws(
    () => encodes(changes, `${"a".repeat(60)}!`, options),
    (error) => error instanceof UserError && reason.test(error.message),
  );

const backtracking = { Regex: "(a+)+$" };

test("an expression that back-tracks for ever is refused by its deadline, in a normalizer and in a splitter", () => {
  refuses({ normalizer: { type: "Replace", pattern: backtracking, content: "" } }, /longer than 0\.3 s/);
  refuses(
    { pre_tokenizer: { type: "Split", pattern: backtracking, behavior: "Isolated" } },
    /tokenizer\.json.*longer than 0\.3 s/,
  );
});

test("replacements that double a text forty times are refused before they run", () => {
  const double = { type: "Replace", pattern: { String: "a" }, content: "aa" };
  refuses({ normalizer: { type: "Sequence", normalizers: Array(40).fill(double) } }, /1e\+12 times longer/);
  const between = { type: "Replace", pattern: { Regex: "" }, content: "a" };
  refuses({ normalizer: { type: "Sequence", normalizers: Array(40).fill(between) } }, /1e\+12 times longer/);
  refuses({ pre_tokenizer: { ...double, content: "$`" } }, /times longer/);
});

test("an id that the model has no embedding for is refused", () => {
  refuses({}, /gives the token id \d+, and the model knows 0 to 9/, { vocabulary: 10 });
  assert.ok(encodes({}, "put the red cube", { vocabulary: 400 }).length > 3);
});

test("a tokenizer whose parts are not what they should be is refused in words", () => {
  for (const changes of [
    { model: null },
    { model: { type: "BPE" } },
    { added_tokens: 3 },
    { normalizer: { type: "Nonsense" } },
    { normalizer: { type: "Replace", pattern: { Regex: "(" }, content: "" } },
  ])
    refuses(changes, /tokenizer\.json/);
});
