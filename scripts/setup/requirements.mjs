/**
 * What the machine must bring: Node, Python with venv, and g++; each refused with the command that mends it.
 *
 * Python and g++ are asked only when a step needs them, so that a finished set-up starts no program at all.
 */
import { spawnSync } from "node:child_process";
import { SetupFailure } from "./failure.mjs";

const oldest = { node: [20, 19], python: [3, 10], compiler: [11, 0] };

const atLeast = ([major, minor], [wantMajor, wantMinor]) =>
  major > wantMajor || (major === wantMajor && minor >= wantMinor);

export function checkNode() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (atLeast([major, minor], oldest.node)) return;
  throw new SetupFailure(
    `Node ${oldest.node.join(".")} or newer is needed; this is ${process.versions.node}. Install it from nodejs.org.`,
  );
}

export function checkPlatform() {
  if (process.platform === "linux") return;
  throw new SetupFailure(`Linux is needed (the native parts are built for it); this is ${process.platform}.`);
}

/** The first Python that is new enough and can make virtual environments. */
export function findPython() {
  const candidates = ["python3", "python3.13", "python3.12", "python3.11", "python3.10"];
  const asked = process.env.REVERIE_PYTHON ? [process.env.REVERIE_PYTHON] : candidates;
  const found = [];
  for (const program of asked) {
    const python = askPython(program);
    if (!python) continue;
    if (atLeast(python.version, oldest.python) && python.venv) return program;
    found.push(`${program} is ${python.version.join(".")}${python.venv ? "" : " without venv"}`);
  }
  throw new SetupFailure(
    `Python ${oldest.python.join(".")} or newer with venv is needed to fetch libtorch and MuJoCo; ` +
      `found: ${found.join(", ") || "none"}.\nOn Debian or Ubuntu run: apt-get install -y python3 python3-venv\n` +
      "or set REVERIE_PYTHON to another Python.",
  );
}

function askPython(program) {
  const question = `import sys, importlib.util as u; print(*sys.version_info[:2], *map(lambda m: int(bool(u.find_spec(m))), ("venv", "ensurepip")))`;
  const answer = spawnSync(program, ["-c", question], { encoding: "utf8", timeout: 20_000 });
  if (answer.status !== 0) return undefined;
  const [major, minor, hasVenv, hasPip] = answer.stdout.trim().split(" ").map(Number);
  return { version: [major, minor], venv: hasVenv === 1 && hasPip === 1 };
}

/** The C++ compiler's name: $CXX, else g++. */
export function findCompiler() {
  const program = process.env.CXX || "g++";
  const answer = spawnSync(program, ["-dumpfullversion", "-dumpversion"], {
    encoding: "utf8",
    timeout: 20_000,
  });
  const [major = 0, minor = 0] = answer.status === 0 ? answer.stdout.trim().split(".").map(Number) : [];
  if (atLeast([major, minor], oldest.compiler)) return program;
  const found = answer.status === 0 ? `${program} is ${answer.stdout.trim()}` : `there is no ${program}`;
  throw new SetupFailure(
    `g++ ${oldest.compiler[0]} or newer is needed to build the native parts; ${found}.\n` +
      "On Debian or Ubuntu run: apt-get install -y g++    (or set CXX to another C++20 compiler)",
  );
}

/** Whether an NVIDIA driver answers; asked only before torch is fetched, since it can take a second. */
export function hasNvidiaGpu() {
  const answer = spawnSync("nvidia-smi", ["-L"], { encoding: "utf8", timeout: 20_000 });
  return answer.status === 0 && /^GPU \d/m.test(answer.stdout);
}
