/**
 * The suites of the home, in the order of their task ids. Their names are the seed's, their tasks are ours.
 *
 * `behavior_spatial` asks which of equal bowls, `behavior_object` asks what, `behavior_goal` asks for what in one scene that is the
 * same for all of its tasks, and `behavior_long` asks for several things in a row.
 */

import type { TaskEntry } from "#engine";

const ontoPlate = (which: string): string => `pick_up_the_${which}_and_place_it_on_the_plate`;
const intoBasket = (what: string): string => `put_the_${what}_in_the_basket`;

const bowls = [
  "bowl_next_to_the_can",
  "bowl_between_the_boxes",
  "bowl_on_the_cabinet",
  "left_bowl",
  "right_bowl",
  "bowl_in_front_of_the_cabinet",
  "bowl_next_to_the_radio",
  "bowl_nearest_to_the_plate",
  "bowl_farthest_to_the_left",
  "bowl_farthest_to_the_right",
];
const groceries = [
  "red_can",
  "blue_can",
  "bottle",
  "cup",
  "jar",
  "book",
  "sponge",
  "apple",
  "ball",
  "yellow_box",
];

const taskNames: Readonly<Record<string, readonly string[]>> = {
  behavior_spatial: bowls.map(ontoPlate),
  behavior_object: groceries.map(intoBasket),
  behavior_goal: [
    "open_the_drawer",
    "close_the_drawer",
    "put_the_can_in_the_drawer",
    "put_the_bowl_on_the_cabinet",
    "put_the_blue_box_on_the_yellow_box",
    "turn_on_the_radio",
    "hand_the_can_to_the_right_hand",
    "push_the_plate_to_the_right",
    "put_the_can_in_the_bowl",
    "move_the_boxes_apart",
  ],
  behavior_long: [
    "open_the_drawer_put_the_can_in_it_and_close_it",
    "put_the_can_the_apple_and_the_sponge_in_the_basket",
    "stack_the_blue_box_on_the_yellow_box_and_the_green_box_on_top",
    "hand_the_can_to_the_right_hand_and_put_it_on_the_plate",
    "put_the_bowl_on_the_plate_and_the_cup_next_to_it",
    "swap_the_can_and_the_box",
    "turn_on_the_radio_and_put_the_can_on_the_plate",
    "put_the_apple_and_the_cup_on_the_tray_and_lift_it",
    "turn_on_the_stove_and_put_the_bowl_on_it",
    "put_the_blue_box_on_the_left_plate_and_the_yellow_box_on_the_right_plate",
  ],
};

const taskEntry = (suite: string, name: string): TaskEntry => ({
  name,
  language: name.replaceAll("_", " "),
  bddl: `bddl/${suite}/${name}.bddl`,
  initStates: `starts/${suite}/${name}.npy`,
});

export const homeSuites: Readonly<Record<string, readonly TaskEntry[]>> = Object.fromEntries(
  Object.entries(taskNames).map(([suite, names]) => [suite, names.map((name) => taskEntry(suite, name))]),
);

/** Half of the starts of tasks that speak of movable neighbors are mirrored, so that a side alone never tells the answer. */
export const isMirrored = (taskName: string): boolean =>
  /next_to_the_can|between_the_boxes|nearest_to_the_plate/.test(taskName);
