/** What the main job adds to training and evaluating: its result, its picture and its film. */
export { type FilmedEpisode, type FilmWishes, filmEpisodes } from "./filmed-episodes.ts";
export { drawLearningCurve, type LearningCurve } from "./learning-curve.ts";
export {
  type BeforeAfter,
  type Change,
  describeImprovement,
  type ImprovementFacts,
  type ImprovementFile,
  improvementFile,
  readImprovement,
  writeImprovement,
} from "./results.ts";
export { type FilmedPairs, writePairs } from "./side-by-side.ts";
