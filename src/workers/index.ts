/** The three kinds of workers of a run: those who play, those who decide, and those who learn. */
export { ActorWorker, type Learned } from "./actor-worker.ts";
export { EnvWorker } from "./env-worker.ts";
export { EpisodeLog, flaggedSlots } from "./episode-log.ts";
export { type ActorOptions, openActor, openPolicy, type RemoteActor } from "./open-actor.ts";
export { decideFor, disposeStep } from "./partial-step.ts";
export { type Answer, PolicyLine, type Question } from "./policy-line.ts";
export { RemoteRollout } from "./remote-rollout.ts";
export { copyShelter, type Decider, isDivergence, RolloutWorker } from "./rollout-worker.ts";
export { Shelter } from "./shelter.ts";

/** Where a thread finds the maker of an actor rank. */
export const actorModule = new URL("./open-actor.ts", import.meta.url).href;
