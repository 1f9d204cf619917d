/** A chunk of actions for every slot, [N, C, A], as numbers; refused where they do not fit or are not finite. */
import { UserError } from "#registry";
import { scope, type Tensor } from "#tensor";

export interface ReadActions {
  readonly chunk: number;
  readonly rows: readonly Float32Array[]; // by slot, [C, A] each
}

/** `size`: slots of the env; `actionSize`: numbers of one action. */
export function readActions(actions: Tensor, size: number, actionSize: number): ReadActions {
  const [given, chunk = 0, width] = actions.shape;
  if (actions.ndim !== 3 || given !== size || chunk < 1 || width !== actionSize)
    throw new UserError(
      `actions of shape [${actions.shape.join(", ")}]; this env takes [${size}, C, ${actionSize}]: envs, actions per chunk, action size`,
    );
  const numbers = scope(
    () => actions.to({ dtype: "float32", device: "cpu" }).contiguous().data() as Float32Array,
  );
  const length = chunk * actionSize;
  const bad = numbers.findIndex((value) => !Number.isFinite(value));
  if (bad >= 0)
    throw new UserError(
      `the action for env ${Math.floor(bad / length)}, step ${Math.floor((bad % length) / actionSize)} of the chunk, ` +
        `has ${numbers[bad]} as number ${bad % actionSize}; actions must be finite`,
    );
  const row = (_: unknown, slot: number): Float32Array => numbers.slice(slot * length, (slot + 1) * length);
  return { chunk, rows: Array.from({ length: size }, row) };
}
