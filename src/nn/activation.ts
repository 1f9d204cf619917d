/** Activation functions under the names that configs use. */
import { aten, type Tensor } from "#tensor";

export const gelu = (x: Tensor): Tensor => aten.gelu(x);
/** The tanh approximation: other numbers than the exact form, so checkpoints say which they want. */
export const geluTanh = (x: Tensor): Tensor => aten.gelu(x, { approximate: "tanh" });
/** x · sigmoid(x), also called swish. */
export const silu = (x: Tensor): Tensor => aten.silu(x);
/** The cheap GELU of CLIP: x · sigmoid(1.702 x). */
export const quickGelu = (x: Tensor): Tensor => x.mul(x.mul(1.702).sigmoid());
