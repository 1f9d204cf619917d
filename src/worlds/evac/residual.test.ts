import { test } from "node:test";
import { Conv3d } from "#nn";
import { aten, cat, Generator, grad, randn, type Tensor } from "#tensor";
import { assertClose } from "../../../test/support/close.ts";
import { asProduct } from "./residual.ts";

test("a convolution over frames as one product gives the same numbers and gradients", () => {
  const generator = new Generator(4);
  const draw = (...shape: number[]): Tensor => randn(shape, { generator }).double();
  const conv = new Conv3d(6, 5, { kernel: [3, 1, 1], dtype: "float64" });
  conv.weight.detach().copy_(draw(...conv.weight.shape));
  conv.bias!.detach().copy_(draw(5));
  const x = draw(2, 6, 4, 3, 2).requiresGrad_(true);
  const first = x.narrow(2, 0, 1);
  const plain = aten.conv3d(cat([first, first, x], 2), conv.weight, conv.bias!);
  const product = asProduct(conv, x);
  assertClose(product.detach(), plain.detach(), 1e-9, "the result");
  const leaves = [x, conv.weight, conv.bias!];
  const [own, theirs] = [product, plain].map((out) => grad([out.square().sum()], leaves) as Tensor[]);
  for (const [i, gradient] of own!.entries()) assertClose(gradient, theirs![i]!, 1e-9, `gradient ${i}`);
});
