/** The bare machine: processor, memory, disk and NVIDIA GPUs, as the operating system tells them. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, statfsSync } from "node:fs";
import { availableParallelism, cpus, release, totalmem } from "node:os";

export interface Gpu {
  readonly name: string;
  readonly memoryGiB: number;
  readonly driver: string;
}

export interface Machine {
  readonly system: string;
  readonly node: string;
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly memoryFreeGiB: number;
  readonly diskFreeGiB: number;
  readonly gpus: readonly Gpu[];
}

const gib = (bytes: number): number => Math.round((bytes / 2 ** 30) * 10) / 10;

export function examineMachine(folder: string): Machine {
  const disk = statfsSync(folder);
  return {
    system: `${distribution()}, Linux ${release()}`,
    node: process.versions.node,
    cpu: cpus()[0]?.model.trim() || process.arch,
    cores: availableParallelism(),
    memoryGiB: gib(Math.min(totalmem(), containerLimit())),
    memoryFreeGiB: gib(freeMemory()),
    diskFreeGiB: gib(disk.bavail * disk.bsize),
    gpus: findGpus(),
  };
}

function distribution(): string {
  const text = existsSync("/etc/os-release") ? readFileSync("/etc/os-release", "utf8") : "";
  return /^PRETTY_NAME="?([^"\n]*)/m.exec(text)?.[1] ?? "an unnamed distribution";
}

/** What a container may use (cgroup v2); without a limit, no bound. */
function containerLimit(): number {
  const path = "/sys/fs/cgroup/memory.max";
  const bytes = existsSync(path) ? Number(readFileSync(path, "utf8")) : Number.NaN;
  return Number.isFinite(bytes) ? bytes : Number.POSITIVE_INFINITY;
}

/** Memory that programs can still get, caches included; `os.freemem` on some systems leaves caches out. */
function freeMemory(): number {
  const kilobytes = /^MemAvailable:\s+(\d+)/m.exec(readFileSync("/proc/meminfo", "utf8"))?.[1];
  return Number(kilobytes ?? 0) * 1024;
}

function findGpus(): Gpu[] {
  const query = ["--query-gpu=name,memory.total,driver_version", "--format=csv,noheader,nounits"];
  try {
    const output = execFileSync("nvidia-smi", query, { encoding: "utf8", timeout: 20_000, stdio: "pipe" });
    return output.trim().split("\n").filter(Boolean).map(readGpu);
  } catch {
    return []; // no driver, or one that does not answer: torch will say which
  }
}

export function readGpu(line: string): Gpu {
  const [name = "", megabytes = "", driver = ""] = line.split(",").map((part) => part.trim());
  return { name, memoryGiB: gib(Number(megabytes) * 2 ** 20), driver };
}
