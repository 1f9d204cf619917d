/** A repeatable stream of numbers in [0, 1) for choices that need no tensor. Marsaglia 2003, "Xorshift RNGs", with 32 bits of state. */
export function xorshift32(seed: number): () => number {
  let state = (seed ^ 0x9e3779b9) >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state / 2 ** 32;
  };
}
