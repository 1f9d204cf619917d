import { test } from "node:test";
import { asLast } from "#nn";
import { aten, cat, Generator, grad, randn, type Tensor } from "#tensor";
import { assertClose } from "../../../test/support/close.ts";
import { sideBySide } from "./side-by-side.ts";

const generator = new Generator(5);
const wanting = (...shape: number[]): Tensor => randn(shape, { generator }).double().requiresGrad_(true);

const cases = [
  { name: "a stream's first picture", past: 0, frames: 1, kernel: [3, 3, 3], look: 2, border: 1, stride: 1 },
  { name: "a piece after one picture", past: 1, frames: 4, kernel: [3, 3, 3], look: 2, border: 1, stride: 1 },
  { name: "a piece after two", past: 2, frames: 4, kernel: [3, 3, 3], look: 2, border: 1, stride: 1 },
  { name: "every second frame", past: 0, frames: 5, kernel: [3, 1, 1], look: 0, border: 0, stride: 2 },
] as const;

for (const { name, past: before, frames, kernel, look, border, stride } of cases) {
  test(`frames side by side give the convolution over time, and its gradients: ${name}`, () => {
    const [x, weight, bias] = [wanting(2, 4, frames, 5, 6), wanting(3, 4, ...kernel), wanting(3)];
    const past = before > 0 ? wanting(2, 4, before, 5, 6) : undefined;
    const joined = past ? cat([past, x], 2) : x;
    const padded = aten.constant_pad_nd(joined, [border, border, border, border, look - before, 0], 0);
    const plain = aten.conv3d(padded, weight, bias, [stride, 1, 1]);
    const direct = sideBySide(asLast(x).contiguous(), past, weight, bias, { look, border, stride });
    assertClose(direct, plain, 1e-9, "the result");
    const leaves = past ? [x, weight, bias, past] : [x, weight, bias];
    const [own, theirs] = [direct, plain].map((out) => grad([out.square().sum()], leaves) as Tensor[]);
    for (const [i, gradient] of own!.entries()) assertClose(gradient, theirs![i]!, 1e-9, `gradient ${i}`);
  });
}
