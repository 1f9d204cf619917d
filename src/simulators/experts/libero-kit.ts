/**
 * How LIBERO's Panda handles the things of libero_spatial and libero_object. Lengths in meters.
 *
 * LIBERO's marker sites are rough (most say 6 cm below the origin whatever the object), so heights here are from origins
 * and were found by looking at where objects rest.
 */
import type { ExpertKit, GraspManner } from "./kit.ts";

const at = (height: number): GraspManner => ({ offset: [0, 0, height] });
/** Bottles and cartons stand taller than fingers are long. */
const bottle = at(0.04);
const carton = at(0.025);

export const liberoKit: ExpertKit = {
  // 1.3 cm per control step at full speed, so it brakes late; eight control steps from open to closed.
  handling: { gain: 20, leastAction: 0.4, near: 0.014, exact: 0.007, stillSteps: 2 },
  handReach: 0.1,
  grasps: {
    akita_black_bowl: { offset: [0, 0.048, 0.038], opening: 0.06, eitherSide: true },
    alphabet_soup: at(0.01),
    cream_cheese: { offset: [0, 0, 0], slack: 0.025 },
    salad_dressing: bottle,
    bbq_sauce: at(0.025),
    ketchup: bottle,
    tomato_sauce: at(0.01),
    butter: at(0),
    milk: carton,
    chocolate_pudding: at(0),
    orange_juice: carton,
  },
  dropHeights: { contain_region: 0.06, plate: -0.03 },
  defaultDropHeight: 0.01,
  hover: 0.12,
  lift: 0.2,
  push: () => undefined,
};
