/** A recipe's parts as a table: what is done, what is to do, how long it may take, and how much memory the recordings need. */
import { formatDuration } from "#metrics";
import type { MakeJournal } from "./journal.ts";
import type { RecipePart } from "./parts.ts";
import type { WorldRecipe } from "./recipe.ts";

export type PartState = "done" | "interrupted" | "to do" | "left out";

export function stateOf(part: RecipePart, journal: MakeJournal): PartState {
  if (part.leftOut !== undefined) return "left out";
  const noted = journal.state(part.name);
  if (part.isDone(noted === "done")) return "done";
  return noted === "begun" ? "interrupted" : "to do";
}

export function planText(recipe: WorldRecipe, parts: readonly RecipePart[], journal: MakeJournal): string {
  const rows = parts.map((part) => {
    const state = stateOf(part, journal);
    const changed = state !== "left out" && journal.differs(part.name, part.settings);
    const remark = part.leftOut ?? (changed ? `${part.about} (the recipe has changed since)` : part.about);
    return [
      part.name,
      state,
      state === "to do" ? (part.seconds === undefined ? "" : formatDuration(part.seconds)) : "",
      remark,
    ];
  });
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]!.length)));
  return [
    `a world of family ${recipe.family} of ${recipe.suite}, in ${recipe.out}, on ${recipe.device}`,
    "",
    ...rows.map((row) => `  ${row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join("  ")}`.trimEnd()),
    "",
    estimateText(recipe, parts, journal),
    memoryText(recipe),
  ].join("\n");
}

function estimateText({ rates }: WorldRecipe, parts: readonly RecipePart[], journal: MakeJournal): string {
  const open = parts.filter((part) => ["to do", "interrupted"].includes(stateOf(part, journal)));
  if (open.length === 0) return "time: nothing is left to do";
  const known = open.filter(({ seconds }) => seconds !== undefined);
  const unknown = open.filter(({ seconds }) => seconds === undefined).map(({ name }) => name);
  const total = known.reduce((sum, { seconds = 0 }) => sum + seconds, 0);
  if (known.length === 0) return "time: not estimated, the recipe has no rates";
  const rest = unknown.length > 0 ? `, and ${unknown.join(", ")}, whose time was not measured` : "";
  return `time: about ${formatDuration(total)} at the recipe's rates (${rates?.measured})${rest}`;
}

/** What is certain: the pictures of all recordings lie on the device while a network learns. */
function memoryText({ recordings, rounds, policy }: WorldRecipe): string {
  const { size, steps, scripted, played, played_more } = recordings;
  const own = [played, played_more, ...rounds.map(({ recorded }) => recorded)];
  const episodes =
    scripted.episodes + (policy ? own.reduce((sum, each) => sum + (each?.episodes ?? 0), 0) : 0);
  const bytes = episodes * (steps + 1) * size * size * 3;
  return (
    `memory: at most ${(bytes / 1e9).toFixed(2)} GB for the pictures of ${episodes} episodes on the device; ` +
    "latents, networks and steps come on top and are not estimated"
  );
}
