/**
 * `npm run parity -- <libero|policies|worlds> DIR [--assets DIR] [--device D] [--dtype T] [--json]`: ours against recordings of the reference.
 *
 * Prints one line per case, or with --json one object with all of them. Exit code 1 when a case fails, 2 when
 * the question itself is wrong.
 */
import { existsSync } from "node:fs";
import { parseArgs } from "node:util";
import { UserError } from "#registry";
import type { Device, DType } from "#tensor";
import type { ParityCase } from "./parity-case.ts";

export type { ParityCase };

export interface ParityOptions {
  /** Where the simulator's assets are; only LIBERO needs them. */
  readonly assets?: string;
  /** Where and in what precision networks run; policies only. Tolerances follow. */
  readonly device?: Device;
  readonly dtype?: DType;
  /** Called with each case as soon as it is known. */
  readonly say?: (found: ParityCase) => void;
}

type Run = (dir: string, options: ParityOptions) => Promise<readonly ParityCase[]>;

const kinds: Readonly<Record<string, Run>> = {
  libero: async (dir, options) => (await import("./libero.ts")).run(dir, options),
  policies: async (dir, options) => (await import("./policies.ts")).run(dir, options),
  worlds: async (dir) => (await import("./worlds.ts")).run(dir),
};

const usage = `usage: npm run parity -- <${Object.keys(kinds).join("|")}> DIR [--assets DIR] [--device cpu|cuda] [--dtype float32|bfloat16] [--json]`;

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        json: { type: "boolean", default: false },
        assets: { type: "string" },
        device: { type: "string", default: "cpu" },
        dtype: { type: "string", default: "float32" },
      },
    });
  } catch (error) {
    throw new UserError(`${(error as Error).message}\n${usage}`);
  }
}

async function main(): Promise<void> {
  const { values, positionals } = readArguments();
  const [kind = "", dir, ...extra] = positionals;
  const run = Object.hasOwn(kinds, kind) ? kinds[kind] : undefined;
  if (!run || dir === undefined || extra.length > 0) throw new UserError(usage);
  const printed = new Set<ParityCase>();
  const say = (found: ParityCase) => {
    printed.add(found);
    if (!values.json) console.log(lineOf(found));
  };
  if (!/^(cpu|cuda(:\d+)?)$/.test(values.device) || !/^(float32|bfloat16)$/.test(values.dtype))
    throw new UserError(usage);
  if (!existsSync(dir)) throw new UserError(`there is no folder ${dir}`);
  const place = { device: values.device as Device, dtype: values.dtype as DType };
  const cases = await run(dir, {
    say,
    ...place,
    ...(values.assets !== undefined && { assets: values.assets }),
  });
  for (const found of cases) if (!printed.has(found)) say(found);
  const failed = cases.filter(({ ok }) => !ok).length;
  const passed = cases.length - failed;
  if (values.json) console.log(JSON.stringify({ passed, failed, cases }, null, 2));
  else console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
}

const lineOf = ({ ok, name, worst, tolerance }: ParityCase): string =>
  `${ok ? "ok  " : "FAIL"} ${name}: ${short(worst)} (allowed ${short(tolerance)})`;

const short = (value: number): string => (Number.isInteger(value) ? String(value) : value.toExponential(1));

try {
  await main();
} catch (error) {
  if (!(error instanceof UserError)) throw error;
  console.error(error.message);
  process.exitCode = 2;
}
