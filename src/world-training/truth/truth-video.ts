/** Episodes side by side, one after another: dream | simulator | difference. */
import { Mp4Writer } from "#formats";
import { Captions, enlarge } from "#pictures";
import { cat, scope, type Tensor } from "#tensor";
import { fromBytes, toBytes } from "#worlds";
import type { Dream } from "../dreams/dream.ts";
import type { TrueEpisode } from "./truth-source.ts";

export interface SideBySide {
  readonly frames: readonly Uint8Array[]; // each [H, 3·W, 3]
  readonly task: string;
  readonly captions: readonly string[];
  readonly width: number;
  readonly height: number;
}

/** Renders one episode of a dreamt group. */
export function sideBySide(
  { frames, opinions }: Dream,
  b: number,
  { frames: real, success }: TrueEpisode,
  task: string,
): SideBySide {
  const bytes = scope(() => {
    const seen_T3HW = frames.select(0, b).narrow(0, 0, success.length);
    const true_T3HW = fromBytes(real.to({ device: frames.device })).permute([0, 3, 1, 2]);
    return panels(seen_T3HW, true_T3HW).cpu().contiguous();
  });
  const [, height = 0, width = 0] = bytes.shape;
  const all = bytes.data() as Uint8Array;
  const size = height * width * 3;
  return {
    width,
    height,
    task,
    frames: success.map((_, t) => all.slice(t * size, (t + 1) * size)),
    captions: success.map(
      (now, t) =>
        `action ${t + 1}: the reward model says ${opinions[b]![t]!.toFixed(2)}, the simulator ${now ? "success" : "no success"}`,
    ),
  };
}

/** uint8 [T, H, 3·W, 3]. */
function panels(dream_T3HW: Tensor, real_T3HW: Tensor): Tensor {
  const difference = dream_T3HW.sub(real_T3HW).abs().sub(1);
  return toBytes(cat([dream_T3HW, real_T3HW, difference], 3)).permute([0, 2, 3, 1]);
}

const legend = "left: imagined; middle: simulated; right: difference";

export async function writeSideBySide(
  path: string,
  episodes: readonly SideBySide[],
  fps = 10,
): Promise<void> {
  const [first] = episodes;
  if (!first) return;
  const factor = Math.max(1, Math.round(256 / first.height));
  const captions = new Captions(first.width * factor, 3);
  const height = first.height * factor + captions.height;
  const writer = new Mp4Writer(path, { width: first.width * factor, height, fps });
  for (const episode of episodes) {
    for (const [t, data] of episode.frames.entries()) {
      const lines = [{ text: episode.task, strong: true }, { text: episode.captions[t]! }, { text: legend }];
      const picture = enlarge({ width: episode.width, height: episode.height, data }, factor);
      await writer.addFrame(captions.below(picture, lines).data);
    }
  }
  await writer.close();
}
