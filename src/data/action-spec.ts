/**
 * What an environment expects of an action; policies convert to it, so that no file knows both a model and an environment.
 *
 * `gripper` says how the numbers of grippers are read, mostly the last one: `minus_one_opens` (LIBERO and our tabletop: −1 open, 1 close),
 * `plus_one_opens` (ManiSkill's WidowX), or `as_is` when the last number is nothing special.
 */
export interface ActionSpec {
  /** Numbers in an action. */
  readonly size: number;
  readonly gripper: "minus_one_opens" | "plus_one_opens" | "as_is";
  /** Which numbers are grippers, where it is not the last one alone. */
  readonly grippers?: readonly number[];
}

/** The numbers of an action that are grippers. */
export const grippersOf = ({ size, grippers = [size - 1] }: ActionSpec): readonly number[] => grippers;

const perHand = 7; // a displacement of the hand, a rotation, the gripper

/** Robosuite's arm. LIBERO, our tabletop and worlds that imitate them. */
export const robosuiteActions: ActionSpec = { size: perHand, gripper: "minus_one_opens" };

/** Robosuite's arm, or several of them, the left one's numbers first. */
export const handActions = (hands: number): ActionSpec =>
  hands === 1
    ? robosuiteActions
    : {
        size: hands * perHand,
        gripper: "minus_one_opens",
        grippers: Array.from({ length: hands }, (_, hand) => (hand + 1) * perHand - 1),
      };
