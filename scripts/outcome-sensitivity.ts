/**
 * How precisely must a world know where things are? Plays recorded episodes again in the simulator, the same actions from the same
 * start, but with every movable thing shifted by a few random millimeters, and counts how often the outcome is the same.
 *
 *   node --import tsx scripts/outcome-sensitivity.ts RECORDING [--millimeters 0,0.5,1,2,4,8] [--episodes 400] [--seed 0]
 *
 * A world that sees 64 × 64 pixels knows a place to a part of a pixel; the row of that many millimeters is what agreement can be
 * expected of it, however well it has learned.
 */

import { parseArgs } from "node:util";
import { Mt19937 } from "#random";
import { openDemonstrations, ScenePlayer } from "#recordings";
import { Generator, randn, type Tensor } from "#tensor";
import { percent, successRate } from "#training";
import { wholeNumber } from "../src/cli/option-values.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    millimeters: { type: "string", default: "0,0.5,1,2,4,8" },
    episodes: { type: "string", default: "400" },
    seed: { type: "string", default: "0" },
  },
});
const [folder] = positionals;
const shifts = values.millimeters.split(",").map(Number);
if (!folder || shifts.some((shift) => !(shift >= 0))) {
  console.error(
    "expected a folder of `reverie world collect`, and --millimeters as numbers from 0 up, such as 0,1,2",
  );
  process.exit(2);
}
const set = openDemonstrations(folder);
const episodes = set.episodes.slice(0, wholeNumber("--episodes", values.episodes));
const player = new ScenePlayer(set.info.suite, set.info.width);
const freeJoint = 0; // MuJoCo's mjJNT_FREE

/** Success within the recorded actions, from a start whose movable things were shifted by a normal number of this spread. */
function outcome(episode: (typeof episodes)[number], meters: number, random: Generator): boolean {
  const scene = player.open(episode.task);
  scene.begin(episode, new Mt19937(episode.seed));
  const { simulation } = scene.world;
  const kinds = simulation.model.array("jnt_type");
  const places = simulation.model.array("jnt_qposadr");
  const state = [simulation.time, ...simulation.qpos, ...simulation.qvel];
  for (const [joint, kind] of kinds.entries()) {
    if (kind !== freeJoint || meters === 0) continue;
    const shift = randn([2], { generator: random }).mul(meters).toArray().map(Number);
    for (const axis of [0, 1]) state[1 + places[joint]! + axis]! += shift[axis]!;
  }
  if (meters > 0) scene.world.setState(state);
  const actions = set.shards[episode.shard]!.get("actions") as Tensor;
  const rows = actions.narrow(0, episode.firstFrame, episode.length).contiguous().data() as Float32Array;
  const width = actions.shape[1]!;
  let success = false;
  for (let step = 0; step < episode.length; step++)
    success = scene.world.step(rows.slice(step * width, (step + 1) * width)) || success;
  player.done(episode.task, scene);
  return success;
}

console.log("shift, mm   same outcome               successes kept          failures kept");
for (const shift of shifts) {
  const random = new Generator(Number(values.seed));
  let [same, kept, successes] = [0, 0, 0];
  for (const episode of episodes) {
    const now = outcome(episode, shift / 1000, random);
    same += now === episode.succeeded ? 1 : 0;
    successes += episode.succeeded ? 1 : 0;
    kept += episode.succeeded && now ? 1 : 0;
  }
  const { low, high } = successRate(same, episodes.length);
  const failures = episodes.length - successes;
  const columns = [
    String(shift).padStart(9),
    `${percent(same / episodes.length)} (${percent(low)} to ${percent(high)})`.padEnd(26),
    percent(kept / successes).padStart(14),
    percent((same - kept) / failures).padStart(22),
  ];
  console.log(columns.join(" "));
}
player[Symbol.dispose]();
