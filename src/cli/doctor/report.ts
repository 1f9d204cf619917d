/** The doctor's findings in words: what there is, what is missing, and the command that mends it. */
import type { Extras } from "./extras.ts";
import type { Fault, Mujoco, Torch } from "./libraries.ts";
import type { Gpu, Machine } from "./machine.ts";
import type { RendererFinding } from "./renderers.ts";
import type { SetUpStep } from "./set-up-state.ts";

export interface Findings {
  readonly machine: Machine;
  readonly torch: Torch | Fault;
  readonly mujoco: Mujoco | Fault;
  readonly renderers: readonly RendererFinding[] | Fault;
  readonly setUp: readonly SetUpStep[];
  readonly extras: Extras | Fault;
}

export interface Missing {
  readonly what: string;
  readonly mend: string;
  readonly optional: boolean;
}

const isFault = (finding: object): finding is Fault => "error" in finding;

export function findMissing({ machine, torch, mujoco, renderers, setUp, extras }: Findings): Missing[] {
  const missing: Missing[] = setUp
    .filter(({ done }) => !done)
    .map(({ name, mend, optional }) => ({ what: name, mend, optional }));
  const add = (what: string, mend: string, optional = false) => missing.push({ what, mend, optional });
  if (missing.length === 0 && isFault(torch)) add(`libtorch does not open: ${torch.error}`, "npm run native");
  if (missing.length === 0 && isFault(mujoco)) add(`MuJoCo does not open: ${mujoco.error}`, "npm run native");
  if (!isFault(torch) && machine.gpus.length > 0 && torch.gpus.length === 0) {
    add("a GPU is here, but libtorch cannot use it", useGpu, true);
  }
  const draws = !isFault(renderers) && renderers.some(({ works }) => works);
  const alreadySaid = missing.some(({ what }) => what.startsWith("Mesa"));
  if (!draws && !alreadySaid && !isFault(mujoco)) add("no renderer draws", installRenderers, true);
  if (!isFault(extras) && isFault(extras.ffmpeg))
    add("no ffmpeg for videos", "node scripts/setup.mjs    (or set REVERIE_FFMPEG)", true);
  if (machine.diskFreeGiB < leastDiskGiB)
    add(`only ${machine.diskFreeGiB} GiB of disk are free`, "free some disk", true);
  return missing;
}

/** Set-up takes the CUDA build when it finds a GPU; one that came later has to be asked for. */
const useGpu =
  "REVERIE_TORCH_BUILD=cuda npm run native    (2.5 GB; or set REVERIE_TORCH to an installed CUDA build)";
const installRenderers = "apt-get install -y --no-install-recommends libegl1 libegl-mesa0 libgl1-mesa-dri";
const leastDiskGiB = 5; // a run's checkpoints and logs

export function describe(findings: Findings): string {
  const { machine, torch, mujoco, renderers } = findings;
  const rows: [label: string, text: string][] = [
    ["system", `${machine.system}, Node ${machine.node}`],
    ["processor", `${machine.cpu}, ${plural(machine.cores, "core")}`],
    ["memory", `${machine.memoryGiB} GiB, ${machine.memoryFreeGiB} GiB free`],
    ["disk", `${machine.diskFreeGiB} GiB free`],
    ["GPU", machine.gpus.map(describeGpu).join("; ") || "none"],
    ["libtorch", isFault(torch) ? `does not open: ${torch.error}` : describeTorch(torch)],
    ["MuJoCo", isFault(mujoco) ? `does not open: ${mujoco.error}` : mujoco.version],
    ...describeRenderers(renderers),
    ...describeExtras(findings.extras),
  ];
  const lines = rows.map(([label, text]) => `${label.padEnd(11)}${text}`);
  return [...lines, "", ...describeMissing(findMissing(findings))].join("\n");
}

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

const describeGpu = ({ name, memoryGiB, driver }: Gpu): string =>
  `${name}, ${memoryGiB} GiB, driver ${driver}`;

const describeTorch = ({ version, threads, gpus }: Torch): string =>
  `${version}, ${plural(threads, "thread")}, ${gpus.length > 0 ? `CUDA: ${gpus.join(", ")}` : "CPU only"}`;

function describeRenderers(renderers: Findings["renderers"]): [string, string][] {
  if (isFault(renderers)) return [["renderers", `not tried: ${renderers.error}`]];
  return renderers.map((finding, index) => [index === 0 ? "renderers" : "", describeRenderer(finding)]);
}

function describeRenderer({ backend, device, works, description, framesPerSecond }: RendererFinding): string {
  const name = backend === "egl-device" ? `${backend}:${device}` : backend;
  return works
    ? `${name}: ${framesPerSecond} frames/s at 256 × 256 (${description})`
    : `${name}: no (${description})`;
}

function describeExtras(extras: Findings["extras"]): [string, string][] {
  if (isFault(extras)) return [];
  const { ffmpeg, libero } = extras;
  return [
    ["videos", isFault(ffmpeg) ? "no ffmpeg" : `by ${ffmpeg.path}`],
    [
      "LIBERO",
      libero.files > 0
        ? `${libero.files} files in ${libero.folder}`
        : "not here; get it with: reverie fetch libero",
    ],
  ];
}

function describeMissing(missing: readonly Missing[]): string[] {
  if (missing.length === 0) return ["Nothing is missing."];
  return missing.flatMap(({ what, mend, optional }) => [
    `missing${optional ? " (the rest works without it)" : ""}: ${what}`,
    `  mend it with: ${mend}`,
  ]);
}
