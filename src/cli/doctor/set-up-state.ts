/** What the set-up script would still have to do, asked from itself so that the two never disagree. */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

export interface SetUpStep {
  readonly name: string;
  readonly done: boolean;
  /** The command that does it. */
  readonly mend: string;
  /** True when the rest works without it. */
  readonly optional: boolean;
}

const script = fileURLToPath(new URL("../../../scripts/setup.mjs", import.meta.url));

export function examineSetUp(): SetUpStep[] {
  const output = execFileSync(process.execPath, [script, "--check"], { encoding: "utf8", timeout: 60_000 });
  return JSON.parse(output) as SetUpStep[];
}
