/**
 * Checks a section of the configuration that belongs to a family, with the frame's keys and the family's own.
 *
 * The family is named by a key inside the section (`env_type`, `model_type`). Its schema gets the keys that
 * it declares and those that the frame does not know; so it may narrow a shared key, and what neither knows
 * is an error.
 */
import type { FamilySettings } from "#registry";
import { UserError } from "#registry";
import { type Problem, problem, schemaProblems } from "./problem.ts";
import { shapeOf } from "./schema-keys.ts";
import { type MapNode, nodeAt, type Path, type Plain, plain } from "./tree.ts";

/** Finds a family by name, or throws a UserError that lists what there is. */
export type FamilyLookup<Family = FamilySettings> = (name: string) => Promise<Family>;

/** What the rules ask an algorithm, whatever its name. */
export interface AlgorithmSection extends FamilySettings {
  readonly groups: boolean; // it compares episodes from the same start
  readonly needsCritic: boolean;
}

/** What the chosen families said about themselves, for the plan. */
export interface ChosenFamilies {
  readonly train?: FamilySettings;
  readonly eval?: FamilySettings;
  readonly policy?: FamilySettings;
  readonly algorithm?: AlgorithmSection;
}

export interface Families {
  readonly environment: FamilyLookup;
  readonly policy: FamilyLookup;
  readonly algorithm: FamilyLookup<AlgorithmSection>; // by adv_type
  /** Throws a UserError for a name in `logger_backends` that nobody answers to. */
  readonly logger: (name: string) => unknown;
}

export interface SectionResult<Family = FamilySettings> {
  readonly values: Readonly<Record<string, unknown>>; // the family's keys, parsed
  readonly family?: Family;
  readonly problems: readonly Problem[];
}

export async function checkSection<Family extends FamilySettings>(
  root: MapNode,
  at: Path,
  nameKey: string,
  frame: unknown,
  lookup: FamilyLookup<Family>,
): Promise<SectionResult<Family>> {
  const section = nodeAt(root, at);
  const content = section?.kind === "map" ? (plain(section) as Record<string, Plain>) : {};
  const name = content[nameKey];
  if (typeof name !== "string") return { values: {}, problems: [] }; // the frame has said so already
  let family: Family;
  try {
    family = await lookup(name);
  } catch (error) {
    if (error instanceof UserError)
      return { values: {}, problems: [problem(root, "error", [...at, nameKey], error.message)] };
    throw error;
  }
  const frameKeys = Object.keys(shapeOf(frame) ?? {});
  const familyKeys = Object.keys(shapeOf(family.settings) ?? {});
  const given = Object.entries(content).filter(
    ([key]) => familyKeys.includes(key) || !frameKeys.includes(key),
  );
  const parsed = family.settings.safeParse(Object.fromEntries(given));
  if (parsed.success) return { values: parsed.data as Record<string, unknown>, family, problems: [] };
  const known = [...new Set([...frameKeys, ...familyKeys])];
  const problems = schemaProblems(root, at, parsed.error, (path) => (path.length === at.length ? known : []));
  return { values: {}, family, problems };
}
