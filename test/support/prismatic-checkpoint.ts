/** Tiny untrained checkpoints for tests, written to a temporary folder that the operating system forgets. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Observation } from "#data";
import { Generator, randint, randn } from "#tensor";
import { writeFreshCheckpoint } from "../../src/policies/openvla-oft/fresh.ts";

export const testTasks = ["pick up the red cube", "open the top drawer of the cabinet", "Push the Plate"];

export const testStatistics = {
  tabletop_no_noops: {
    action: {
      q01: [-1, -0.5, -0.25, -1, -1, -1, 0],
      q99: [1, 0.5, 0.75, 1, 1, 1, 1],
      mask: [true, true, true, true, true, true, false],
    },
    proprio: { q01: [-1, -2], q99: [1, 2] },
  },
};

export const temporaryFolder = (): string => mkdtempSync(join(tmpdir(), "reverie-policy-"));

/** Two blocks per tower, two language layers, 16 numbers wide: milliseconds to run. */
export function testCheckpoint(seed = 1): string {
  const folder = temporaryFolder();
  writeFreshCheckpoint(folder, {
    tasks: testTasks,
    normStats: testStatistics,
    unnormKey: "tabletop_no_noops",
    seed,
    sizes: {
      image_size: 16,
      patch_size: 8,
      vision_width: 16,
      vision_depths: [3, 2],
      vision_heads: 2,
      text_width: 16,
      text_hidden: 24,
      text_layers: 2,
      text_heads: 2,
    },
  });
  return folder;
}

/** `batch` slots that look at noise, with a wrist camera and two numbers of state. */
export function testObservation(batch: number, seed = 1): Observation {
  const generator = new Generator(seed);
  return {
    mainImages: randint(0, 256, [batch, 20, 24, 3], { dtype: "uint8", generator }),
    wristImages: randint(0, 256, [batch, 1, 12, 12, 3], { dtype: "uint8", generator }),
    states: randn([batch, 2], { generator }),
    taskDescriptions: Array.from({ length: batch }, (_, i) => testTasks[i % testTasks.length]!),
  };
}
