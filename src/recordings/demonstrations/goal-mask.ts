/**
 * Which of a suite's goals hold in a scene, as bits.
 *
 * A frame in which the wrong cube lies in the basket fails its own task and fulfils another's: worth knowing for whoever
 * trains a judge of pictures. A goal of another task is asked only where its words mean the same here: its things are in
 * this scene, and none of them has a twin (of three identical cubes, each task calls another one the first).
 */

import type { Condition, SceneSimulation } from "#engine";
import { type BddlTask, readBddl } from "#engine";
import { UserError } from "#registry";
import type { Suite } from "#simulators";

/** Bits of a signed 64-bit integer that can be used. */
const mostTasks = 63;

export type GoalMask = () => bigint;

export function goalMask(world: SceneSimulation, { pack, tasks }: Suite, ownTask: number): GoalMask {
  const questions = tasks.slice(0, mostTasks).map((entry, task): Condition | undefined => {
    const bddl = readBddl(pack.resolve(entry.bddl));
    return task === ownTask || isUnambiguous(world, bddl) ? compile(world, bddl) : undefined;
  });
  return () => {
    let mask = 0n;
    for (const [task, holds] of questions.entries()) if (holds?.()) mask |= 1n << BigInt(task);
    return mask;
  };
}

function isUnambiguous({ scene }: SceneSimulation, { goal }: BddlTask): boolean {
  return goal
    .flatMap(({ args }) => args)
    .every((name) => {
      const owner = scene.regions.get(name)?.parent ?? name;
      const category = scene.objects.find((object) => object.name === owner)?.category;
      return scene.objects.filter((object) => object.category === category).length === 1;
    });
}

function compile({ predicates }: SceneSimulation, bddl: BddlTask): Condition | undefined {
  try {
    return predicates.goal(bddl);
  } catch (error) {
    if (error instanceof UserError) return undefined; // it speaks of something that is not here
    throw error;
  }
}
