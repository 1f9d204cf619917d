/**
 * Charts from Vega-Lite specifications, as SVG and as PNG.
 *
 * One look for all of them: a white sheet, quiet grid lines, Inter, and colors that readers with color blindness can tell apart
 * (Okabe and Ito's). A caller says what is drawn; this file says how it looks.
 */
import type { TopLevelSpec } from "vega-lite";
import type { LayerSpec, UnitSpec } from "vega-lite/types_unstable/spec/index.js";
import { fontFamily, svgToPng, wordWidth } from "./svg.ts";

export const palette = {
  ink: "#202124",
  soft: "#6b7079",
  grid: "#e3e5e9",
  blue: "#0072b2",
  orange: "#d55e00",
  green: "#009e73",
  gray: "#9a9ca3",
} as const;

export interface Chart {
  readonly svg: string;
  readonly png: Uint8Array; // two pixels for each unit of the SVG
}

export type ChartLayer = LayerSpec<string> | UnitSpec<string>;

/** A vertical axis from 0 to 100 %. */
export const shareAxis = (field: string, title: string) => ({
  field,
  title,
  type: "quantitative" as const,
  scale: { domain: [0, 1] },
  axis: { format: ".0%", tickCount: 6 },
});

const axis = {
  labelFontSize: 13,
  titleFontSize: 13,
  titleFontWeight: 400,
  labelColor: palette.ink,
  titleColor: palette.soft,
  gridColor: palette.grid,
  domainColor: palette.soft,
  tickColor: palette.soft,
  titlePadding: 10,
} as const;

const look = {
  font: fontFamily,
  background: "#fff",
  padding: 18,
  view: { stroke: null },
  axis,
  legend: { labelFontSize: 13, titleFontSize: 13, labelColor: palette.ink, symbolSize: 120, labelLimit: 400 },
  title: {
    fontSize: 17,
    fontWeight: 600,
    color: palette.ink,
    anchor: "start",
    offset: 14,
    subtitleFontSize: 13,
    subtitleColor: palette.soft,
    subtitlePadding: 6,
  },
} as const;

declare module "vega" {
  /** Exported, but not in its types. */
  export const textMetrics: { width: (item: TextItem, text: unknown) => number };
}

/** Without a browser Vega guesses how wide text is, by half too much; we have the font itself. */
function measured({ fontSize = 11, fontWeight }: TextItem, text: unknown): number {
  return wordWidth(String(text), fontSize, fontWeight === "bold" || Number(fontWeight) >= 600 ? 600 : 400);
}

interface TextItem {
  readonly fontSize?: number;
  readonly fontWeight?: string | number;
}

/** The libraries are large and are loaded when the first chart is drawn. */
export async function drawChart(spec: TopLevelSpec): Promise<Chart> {
  const [{ compile }, { parse, textMetrics, View }] = await Promise.all([
    import("vega-lite"),
    import("vega"),
  ]);
  textMetrics.width = measured;
  const view = new View(parse(compile({ config: look, ...spec } as TopLevelSpec).spec), { renderer: "none" });
  try {
    const svg = await view.toSVG();
    return { svg, png: svgToPng(svg, 2) };
  } finally {
    view.finalize();
  }
}
