/**
 * The recorded beginnings from which imagined episodes start.
 *
 * A folder of `traj*.npy`, each an array of pickled frame records: `image`, `instruction` (or `task`),
 * `delta_action`, `init_ee_pose` (or `abs_action`). The first record is the start. In a `*_kir.npy` file the last
 * four are keyframes: the moments before something decisive, with the actions that led to them (KIR,
 * keyframe-init rollout). Files are read with a restricted unpickler, when they are first needed, and only what
 * a start needs is kept.
 */
import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { readNpy } from "#formats";
import { UserError } from "#registry";
import { keep, scope, stack, type Tensor, tensor } from "#tensor";
import { resizeFrames, type World, type WorldStart } from "#worlds";
import { type FrameRecord, parseFrameRecords } from "./frame-record.ts";

export interface StartsOptions {
  /** Whether `_kir` files may be drawn. */
  readonly enableKir: boolean;
  /**
   * The reference starts from keyframes whenever a file has four frames, whatever its name. Off, only
   * `_kir` files do.
   */
  readonly kirByLength?: boolean;
}

type Needs = Pick<World, "imageSize" | "keyframes" | "actionSize" | "needsPose">;

export class Starts {
  readonly files: readonly string[];
  readonly #needs: Needs;
  readonly #kirByLength: boolean;
  readonly #cache = new Map<number, WorldStart>();

  constructor(folder: string, needs: Needs, { enableKir, kirByLength = false }: StartsOptions) {
    this.files = listFiles(folder, enableKir && needs.keyframes > 0);
    this.#needs = needs;
    this.#kirByLength = kirByLength;
  }

  get length(): number {
    return this.files.length;
  }

  load(id: number): WorldStart {
    const known = this.#cache.get(id);
    if (known) return known;
    const path = this.files[id];
    if (path === undefined)
      throw new UserError(`no start ${id}: the dataset has ${this.length} (0 to ${this.length - 1})`);
    const start = this.#read(path);
    this.#cache.set(id, start);
    return start;
  }

  dispose(): void {
    for (const { frame, keyframes, pose } of this.#cache.values()) {
      for (const held of [frame, keyframes?.frames, keyframes?.actions, pose]) held?.dispose();
    }
    this.#cache.clear();
  }

  #read(path: string): WorldStart {
    const records = parseFrameRecords(readNpy(path), path);
    const [first] = records;
    if (!first) throw new UserError(`${path} holds no frames: a start needs at least one`);
    if (first.instruction === undefined)
      throw new UserError(`${path}: its first frame has no "instruction" or "task"`);
    if (this.#needs.needsPose && !first.pose) {
      throw new UserError(
        `${path}: its first frame has no "init_ee_pose" or "abs_action", which this world needs`,
      );
    }
    const keyframes = this.#keyframes(records, path);
    return {
      frame: this.#pictures([first]).squeeze(0),
      instruction: first.instruction,
      ...(keyframes && { keyframes }),
      ...(first.pose && { pose: keep(tensor(first.pose)) }),
    };
  }

  #keyframes(records: readonly FrameRecord[], path: string): WorldStart["keyframes"] {
    const count = this.#needs.keyframes;
    const named = basename(path).includes("_kir");
    if (count === 0 || (!named && !this.#kirByLength) || records.length < count) {
      if (named && count > 0)
        throw new UserError(`${path}: a keyframe start needs ${count} frames, it has ${records.length}`);
      return undefined;
    }
    const last = records.slice(-count);
    const actions = last.map(({ action }) => {
      if (action?.length === this.#needs.actionSize) return [...action];
      throw new UserError(
        `${path}: a keyframe's "delta_action" has ${action?.length ?? "no"} numbers; this world's actions have ${this.#needs.actionSize}`,
      );
    });
    return { frames: this.#pictures(last), actions: keep(tensor(actions)) };
  }

  /** Float pictures of the world's size, [N, 3, H, W] in [-1, 1]. */
  #pictures(records: readonly FrameRecord[]): Tensor {
    return keep(
      scope(() => {
        const bytes = stack(records.map(({ image }) => tensor(image.data, { shape: [...image.shape] })));
        const unit = bytes.permute([0, 3, 1, 2]).float().div(255);
        return resizeFrames(unit, this.#needs.imageSize).sub(0.5).div(0.5);
      }),
    );
  }
}

function listFiles(folder: string, withKir: boolean): string[] {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch {
    throw new UserError(
      `no folder of starts at ${folder}; set initial_image_path to the world's dataset/ folder`,
    );
  }
  const all = names.filter((name) => name.endsWith(".npy")).sort();
  const chosen = all.filter((name) => withKir || !name.includes("_kir"));
  if (chosen.length > 0) return chosen.map((name) => join(folder, name));
  throw new UserError(
    all.length > 0
      ? `all ${all.length} starts in ${folder} are keyframe starts (_kir); set enable_kir: True or add plain ones`
      : `${folder} holds no .npy starts; a world's dataset has files like traj0.npy`,
  );
}
