import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { UserError } from "#registry";
import { parseBddl } from "./bddl.ts";

const small = `(define (problem Stage)   ; a comment
  (:domain robosuite)
  (:language Put it There)
  (:regions
    (left (:target table) (:ranges ((-0.1 0 0.1 .2) (1 1 2 2))) (:yaw_rotation ((-pi/2 3.5e-1))))
    (inside (:target cabinet_1) (:rgba (1 0 0 0.5))))
  (:fixtures table - table cabinet_1 - cabinet)
  (:objects a_1 a_2 - a b_1 - b)
  (:obj_of_interest a_1 b_1)
  (:init (On a_1 table_left) (Open cabinet_1_inside))
  (:goal (And (In A_1 cabinet_1_inside) (Close cabinet_1_inside))))`;

test("a task is read in file order with lower-case names", () => {
  const task = parseBddl(small, "small.bddl");
  assert.equal(task.problem, "stage");
  assert.equal(task.language, "put it there");
  assert.deepEqual(
    task.objects.map(({ name, category }) => `${name}:${category}`),
    ["a_1:a", "a_2:a", "b_1:b"],
  );
  assert.deepEqual(task.objectsOfInterest, ["a_1", "b_1"]);
  assert.deepEqual(task.init[1], { name: "open", args: ["cabinet_1_inside"], line: 10 });
  assert.deepEqual(task.goal[0], { name: "in", args: ["a_1", "cabinet_1_inside"], line: 11 });
});

test("a region carries its target's name, its ranges and yaw, and defaults for the rest", () => {
  const [left, inside] = parseBddl(small, "small.bddl").regions;
  assert.equal(left?.name, "table_left");
  assert.deepEqual(left?.ranges, [
    [-0.1, 0, 0.1, 0.2],
    [1, 1, 2, 2],
  ]);
  assert.deepEqual(left?.yaw, [-Math.PI / 2, 0.35]);
  assert.deepEqual(left?.rgba, [0, 0, 1, 0]);
  assert.deepEqual(inside?.ranges, []);
  assert.deepEqual(inside?.rgba, [1, 0, 0, 0.5]);
});

test("a goal may be a single predicate without And", () => {
  const task = parseBddl(small.replace(/\(:goal.*$/s, "(:goal (Up a_1)))"), "small.bddl");
  assert.deepEqual(
    task.goal.map(({ name }) => name),
    ["up"],
  );
});

/** What to put in place of what, and what the message must say. */
const mistakes: [string, string, string, RegExp][] = [
  ["an unclosed list", "(:domain robosuite)", "(:domain robosuite", /small\.bddl:1: .*never closed/],
  [
    "a stray closing parenthesis",
    "(:objects a_1",
    ")) (:objects a_1",
    /small\.bddl:8: .*without|one \(define/,
  ],
  ["a word outside the list", "(define", "what (define", /small\.bddl:1: "what" stands outside/],
  ["an unknown section", "(:init", "(:inti", /small\.bddl:10: unknown section :inti; there are: .*:init/],
  ["a section given twice", "(:init", "(:objects) (:init", /small\.bddl:10: a second section :objects/],
  ["another domain", "robosuite", "blocks", /small\.bddl:2: expected \(:domain robosuite\)/],
  ["a range of three numbers", "(1 1 2 2)", "(1 1 2)", /small\.bddl:5: expected 4 numbers/],
  ["a range turned around", "(1 1 2 2)", "(2 1 1 2)", /small\.bddl:5: .*x0 <= x1/],
  ["a word for a number", "3.5e-1", "__import__", /small\.bddl:5: "__import__" is not a number/],
  ["an infinite number", "3.5e-1", "9e999", /small\.bddl:5: "9e999" is not a number/],
  ["a region without target", "(:target cabinet_1)", "", /small\.bddl:6: region inside has no \(:target/],
  ["an object without category", "b_1 - b)", "b_1)", /small\.bddl:8: b_1 has no category/],
  ["a nested predicate", "(On a_1 table_left)", "(Not (On a_1 table_left))", /small\.bddl:10: .*do not nest/],
  ["an empty goal", "(And (In A_1 cabinet_1_inside) (Close cabinet_1_inside))", "(And)", /goal is empty/],
  ["hostile nesting", "(On a_1 table_left)", "(".repeat(1e5), /nested deeper than 64/],
];

for (const [what, found, wrong, message] of mistakes) {
  test(`${what} is refused with its line`, () => {
    assert.ok(small.includes(found));
    assert.throws(
      () => parseBddl(small.replace(found, wrong), "small.bddl"),
      (error: unknown) => error instanceof UserError && message.test(error.message),
    );
  });
}

test("an empty file is refused", () => {
  assert.throws(() => parseBddl("", "empty.bddl"), /empty\.bddl:1: expected \(define/);
});

/** Cuts, doubles, drops and swaps of the text's own pieces: near enough to a task to reach every branch. */
const damaged = fc
  .array(
    fc.tuple(
      fc.nat(small.length),
      fc.nat(40),
      fc.nat(3),
      fc.constantFrom("(", ")", "-", "and", "1e", ":", "\u0000"),
    ),
    {
      minLength: 1,
      maxLength: 6,
    },
  )
  .map((edits) =>
    edits.reduce((text, [at, length, kind, piece]) => {
      const [before, middle, after] = [
        text.slice(0, at),
        text.slice(at, at + length),
        text.slice(at + length),
      ];
      return (
        [before + after, before + middle + middle + after, before + piece + middle + after, before][kind] ??
        text
      );
    }, small),
  );

test("damaged text is either read or refused with its file and line, never anything else", () => {
  fc.assert(
    fc.property(damaged, (text) => {
      try {
        parseBddl(text, "damaged.bddl");
      } catch (error) {
        assert.ok(error instanceof UserError && /^damaged\.bddl:\d+: /.test(error.message), String(error));
      }
    }),
    { numRuns: 3000, seed: 11 },
  );
});
