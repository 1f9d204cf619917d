import assert from "node:assert/strict";
import { test } from "node:test";
import { DriftingPhase, LastSubstep, type ObservationPhase } from "./observation-phase.ts";

/** The physics steps (of 25 per control step) after which an observation was taken, for some control steps. */
function observed(phase: ObservationPhase, controlSteps: number): number[][] {
  return Array.from({ length: controlSteps }, () =>
    Array.from({ length: 25 }, (_, substep) => substep).filter(() => phase.tick()),
  );
}

test("after a reset and a set state, observations come after physics step 23", () => {
  const phase = new DriftingPhase(0.002);
  phase.reset();
  assert.ok(phase.tick(true), "reset forces one");
  assert.ok(phase.tick(true), "setting the state forces another");
  assert.deepEqual(observed(phase, 3), [[23], [23], [23]]);
});

test("after a reset alone the moment is another", () => {
  const phase = new DriftingPhase(0.002);
  phase.reset();
  phase.tick(true);
  assert.deepEqual(observed(phase, 2), [[24], [24]]);
});

test("rounding does not lose an observation in a thousand control steps", () => {
  const phase = new DriftingPhase(0.002);
  phase.tick(true);
  phase.tick(true);
  const counts = observed(phase, 1000).map((substeps) => substeps.length);
  assert.ok(counts.every((count) => count === 1));
});

test("a restored phase goes on where it was kept", () => {
  const phase = new DriftingPhase(0.002);
  phase.tick(true);
  observed(phase, 2);
  for (let i = 0; i < 7; i++) phase.tick();
  const copy = new DriftingPhase(0.002);
  copy.state = phase.state;
  assert.deepEqual(observed(copy, 3), observed(phase, 3));
});

test("a pack of one's own observes after the last physics step, whatever was forced before", () => {
  const phase = new LastSubstep(25);
  phase.tick(true);
  assert.deepEqual(observed(phase, 3), [[24], [24], [24]]);
});
