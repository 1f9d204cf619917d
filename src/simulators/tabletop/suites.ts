/**
 * The suites of the tabletop pack, in the order of their task ids.
 *
 * `tabletop_spatial` asks where, `tabletop_object` asks what, `tabletop_goal` asks for what in one unchanging scene, and
 * `tabletop_long` asks for two things in a row. Every scene holds several candidates: only the words decide.
 */

import type { TaskEntry } from "#engine";

const intoTray = (which: string): string => `pick_up_the_${which}_and_place_it_in_the_tray`;
const intoBasket = (what: string): string => `pick_up_the_${what}_and_place_it_in_the_basket`;

const taskNames: Readonly<Record<string, readonly string[]>> = {
  tabletop_spatial: [
    intoTray("left_red_cube"),
    intoTray("middle_red_cube"),
    intoTray("right_red_cube"),
    intoTray("red_cube_next_to_the_blue_can"),
    intoTray("red_cube_next_to_the_milk_carton"),
    intoTray("red_cube_on_the_plate"),
  ],
  tabletop_object: [
    intoBasket("red_cube"),
    intoBasket("green_cube"),
    intoBasket("blue_can"),
    intoBasket("yellow_can"),
    intoBasket("milk_carton"),
    intoBasket("butter_box"),
  ],
  tabletop_goal: [
    "open_the_left_drawer_of_the_cabinet",
    "open_the_right_drawer_of_the_cabinet",
    "turn_on_the_stove",
    "put_the_bowl_on_the_stove",
    "put_the_bowl_on_the_plate",
    "put_the_red_cube_in_the_bowl",
    "put_the_red_cube_on_the_plate",
    "put_the_yellow_can_on_top_of_the_cabinet",
  ],
  tabletop_long: [
    "put_the_red_cube_and_the_green_cube_in_the_basket",
    "put_the_blue_can_and_the_yellow_can_in_the_tray",
    "open_the_left_drawer_and_put_the_red_cube_in_it",
    "put_the_red_cube_in_the_right_drawer_and_close_it",
    "turn_on_the_stove_and_put_the_bowl_on_it",
    "put_the_yellow_can_on_the_plate_and_the_red_cube_in_the_bowl",
  ],
};

const taskEntry = (suite: string, name: string): TaskEntry => ({
  name,
  language: name.replaceAll("_", " "),
  bddl: `bddl/${suite}/${name}.bddl`,
  initStates: `starts/${suite}/${name}.npy`,
});

export const tabletopSuites: Readonly<Record<string, readonly TaskEntry[]>> = Object.fromEntries(
  Object.entries(taskNames).map(([suite, names]) => [suite, names.map((name) => taskEntry(suite, name))]),
);

/**
 * Tasks that speak of neighbors have half of their starts mirrored left to right, so that a side alone never tells the
 * answer.
 */
export const isMirrored = (taskName: string): boolean => /next_to|red_cube_on_the_plate_and/.test(taskName);
