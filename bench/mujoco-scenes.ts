/** What `bench mujoco` runs: recorded LIBERO episodes where their files are at hand, else a pile of boxes. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isNumericArray, readNpz } from "#formats";
import { liberoForTests } from "../test/libero-assets.ts";
import { sharedFolder } from "../test/shared.ts";

export interface BenchScene {
  readonly name: string;
  readonly xml: string;
  readonly camera: string;
  readonly state: Float64Array; // time, qpos, qvel
  readonly fixtures: Readonly<Record<string, { pos: number[]; quat: number[] }>>; // by body
  readonly controls: Float64Array; // [n, nu]
  /** Positions [n, nq] recorded after each step, where they are known. */
  readonly positions?: Float64Array;
}

export async function benchScenes(): Promise<BenchScene[]> {
  const shared = sharedFolder();
  const { folder, skip } = await liberoForTests();
  if (shared === undefined || skip !== false) return [pileOfBoxes()];
  const recordings = join(shared, "fixtures/libero/replay");
  const names = readdirSync(recordings).sort();
  // The timed scene is the one with the most contacts.
  names.sort((a, b) => Number(b.startsWith("libero_spatial_00")) - Number(a.startsWith("libero_spatial_00")));
  return names.map((name) => recordedEpisode(join(recordings, name), name, folder));
}

interface Meta {
  readonly fixtures: Record<string, { body: string; pos: number[]; quat: number[] }>;
}

function recordedEpisode(recording: string, name: string, assets: string): BenchScene {
  const { fixtures } = JSON.parse(readFileSync(join(recording, "meta.json"), "utf8")) as Meta;
  const arrays = readNpz(join(recording, "trace.npz"));
  const numbers = (key: string): Float64Array => {
    const array = arrays.get(key);
    if (array && isNumericArray(array) && array.data instanceof Float64Array) return array.data;
    throw new Error(`internal: ${recording} has no ${key}`);
  };
  const xml = readFileSync(join(recording, "model.xml"), "utf8").replaceAll(
    /file="(libero|robosuite)\//g,
    (_, prefix) => `file="${assets}/${prefix}/`,
  );
  return {
    name,
    xml,
    camera: "agentview",
    state: numbers("init_state"),
    fixtures: Object.fromEntries(Object.values(fixtures).map(({ body, pos, quat }) => [body, { pos, quat }])),
    controls: numbers("sub_ctrl"),
    positions: numbers("sub_qpos"),
  };
}

function pileOfBoxes(): BenchScene {
  const count = 20;
  const boxes = Array.from({ length: count }, (_, i) => {
    const place = `${0.02 * (i % 3)} ${0.03 * (i % 2)} ${0.1 + 0.12 * i}`;
    return `<body pos="${place}"><freejoint/><geom group="1" type="box" size=".1 .08 .05" rgba=".8 .${i % 10} .3 1"/></body>`;
  });
  const xml = `<mujoco><worldbody><light pos="0 0 4"/><camera name="front" pos="0 -3 1" xyaxes="1 0 0 0 .3 1"/>
    <geom type="plane" size="3 3 .1" group="1"/>${boxes.join("")}
    <body pos="1 0 1"><joint name="swing" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 -.6" size=".05" group="1"/></body>
    </worldbody><actuator><motor joint="swing" gear="3"/></actuator></mujoco>`;
  const state = new Float64Array(1 + 7 * count + 1 + 6 * count + 1);
  for (let i = 0; i < count; i++) {
    const place = [0.02 * (i % 3), 0.03 * (i % 2), 0.1 + 0.12 * i, 1, 0, 0, 0];
    state.set(place, 1 + 7 * i);
  }
  const controls = Float64Array.from({ length: 1000 }, (_, i) => Math.sin(0.01 * i));
  return { name: "a pile of boxes", xml, camera: "front", state, fixtures: {}, controls };
}
