/**
 * One line per step with its elapsed seconds, and the output of a program only when it fails.
 *
 * On a terminal the running line is redrawn; in a log a step that takes long says every 15 s that it lives.
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { SetupFailure } from "./failure.mjs";

const linesOfOutput = 40;

export class Progress {
  #quiet;
  #terminal = process.stderr.isTTY === true;

  constructor({ quiet = false } = {}) {
    this.#quiet = quiet;
  }

  /** Runs one step under its name; `work` gets a function that replaces the step's detail text. */
  async step(name, work) {
    const start = Date.now();
    const seconds = () => `${((Date.now() - start) / 1000).toFixed(1)} s`;
    let detail = "";
    const beat = setInterval(
      () => this.#alive(`… ${name}${detail && `: ${detail}`} (${seconds()})`),
      this.#terminal ? 200 : 15_000,
    );
    if (!this.#terminal) this.#line(`… ${name}`);
    try {
      const result = await work((text) => {
        detail = text;
      });
      this.#final(`✓ ${name}${result ? `: ${result}` : ""} (${seconds()})`);
    } catch (error) {
      this.#final(`✗ ${name} (${seconds()})`);
      throw error;
    } finally {
      clearInterval(beat);
    }
  }

  /** A remark that stays on the screen even in quiet mode: something the reader should do. */
  advise(text) {
    process.stderr.write(`  ! ${text.replaceAll("\n", "\n    ")}\n`);
  }

  note(text) {
    this.#line(text);
  }

  #alive(text) {
    if (this.#quiet) return;
    if (this.#terminal)
      process.stderr.write(`\r\x1b[2K${text.slice(0, (process.stderr.columns ?? 100) - 1)}`);
    else this.#line(text);
  }

  #final(text) {
    if (this.#terminal && !this.#quiet) process.stderr.write("\r\x1b[2K");
    this.#line(text);
  }

  #line(text) {
    if (!this.#quiet) process.stderr.write(`${text}\n`);
  }
}

const children = new Set();

/** Ends the programs that are still running: set-up was told to stop. */
export function stopChildren() {
  for (const child of children) child.kill("SIGTERM");
}

/** Runs a program without a shell and returns its output; throws with the output's end when it fails. */
export function runProgram(program, args, options = {}) {
  const { cwd, env, onLine, timeout } = options;
  const [command, commandArgs] = boundToUs(program, args);
  return new Promise((resolve, reject) => {
    const child = spawn(command, commandArgs, { cwd, env, timeout, stdio: ["ignore", "pipe", "pipe"] });
    children.add(child);
    let output = "";
    const take = (chunk) => {
      output += chunk;
      onLine?.(String(chunk).trim().split("\n").at(-1) ?? "");
    };
    child.stdout.on("data", take);
    child.stderr.on("data", take);
    child.on("error", (error) => {
      children.delete(child);
      reject(new SetupFailure(`could not run ${program}: ${error.message}`));
    });
    child.on("close", (code, signal) => {
      children.delete(child);
      if (code === 0) resolve(output);
      else reject(failed(program, args, { code, signal, output }));
    });
  });
}

const setpriv = "/usr/bin/setpriv"; // part of util-linux, which Debian and Ubuntu always have

/**
 * Lets the kernel end the program when we are killed outright: an npm that lives on would fight the npm of the next
 * set-up over the same folder.
 */
function boundToUs(program, args) {
  return existsSync(setpriv) ? [setpriv, ["--pdeathsig", "KILL", program, ...args]] : [program, args];
}

function failed(program, args, { code, signal, output }) {
  const end = output.trimEnd().split("\n").slice(-linesOfOutput).join("\n");
  const how = signal ? `was stopped by ${signal}` : `ended with exit code ${code}`;
  return new SetupFailure(`${program} ${args.join(" ")}\n${how}. The end of its output:\n\n${end}`);
}
