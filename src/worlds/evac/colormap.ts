/**
 * The "Reds" color scale, as matplotlib interpolates it: nine anchors of ColorBrewer, 256 entries.
 *
 * Brewer, https://colorbrewer2.org. Entries are truncated to bytes, not rounded.
 */
import type { Color } from "./raster.ts";

const anchors = [
  "fff5f0",
  "fee0d2",
  "fcbba1",
  "fc9272",
  "fb6a4a",
  "ef3b2c",
  "cb181d",
  "a50f15",
  "67000d",
].map((hex) => [0, 2, 4].map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255));
anchors[8]![2] = 0.05098039215686274; // matplotlib's spelling of 13 / 255: one unit in the last place below it
const entries = 256;

const table: readonly Color[] = Array.from({ length: entries }, (_, i) => {
  const last = entries - 1;
  const spacing = last / (anchors.length - 1);
  const position = last * (i * (1 / last)); // NumPy's linspace: not always i, and truncation shows the difference
  const upper = Math.min(Math.max(Math.ceil(position / spacing), 1), anchors.length - 1);
  const share = (position - (upper - 1) * spacing) / spacing;
  const mixed = (c: 0 | 1 | 2): number => {
    const [from, to] = [anchors[upper - 1]![c]!, anchors[upper]![c]!];
    return Math.trunc((share * (to - from) + from) * last);
  };
  return [mixed(0), mixed(1), mixed(2)];
});

/** The color at `value` in [0, 1]. */
export const reds = (value: number): Color => table[Math.min(Math.trunc(value * entries), entries - 1)]!;
export const redsTable = table;
