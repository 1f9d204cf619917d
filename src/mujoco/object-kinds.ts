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
