/**
 * Draws the recorded pictures again. They must be equal to the byte where the world is equal to the bit.
 *
 * In closed loop positions differ in their last bits, which rarely moves a pixel; when it does, the picture
 * is drawn once more from the recorded positions, and that one must be equal.
 *
 * One exception, for scenes with an sRGB texture: recordings from another machine were off by up to 2 gray levels on
 * such textures, while Python MuJoCo on this machine gave our bytes. The likely cause, inferred and not proven, is Mesa's
 * use of the processor's approximate reciprocal square root. 4 gray levels are allowed there.
 */

import { readPng } from "#formats";
import { type Model, Renderer, Simulation } from "#mujoco";
import { Mt19937 } from "#random";
import { ownedByReset } from "../../../src/engine/scene-reset.ts";
import type { ParityCase } from "../main.ts";
import type { Built, Frame, Recording } from "./recording.ts";

export function* compareFrames(recording: Recording, built: Built): Generator<ParityCase> {
  const [first] = recording.frames;
  if (!first) return;
  const { width, height } = readPng(first.path);
  using renderer = new Renderer(built.model, { width, height, geomGroups: [false, true] });
  using recorded = new Simulation(built.model, { own: [...ownedByReset, "site_rgba"] });
  const { world } = built;
  world.reset(new Mt19937(recording.meta.seed), 2);
  world.setState(recording.numbers("init_state"));
  for (let step = 1; step <= recording.steps; step++) {
    const wanted = recording.frames.filter((frame) => frame.step === step);
    const found: ParityCase[] = [];
    world.step(recording.row("actions", step - 1), (simulation) => {
      if (wanted.length === 0) return;
      const inClosedLoop = wanted.map((frame) => differing(frame, renderer.render(simulation, frame.camera)));
      const tolerance = hasSrgbTexture(built.model) ? 4 : 0;
      let worst = Math.max(...inClosedLoop);
      if (worst > 0) {
        copyRecorded(recording, simulation, recorded, step);
        worst = Math.max(...wanted.map((frame) => differing(frame, renderer.render(recorded, frame.camera))));
      }
      found.push({
        name: `frames of step ${step}: gray levels apart`,
        ok: worst <= tolerance,
        worst,
        tolerance,
      });
    });
    if (wanted.length > 0 && found.length === 0) {
      found.push({ name: `frames of step ${step}: not observed`, ok: false, worst: 1, tolerance: 0 });
    }
    yield* found;
  }
}

/** The picture shows the world as it was when the observed physics step began. */
function copyRecorded({ meta, row }: Recording, from: Simulation, to: Simulation, step: number): void {
  const observed = Math.round(from.time / from.options().timestep!) - 1;
  if (Math.floor(observed / meta.substeps) !== step - 1)
    throw new Error("internal: observed in another step");
  for (const name of [...ownedByReset, "site_rgba"]) to.modelArray(name).set(from.modelArray(name));
  to.qpos.set(row("sub_qpos", observed - 1));
  to.forward();
}

const srgb = 2; // mjtColorSpace
const hasSrgbTexture = (model: Model): boolean => model.array("tex_colorspace").includes(srgb);

/** The largest difference of a byte. */
function differing(frame: Frame, pixels: Uint8Array): number {
  const picture = readPng(frame.path);
  if (picture.channels !== 3 || picture.data.length !== pixels.length) return 255;
  let worst = 0;
  for (let i = 0; i < pixels.length; i++) worst = Math.max(worst, Math.abs(pixels[i]! - picture.data[i]!));
  return worst;
}
