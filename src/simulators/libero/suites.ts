/** LIBERO's suites as lists of tasks: four of ten tasks, one of ninety, and the union of all. */
import type { TaskEntry } from "#engine";
import { taskNames } from "./task-names.ts";

type Suite = keyof typeof taskNames;

/**
 * The instruction that LIBERO's users train and test with: the file's name without its scene, as words. It differs from
 * the `:language` sentence inside the file.
 */
export function instructionOf(taskName: string): string {
  return taskName.replace(/^[A-Z].*?SCENE\d+_/, "").replaceAll("_", " ");
}

const tasksOf = (suite: Suite): readonly TaskEntry[] =>
  taskNames[suite].map((name) => ({
    name,
    language: instructionOf(name),
    bddl: `bddl_files/${suite}/${name}.bddl`,
    initStates: `init_files/${suite}/${name}.pruned_init`,
  }));

/** In the order in which RLinf joins them: task ids of `libero_130` depend on it. */
const order = ["libero_spatial", "libero_object", "libero_goal", "libero_90", "libero_10"] as const;

const named = Object.fromEntries(order.map((suite) => [suite, tasksOf(suite)]));
const union = new Map<string, TaskEntry>();
for (const task of Object.values(named).flat()) if (!union.has(task.name)) union.set(task.name, task);

export const liberoSuites: Readonly<Record<string, readonly TaskEntry[]>> = {
  ...named,
  libero_130: [...union.values()],
};
