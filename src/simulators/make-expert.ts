/** Which experts there are, by asset pack. */
import type { SceneSimulation } from "#engine";
import { ownEntry, UserError } from "#registry";
import type { SceneExpert } from "./experts/expert.ts";
import { liberoKit } from "./experts/libero-kit.ts";
import { tabletopKit } from "./experts/tabletop-kit.ts";
import { TaskExpert } from "./experts/task-expert.ts";
import { HomeExpert } from "./home/experts/home-expert.ts";

const experts: Readonly<Record<string, (world: SceneSimulation) => SceneExpert>> = {
  tabletop: (world) => new TaskExpert(world, tabletopKit),
  libero: (world) => new TaskExpert(world, liberoKit),
  home: (world) => new HomeExpert(world),
};

/** For as long as the world lives: `reset` it when an episode begins. */
export function makeExpert(world: SceneSimulation): SceneExpert {
  const { name } = world.scene.pack;
  const make = ownEntry(experts, name);
  if (make) return make(world);
  throw new UserError(
    `there is no scripted expert for the ${name} pack; there are: ${Object.keys(experts).join(", ")}`,
  );
}
