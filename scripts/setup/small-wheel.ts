/** Wheels of a few bytes for set-up's tests: pip takes them for the real ones. */
import { spawnSync } from "node:child_process";

export interface SmallWheel {
  /** The wheel's file name, which says package, version and platform. */
  readonly file: string;
  /** What it unpacks, by path. */
  readonly contents: Readonly<Record<string, string>>;
  /** Further lines of its metadata: Requires-Dist, Provides-Extra. */
  readonly metadata?: readonly string[];
}

const write = `import json, sys, zipfile
wheel = json.loads(sys.argv[2])
name, version, *_, python, abi, platform = wheel["file"][:-4].split("-")
info = f"{name}-{version}.dist-info"
lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}", *wheel.get("metadata", [])]
with zipfile.ZipFile(f"{sys.argv[1]}/{wheel['file']}", "w") as z:
    for path, text in wheel["contents"].items(): z.writestr(path, text)
    z.writestr(f"{info}/METADATA", "\\n".join(lines) + "\\n")
    z.writestr(f"{info}/WHEEL", f"Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: false\\nTag: {python}-{abi}-{platform}\\n")
    z.writestr(f"{info}/RECORD", "")
`;

/** Writes the wheel into a folder. */
export function writeWheel(folder: string, wheel: SmallWheel): void {
  const python = process.env.REVERIE_PYTHON ?? "python3";
  const { status, stderr } = spawnSync(python, ["-c", write, folder, JSON.stringify(wheel)], {
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`cannot write ${wheel.file}: ${stderr}`);
}

/** The tag of the Python that set-up finds, such as cp311. */
export function pythonTag(): string {
  const python = process.env.REVERIE_PYTHON ?? "python3";
  const { stdout } = spawnSync(python, ["-c", "import sys; print('cp%d%d' % sys.version_info[:2])"], {
    encoding: "utf8",
  });
  return stdout.trim();
}
