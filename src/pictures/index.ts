/** Pictures for people: RGB pictures, text below them, charts. */
export { type CaptionLine, Captions } from "./caption.ts";
export { type Chart, type ChartLayer, drawChart, palette, shareAxis } from "./chart.ts";
export { beside, blank, enlarge, type Rgb, tile } from "./rgb.ts";
