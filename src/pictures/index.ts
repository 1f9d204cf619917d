/** Pictures for people: RGB pictures, text below them, charts, films of episodes. */
export { Captions } from "./caption.ts";
export { type Chart, type ChartLayer, drawChart, palette, shareAxis } from "./chart.ts";
export { EpisodeVideos } from "./films/episode-videos.ts";
export type { Film } from "./films/film.ts";
export { RolloutVideo } from "./films/rollout-video.ts";
export { beside, enlarge, type Rgb, tile } from "./rgb.ts";
