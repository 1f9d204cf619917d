/**
 * How long an imagined episode may last: a world that was measured drifts further from the truth with every chunk, and what it says
 * beyond some point is worth nothing. The limit is written down, or read from the world's own truth report.
 */
import { existsSync } from "node:fs";
import { z } from "zod";
import { readJsonFile } from "#formats";
import { UserError } from "#registry";
import type { LearnedEnvSettings } from "./settings.ts";

type Limits = Pick<LearnedEnvSettings, "max_episode_steps" | "horizon_chunks" | "horizon_max_drift">;

/** What `reverie world evaluate` writes, as far as it is needed here. */
const reportSchema = z.looseObject({
  frames: z.array(z.looseObject({ frame: z.int().positive(), drift: z.number().nullable() })),
});

/** Actions after which an imagined episode is cut off. `report` is read only where drift decides. */
export function imaginedHorizon(limits: Limits, chunk: number, report: string | undefined): number {
  const { max_episode_steps: longest, horizon_chunks: chunks, horizon_max_drift: drift } = limits;
  return Math.min(
    longest,
    chunks ? chunks * chunk : longest,
    drift ? chunk * chunksWithin(drift, chunk, report) : longest,
  );
}

/** Whole chunks whose frames all stay within the drift; one at least. */
function chunksWithin(drift: number, chunk: number, path: string | undefined): number {
  if (path === undefined || !existsSync(path)) {
    throw new UserError(
      `horizon_max_drift needs the world's truth report, and there is ${path === undefined ? "no folder to look in" : `no ${path}`}: ` +
        "make it with reverie world evaluate, or name it in truth_report",
    );
  }
  const parsed = reportSchema.safeParse(readJsonFile(path));
  if (!parsed.success || parsed.data.frames.some((row) => row.drift === null)) {
    throw new UserError(`${path} says nothing of latent drift: set horizon_chunks instead`);
  }
  const beyond = parsed.data.frames.filter((row) => (row.drift ?? 0) > drift).map(({ frame }) => frame);
  const first = Math.min(...beyond, Number.POSITIVE_INFINITY); // frames count from 1
  const last = Math.max(...parsed.data.frames.map(({ frame }) => frame));
  return Math.max(1, Math.floor(Math.min(first - 1, last) / chunk));
}
