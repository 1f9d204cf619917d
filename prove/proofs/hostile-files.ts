/** Files that mean harm, given to the real readers and commands, each in a process of its own with a deadline. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type HostileFile, hostileFiles } from "../hostile-files.ts";
import { Checks, type Proof } from "../proof.ts";
import { checkout, RunningCommand } from "../running-command.ts";

const deadline = 60; // seconds, of which a busy machine takes some to start
const mostMemory = 1500; // MB resident, of which libtorch alone takes 300
const heap = { NODE_OPTIONS: "--max-old-space-size=1024" }; // MB

export const proof: Proof = {
  claim: `A hostile file ends its reader with a reason, within ${deadline} s and ${mostMemory} MB, whatever it claims.`,
  goal: "every file refused in words",
  minutes: 3,
  async run(say) {
    const checks = new Checks(say);
    const folder = mkdtempSync(join(tmpdir(), "reverie-prove-hostile-"));
    try {
      // All are written first: while this process writes, it cannot watch another one's memory.
      const waiting = hostileFiles.map((file, index) => {
        const place = join(folder, String(index));
        mkdirSync(place);
        return { file, target: file.write(place) };
      });
      const lane = async (): Promise<void> => {
        for (let next = waiting.shift(); next; next = waiting.shift())
          await offer(next.file, next.target, checks);
      };
      await Promise.all([lane(), lane()]); // two cores
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
    return checks.outcome();
  },
};

async function offer(
  file: HostileFile,
  target: ReturnType<HostileFile["write"]>,
  checks: Checks,
): Promise<void> {
  const args =
    "reverie" in target
      ? [checkout("bin/reverie.mjs"), ...target.reverie]
      : ["--import", "tsx", checkout("prove/offer-file.ts"), ...target.reader];
  const command = new RunningCommand(process.execPath, args, heap);
  let peak = 0;
  const watch = setInterval(() => {
    peak = Math.max(peak, residentPeak(command.pid));
  }, 20);
  const late = setTimeout(() => command.signalGroup("SIGKILL"), deadline * 1000);
  const { by, text, seconds } = await command.ended;
  clearInterval(watch);
  clearTimeout(late);
  const held = by === 2 && file.says.test(text) && text.length < 11_000 && peak > 0 && peak < mostMemory;
  const found = `ended by ${by} after ${seconds.toFixed(1)} s, ${peak} MB, ${text.length} characters: ${text.slice(-300)}`;
  checks.check(`${file.name}: refused after ${seconds.toFixed(1)} s with ${peak} MB`, held, found);
}

/** The most that the process has had in memory, in MB. */
function residentPeak(pid: number): number {
  try {
    const kilobytes = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    return Math.round(Number(kilobytes ?? 0) / 1024);
  } catch {
    return 0; // it has ended
  }
}
