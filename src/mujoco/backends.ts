/**
 * Which renderers this machine has, and which one to use.
 *
 * The order is that of speed: EGL on a GPU, then Mesa in software. `REVERIE_GL` names one
 * ("egl-device", "egl-device:1", "egl-surfaceless", "osmesa"); MuJoCo's own MUJOCO_GL=osmesa is heard too.
 */
import { UserError } from "#registry";
import { addon, hasCode } from "./native.ts";

export const backendNames = ["egl-device", "egl-surfaceless", "osmesa"] as const;
export type Backend = (typeof backendNames)[number];

export interface BackendChoice {
  readonly backend: Backend;
  readonly device: number; // among EGL's devices; 0 for the others
}

export interface RendererReport extends BackendChoice {
  readonly works: boolean;
  /** The driver's name for what draws, or why nothing does. */
  readonly description: string;
  readonly isHardware: boolean;
}

/** Tries every backend on this machine; makes and drops one context each. */
export function listRenderers(): RendererReport[] {
  const devices = Array.from({ length: Math.max(1, eglDeviceCount()) }, (_, device) => device);
  return [
    ...devices.map((device) => report({ backend: "egl-device", device })),
    report({ backend: "egl-surfaceless", device: 0 }),
    report({ backend: "osmesa", device: 0 }),
  ];
}

let chosen: BackendChoice | undefined;

/** The backend for this thread: named by the environment, else the first hardware one, else the first that works. */
export function chooseBackend(): BackendChoice {
  chosen ??= namedBackend(process.env.REVERIE_GL ?? process.env.MUJOCO_GL) ?? bestBackend();
  return chosen;
}

function bestBackend(): BackendChoice {
  const reports: RendererReport[] = [];
  for (let device = 0; device < eglDeviceCount(); device++) {
    reports.push(report({ backend: "egl-device", device }));
    if (reports.at(-1)!.works && reports.at(-1)!.isHardware) return reports.at(-1)!;
  }
  // Software: Mesa without devices first, since it needs the least.
  for (const backend of ["egl-surfaceless", "osmesa"] as const) {
    reports.push(report({ backend, device: 0 }));
    if (reports.at(-1)!.works) return reports.at(-1)!;
  }
  const working = reports.find((candidate) => candidate.works);
  if (working) return working;
  const reasons = reports.map(({ backend, description }) => `${backend}: ${description}`).join("; ");
  throw new UserError(
    `nothing on this machine can draw (${reasons}); on Debian or Ubuntu run \`apt-get install libegl1 libgl1-mesa-dri libosmesa6\``,
  );
}

function namedBackend(text: string | undefined): BackendChoice | undefined {
  if (!text || text === "egl") return undefined;
  const [name, device = "0"] = text.split(":");
  const backend = backendNames.find((candidate) => candidate === name);
  if (backend && /^\d+$/.test(device)) return { backend, device: Number(device) };
  throw new UserError(
    `REVERIE_GL is "${text}"; it can be ${backendNames.join(", ")}, or egl-device:N for EGL's N-th device`,
  );
}

function report(choice: BackendChoice): RendererReport {
  try {
    const description = addon().probeRenderer(choice.backend, choice.device);
    return {
      ...choice,
      works: true,
      description,
      isHardware: !/llvmpipe|softpipe|swrast/i.test(description),
    };
  } catch (error) {
    if (!hasCode(error, "GL")) throw error;
    return { ...choice, works: false, description: error.message, isHardware: false };
  }
}

function eglDeviceCount(): number {
  try {
    return addon().countDevices();
  } catch (error) {
    if (hasCode(error, "GL")) return 0;
    throw error;
  }
}
