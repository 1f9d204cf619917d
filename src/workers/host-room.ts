/**
 * Room on the host for many tensors at once, pinned where an accelerator will copy from and to it.
 *
 * libtorch rounds every pinned allocation up to a power of two: tensor by tensor, a third of the memory could be waste. So we take
 * whole powers of two and lay the tensors into them, the largest first.
 */
import { UserError } from "#registry";
import { aten, keep, noGrad, scope, type Tensor } from "#tensor";

const largestBlock = 2 ** 30; // bytes; only a tensor that is larger gets a larger one
const alignment = 512; // bytes, as the device's own allocator has it

interface Block {
  readonly size: number; // bytes
  used: number;
  readonly tensors: Tensor[];
}

const aligned = (bytes: number): number => Math.ceil(bytes / alignment) * alignment;

/** Unset host tensors of the same shapes and types, by tensor. Disposing all of them frees the memory. */
export function roomFor(tensors: Iterable<Tensor>, pinned: boolean): Map<Tensor, Tensor> {
  const rooms = new Map<Tensor, Tensor>();
  const blocks = layOut(tensors);
  requireMemory(blocks.reduce((sum, { size }) => sum + size, 0));
  for (const { size, tensors: inside } of blocks) {
    noGrad(() => {
      const block = aten.empty([size], { dtype: "uint8", pin_memory: pinned });
      let at = 0;
      for (const tensor of inside) {
        rooms.set(tensor, keep(scope(() => viewLike(block.narrow(0, at, tensor.byteLength), tensor))));
        at += aligned(tensor.byteLength);
      }
      block.dispose(); // the views hold it
    });
  }
  return rooms;
}

/** Pinned memory cannot be swapped out: taking too much would kill the process without a word. */
export function requireMemory(bytes: number, available = process.availableMemory()): void {
  if (bytes <= available * 0.9) return;
  const gigabytes = (count: number): string => `${(count / 1e9).toFixed(1)} GB`;
  throw new UserError(
    `offload needs ${gigabytes(bytes)} of the host's memory and ${gigabytes(available)} are free: ` +
      "set actor.enable_offload=False (or rollout.enable_offload=False), or train fewer weights (actor.model.is_lora=True)",
  );
}

const viewLike = (bytes: Tensor, { dtype, shape }: Tensor): Tensor => aten.view(bytes, dtype).view(shape);

/** First fit, largest first. */
function layOut(tensors: Iterable<Tensor>): Block[] {
  const sorted = [...tensors].sort((a, b) => b.byteLength - a.byteLength);
  let left = sorted.reduce((sum, { byteLength }) => sum + aligned(byteLength), 0);
  const blocks: Block[] = [];
  for (const tensor of sorted) {
    const bytes = aligned(tensor.byteLength);
    let block = blocks.find(({ size, used }) => used + bytes <= size);
    if (!block) {
      block = { size: powerOfTwo(Math.max(bytes, Math.min(largestBlock, left))), used: 0, tensors: [] };
      blocks.push(block);
    }
    block.tensors.push(tensor);
    block.used += bytes;
    left -= bytes;
  }
  return blocks;
}

const powerOfTwo = (bytes: number): number => 2 ** Math.ceil(Math.log2(bytes));
