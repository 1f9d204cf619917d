/** What a robot feels of one hand, at the last observation. */
export interface RobotReading {
  /** Overwritten by the next observation: copy what must stay. */
  readonly handPosition: Float64Array; // [3], meters
  readonly handQuaternion: Float64Array; // [4], x, y, z, w
  readonly fingers: Float64Array; // positions of the gripper's joints
  readonly joints: Float64Array; // positions of the arm's joints
}

export const emptyReading = (fingers: number, joints: number): RobotReading => ({
  handPosition: new Float64Array(3),
  handQuaternion: new Float64Array(4),
  fingers: new Float64Array(fingers),
  joints: new Float64Array(joints),
});

/** Where a hand and its joints lie in the arrays of a simulation. */
export interface ReadingPlaces {
  readonly gripSite: number;
  readonly handBody: number;
  readonly fingers: readonly number[]; // in qpos
  readonly joints: readonly number[];
}

export interface ReadingViews {
  readonly qpos: Float64Array;
  readonly sitePositions: Float64Array;
  readonly bodyQuaternions: Float64Array;
}

export function readHand(reading: RobotReading, places: ReadingPlaces, views: ReadingViews): void {
  const { handPosition, handQuaternion, fingers, joints } = reading;
  const { qpos, sitePositions, bodyQuaternions } = views;
  const [site, hand] = [3 * places.gripSite, 4 * places.handBody];
  for (let i = 0; i < 3; i++) handPosition[i] = sitePositions[site + i]!;
  for (let i = 0; i < 4; i++) handQuaternion[i] = bodyQuaternions[hand + ((i + 1) % 4)]!;
  for (let i = 0; i < fingers.length; i++) fingers[i] = qpos[places.fingers[i]!]!;
  for (let i = 0; i < joints.length; i++) joints[i] = qpos[places.joints[i]!]!;
}
