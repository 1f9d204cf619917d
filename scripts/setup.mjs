/**
 * `node scripts/setup.mjs`: makes this checkout ready to run, and does nothing when it is.
 *
 * It needs Node, Python with venv and g++, and fetches the rest: npm packages, libtorch and MuJoCo (as wheels, used
 * as native libraries), ffmpeg, Mesa's renderers, and the two addons that it compiles. Each step can tell whether it is
 * done without starting a program, so a finished set-up costs a fraction of a second; an interrupted one goes on where
 * it stopped.
 *
 *   --quiet    prints only what needs attention
 *   --native   builds the addons only, and shows the compiler's warnings
 *   --check    prints the state of each step as JSON and changes nothing
 */
import { parseArgs } from "node:util";
import { mujocoAddon, torchAddon } from "./setup/addons.mjs";
import { SetupFailure } from "./setup/failure.mjs";
import { ffmpegWheel } from "./setup/ffmpeg-wheel.mjs";
import { takeLock } from "./setup/lock.mjs";
import { mesa } from "./setup/mesa.mjs";
import { mujocoWheel } from "./setup/mujoco-wheel.mjs";
import { npmPackages } from "./setup/npm-packages.mjs";
import { Progress, stopChildren } from "./setup/progress.mjs";
import { checkNode, checkPlatform } from "./setup/requirements.mjs";
import { torchWheel } from "./setup/torch-wheel.mjs";

const steps = [npmPackages, torchWheel, mujocoWheel, ffmpegWheel, mesa, torchAddon, mujocoAddon];

async function setUp({ quiet, native }) {
  const start = Date.now();
  const progress = new Progress({ quiet });
  const chosen = native ? steps.filter((step) => step !== mesa && step !== ffmpegWheel) : steps;
  if (!native && chosen.every((step) => step.isDone())) {
    progress.note(`✓ set-up is in place (${((Date.now() - start) / 1000).toFixed(2)} s)`);
    return;
  }
  const giveBack = await takeLock(progress);
  process.on("exit", giveBack);
  for (const step of chosen) {
    const again = native && (step === torchAddon || step === mujocoAddon);
    if (!again && step.isDone()) continue; // another set-up may have done it while we waited for the lock
    const work = () =>
      progress.step(step.name, (detail) => step.run({ detail, progress, verbose: native === true }));
    await work();
    if (!step.isDone() && !step.optional) await work(); // an addon's sources were changed while it was built
    if (!step.isDone() && !step.optional) {
      throw new SetupFailure(`${step.name} is still not in place; try: ${step.mend}`);
    }
  }
  progress.note(`✓ set-up is complete (${((Date.now() - start) / 1000).toFixed(1)} s)`);
}

/** The state of every step, for `reverie doctor`. */
function check() {
  const states = steps.map((step) => {
    try {
      return {
        name: step.state?.() ?? step.name,
        done: (step.isPresent ?? step.isDone)(),
        mend: step.mend,
        optional: step.optional === true,
      };
    } catch (error) {
      if (!(error instanceof SetupFailure)) throw error;
      return { name: step.name, done: false, mend: error.message, optional: false };
    }
  });
  process.stdout.write(`${JSON.stringify(states)}\n`);
}

function stopOn(signal, code) {
  process.on(signal, () => {
    stopChildren();
    process.stderr.write("\nset-up was interrupted; run the same command again to go on where it stopped\n");
    process.exit(code);
  });
}

try {
  checkNode();
  checkPlatform();
  stopOn("SIGINT", 130);
  stopOn("SIGTERM", 143);
  const options = Object.fromEntries(["quiet", "native", "check"].map((name) => [name, { type: "boolean" }]));
  const { values } = parseArgs({ options });
  if (values.check) check();
  else await setUp(values);
} catch (error) {
  if (!(error instanceof SetupFailure) && error.code !== "ERR_PARSE_ARGS_UNKNOWN_OPTION") throw error;
  process.stderr.write(`\nset-up cannot go on: ${error.message}\n`);
  process.exit(1);
}
