/**
 * The things on our table: which file, how far they are turned when placed, and when a drawer is open or a stove on.
 *
 * Turns stay within a quarter radian, so that a gripper which keeps its heading (the fingers open sideways) can grasp
 * every one of them.
 */

import type { ObjectCategory, Range } from "#engine";

const turned = (name: string, range: Range): ObjectCategory => ({
  xml: `objects/${name}.xml`,
  rotation: { axis: "z", range },
});
const slightly: Range = [-0.25, 0.25];
const straight: Range = [0, 0];

const graspables = ["red_cube", "green_cube", "blue_can", "yellow_can", "milk_carton", "butter_box"];
const containers = ["bowl", "plate", "tray", "basket"];

export const tabletopObjects: Readonly<Record<string, ObjectCategory>> = {
  ...Object.fromEntries(graspables.map((name) => [name, turned(name, slightly)])),
  ...Object.fromEntries(containers.map((name) => [name, turned(name, straight)])),
  cabinet: {
    ...turned("cabinet", straight),
    // Meters of a slide that ends at 0.085. Fully open and fully closed are reached with room to spare.
    articulation: {
      open: { range: [0.08, 0.084], comparison: ">", threshold: 0.06 },
      close: { range: [0, 0.001], comparison: "<", threshold: 0.008 },
    },
  },
  stove: {
    ...turned("stove", straight),
    // Radians of a lever that ends at 1.2.
    articulation: {
      turnOn: { range: [0.7, 0.9], comparison: ">=", threshold: 0.5 },
      turnOff: { range: [0, 0], comparison: "<", threshold: 0.1 },
    },
    glowSite: "burner",
  },
};
