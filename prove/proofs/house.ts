/** The rules of the house hold, and its numbers stand beside those from before the rebuild of 2026-11. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { type HouseMeasures, measureHouse } from "../../test/house/measures.ts";
import { Checks, type Outcome, type Proof } from "../proof.ts";
import { checkout } from "../running-command.ts";

interface Room {
  readonly room: string;
  readonly files: number;
  readonly lines: number;
  readonly door: number;
  readonly idle: number;
  readonly circles: number;
}
interface Before extends Omit<HouseMeasures, "rooms"> {
  readonly rooms: readonly Room[];
}

/** Fewer than before, or as few. */
const sums = ["idle", "circles"] as const;

export const proof: Proof = {
  claim: "the rules of the house hold, and no room has outgrown itself",
  goal: "all checks hold",
  minutes: 1,

  async run(say): Promise<Outcome> {
    process.chdir(checkout("."));
    const checks = new Checks(say);
    const tests = ["test/house.test.ts", "test/drawings.test.ts", "test/documents.test.ts"];
    const { status, stdout } = spawnSync(process.execPath, ["--import", "tsx", "--test", ...tests], {
      encoding: "utf8",
      timeout: 240_000,
    });
    checks.check("the tests of the house pass", status === 0, stdout.slice(-2000));
    const before = JSON.parse(readFileSync("prove/recorded/house-before.json", "utf8")) as Before;
    const house = measureHouse();
    const now: Room[] = house.rooms.map((room) => ({
      ...room,
      idle: room.idle.length,
      circles: room.circles.length,
    }));
    tell(before.rooms, now, say);
    for (const sum of sums) {
      const [then, today] = [total(before.rooms, sum), total(now, sum)];
      checks.check(`${sum}: ${today}, before ${then}`, today === 0);
    }
    const largest = (rooms: readonly Room[]): number => Math.max(...rooms.map(({ files }) => files));
    checks.check(
      `files of the largest room: ${largest(now)}, before ${largest(before.rooms)}`,
      largest(now) <= largest(before.rooms) / 1.5,
    );
    checks.check(
      `lines of the median file: ${house.medianFile}, before ${before.medianFile}`,
      house.medianFile <= 100,
    );
    checks.check(
      `lines of the largest file: ${house.largestFile}, before ${before.largestFile}`,
      house.largestFile <= 400,
    );
    return checks.outcome();
  },
};

const total = (rooms: readonly Room[], what: "idle" | "circles" | "files" | "lines"): number =>
  rooms.reduce((sum, room) => sum + room[what], 0);

function tell(before: readonly Room[], now: readonly Room[], say: (line: string) => void): void {
  say("room              files (before)   lines (before)   door (before)");
  const names = [...new Set([...now, ...before].map(({ room }) => room))].sort();
  for (const name of names) {
    const [then, today] = [before, now].map((rooms) => rooms.find(({ room }) => room === name));
    const pair = (what: "files" | "lines" | "door"): string =>
      `${today?.[what] ?? "–"} (${then?.[what] ?? "–"})`.padEnd(17);
    say(`${name.padEnd(17)} ${pair("files")}${pair("lines")}${pair("door")}`.trimEnd());
  }
  const all = (what: "files" | "lines"): string => `${total(now, what)} (${total(before, what)})`.padEnd(17);
  say(`all               ${all("files")}${all("lines")}`.trimEnd());
}
