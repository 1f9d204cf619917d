/**
 * One comparison of ours with a recorded number, and how it is collected.
 *
 * A folder of cases is compared piece by piece; a piece that throws is a failed case with the reason in its name,
 * so that one broken part never hides the others.
 */
import { readSafetensors } from "#formats";
import { noGrad, scope, type Tensor } from "#tensor";
import type { ParityCase } from "../parity-case.ts";

export type { ParityCase };

export const tolerances = {
  forward: 1e-4,
  latents: 1e-3,
  gray: 1, // of 256 levels
  exact: 0,
} as const;

export type Recorded = ReadonlyMap<string, Tensor>;

export const recorded = (path: string): Recorded => readSafetensors(path);

export function get(tensors: Recorded, name: string): Tensor {
  const found = tensors.get(name);
  if (!found) throw new Error(`the recording has no "${name}"; it has ${[...tensors.keys()].join(", ")}`);
  return found;
}

export class Cases {
  readonly list: ParityCase[] = [];
  readonly #prefix: string;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** Runs `body`; whatever it throws becomes a failed case. */
  async part(name: string, body: () => void | Promise<void>): Promise<void> {
    try {
      await body();
    } catch (error) {
      const reason = error instanceof Error ? error.message.split("\n", 3).join(" ") : String(error);
      this.#add(`${name}: ${reason}`, Number.POSITIVE_INFINITY, 0);
    }
  }

  /** The largest difference between two tensors of the same shape. */
  compare(name: string, ours: Tensor, theirs: Tensor, tolerance: number): void {
    const worst = noGrad(() =>
      scope(() => {
        if (ours.shape.join() !== theirs.shape.join()) return Number.POSITIVE_INFINITY;
        const difference = ours.double().cpu().sub(theirs.double()).abs().max().item();
        return Number.isNaN(Number(difference)) ? Number.POSITIVE_INFINITY : Number(difference);
      }),
    );
    const note =
      ours.shape.join() === theirs.shape.join() ? "" : ` (shape [${ours.shape}], expected [${theirs.shape}])`;
    this.#add(name + note, worst, tolerance);
  }

  /** Two lists that must be equal. */
  same(name: string, ours: readonly unknown[], theirs: readonly unknown[]): void {
    const different =
      Math.max(ours.length, theirs.length) - ours.filter((value, i) => value === theirs[i]).length;
    this.#add(name, different, 0);
  }

  #add(name: string, worst: number, tolerance: number): void {
    this.list.push({ name: `${this.#prefix} ${name}`, ok: worst <= tolerance, worst, tolerance });
  }
}
