/** The small causal transformer that the tensor bench trains on both sides; tensor_reference.py is its twin. */
import { AdamW } from "#optimization";
import { aten, fast, type Tensor } from "#tensor";

export interface Sizes {
  readonly width: number;
  readonly layers: number;
  readonly vocabulary: number;
  readonly length: number;
  readonly batch: number;
}
export const heads = ({ width }: Sizes): number => width / 32;

/** Names and shapes, in the order in which they are drawn. */
export function shapes({ width: d, layers, vocabulary: v, length: t }: Sizes): [string, number[]][] {
  const linear = (name: string, out: number, inputs: number): [string, number[]][] => [
    [`${name}.w`, [out, inputs]],
    [`${name}.b`, [out]],
  ];
  const norm = (name: string): [string, number[]][] => [
    [`${name}.w`, [d]],
    [`${name}.b`, [d]],
  ];
  const blocks = Array.from({ length: layers }, (_, l) => [
    ...norm(`${l}.ln1`),
    ...linear(`${l}.qkv`, 3 * d, d),
    ...linear(`${l}.o`, d, d),
    ...norm(`${l}.ln2`),
    ...linear(`${l}.up`, 4 * d, d),
    ...linear(`${l}.down`, d, 4 * d),
  ]).flat();
  return [["embedding", [v, d]], ["position", [t, d]], ...blocks, ...norm("final"), ...linear("head", v, d)];
}

type Parameters = ReadonlyMap<string, Tensor>;
const linear = fast("aten::linear");
const layerNorm = fast("aten::layer_norm");
const sdpa = fast("aten::scaled_dot_product_attention");
const gelu = fast("aten::gelu");

function block(p: Parameters, x: Tensor, l: number, sizes: Sizes): Tensor {
  const { width: d, batch, length } = sizes;
  const get = (name: string) => p.get(`${l}.${name}`) as Tensor;
  const n = heads(sizes);
  const h = layerNorm(x, [d], get("ln1.w"), get("ln1.b"));
  const qkv = linear(h, get("qkv.w"), get("qkv.b"))
    .view([batch, length, 3, n, d / n])
    .permute([2, 0, 3, 1, 4]);
  const [q, k, v] = qkv.unbind(0) as [Tensor, Tensor, Tensor];
  const mixed = sdpa(q, k, v, null, 0, true).transpose(1, 2).reshape([batch, length, d]);
  const y = x.add(linear(mixed, get("o.w"), get("o.b")));
  const inner = gelu(linear(layerNorm(y, [d], get("ln2.w"), get("ln2.b")), get("up.w"), get("up.b")));
  return y.add(linear(inner, get("down.w"), get("down.b")));
}

export function lossOf(p: Parameters, tokens: Tensor, sizes: Sizes): Tensor {
  const { length, layers, width, vocabulary } = sizes;
  const get = (name: string) => p.get(name) as Tensor;
  let x = aten.embedding(get("embedding"), tokens.narrow(1, 0, length)).add(get("position"));
  for (let l = 0; l < layers; l++) x = block(p, x, l, sizes);
  x = layerNorm(x, [width], get("final.w"), get("final.b"));
  const logits = linear(x, get("head.w"), get("head.b")).view([-1, vocabulary]);
  return aten.cross_entropy_loss(logits.float(), tokens.narrow(1, 1, length).reshape([-1]));
}

export const optimizer = (p: Parameters): AdamW =>
  new AdamW([{ parameters: p, lr: 1e-3, weightDecay: 0.01 }]);
