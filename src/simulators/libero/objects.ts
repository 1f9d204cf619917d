/**
 * LIBERO's object categories: which file, how it is turned when placed, and when its joints count as open or on.
 *
 * Source: LIBERO's `envs/objects`, whose numbers the stored initial states and published success rates depend on. The
 * thresholds look odd where they are (a drawer is closed only beyond 0, so pushed in fully): kept as they are.
 */

import type { Articulation, AxisRotation, ObjectCategory } from "#engine";

const quarter = Math.PI / 2;
const about = (axis: "x" | "y" | "z", low: number, high = low): AxisRotation => ({
  axis,
  range: [low, high],
});

const flat = about("x", 0);
const turned = about("x", quarter);
const upright = about("z", quarter);
const uprightTurned = [about("x", quarter), about("z", quarter)];
const anyLean = about("x", Math.PI / 4, quarter);
const book = about("x", -quarter, -Math.PI / 4);
const mug = about("x", -quarter);

type Turn = ObjectCategory["rotation"];
const inFolder = (folder: string, table: Readonly<Record<string, Turn>>): Record<string, ObjectCategory> =>
  Object.fromEntries(
    Object.entries(table).map(([name, rotation]) => [
      name,
      { xml: `libero/${folder}/${name}/${name}.xml`, rotation },
    ]),
  );

const groceries = inFolder("stable_hope_objects", {
  alphabet_soup: upright,
  bbq_sauce: turned,
  butter: flat,
  cherries: turned,
  chocolate_pudding: flat,
  cookies: turned,
  corn: turned,
  cream_cheese: flat,
  ketchup: uprightTurned,
  macaroni_and_cheese: uprightTurned,
  mayo: uprightTurned,
  milk: uprightTurned,
  new_salad_dressing: uprightTurned,
  orange_juice: uprightTurned,
  popcorn: flat,
  salad_dressing: uprightTurned,
  tomato_sauce: upright,
});

const tableware = inFolder("stable_scanned_objects", {
  akita_black_bowl: turned,
  basket: turned,
  chefmate_8_frypan: turned,
  glazed_rim_porcelain_ramekin: turned,
  plate: turned,
  white_bowl: turned,
});

const household = inFolder("turbosquid_objects", {
  black_book: book,
  bowl_drainer: flat,
  desk_caddy: flat,
  dining_set_group: flat,
  moka_pot: flat,
  porcelain_mug: mug,
  red_coffee_mug: mug,
  white_storage_box: about("y", 0),
  white_yellow_mug: mug,
  wine_bottle: flat,
  wine_rack: flat,
  wooden_shelf: flat,
  wooden_tray: flat,
  wooden_two_layer_shelf: flat,
  yellow_book: book,
});

/** Opens towards negative joint positions: the cabinets' drawers, the microwave's door. */
const opensDown = (openRange: [number, number], closeRange: [number, number]): Articulation => ({
  open: { range: openRange, comparison: "<", threshold: openRange[1] },
  close: { range: closeRange, comparison: ">", threshold: closeRange[0] },
});
const opensUp = (openRange: [number, number]): Articulation => ({
  open: { range: openRange, comparison: ">", threshold: openRange[0] },
  close: { range: [-0.005, 0], comparison: "<", threshold: 0 },
});
const stove: Articulation = {
  turnOn: { range: [0.5, 2.1], comparison: ">=", threshold: 0.5 },
  turnOff: { range: [-0.005, 0], comparison: "<", threshold: 0 },
};

const furniture = (name: string, articulation?: Articulation): ObjectCategory => ({
  xml: `libero/articulated_objects/${name}.xml`,
  rotation: anyLean,
  ...(articulation && { articulation }),
});

export const liberoObjects: Readonly<Record<string, ObjectCategory>> = {
  ...groceries,
  ...tableware,
  ...household,
  rack: { xml: "libero/stable_scanned_objects/simple_rack/simple_rack.xml", rotation: flat },
  basin_faucet: furniture("basin_faucet"),
  faucet: furniture("faucet"),
  flat_stove: { ...furniture("flat_stove", stove), rotation: about("y", 0), glowSite: "burner" },
  microwave: furniture("microwave", opensDown([-2.094, -1.3], [-0.005, 0])),
  short_cabinet: furniture("short_cabinet", opensUp([0.1, 0.16])),
  short_fridge: furniture("short_fridge", opensUp([2, 2.7])),
  slide_cabinet: furniture("slide_cabinet"),
  white_cabinet: furniture("white_cabinet", opensDown([-0.16, -0.14], [0, 0.005])),
  window: furniture("window"),
  wooden_cabinet: furniture("wooden_cabinet", opensDown([-0.16, -0.14], [0, 0.005])),
};
