import assert from "node:assert/strict";
import { test } from "node:test";
import { UserError } from "#registry";
import { listCommand, tableOf } from "./index.ts";
import { kinds } from "./kinds.ts";

test("every kind that is offered lists something with a name", async () => {
  for (const [kind, rowsOf] of Object.entries(kinds)) {
    const rows = await rowsOf();
    assert.ok(rows.length > 0, kind);
    for (const row of rows) assert.notEqual(Object.values(row)[0], "", kind);
  }
});

test("configurations come with the sentence that their file begins with", async () => {
  const configs = await kinds.configs!();
  assert.deepEqual(
    configs.filter(({ about }) => about === "").map(({ name }) => name),
    [],
  );
  assert.ok(configs.some(({ name }) => name === "quickstart"));
});

test("tasks are those of one suite where it is named, and a suite that is none is answered with the suites", async () => {
  const tasks = await kinds.tasks!("tabletop_object");
  assert.deepEqual([...new Set(tasks.map(({ suite }) => suite))], ["tabletop_object"]);
  await assert.rejects(kinds.tasks!("kitchen"), /no suite named "kitchen"; there are: .*tabletop_spatial/);
});

test("what cannot be listed is answered with what can", async () => {
  for (const argv of [[], ["task"], ["configs", "more"]])
    await assert.rejects(listCommand.run(argv), (error) => error instanceof UserError);
  await assert.rejects(listCommand.run(["task"]), /did you mean tasks\? there are: configs, suites/);
});

test("a table has its columns' names above them and leaves out the file, which is for programs", () => {
  const rows = [{ name: "a", tasks: 10, file: "/x" }];
  assert.equal(tableOf(rows), "name  tasks\na     10");
});
