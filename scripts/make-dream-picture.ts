/**
 * Moments of two episodes, imagined above simulated, from the film that `reverie world evaluate` writes:
 *
 *     reverie world collect tabletop_object --out REC --episodes 12 --seed 13 --policy checkpoints/openvla-oft-mini \
 *       --temperatures 1 --set steps_after_success=40 --set purpose=exams
 *     reverie world evaluate --data REC --world checkpoints/opensora-tabletop-object --out TRUTH
 *     node --import tsx scripts/make-dream-picture.ts TRUTH/truth.mp4
 */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { UserError } from "#registry";
import { findFfmpeg } from "../src/formats/ffmpeg.ts";
import { svgOf, svgToPng, textElement } from "../src/pictures/svg.ts";

const film = process.argv[2];
if (film === undefined) throw new UserError("name the film: TRUTH/truth.mp4");

const framesPerEpisode = 40;
/** The first of the film, and the first in which dream and simulator part. */
const episodes = [
  { number: 0, words: "A true dream: the red cube lands in the basket" },
  { number: 6, words: "A false one: the cube slips away, and the world imagines it in the hand" },
];
const moments = [0, 8, 16, 24, 32];
const [side, gap, left, titleHeight] = [132, 6, 84, 26];
const rowHeight = 2 * (side + gap) + titleHeight;

/** One panel of a frame of the film, 256 pixels wide and high: 0 is the dream, 1 the simulator. */
function panel(frame: number, which: 0 | 1): string {
  const filter = `select=eq(n\\,${frame}),crop=256:256:${256 * which}:0`;
  const options = ["-loglevel", "error", "-i", film as string, "-vf", filter, "-frames:v", "1"];
  const png = execFileSync(findFfmpeg(), [...options, "-f", "image2pipe", "-c:v", "png", "-"]);
  return png.toString("base64");
}

const text = (words: string, x: number, y: number, weight = 400): string =>
  textElement(words, { x, y, size: 13, weight, color: "#202124" });

const parts = episodes.flatMap(({ number, words }, row) => {
  const top = 12 + row * rowHeight;
  const pictures = ([0, 1] as const).flatMap((which) =>
    moments.map((moment, column) => {
      const [x, y] = [left + column * (side + gap), top + titleHeight + which * (side + gap)];
      const data = panel(number * framesPerEpisode + moment, which);
      return `<image x="${x}" y="${y}" width="${side}" height="${side}" href="data:image/png;base64,${data}"/>`;
    }),
  );
  const names = ["imagined", "simulated"].map((name, which) =>
    text(name, 10, top + titleHeight + which * (side + gap) + side / 2),
  );
  return [text(words, left, top + 15, 600), ...names, ...pictures];
});

const [width, height] = [left + moments.length * (side + gap) + 6, 12 + episodes.length * rowHeight + 4];
const paper = `<rect width="${width}" height="${height}" fill="#fff"/>`;
const target = new URL("../docs/pictures/dream-beside-truth.png", import.meta.url);
writeFileSync(target, svgToPng(svgOf(width, height, [paper, ...parts].join(""))));
