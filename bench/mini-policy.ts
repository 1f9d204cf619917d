/**
 * The policy that ships with Reverie on one CPU core: observations per second at batch 1, from picture and sentence to actions.
 *
 * Seconds are processor time, which other work on the machine disturbs less. The goal is 20 a second; "reference"
 * is that goal, so that the ratio reads like every other one.
 */
import { fileURLToPath } from "node:url";
import { loadPolicy } from "#policies";
import { Generator, randint, scope, threadCount, zeros } from "#tensor";
import { type BenchRow, moreIsBetter } from "./row.ts";

const wanted = 20; // observations a second
const observations = 100;

export async function miniPolicy(): Promise<BenchRow> {
  threadCount(1);
  const policy = await loadPolicy({
    model_type: "openvla_oft",
    model_path: fileURLToPath(new URL("../checkpoints/openvla-oft-mini", import.meta.url)),
    precision: "fp32",
    unnorm_key: "tabletop",
    max_prompt_length: 32,
  });
  const generator = new Generator(0);
  const observation = {
    mainImages: randint(0, 256, [1, 128, 128, 3], { generator, dtype: "uint8" }),
    states: zeros([1, 8]),
    taskDescriptions: ["put the red mug on the plate"],
  };
  const act = () => scope(() => void policy.act(observation, { mode: "sample", generator }));
  for (let i = 0; i < 5; i++) act();
  const start = process.cpuUsage();
  for (let i = 0; i < observations; i++) act();
  const { user, system } = process.cpuUsage(start);
  const ours = (1e6 * observations) / (user + system);
  policy.dispose();
  return moreIsBetter({
    name: "mini policy on one CPU core, batch 1",
    unit: "observations/s",
    ours,
    reference: wanted,
    goal: 1,
  });
}
