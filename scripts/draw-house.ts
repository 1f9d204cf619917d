/**
 * Draws docs/drawings: the rooms from the table that the house test checks, one training step from its text.
 *
 *     node --import tsx scripts/draw-house.ts
 *
 * test/drawings.test.ts tells when to run it.
 */
import { writeFileSync } from "node:fs";
import { drawings } from "./drawings/all.ts";

for (const { file, svg } of drawings()) writeFileSync(file, svg);
