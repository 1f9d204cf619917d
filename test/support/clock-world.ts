/** A world that shows, as gray, how many actions of the episode went before; a chunk at a time. */
import { cat, full, type Tensor } from "#tensor";
import type { ImagineRequest, World, WorldMemory } from "#worlds";

export function clockWorld(chunk: number, [height, width]: readonly [number, number]): World {
  return {
    chunk,
    begin: (starts: readonly unknown[]): WorldMemory[] => starts.map(() => ({ count: full([1], 0) })),
    imagine: ({ memories }: ImagineRequest) => {
      const passed = Number(memories[0]!.count!.item());
      const frame = (_: unknown, step: number): Tensor =>
        full([memories.length, 1, 3, height, width], ((passed + 1 + step) / 255 - 0.5) / 0.5 + 1e-3);
      return {
        frames: cat(Array.from({ length: chunk }, frame), 1),
        latents: full([memories.length, 1, chunk, 1, 1], passed),
        memories: memories.map(() => ({ count: full([1], passed + chunk) })),
      };
    },
  } as unknown as World;
}
