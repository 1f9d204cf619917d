/** One recorded moment of a trajectory file, checked before anything uses it. */
import { isNumericArray, type NumpyArray } from "#formats";
import { UserError } from "#registry";

export interface FrameRecord {
  readonly image: { readonly data: Uint8Array; readonly shape: readonly [number, number, 3] };
  readonly instruction?: string;
  readonly action?: readonly number[];
  /** x y z, quaternion x y z w, gripper. */
  readonly pose?: readonly number[];
}

export function parseFrameRecords(array: NumpyArray, path: string): FrameRecord[] {
  if (array.dtype !== "object") {
    throw new UserError(
      `${path} holds ${array.dtype} numbers; a trajectory is an array of frame records (dicts)`,
    );
  }
  return array.data.map((item, index) => parseFrameRecord(item, `${path}, frame ${index}`));
}

function parseFrameRecord(item: unknown, where: string): FrameRecord {
  if (!(item instanceof Map)) throw new UserError(`${where}: expected a dict of image, instruction, …`);
  const instruction = text(item.get("instruction") ?? item.get("task"));
  const action = numbers(item.get("delta_action"));
  const pose = numbers(item.get("init_ee_pose")) ?? numbers(item.get("abs_action"));
  if (pose && pose.length !== 8) {
    throw new UserError(
      `${where}: the end-effector pose has ${pose.length} numbers; expected 8 (xyz, quaternion, gripper)`,
    );
  }
  return {
    image: picture(item.get("image"), where),
    ...(instruction !== undefined && { instruction }),
    ...(action && { action }),
    ...(pose && { pose }),
  };
}

function picture(value: unknown, where: string): FrameRecord["image"] {
  if (isNumericArray(value) && value.dtype === "uint8" && value.shape.length === 3 && value.shape[2] === 3) {
    return { data: value.data as Uint8Array, shape: value.shape as readonly [number, number, 3] };
  }
  const found = isNumericArray(value) ? `${value.dtype} [${value.shape.join(", ")}]` : typeof value;
  throw new UserError(`${where}: "image" must be uint8 [height, width, 3]; found ${found}`);
}

/** Strings as they are; bytes as UTF-8; NumPy's one-element text arrays. */
function text(value: unknown): string | undefined {
  if (typeof value === "string") return value.trim();
  if (value instanceof Uint8Array) return Buffer.from(value).toString("utf8").trim();
  const data = (value as { dtype?: string; data?: readonly unknown[] } | undefined)?.data;
  return typeof data?.[0] === "string" ? data[0].trim() : undefined;
}

function numbers(value: unknown): number[] | undefined {
  if (isNumericArray(value)) return Array.from(value.data as ArrayLike<number | bigint>, Number);
  if (Array.isArray(value) && value.every((entry) => typeof entry === "number")) return value as number[];
  return undefined;
}
