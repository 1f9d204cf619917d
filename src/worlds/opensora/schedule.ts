/**
 * Rectified flow as OpenSora samples it: straight lines from noise to video, Euler steps.
 *
 * Liu et al. 2022, https://arxiv.org/abs/2209.03003. x_t = (1 − t)·video + t·noise, and the network predicts
 * video − noise. Timesteps run from 1000 down and are bent by the picture's size, so that larger pictures
 * spend more steps at high noise; at 256² the bend is the identity.
 */

export interface FlowStep {
  readonly timestep: number; // in [0, 1000], what the network is told
  readonly delta: number; // how far the Euler step goes, as a fraction of the whole way
}

const range = 1000;
/** The reference's frame factor: videos of our length count as four times the base length. */
const frameFactor = Math.sqrt(4);

/** `transform: false` leaves the timesteps evenly spaced whatever the size, as our own small worlds are trained. */
export function rectifiedFlowSteps(
  count: number,
  [height, width]: readonly [number, number],
  transform = true,
): FlowStep[] {
  const bend = transform ? Math.sqrt((height * width) / 512 ** 2) * frameFactor : 1;
  const timesteps = Array.from({ length: count }, (_, i) => {
    const t = 1 - i / count;
    return ((bend * t) / (1 + (bend - 1) * t)) * range;
  });
  return timesteps.map((timestep, i) => ({ timestep, delta: (timestep - (timesteps[i + 1] ?? 0)) / range }));
}
