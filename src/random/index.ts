/** Where chance comes from: a run's named random streams, the seeds that others derive, NumPy's two generators. */
export { Mt19937 } from "./mt19937.ts";
export { Pcg64 } from "./pcg64.ts";
export { RandomStream } from "./random-stream.ts";
export {
  envSeedOffset,
  pairSeed,
  randomJudgeSeed,
  recordingSeed,
  refreshSeed,
  sceneSeed,
  singleResetSeed,
  slotResetSeed,
} from "./seeds.ts";
export { xorshift32 } from "./xorshift32.ts";
