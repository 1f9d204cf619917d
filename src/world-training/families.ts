/** The catalogue of trainings: one line for each family of worlds that can be made here; plugins register more. */
import { Registry, UserError } from "#registry";
import { recognizedWorld } from "./open-world.ts";
import type { WorldTraining } from "./world-training.ts";

export const worldTrainings = new Registry<WorldTraining>("training of worlds", {
  opensora: async () => (await import("./opensora/index.ts")).openSoraTraining,
  wan: async () => (await import("./wan/index.ts")).wanTraining,
  evac: async () => (await import("./evac/index.ts")).evacTraining,
});

/** Whose worlds are made where nobody says otherwise. */
export const usualFamily = "opensora";

/** How a family's worlds are trained; refused for a family that offers no training. */
export async function trainingOfFamily(name: string): Promise<WorldTraining> {
  if (worldTrainings.has(name)) return worldTrainings.get(name);
  const others = worldTrainings.names().join(", ");
  throw new UserError(`worlds of family "${name}" cannot be trained; these can: ${others}`);
}

/** How the world in a folder is trained. */
export const trainingOfWorld = async (folder: string): Promise<WorldTraining> =>
  trainingOfFamily((await recognizedWorld(folder)).name);
