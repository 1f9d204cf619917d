/** A command of this checkout as a user runs it in a terminal: a process group of its own, what it says, and all it started. */
import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export const checkout = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));

export interface Ended {
  /** Exit code, or the signal that ended it. */
  readonly by: number | NodeJS.Signals | null;
  readonly text: string;
  readonly seconds: number;
}

export class RunningCommand {
  readonly #child: ChildProcess;
  readonly #began = performance.now();
  readonly ended: Promise<Ended>;
  #over = false;
  text = "";

  constructor(program: string, args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
    this.#child = spawn(program, args, {
      cwd: checkout("."),
      detached: true, // a group of its own, as a shell gives to what it starts
      env: { ...process.env, OMP_NUM_THREADS: "1", ...environment },
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.on("data", (piece: Buffer) => {
        this.text += piece.toString();
      });
    this.ended = new Promise((resolve) =>
      this.#child.on("close", (code, signal) => {
        this.#over = true;
        resolve({ by: code ?? signal, text: this.text, seconds: (performance.now() - this.#began) / 1000 });
      }),
    );
  }

  static reverie(...args: readonly string[]): RunningCommand {
    return new RunningCommand(process.execPath, [checkout("bin/reverie.mjs"), ...args]);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get isOver(): boolean {
    return this.#over;
  }

  /** To the process alone; `signalGroup` is what Ctrl-C and a closed terminal do. */
  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  signalGroup(name: NodeJS.Signals): void {
    process.kill(-this.pid, name);
  }

  /** Waits until `holds` of what it has said; false when it ended or `seconds` passed before. */
  async until(holds: (text: string) => boolean, seconds = 120): Promise<boolean> {
    const last = performance.now() + 1000 * seconds;
    while (!holds(this.text)) {
      if (this.#over || performance.now() > last) return holds(this.text);
      await new Promise((resume) => setTimeout(resume, 50));
    }
    return true;
  }

  /** Its end, or undefined when it is still running after so many seconds. */
  endedWithin(seconds: number): Promise<Ended | undefined> {
    const late = new Promise<undefined>((resolve) => setTimeout(resolve, 1000 * seconds, undefined).unref());
    return Promise.race([this.ended, late]);
  }

  /** For a check that was missed: nothing of it may stay. */
  destroy(): void {
    for (const pid of [...descendants(this.pid), this.pid]) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {} // gone already
    }
  }
}

/** All processes below this one. */
export function descendants(root: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync("/proc").filter((entry) => /^\d+$/.test(entry))) {
    const parent = parentOf(Number(name));
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const below = (pid: number): number[] =>
    (children.get(pid) ?? []).flatMap((child) => [child, ...below(child)]);
  return below(root);
}

function parentOf(pid: number): number | undefined {
  try {
    const [, after = ""] = /\) (.*)$/s.exec(readFileSync(`/proc/${pid}/stat`, "utf8")) ?? [];
    return Number(after.split(" ")[1]);
  } catch {
    return undefined; // ended meanwhile
  }
}

export function isAlive(pid: number): boolean {
  try {
    const [, state] = /\) (\S)/.exec(readFileSync(`/proc/${pid}/stat`, "utf8")) ?? [];
    return state !== "Z"; // ended, and not yet asked after
  } catch {
    return false;
  }
}
