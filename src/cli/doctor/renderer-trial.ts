/**
 * A program of its own that tries this machine's renderers: `list`, or the speed of one, named by REVERIE_GL.
 *
 * MuJoCo binds to one OpenGL library per process, and a broken driver can end the process, so `doctor` starts this
 * file once for the list and once per renderer. It prints one line of JSON.
 */
import { listRenderers, Model, Renderer, Simulation } from "#mujoco";
import { demoScene } from "../demo/scene.ts";

const size = 256; // pixels, as LIBERO's cameras
const secondsOfDrawing = 0.5;

function framesPerSecond(): number {
  using model = Model.fromXml(demoScene());
  using simulation = new Simulation(model);
  using renderer = new Renderer(model, { width: size, height: size });
  const pixels = new Uint8Array(3 * size * size);
  const draw = () => {
    simulation.step(5);
    renderer.render(simulation, "front", pixels);
  };
  draw(); // the first one compiles shaders
  const start = performance.now();
  let frames = 0;
  for (; performance.now() - start < secondsOfDrawing * 1000; frames++) draw();
  return frames / ((performance.now() - start) / 1000);
}

console.log(JSON.stringify(process.argv[2] === "list" ? listRenderers() : framesPerSecond()));
