/**
 * Typed-array views of MuJoCo's arrays, by MuJoCo's own names (`qpos`, `geom_xpos`, `body_mass`, …).
 *
 * A view shares memory with the simulator: reading costs nothing and writing takes effect at the next
 * call. Views of a disposed owner have length 0. Arrays that MuJoCo moves at every step (contacts and
 * constraints) have no view; `Simulation` copies what is needed of them.
 */
import { UserError } from "#registry";
import type { FieldTable } from "./native.ts";

export type ArrayView = Float64Array | Float32Array | Int32Array | Uint8Array;

type Doubles<Names extends string> = Record<Names, Float64Array>;
type Integers<Names extends string> = Record<Names, Int32Array>;

/** The arrays of mjModel that code here names; every other one is reachable by its name as a string. */
export type ModelArrays = Doubles<
  | "qpos0"
  | "body_pos"
  | "body_quat"
  | "body_ipos"
  | "body_iquat"
  | "body_mass"
  | "body_inertia"
  | "jnt_axis"
  | "jnt_pos"
  | "jnt_range"
  | "jnt_stiffness"
  | "dof_damping"
  | "dof_armature"
  | "dof_frictionloss"
  | "geom_pos"
  | "geom_quat"
  | "geom_size"
  | "geom_friction"
  | "geom_solref"
  | "geom_solimp"
  | "geom_margin"
  | "geom_rbound"
  | "site_pos"
  | "site_quat"
  | "site_size"
  | "cam_pos"
  | "cam_quat"
  | "cam_fovy"
  | "actuator_ctrlrange"
  | "actuator_forcerange"
  | "actuator_gainprm"
  | "actuator_biasprm"
  | "actuator_gear"
  | "key_qpos"
> &
  Integers<
    | "body_parentid"
    | "body_rootid"
    | "body_jntnum"
    | "body_jntadr"
    | "body_geomnum"
    | "body_geomadr"
    | "jnt_type"
    | "jnt_qposadr"
    | "jnt_dofadr"
    | "jnt_bodyid"
    | "dof_parentid"
    | "dof_Madr"
    | "geom_type"
    | "geom_bodyid"
    | "geom_contype"
    | "geom_conaffinity"
    | "geom_group"
    | "site_bodyid"
    | "site_type"
    | "actuator_trnid"
  > &
  Record<"geom_rgba" | "site_rgba" | "mat_rgba", Float32Array>;

/** The arrays of mjData that code here names; every other one is reachable by its name as a string. */
export type DataArrays = Doubles<
  | "qpos"
  | "qvel"
  | "qacc"
  | "qacc_warmstart"
  | "act"
  | "ctrl"
  | "qfrc_applied"
  | "xfrc_applied"
  | "qfrc_bias"
  | "mocap_pos"
  | "mocap_quat"
  | "sensordata"
  | "userdata"
  | "xpos"
  | "xquat"
  | "xmat"
  | "xipos"
  | "geom_xpos"
  | "geom_xmat"
  | "site_xpos"
  | "site_xmat"
  | "cam_xpos"
  | "cam_xmat"
  | "subtree_com"
  | "cdof"
  | "cvel"
  | "qM"
  | "actuator_force"
>;

const constructors = { d: Float64Array, f: Float32Array, i: Int32Array, b: Uint8Array } as const;

/** Makes views on demand and keeps them, so that asking twice gives the same object. */
export class ArrayViews {
  readonly #owner: string;
  readonly #buffer: ArrayBuffer;
  readonly #fields: FieldTable;
  readonly #views = new Map<string, ArrayView>();

  constructor(owner: string, buffer: ArrayBuffer, fields: FieldTable) {
    this.#owner = owner;
    this.#buffer = buffer;
    this.#fields = fields;
  }

  has(name: string): boolean {
    return Object.hasOwn(this.#fields, name);
  }

  get(name: string): ArrayView {
    return this.#views.get(name) ?? this.#make(name);
  }

  /** Rows and columns of an array, e.g. [nbody, 3] of `body_pos`. */
  shape(name: string): readonly [rows: number, columns: number] {
    const [, , rows, columns] = this.#place(name);
    return [rows, columns];
  }

  names(): string[] {
    return Object.keys(this.#fields);
  }

  #make(name: string): ArrayView {
    const [type, offset, rows, columns] = this.#place(name);
    const view = new constructors[type](this.#buffer, offset, rows * columns);
    this.#views.set(name, view);
    return view;
  }

  #place(name: string) {
    const place = Object.hasOwn(this.#fields, name) ? this.#fields[name] : undefined;
    if (place) return place;
    throw new UserError(`${this.#owner} has no array named "${name}"; names are MuJoCo's, such as "qpos"`);
  }
}
