/** Run on a worker thread by renderer.test.ts: draws one picture and sends it back. */
import { parentPort, workerData } from "node:worker_threads";
import { register } from "tsx/esm/api";

register();
const { Model } = await import("./model.ts");
const { Renderer } = await import("./renderer.ts");
const { Simulation } = await import("./simulation.ts");
const model = Model.fromXml(workerData.xml);
const simulation = new Simulation(model);
simulation.forward();
const renderer = new Renderer(model, workerData.size);
let picture;
for (let i = 0; i < 20; i++) picture = renderer.render(simulation, "front");
parentPort.postMessage(Buffer.from(picture).toString("base64"));
