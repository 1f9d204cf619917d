/**
 * What an environment expects of an action; policies convert to it, so that no file knows both a model and an environment.
 *
 * `gripper` says how the last number is read: `minus_one_opens` (LIBERO and our tabletop: −1 open, 1 close),
 * `plus_one_opens` (ManiSkill's WidowX), or `as_is` when the last number is nothing special.
 */
export interface ActionSpec {
  /** Numbers in an action. */
  readonly size: number;
  readonly gripper: "minus_one_opens" | "plus_one_opens" | "as_is";
}

/** Robosuite's arm: a displacement of the hand, a rotation and the gripper. LIBERO, our tabletop and worlds that imitate them. */
export const robosuiteActions: ActionSpec = { size: 7, gripper: "minus_one_opens" };
