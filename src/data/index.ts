/**
 * The words that every room shares: what is seen, what is answered, what is recorded and what is learned
 * from.
 */
export { type ActionSpec, grippersOf, handActions, robosuiteActions } from "./action-spec.ts";
export type { EnvStep, EpisodeStats } from "./env-step.ts";
export type { Minibatch } from "./minibatch.ts";
export { disposeMinibatch, mapMinibatch, minibatchSize, selectSamples, sliceSamples } from "./minibatch.ts";
export type { Observation } from "./observation.ts";
export { batchSize, disposeObservation, selectObservation } from "./observation.ts";
export type { ForwardInputs, PolicyEvaluation, PolicyStep } from "./policy-step.ts";
export type { Rollout } from "./rollout.ts";
export { concatColumns, disposeRollout, mapRollout, sliceColumns } from "./rollout.ts";
export { RolloutRecorder } from "./rollout-recorder.ts";
