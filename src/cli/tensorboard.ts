/**
 * `tensorboard [FOLDER]`: shows the curves that runs wrote, with TensorBoard's own page, on this machine only.
 *
 * TensorBoard is a Python program that nothing else needs, so it is fetched when it is first asked for: with the set-up's Python, into a
 * folder of its own under `.deps/`, put in place whole. pip takes only the files whose SHA-256 `tensorboard-wheels.txt` has.
 */
import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { setUpFolder, UserError } from "#registry";
import type { Command } from "./command.ts";

const deps = join(setUpFolder(), ".deps");
const python = join(deps, "venv", "bin", "python");
/** Every package that is taken, with the hashes of its files. */
const wheels = fileURLToPath(new URL("./tensorboard-wheels.txt", import.meta.url));
/** Named after the list, so that other files get another folder. */
const library = join(
  deps,
  `tensorboard-${createHash("sha256").update(readFileSync(wheels)).digest("hex").slice(0, 12)}`,
);
const installMinutes = 15;

const options = { port: { type: "string", default: "6006" } } as const;

export const tensorboardCommand: Command = {
  options,
  usage: "tensorboard [FOLDER] [--port N]",
  details: `Shows the curves of all runs below FOLDER (default logs) at http://127.0.0.1:6006, until Ctrl-C. The first call fetches TensorBoard (about 60 MB).

  --port N          another port than 6006

  reverie tensorboard
  reverie tensorboard logs/<run> --port 6007`,

  async run(argv) {
    const { values, positionals } = parseArgs({ args: argv, allowPositionals: true, options });
    const [folder = "logs", ...more] = positionals;
    if (more.length > 0) throw new UserError(`one folder at a time; usage: reverie ${this.usage}`);
    if (!existsSync(folder) || !statSync(folder).isDirectory())
      throw new UserError(
        `there is no folder ${folder}; runs write theirs below logs/: name the folder of one`,
      );
    const port = await freePort(values.port);
    if (!existsSync(library)) await installTensorBoard(library);
    const args = [
      "-m",
      "tensorboard.main",
      "--logdir",
      folder,
      "--host",
      "127.0.0.1",
      "--port",
      String(port),
    ];
    const code = await outcome(python, args, { PYTHONPATH: library, PYTHONWARNINGS: "ignore" });
    if (code !== 0) throw new UserError(`TensorBoard ended with code ${code}; what it said stands above`);
  },
};

/** A port that can be listened on, on loopback. */
async function freePort(text: string): Promise<number> {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port < 1 || port > 65535)
    throw new UserError(`--port takes a whole number from 1 to 65535, not "${text}"`);
  const server = createServer();
  await new Promise<void>((ready, failed) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const why = error.code === "EACCES" ? "needs root" : "is taken by another program";
      failed(new UserError(`port ${port} ${why}; give another with --port`));
    });
    server.listen(port, "127.0.0.1", ready);
  });
  await new Promise<void>((closed) => server.close(() => closed()));
  return port;
}

/** Puts the listed files, and no others, into a folder that appears whole. */
export async function installTensorBoard(folder: string): Promise<void> {
  if (!existsSync(python))
    throw new UserError(
      "TensorBoard is fetched with the set-up's Python, which is not here: run npm test once",
    );
  console.log(`fetching TensorBoard into ${folder}, once`);
  const growing = `${folder}.part`;
  rmSync(growing, { recursive: true, force: true });
  const quiet = ["--disable-pip-version-check", "--no-input", "--quiet"];
  const exact = ["--require-hashes", "--only-binary", ":all:", "--requirement", wheels];
  const args = ["-m", "pip", "install", ...quiet, ...exact, "--target", growing];
  const limits = { timeout: installMinutes * 60_000, maxBuffer: 64e6 };
  try {
    await promisify(execFile)(python, args, limits); // pip also complains of what is none of its business here
  } catch (error) {
    const { stderr = "", message } = error as { readonly stderr?: string; readonly message: string };
    const said = stderr.slice(Math.max(0, stderr.search(/^ERROR: /m))).trim();
    throw new UserError(`pip could not fetch TensorBoard as listed in ${wheels}: ${said || message}`);
  }
  renameSync(growing, folder);
}

/** The exit code of a program that talks to this terminal. Ctrl-C reaches it too, and is its regular end. */
function outcome(
  program: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<number> {
  const env = { ...process.env, ...environment };
  const child = spawn(program, args, { stdio: "inherit", env });
  let asked = false;
  const pass = (signal: NodeJS.Signals): void => {
    asked = true;
    child.kill(signal);
  };
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const signal of signals) process.on(signal, pass);
  return new Promise<number>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve(asked ? 0 : (code ?? 1)));
  }).finally(() => {
    for (const signal of signals) process.off(signal, pass);
  });
}
