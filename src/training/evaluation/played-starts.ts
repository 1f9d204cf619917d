/** Which starts an evaluation played, and whether the policy was trained on them: for results, tables and comparisons. */
import { z } from "zod";
import type { CheckedConfig } from "#config";
import { readStarts } from "#simulators";
import { seenStoredStarts, trainedOnBefore } from "../trained-on.ts";

export const playedStarts = z.object({
  kind: z.enum(["stored", "fresh", "imagined", "own"]),
  seed: z.int().nullable().describe("of fresh starts: which collection of scenes"),
  seen_in_training: z.enum(["yes", "some", "no", "unknown"]),
  because: z.string(),
});
export type PlayedStarts = z.infer<typeof playedStarts>;

export function startsPlayed(checked: CheckedConfig): PlayedStarts {
  const section = checked.config.env.eval ?? checked.config.env.train;
  const { plays } = checked.families[checked.config.env.eval ? "eval" : "train"] ?? {};
  if (plays !== "suite") {
    const because =
      plays === "dream"
        ? "a learned world begins from the pictures in its folder"
        : `${section.env_type} draws its own starts`;
    return { kind: plays === "dream" ? "imagined" : "own", seed: null, seen_in_training: "unknown", because };
  }
  const { kind, seed } = readStarts(String(section.starts ?? "stored"));
  if (kind === "fresh")
    return {
      kind,
      seed,
      seen_in_training: "no",
      because: "no command draws these scenes to train on",
    };
  const { seen, of, complete } = seenStoredStarts(
    trainedOnBefore(checked),
    String(section.task_suite_name),
    section.task_id_filter,
  );
  return { kind, seed: null, ...verdict(seen, of, complete) };
}

function verdict(
  seen: number,
  of: number,
  complete: boolean,
): Pick<PlayedStarts, "seen_in_training" | "because"> {
  if (seen === of) return { seen_in_training: "yes", because: `training drew from all ${of} of them` };
  if (seen > 0)
    return {
      seen_in_training: "some",
      because: `training drew from ${seen} of ${of}${complete ? "" : " at least"}`,
    };
  return complete
    ? { seen_in_training: "no", because: "the model's record of its training names none of them" }
    : { seen_in_training: "unknown", because: "the model has no complete record of its training" };
}

/** Evaluations with the same answer played the same scenes. Results of earlier versions are of stored starts. */
export function startsName(starts: unknown): string {
  const parsed = playedStarts.safeParse(starts);
  if (!parsed.success) return "stored starts";
  const { kind, seed } = parsed.data;
  return kind === "fresh" ? `fresh starts ${seed}` : `${kind} starts`;
}

/** "fresh starts 0, not seen in training (why)". */
export function startsText(starts: unknown): string {
  const parsed = playedStarts.safeParse(starts);
  if (!parsed.success) return startsName(starts);
  const { seen_in_training: seen, because } = parsed.data;
  const words = {
    yes: "seen in training",
    some: "some seen in training",
    no: "not seen in training",
    unknown: "not known whether seen in training",
  };
  return `${startsName(starts)}, ${words[seen]} (${because})`;
}
