/** Pictures of what the first slots saw last: something for a person to look at while a run goes on. */
import type { Observation } from "#data";
import type { Rgb } from "#pictures";
import { scope } from "#tensor";

/** Nine small pictures, four larger ones: enough to see what happens, little to store. */
const shown = (width: number): number => (width <= 128 ? 9 : 4);

export function lastSights({ mainImages }: Observation): Rgb[] {
  const [slots = 0, height = 0, width = 0] = mainImages.shape;
  const count = Math.min(slots, shown(width));
  const bytes = scope(() =>
    Uint8Array.from(mainImages.narrow(0, 0, count).cpu().contiguous().data() as Uint8Array),
  );
  const size = 3 * width * height;
  return Array.from({ length: count }, (_, slot) => ({
    width,
    height,
    data: bytes.subarray(slot * size, (slot + 1) * size),
  }));
}
