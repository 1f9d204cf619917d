import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { tensor } from "#tensor";
import { needsShared, sharedFolder } from "../../../test/shared.ts";
import {
  cleanTask,
  padRight,
  promptRows,
  resizeWithPad,
  stateBin,
  statePrompt,
  trimRight,
} from "./prompt.ts";

/** Letters to their codes, a 2 in front: what a tokenizer does, seen from outside. */
const letters = {
  beginId: 2,
  endId: 1,
  spaceId: 32,
  encode: (text: string) => [2, ...[...text].map((letter) => letter.codePointAt(0)!)],
};

test("a sentence is one line of words, with a line break behind it and one begin token before it", () => {
  assert.equal(cleanTask(" open_the\ndrawer "), "open the drawer");
  assert.deepEqual(promptRows(letters, ["a_b\n"]), [[2, 97, 32, 98, 10]]);
});

test("the state is spelled in 256 bins over [-1, 1], as numpy.digitize counts", () => {
  assert.deepEqual([-1.5, -1, -0.999, 0, 0.99, 1, 7].map(stateBin), [-1, 0, 0, 128, 254, 255, 255]);
});

test("prompts with a state are those of the reference", { skip: needsShared() }, () => {
  const golden = JSON.parse(
    readFileSync(`${sharedFolder()}/fixtures/policies/tokenizer_golden.json`, "utf8"),
  ) as { gemma: { text: string; text_pi05: string }[] };
  const state = [128, 3, 255, 77, 0, 12, 200, 131].map((bin) => (bin + 0.5) / 128 - 1);
  for (const { text, text_pi05 } of golden.gemma) assert.equal(statePrompt(text, state), text_pi05);
});

test("padding is on the right, and only what every row pads is cut", () => {
  const prompt = padRight(
    [
      [2, 5],
      [2, 6, 7],
    ],
    6,
  );
  assert.deepEqual(prompt.ids_BL.toArray().map(Number), [2, 5, 0, 0, 0, 0, 2, 6, 7, 0, 0, 0]);
  const trimmed = trimRight(prompt);
  assert.deepEqual(trimmed.ids_BL.shape, [2, 3]);
  assert.equal(trimmed.padded, true);
  assert.equal(
    trimRight(
      padRight(
        [
          [2, 5],
          [2, 6],
        ],
        6,
      ),
    ).padded,
    false,
  );
});

test("pictures keep their shape: Pillow's bilinear bytes, in the middle of black", () => {
  const image = Uint8Array.from({ length: 5 * 7 * 3 }, (_, i) => {
    const [c, x, y] = [i % 3, Math.floor(i / 3) % 7, Math.floor(i / 21)];
    return (x * 37 + y * 91 + c * 53 + x * y * 11) % 256;
  });
  const pillow = [
    102, 130, 147, 133, 141, 134, 126, 134, 141, 137, 123, 132, 117, 145, 127, 121, 130, 106, 121, 130, 110,
    106, 134, 126,
  ];
  const black = Array.from({ length: 12 }, () => 0);
  const small = resizeWithPad(tensor(image, { shape: [1, 5, 7, 3] }), 4);
  assert.deepEqual(small.toArray(), [...black, ...pillow, ...black]);
});
