import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { needsShared, sharedFolder } from "../../../test/shared.ts";
import { padPrompts, promptFor, promptIds, trimPadding } from "./prompts.ts";
import { promptTokenizer } from "./tokenizer.ts";
import { trainTokenizer } from "./train-tokenizer.ts";

const rows = [
  [1, 10, 11, 12, 9],
  [1, 20, 9],
];

test("a row is padded on the left and its begin token stands in column 0", () => {
  const { ids_BL, mask_BL } = padPrompts(rows, 6, 99, "column_0");
  assert.deepEqual(ids_BL.nested(), [
    [1, 99, 10, 11, 12, 9],
    [1, 99, 99, 99, 20, 9],
  ]);
  assert.deepEqual(mask_BL.nested(), [
    [1, 0, 1, 1, 1, 1],
    [1, 0, 0, 0, 1, 1],
  ]);
});

test("the official variant leaves the begin token before the prompt", () => {
  assert.deepEqual(padPrompts([rows[1]!], 5, 99, "before_prompt").ids_BL.nested(), [[99, 99, 1, 20, 9]]);
});

test("a prompt that is too long is refused with the length it needs", () => {
  assert.throws(
    () => padPrompts(rows, 4, 99, "column_0"),
    /5 tokens and actor\.model\.max_prompt_length is 4; set actor\.model\.max_prompt_length=5 or more/,
  );
});

test("trimming cuts only columns that are padding in every row", () => {
  const { prompt, padded } = trimPadding(padPrompts(rows, 8, 99, "column_0"));
  assert.deepEqual(prompt.ids_BL.nested(), [
    [1, 10, 11, 12, 9],
    [1, 99, 99, 20, 9],
  ]);
  assert.equal(padded, true);
});

test("rows of one length have no padding left after trimming", () => {
  const { prompt, padded } = trimPadding(padPrompts([rows[0]!, rows[0]!], 8, 99, "column_0"));
  assert.equal(padded, false);
  assert.deepEqual(prompt.ids_BL.shape, [2, 5]);
});

test("a prompt is asked in lower case, with a trailing space", () => {
  assert.equal(
    promptFor("Open the Drawer"),
    "In: What action should the robot take to open the drawer?\nOut: ",
  );
});

test("the recorded prompts of the reference are ours", { skip: needsShared() }, () => {
  const path = `${sharedFolder()}/fixtures/policies/openvla_oft/inputs.json`;
  const { task_descriptions, prompts } = JSON.parse(readFileSync(path, "utf8"));
  assert.deepEqual(task_descriptions.map(promptFor), prompts);
});

test("a trained tokenizer ends every prompt with the lone space token, and covers words it never saw", () => {
  const model = trainTokenizer(["pick up the red cube", "open the drawer"].map(promptFor), 500);
  const tokenizer = promptTokenizer(model, {}, "test");
  for (const task of ["open the drawer", "fetch a café ☕ cup"]) {
    const ids = promptIds(tokenizer, task);
    assert.equal(ids[0], tokenizer.beginId);
    assert.equal(ids.at(-1), tokenizer.spaceId);
    assert.ok(!ids.includes(0), "no unknown token");
  }
});

test("training on the same sentences gives the same tokenizer, and seen words are single tokens", () => {
  const sentences = ["pick up the red cube", "open the drawer"].map(promptFor);
  assert.deepEqual(trainTokenizer(sentences, 600), trainTokenizer(sentences, 600));
  const tokenizer = promptTokenizer(trainTokenizer(sentences, 600), {}, "test");
  const words = "In: What action should the robot take to open the drawer? \n Out:".split(" ").length;
  assert.equal(promptIds(tokenizer, "open the drawer").length, words + 2); // begin and the final space
});

test("a tokenizer smaller than its alphabet is refused", () => {
  assert.throws(() => trainTokenizer(["a"], 100), /at least 354 pieces/);
});
