/** The number type of weights on disk: bfloat16 halves a world, and costs less than the denoising's own noise. */
import { z } from "zod";
import { type DType, noGrad, type Tensor } from "#tensor";

export const storedType = z
  .enum(["bfloat16", "float32"])
  .default("bfloat16")
  .describe("of the weights on disk");

/** Floating-point tensors in the wanted type; others as they are. */
export const stored = (state: ReadonlyMap<string, Tensor>, dtype: DType): Map<string, Tensor> =>
  noGrad(
    () =>
      new Map(
        [...state].map(([name, value]) => [
          name,
          value.dtype.includes("float") ? value.detach().to({ dtype }) : value,
        ]),
      ),
  );
