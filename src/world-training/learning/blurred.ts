/** Latents with noise of a strength that is drawn for each: nobody imagines them exactly. */
import { type Generator, rand, randn, type Tensor } from "#tensor";

/** `noise`: the largest standard deviation. */
export function blurred(latents: Tensor, noise: number, generator: Generator): Tensor {
  const place = { generator, device: latents.device };
  const each = rand([latents.shape[0]!, ...Array<number>(latents.ndim - 1).fill(1)], place).mul(noise);
  return latents.add(randn([...latents.shape], place).mul(each));
}
