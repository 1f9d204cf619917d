/** The kinds of named things in a model, with MuJoCo's numbers for them (mjtObj) and the size that counts them. */

export const objectKinds = {
  body: { type: 1, count: "nbody" },
  joint: { type: 3, count: "njnt" },
  geom: { type: 5, count: "ngeom" },
  site: { type: 6, count: "nsite" },
  camera: { type: 7, count: "ncam" },
  light: { type: 8, count: "nlight" },
  mesh: { type: 10, count: "nmesh" },
  texture: { type: 13, count: "ntex" },
  material: { type: 14, count: "nmat" },
  equality: { type: 17, count: "neq" },
  tendon: { type: 18, count: "ntendon" },
  actuator: { type: 19, count: "nu" },
  sensor: { type: 20, count: "nsensor" },
  keyframe: { type: 24, count: "nkey" },
} as const satisfies Record<string, { type: number; count: string }>;

export type ObjectKind = keyof typeof objectKinds;

/** The known name that shares the most with a mistyped one, if any is close. */
export function nearestName(wrong: string, known: readonly string[]): string | undefined {
  const scored = known.map((name) => ({ name, distance: editDistance(wrong, name) }));
  const best = scored.sort((a, b) => a.distance - b.distance)[0];
  return best && best.distance <= Math.max(2, wrong.length / 3) ? best.name : undefined;
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(change, previous[j]! + 1, row[j - 1]! + 1));
    }
    previous = row;
  }
  return previous[b.length]!;
}
