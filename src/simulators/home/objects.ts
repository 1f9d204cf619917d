/** The things of the home: which file, how far they are turned when placed, and when a drawer is open or a radio on. */

import type { ObjectCategory, Range } from "#engine";

const turned = (name: string, range: Range): ObjectCategory => ({
  xml: `objects/${name}.xml`,
  rotation: { axis: "z", range },
});
const slightly: Range = [-0.3, 0.3];
const straight: Range = [0, 0];

const boxes = ["blue_box", "yellow_box", "green_box"];
const groceries = ["red_can", "blue_can", "bottle", "cup", "jar", "apple"];
const things = [...boxes, ...groceries, "book", "sponge", "ball", "bowl", "plate"];

export const homeObjects: Readonly<Record<string, ObjectCategory>> = {
  ...Object.fromEntries(things.map((name) => [name, turned(name, slightly)])),
  tray: turned("tray", [-0.12, 0.12]),
  basket: turned("basket", straight),
  cabinet: {
    ...turned("cabinet", straight),
    // Meters of a slide that ends at 0.15. A drawer that is ajar has room for a can and is neither open nor closed.
    articulation: {
      open: { range: [0.142, 0.146], comparison: ">", threshold: 0.13 },
      close: { range: [0, 0.001], comparison: "<", threshold: 0.008 },
      ajar: { range: [0.095, 0.105], comparison: ">", threshold: 0.02 },
    },
  },
  radio: {
    ...turned("radio", straight),
    // Meters of a button that ends at 0.016 and stays down.
    articulation: {
      turnOn: { range: [0.014, 0.015], comparison: ">", threshold: 0.01 },
      turnOff: { range: [0, 0], comparison: "<", threshold: 0.01 },
    },
    glowSite: "lamp",
  },
  stove: {
    ...turned("stove", straight),
    // Radians of a lever that ends at 1.2.
    articulation: {
      turnOn: { range: [0.7, 0.9], comparison: ">", threshold: 0.5 },
      turnOff: { range: [0, 0], comparison: "<", threshold: 0.1 },
    },
    glowSite: "burner",
  },
};
