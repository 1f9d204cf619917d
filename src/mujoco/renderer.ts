/**
 * Pictures of a simulation, drawn off screen.
 *
 * Rows come bottom first, as OpenGL and MuJoCo's Python give them; `flipRows` turns them over. Renderers
 * of one model on one thread share its textures and meshes on the graphics side.
 */
import { UserError } from "#registry";
import { chooseBackend } from "./backends.ts";
import type { Model } from "./model.ts";
import { addon, hasCode, type RendererHandle } from "./native.ts";
import type { Simulation } from "./simulation.ts";

const sceneFlags = {
  shadows: 0,
  wireframe: 1,
  reflections: 2,
  skybox: 4,
  fog: 5,
  haze: 6,
  cullFaces: 9,
} as const;
export type SceneFlag = keyof typeof sceneFlags;

export interface RendererOptions {
  readonly width: number;
  readonly height: number;
  /** Samples per pixel against jagged edges; 0 switches it off. Default 4, as MuJoCo and LIBERO have it. */
  readonly samples?: number;
  /** Which of the six groups of geoms are drawn; default: MuJoCo's (0, 1 and 2). */
  readonly geomGroups?: readonly boolean[];
  readonly siteGroups?: readonly boolean[];
  readonly flags?: Readonly<Partial<Record<SceneFlag, boolean>>>;
  /** Most geoms in a picture; default: enough for the model. */
  readonly maxGeoms?: number;
}

/** A camera that is not in the model. Angles in degrees. */
export interface FreeCamera {
  readonly lookAt: readonly [x: number, y: number, z: number];
  readonly distance: number;
  readonly azimuth: number;
  readonly elevation: number;
}

/** A camera of the model by name or id, or a free one. */
export type Camera = string | number | FreeCamera;

export class Renderer implements Disposable {
  readonly width: number;
  readonly height: number;
  readonly #model: Model;
  readonly #handle: RendererHandle;
  readonly #cameraIds = new Map<string, number>();
  #disposed = false;

  constructor(model: Model, options: RendererOptions) {
    this.#model = model;
    this.width = options.width;
    this.height = options.height;
    this.#handle = create(model, options);
    for (const [group, shown] of (options.geomGroups ?? []).entries()) {
      addon().setGroup(this.#handle, "geom", group, shown);
    }
    for (const [group, shown] of (options.siteGroups ?? []).entries()) {
      addon().setGroup(this.#handle, "site", group, shown);
    }
    for (const [flag, on] of Object.entries(options.flags ?? {})) this.setFlag(flag as SceneFlag, on);
  }

  /** Draws in color: [height, width, 3], rows bottom first. */
  render(simulation: Simulation, camera: Camera, out?: Uint8Array): Uint8Array {
    const pixels = out ?? new Uint8Array(3 * this.width * this.height);
    addon().render(this.handle, simulation.handle, this.#aim(camera), pixels, null);
    return pixels;
  }

  /** Depth of each pixel in [0, 1] between the near and far plane, as OpenGL keeps it; rows bottom first. */
  renderDepth(simulation: Simulation, camera: Camera, out?: Float32Array): Float32Array {
    const depth = out ?? new Float32Array(this.width * this.height);
    addon().render(this.handle, simulation.handle, this.#aim(camera), null, depth);
    return depth;
  }

  /** Which geom each pixel shows, -1 where none; rows bottom first. */
  renderSegmentation(simulation: Simulation, camera: Camera, out?: Int32Array): Int32Array {
    const geoms = out ?? new Int32Array(this.width * this.height);
    addon().segment(this.handle, simulation.handle, this.#aim(camera), geoms);
    return geoms;
  }

  setFlag(flag: SceneFlag, on: boolean): void {
    const index = sceneFlags[flag];
    if (index === undefined) {
      throw new UserError(
        `no rendering flag is named "${flag}"; there are: ${Object.keys(sceneFlags).join(", ")}`,
      );
    }
    addon().setSceneFlag(this.handle, index, on);
  }

  /** What draws, and with how many samples per pixel. */
  describe(): { readonly backend: string; readonly description: string; readonly samples: number } {
    return addon().describeRenderer(this.handle);
  }

  get handle(): RendererHandle {
    if (this.#disposed) throw new Error("the renderer was disposed and cannot be used any more");
    return this.#handle;
  }

  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    addon().disposeRenderer(this.#handle);
  }

  [Symbol.dispose](): void {
    this.dispose();
  }

  #aim(camera: Camera): number {
    if (typeof camera === "number") return camera;
    if (typeof camera === "string") {
      const known = this.#cameraIds.get(camera) ?? this.#model.id("camera", camera);
      this.#cameraIds.set(camera, known);
      return known;
    }
    addon().setFreeCamera(this.handle, ...camera.lookAt, camera.distance, camera.azimuth, camera.elevation);
    return -1;
  }
}

function create(model: Model, options: RendererOptions): RendererHandle {
  const { backend, device } = chooseBackend();
  const { width, height, samples = defaultSamples } = options;
  // A geom can appear twice (its reflection is drawn from the same entry); sites and frames add to it.
  const maxGeoms = options.maxGeoms ?? Math.max(1000, 2 * model.sizes.ngeom! + model.sizes.nsite!);
  try {
    return addon().createRenderer(model.handle, backend, device, width, height, samples, maxGeoms);
  } catch (error) {
    if (hasCode(error, "GL") || hasCode(error, "ARGUMENT")) {
      throw new UserError(`cannot make a renderer of ${width} × ${height} with ${backend}: ${error.message}`);
    }
    throw error;
  }
}

const defaultSamples = 4; // MuJoCo's default, and LIBERO's

/** Turns a picture upside down in place: bottom-first rows become top-first. */
export function flipRows(pixels: Uint8Array, width: number, height: number, channels = 3): Uint8Array {
  const stride = width * channels;
  const row = new Uint8Array(stride);
  for (let top = 0, bottom = height - 1; top < bottom; top++, bottom--) {
    row.set(pixels.subarray(top * stride, (top + 1) * stride));
    pixels.copyWithin(top * stride, bottom * stride, (bottom + 1) * stride);
    pixels.set(row, bottom * stride);
  }
  return pixels;
}
