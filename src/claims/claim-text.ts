/** What a claim found, as a page: success of every run with intervals, how it differs from the start, and whether the goal is reached. */
import { counted } from "#metrics";
import { formatP } from "#training";
import { isControl } from "./claim-file.ts";
import { type ArmResult, type ClaimResults, rateOfEvaluation } from "./claim-results.ts";
import { roundsTable } from "./told-rounds.ts";
import { againstBase, compareArms, pointsText, verdictOf } from "./verdict.ts";

export function claimText(results: ClaimResults): string {
  const { name, question } = results.claim;
  const withRounds = results.arms.filter(({ rounds }) => rounds.length > 0);
  const told = withRounds.map((arm) => ({ label: labelOf(arm), rounds: arm.rounds }));
  return `${[
    `# ${name}`,
    question,
    successTable(results),
    ...section("Against the start", differences(results)),
    ...section("Against the true run of the same seed", comparisons(results)),
    ...section("Rounds of co-evolution", told.length > 0 ? [roundsTable(told)] : []),
    ...section("Goal", goalLines(results)),
    ...section("Notes", notes(results)),
    madeWith(results),
  ].join("\n\n")}\n`;
}

const section = (title: string, lines: readonly string[]): string[] =>
  lines.length > 0 ? [`## ${title}`, lines.join("\n")] : [];

const labelOf = ({ name, kind, seed, curve }: ArmResult): string => {
  if (kind === "base") return "before";
  const what = kind === name || kind === "true" ? "" : ` (${kind.replaceAll("_", " ")})`;
  return `${name}${what}, seed ${seed}, ${counted(curve.length, "step")}`;
};

/** "76.7 (73.8–79.3)", in percent. */
function successTable({ claim, arms }: ClaimResults): string {
  const find = (arm: ArmResult, name: string) => arm.evaluations.find((each) => each.name === name);
  const head = claim.evaluations.map((name) => {
    const any = arms.map((arm) => find(arm, name)).find(Boolean);
    return any
      ? `${name}: ${any.starts}, ${any.sampling === "sample" ? "sampled" : "greedy"} (${rateOfEvaluation(any).episodes})`
      : name;
  });
  const rows = arms.map((arm) => {
    const cells = claim.evaluations.map((name) => {
      const one = find(arm, name);
      if (!one) return "not measured";
      const { success, low, high } = rateOfEvaluation(one);
      const [middle, from, to] = [success, low, high].map((share) => (100 * share).toFixed(1));
      return `${middle} (${from}–${to})`;
    });
    return `| ${[labelOf(arm), ...cells].join(" | ")} |`;
  });
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [
    "Success in percent, with 95 % intervals:\n",
    line(["run", ...head]),
    line(["run", ...head].map(() => "---")),
    ...rows,
  ].join("\n");
}

const differenceHead = [
  "| run | evaluation | difference in points (95 % interval) | starts gained, lost | exact McNemar p |",
  "| --- | --- | --- | --- | --- |",
];

function differences(results: ClaimResults): string[] {
  const rows = results.arms
    .filter(({ kind }) => kind !== "base")
    .flatMap((arm) => differenceRows(results, arm, (evaluation) => againstBase(results, arm, evaluation)));
  return rows.length > 0 ? [...differenceHead, ...rows] : [];
}

/** Of arms that may be as good as the true run, or better. */
function comparisons(results: ClaimResults): string[] {
  const others = results.arms.filter(({ kind }) => !["base", "true"].includes(kind) && !isControl(kind));
  const rows = others.flatMap((arm) => {
    const own = results.arms.find(({ kind, seed }) => kind === "true" && seed === arm.seed);
    return own ? differenceRows(results, arm, (evaluation) => compareArms(own, arm, evaluation)) : [];
  });
  return rows.length > 0 ? [...differenceHead, ...rows] : [];
}

function differenceRows(
  { claim }: ClaimResults,
  arm: ArmResult,
  compare: (evaluation: string) => ReturnType<typeof compareArms>,
): string[] {
  return claim.evaluations.flatMap((evaluation) => {
    const found = compare(evaluation);
    if (!found) return [];
    const { difference, gained, lost, p } = found;
    const [change, low, high] = [difference.change, difference.low, difference.high].map(pointsText);
    return [
      `| ${labelOf(arm)} | ${evaluation} | ${change} (${low} to ${high}) | ${gained}, ${lost} | ${formatP(p)} |`,
    ];
  });
}

function goalLines(results: ClaimResults): string[] {
  const findings = verdictOf(results);
  if (findings.length === 0) return [];
  const lines = findings.map(({ met, text }) => `- ${met ? "reached" : "**missed**"}: ${text}`);
  return [
    ...lines,
    "",
    findings.every(({ met }) => met) ? "The goal is reached." : "**The goal is missed.**",
  ];
}

const notes = ({ arms }: ClaimResults): string[] =>
  arms.flatMap((arm) => (arm.notes ?? []).map((note) => `- ${labelOf(arm)}: ${note}`));

/** The machines and versions that evaluated. */
function madeWith({ arms, claim }: ClaimResults): string {
  const all = arms.flatMap(({ evaluations }) => evaluations.map(({ versions }) => versions));
  const made = all.map((versions) =>
    Object.entries(versions)
      .map(([name, version]) => `${name} ${version}`)
      .join(", "),
  );
  return `${[claim.config, ...new Set(made)].join("; ")}. Every command and every episode: \`claim.json\`.`;
}
