/**
 * Where the names of families may stand: in a family's own folder, in the catalogue of its room, and in the few places below.
 *
 * "The core never names a family" is one of the three sentences of the house. A family is found by the name that a configuration gives; code
 * that asks for a name knows one family and no others, least of all a user's own.
 */
import { codeOf, type Source } from "./sources.ts";

interface Family {
  /** In code, comments aside. */
  readonly name: RegExp;
  readonly homes: readonly RegExp[];
}

const families: readonly Family[] = [
  { name: /opensora/i, homes: [/^src\/(worlds|world-training)\/(opensora|families)/] },
  { name: /\bwan(?![a-z])|Wan[A-Z]/, homes: [/^src\/(worlds|world-training)\/(wan|families)/] },
  { name: /evac/i, homes: [/^src\/(worlds|world-training)\/(evac|families)/] },
  {
    name: /openvla/i,
    homes: [/^src\/policies\/(openvla|prismatic|lora|index)/, /^src\/policies\/pi0\/adapters/],
  },
  { name: /\bpi0|openpi/i, homes: [/^src\/policies\/(pi0|index)/] },
  { name: /\b(grpo|rloo|ppo|gae)\b/i, homes: [/^src\/algorithms\//] },
  { name: /"(libero|behavior|maniskill)"/, homes: [/^src\/(simulators|envs\/(sections|environments))/] },
];

/** Files that may name families of others, each with its reason. */
const excused: Readonly<Record<string, string>> = {
  "src/worlds/index.ts": "offers the parts of each family to its training, under one name each",
  "src/training/published.ts": "the list of published checkpoints",
  "src/config/legacy-moves.ts": "RLinf's old keys and names, and what they became",
  "src/config/refusals.ts": "RLinf's names that are not here, and what to do instead",
  "src/config/frame/actor.ts": "lr_scheduler: openpi_cosine is RLinf's name of a schedule",
  "src/optimization/learning-rate.ts": "the schedule openpi_cosine",
  "src/config/frame/runner.ts": "Weights & Biases and SwanLab, which begin like a family",
  "src/envs/learned/settings.ts": "wm_env_type: libero, the only benchmark that published worlds imitate",
  "src/recordings/lerobot/dataset-info.ts":
    "LeRobot's names of robots, also for demonstrations whose pack is not here",
  "src/world-training/learning/picture-autoencoder.ts": "the description of a setting",
};
/** Help and examples of the command line name what users type. */
const isHelp =
  /^src\/cli\/(commands|fetch|train\/index|sft\/index|claim\/index|collect\/index|world\/[\w-]+|doctor\/[\w-]+|list\/kinds)\.ts$/;

export function misplacedFamilies(sources: readonly Source[]): string[] {
  return sources
    .filter(({ isTest, path }) => !isTest && !Object.hasOwn(excused, path) && !isHelp.test(path))
    .flatMap(({ path, text }) => {
      const code = codeOf(text);
      return families
        .filter(({ name, homes }) => !homes.some((home) => home.test(path)) && name.test(code))
        .map(({ name }) => `${path} names ${name.exec(code)?.[0]}: ask its family instead`);
    });
}
