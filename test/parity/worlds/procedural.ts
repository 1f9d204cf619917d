/**
 * Weights that follow from their names, so that full-size networks can be compared without weight files.
 *
 * value(i) = offset + scale·(2u − 1) with u = fmix32(fnv1a32(name) + i·0x9E3779B9) / 2³², in double precision. Scale
 * and offset depend on the kind of tensor: see `kindOf`.
 */
import { type Tensor, tensor, zeros } from "#tensor";

export function proceduralState(
  keys: Readonly<Record<string, readonly [string, readonly number[]]>>,
): Map<string, Tensor> {
  return new Map(
    Object.entries(keys).map(([name, [dtype, shape]]) => [
      name,
      dtype === "int64" ? zeros(shape, { dtype: "int64" }) : proceduralTensor(name, shape),
    ]),
  );
}

function proceduralTensor(name: string, shape: readonly number[]): Tensor {
  const { scale, offset } = kindOf(name, shape);
  const start = fnv1a(name);
  const values = new Float32Array(shape.reduce((count, size) => count * size, 1));
  for (let i = 0; i < values.length; i++) {
    const u = mix((start + Math.imul(i, 0x9e3779b9)) >>> 0) / 2 ** 32;
    values[i] = offset + scale * (2 * u - 1);
  }
  return tensor(values, { shape });
}

function kindOf(name: string, shape: readonly number[]): { scale: number; offset: number } {
  if (shape.length > 1)
    return { scale: Math.sqrt(3 / shape.slice(1).reduce((product, size) => product * size, 1)), offset: 0 };
  if (name.endsWith("running_mean")) return { scale: 0.1, offset: 0 };
  if (name.endsWith("running_var")) return { scale: 0.2, offset: 1 };
  return name.endsWith(".weight") ? { scale: 0.2, offset: 1 } : { scale: 0.1, offset: 0 };
}

function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
}

/** murmur3's finalizer. */
function mix(value: number): number {
  let h = value;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
