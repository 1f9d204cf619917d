import assert from "node:assert/strict";
import { before, test } from "node:test";
import { Worker } from "node:worker_threads";
import { UserError } from "#registry";
import { ballAndArm } from "../../test/support/ball-and-arm.ts";
import { listRenderers } from "./backends.ts";
import { Model } from "./model.ts";
import { flipRows, Renderer } from "./renderer.ts";
import { Simulation } from "./simulation.ts";

const skip = listRenderers().some((renderer) => renderer.works) ? false : "no renderer works on this machine";
const size = { width: 64, height: 48 };
const model = Model.fromXml(ballAndArm);
const simulation = new Simulation(model);
before(() => simulation.forward());

/** The color at (x, y) counted from the top left. */
function at(pixels: Uint8Array, x: number, y: number): number[] {
  const start = 3 * ((size.height - 1 - y) * size.width + x);
  return [...pixels.subarray(start, start + 3)];
}

test("a red ball in front of the camera is red in the picture", { skip }, () => {
  using renderer = new Renderer(model, size);
  const picture = renderer.render(simulation, "front");
  const [red = 0, green = 0, blue = 0] = at(picture, 32, 24);
  assert.ok(red > 100 && green < 40 && blue < 40, `${red} ${green} ${blue}`);
});

test("a camera by id, by name and a free one with the same pose agree", { skip }, () => {
  using renderer = new Renderer(model, size);
  const top = model.id("camera", "top");
  assert.deepEqual(renderer.render(simulation, top), renderer.render(simulation, "top"));
  const free = renderer.render(simulation, { lookAt: [0, 0, 0], distance: 3, azimuth: 90, elevation: -30 });
  assert.notDeepEqual(free, renderer.render(simulation, "top"));
  assert.throws(() => renderer.render(simulation, "side"), UserError);
  assert.throws(() => renderer.render(simulation, 99), /whole number/);
});

test("a hidden group of geoms is not drawn", { skip }, () => {
  using renderer = new Renderer(model, { ...size, geomGroups: [false] });
  using everything = new Renderer(model, size);
  const seen = (which: Renderer) => new Set(which.renderSegmentation(simulation, "front"));
  assert.deepEqual([...seen(renderer)], [-1]);
  assert.ok(seen(everything).has(model.id("geom", "ball")));
});

test("segmentation leaves the next color picture as it was", { skip }, () => {
  using renderer = new Renderer(model, size);
  const picture = renderer.render(simulation, "front");
  const geoms = renderer.renderSegmentation(simulation, "front");
  assert.equal(geoms[24 * size.width + 32], model.id("geom", "ball"));
  assert.deepEqual(renderer.render(simulation, "front"), picture);
});

test("renderers of two models take turns without showing each other's or an old picture", { skip }, () => {
  using green = Model.fromXml(ballAndArm.replace('rgba="1 0 0 1"', 'rgba="0 1 0 1"'));
  using other = new Simulation(green);
  other.forward();
  using renderer = new Renderer(model, size);
  using second = new Renderer(green, size);
  for (let turn = 0; turn < 2; turn++) {
    const [red = 0] = at(renderer.render(simulation, "front"), 32, 24);
    const [, shade = 0] = at(second.render(other, "front"), 32, 24);
    assert.ok(red > 100 && shade > 100, `turn ${turn}: ${red} ${shade}`);
  }
});

test("the ball is nearer than the sky in the depth picture", { skip }, () => {
  using renderer = new Renderer(model, size);
  const depth = renderer.renderDepth(simulation, "front");
  assert.ok(depth[23 * size.width + 32]! < depth[47 * size.width + 2]!);
});

test("a picture larger than the model's off-screen buffer is whole", { skip }, () => {
  using large = new Renderer(model, { width: 300, height: 200 });
  const picture = large.render(simulation, "front");
  assert.ok(picture.subarray(-300).some((value) => value > 0) || picture.some((value) => value > 0));
  const corner = picture.subarray(3 * (0 * 300 + 299), 3 * (0 * 300 + 300));
  assert.ok(
    corner.some((value) => value > 0),
    "the floor reaches the lower right corner",
  );
});

test("without MSAA there are fewer shades along an edge", { skip }, () => {
  using smooth = new Renderer(model, size);
  using jagged = new Renderer(model, { ...size, samples: 0 });
  assert.deepEqual([smooth.describe().samples, jagged.describe().samples], [4, 0]);
  assert.notDeepEqual(smooth.render(simulation, "front"), jagged.render(simulation, "front"));
});

test("a renderer refuses a simulation of another model, a wrong buffer, and use after disposal", {
  skip,
}, () => {
  const renderer = new Renderer(model, size);
  using other = Model.fromXml("<mujoco><worldbody><camera name='front'/></worldbody></mujoco>");
  using stranger = new Simulation(other);
  assert.throws(() => renderer.render(stranger, "front"), /another model/);
  assert.throws(() => renderer.render(simulation, "front", new Uint8Array(3)), /at least 9216/);
  renderer.dispose();
  assert.throws(() => renderer.render(simulation, "front"), /disposed/);
  assert.throws(() => new Renderer(model, { width: 0, height: 10 }), UserError);
});

test("flipRows turns a picture over, and twice gives it back", () => {
  const picture = Uint8Array.from({ length: 2 * 3 * 3 }, (_, i) => i);
  const turned = flipRows(picture.slice(), 2, 3);
  assert.deepEqual([...turned.subarray(0, 6)], [12, 13, 14, 15, 16, 17]);
  assert.deepEqual(flipRows(turned, 2, 3), picture);
});

test("worker threads draw the same picture as this one, at the same time", { skip }, async () => {
  using renderer = new Renderer(model, size);
  const expected = Buffer.from(renderer.render(simulation, "front")).toString("base64");
  const draw = () =>
    new Promise<string>((resolve, reject) => {
      const worker = new Worker(new URL("./render-in-worker.mjs", import.meta.url), {
        workerData: { xml: ballAndArm, size },
      });
      worker.once("message", resolve).once("error", reject);
    });
  assert.deepEqual(await Promise.all([draw(), draw(), draw()]), [expected, expected, expected]);
});

test("100 renderers made and disposed leave resident memory flat", { skip }, () => {
  const cycle = () => {
    using fresh = Model.fromXml(ballAndArm, { share: false });
    using renderer = new Renderer(fresh, size);
    using world = new Simulation(fresh);
    world.forward();
    renderer.render(world, "front");
  };
  for (let i = 0; i < 20; i++) cycle();
  // A leak shows in every hundred; a thread of the rasterizer that wakes up late on a busy machine only in one.
  const grown: number[] = [];
  do {
    const before = process.memoryUsage.rss();
    for (let i = 0; i < 100; i++) cycle();
    grown.push((process.memoryUsage.rss() - before) / 2 ** 20);
  } while (grown.at(-1)! >= 16 && grown.length < 3);
  const sizes = grown.map((size) => size.toFixed(1)).join(", ");
  assert.ok(grown.at(-1)! < 16, `${sizes} MiB more after each 100 cycles`);
});
