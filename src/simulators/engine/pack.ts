/**
 * What an asset pack gives the simulator engine.
 *
 * The engine (BDDL, scene assembly, placement, controller, predicates) knows no object and no table by name; a pack
 * does. `libero` reproduces the published benchmark from fetched assets, `tabletop` ships in the repository. Both are
 * plain data plus two functions that find files, so that every config that runs on one runs on the other.
 *
 * Units: meters, radians, kilograms. Quaternions are w, x, y, z unless said otherwise.
 */
export type Vector3 = readonly [x: number, y: number, z: number];
export type Quaternion = readonly [w: number, x: number, y: number, z: number];
export type Range = readonly [low: number, high: number];
export type Axis = "x" | "y" | "z";

/** One uniform draw of an angle about an axis. A draw happens even where low equals high: it consumes random bits. */
export interface AxisRotation {
  readonly axis: Axis;
  readonly range: Range;
}

/** Joint positions, as drawn by `:init` and as thresholds of the goal predicates. */
export interface Articulation {
  readonly open?: JointCondition;
  readonly close?: JointCondition;
  readonly turnOn?: JointCondition;
  readonly turnOff?: JointCondition;
}

export interface JointCondition {
  /** `(Open x)` in `:init` draws the joints uniformly from here. */
  readonly range: Range;
  /** The predicate holds for a joint position q when `q <comparison> threshold`. */
  readonly comparison: "<" | ">" | ">=";
  readonly threshold: number;
}

/** A kind of thing named after the dash in a BDDL's `:objects` or `:fixtures`. */
export interface ObjectCategory {
  /** MJCF with `worldbody/body/body[name=object]` and sibling sites `bottom_site`, `top_site`, `horizontal_radius_site`. */
  readonly xml: string;
  /** Orientation at placement. A list is composed, first entry innermost. */
  readonly rotation: AxisRotation | readonly AxisRotation[];
  readonly articulation?: Articulation;
  /** A site (name without the instance's prefix) shown while `TurnOn` holds, such as a stove's burner. */
  readonly glowSite?: string;
}

export interface CameraPose {
  readonly position: Vector3;
  readonly orientation: Quaternion;
}

/** A table whose top, legs and friction are set by numbers rather than by the scene's XML. */
export interface ConfiguredTable {
  readonly fullSize: Vector3;
  /** Sliding, torsional, rolling. */
  readonly friction: Vector3;
  /** Center of the top surface. */
  readonly offset: Vector3;
}

/** The stage of a task: `(problem <name>)` of a BDDL chooses one. */
export interface Problem {
  readonly sceneXml: string;
  readonly robot: string;
  /** World position of the lowest point of the robot with its mount. */
  readonly robotBase: Vector3;
  /** The fixture category that is the stage itself and so is not loaded as an object. */
  readonly workspaceCategory: string;
  /** Regions whose full name contains this are zones drawn on the workspace. */
  readonly workspaceName: string;
  /** Where placement regions have their origin. */
  readonly workspaceOffset: Vector3;
  /** Fixtures stand this much above the workspace surface (usually below: their feet are hidden). */
  readonly fixtureZOffset: number;
  /** The body that carries the zones, and what is added to a zone's center within it. */
  readonly zoneBody: string;
  readonly zoneOffset: Vector3;
  /** Whether sampled objects must lie wholly inside their region (region shrunk by the object's radius). */
  readonly shrinkRegions: boolean;
  readonly table?: ConfiguredTable;
  readonly cameras: Readonly<Record<string, CameraPose>>;
  /** Texture name to file name, in the folder of the file that the scene's XML names. */
  readonly textures: Readonly<Record<string, string>>;
}

export interface Mount {
  readonly xml: string;
  /** From the mount's root body to the surface that carries the robot. */
  readonly topOffset: Vector3;
}

export interface Gripper {
  readonly xml: string;
  readonly initialJointPositions: readonly number[];
  /** Sign of each actuator's target for a closing (+1) action. */
  readonly closingSigns: readonly number[];
  /** Change of the normalized target per physics step. */
  readonly speed: number;
}

/** Names here are as in the robot's XML; the engine prefixes them `robot0_`, `gripper0_`, `mount0_`. */
export interface Robot {
  readonly xml: string;
  readonly mount?: Mount;
  readonly gripper: Gripper;
  /** The body that carries the gripper; its orientation is the observed hand orientation. */
  readonly handBody: string;
  /** The gripper's site that the controller moves. */
  readonly gripSite: string;
  readonly initialJointPositions: readonly number[];
  /** Overrides the XML's damping, one per arm joint. */
  readonly jointDamping: readonly number[];
  /** Set only where the XML says nothing, one per arm joint. */
  readonly jointFrictionLoss: readonly number[];
  readonly jointArmature: readonly number[];
}

/** How actions become motion: robosuite's OSC_POSE with these numbers. LIBERO's are in the comments. */
export interface ControlSettings {
  /** Physics steps per control step of 0.05 s (25); the base XML's timestep is 0.05 / substeps. */
  readonly substeps: number;
  /** Proportional gain of the controller, 1/s² (150); damping is critical: 2·√stiffness. */
  readonly stiffness: number;
  /**
   * Whether the first control step after a stored start is set acts from the pose of the reset, as robosuite does (true),
   * or from the pose that was set.
   */
  readonly staleFirstStep: boolean;
  /** Control steps without motion after a stored start is set (15); starts that are stored at rest need fewer. */
  readonly settleSteps: number;
  /**
   * When an observation is taken: "drifting" through the control step by rounding, as robosuite's observables do and
   * LIBERO's recordings show, or after the "last" physics step of each.
   */
  readonly observation: "drifting" | "last";
}

export interface TaskEntry {
  /** Unique within a suite: the BDDL's file name without extension. */
  readonly name: string;
  readonly language: string;
  /** Pack-relative paths. */
  readonly bddl: string;
  readonly initStates: string;
}

/** Stored starts of one task: `count` rows of `[time, qpos…, qvel…]`. */
export interface InitStates {
  readonly count: number;
  readonly width: number;
  /** Row-major, count × width. */
  readonly data: Float64Array;
}

/** How people are shown a scene, in films. */
export interface FilmLook {
  /** A camera of every scene that shows robot and table. */
  readonly overview: string;
  /** Which groups of geoms are drawn. */
  readonly geomGroups: readonly boolean[];
}

export interface AssetPack {
  readonly name: string;
  /** MJCF with compiler, option, size and visual settings: everything else is merged into it. */
  readonly baseXml: string;
  readonly objects: Readonly<Record<string, ObjectCategory>>;
  readonly problems: Readonly<Record<string, Problem>>;
  readonly robots: Readonly<Record<string, Robot>>;
  readonly suites: Readonly<Record<string, readonly TaskEntry[]>>;
  readonly control: ControlSettings;
  readonly film: FilmLook;
  /**
   * LIBERO's object samplers build x, y, z, w and write it where MuJoCo reads w, x, y, z, and its stored states depend
   * on that. `"xyzw"` reproduces it; a pack of one's own says `"wxyz"`.
   */
  readonly placementQuaternion: "wxyz" | "xyzw";
  /** Absolute path of a pack-relative file; a UserError that says how to obtain it when it is missing. */
  resolve(file: string): string;
  /** Refuses, with a UserError, a file that is not the one the pack was prepared with. */
  verify?(path: string): void;
  readInitStates(task: TaskEntry): InitStates;
}
