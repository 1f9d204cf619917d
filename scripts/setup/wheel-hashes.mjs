/**
 * Whether a wheel is the very file that we mean: its SHA-256 against the list in `wheels.sha256`.
 *
 * A file that the list names must have that hash, wherever it came from. One that the list does not name is refused
 * where the list has another file for the same package, Python and processor, unless the reader's own pip settings
 * bring packages from elsewhere: those are the reader's choice. It is never taken in silence.
 */
import { createHash } from "node:crypto";
import { createReadStream, readFileSync } from "node:fs";
import { basename } from "node:path";
import { WheelRefused } from "./failure.mjs";

const listPath = new URL("./wheels.sha256", import.meta.url);

/** File name to SHA-256, as the list has them. */
export function readHashes() {
  const lines = readFileSync(listPath, "utf8").split("\n");
  const entries = lines.filter((line) => /^[0-9a-f]{64} {2}\S/.test(line)).map((line) => line.split("  "));
  return new Map(entries.map(([hash, file]) => [file, hash]));
}

/** One exact version of every listed package but torch, as lines for pip's --constraint. */
export function constraintLines() {
  const pins = [...readHashes().keys()].map(wheelParts).filter(({ name }) => name !== "torch");
  return [...new Set(pins.map(({ name, version }) => `${name.replaceAll("_", "-")}==${version}`))];
}

/** The parts of a wheel's file name; `platform` keeps the processor only. */
function wheelParts(file) {
  const parts = basename(file, ".whl").split("-");
  const [name, version] = parts;
  return { name, version, python: parts.at(-3), platform: /(x86_64|aarch64|any)$/.exec(parts.at(-1))?.[1] };
}

/**
 * Judges a downloaded wheel: returns nothing when it is the listed file, a sentence for the reader when it may be taken
 * although the list does not name it, and throws when it must not be.
 */
export async function judgeWheel(path, { hasOwnIndex, hashes = readHashes() }) {
  const file = basename(path);
  const found = await sha256(path);
  const listed = hashes.get(file);
  if (listed === found) return undefined;
  if (listed !== undefined) {
    throw new WheelRefused(
      `${file} has the SHA-256\n  ${found}, but the published file has\n  ${listed}.\n` +
        "It was damaged on its way, or it is another file under the same name; it was removed and not opened.\n" +
        "Ask another index (pip's --index-url, PIP_INDEX_URL); if it is your own build, install it yourself and set\n" +
        "REVERIE_TORCH or REVERIE_MUJOCO to its folder.",
    );
  }
  const rival = expectedInstead(file, hashes);
  const ownIndex = hasOwnIndex();
  if (rival !== undefined && !ownIndex) {
    throw new WheelRefused(
      `pip's index offers ${file}\nwhere ${rival} was expected; no hash is known for it, so it was not opened.`,
    );
  }
  const from = ownIndex
    ? "it comes from the index or folder of your own pip settings"
    : "no hash is known for it";
  return `${file} is not among the files whose hash is pinned here: ${from}.\nIt is taken as it is; its SHA-256 is ${found}`;
}

/** The listed file of the same package and version (`+cpu` counts) for the same Python and processor. */
function expectedInstead(file, hashes) {
  const { name, version, python, platform } = wheelParts(file);
  return [...hashes.keys()].find((other) => {
    const parts = wheelParts(other);
    return (
      parts.name === name &&
      parts.version === version &&
      parts.python === python &&
      parts.platform === platform
    );
  });
}

export async function sha256(path) {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path, { highWaterMark: 2 ** 20 })) hash.update(chunk);
  return hash.digest("hex");
}
