/**
 * Flow matching as Wan samples it: Euler steps over noise levels bent towards high noise.
 *
 * Lipman et al. 2022, https://arxiv.org/abs/2210.02747. Levels run from 1 to 0, s → shift·s / (1 + (shift − 1)·s).
 */

export interface FlowLevel {
  readonly sigma: number;
  readonly timestep: number; // 1000·sigma, what the network is told
  readonly delta: number; // sigma of the next level minus this one's: negative
}

export function flowLevels(count: number, shift = 5): FlowLevel[] {
  const sigmas = Array.from({ length: count }, (_, i) => {
    const s = 1 - i / count;
    return Math.fround((shift * s) / (1 + (shift - 1) * s));
  });
  return sigmas.map((sigma, i) => ({
    sigma,
    timestep: Math.fround(1000 * sigma),
    delta: Math.fround((sigmas[i + 1] ?? 0) - sigma),
  }));
}
