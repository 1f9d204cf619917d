/**
 * What an asset pack gives the simulator engine.
 *
 * The engine (BDDL, scene assembly, placement, controllers, predicates) knows no object and no table by name; a pack
 * does. `libero` reproduces the published benchmark from fetched assets; `tabletop` and `home` ship in the repository.
 * A pack is plain data plus functions that find files, draw starts and judge what only its goals speak of.
 *
 * Units: meters, radians, kilograms. Quaternions are w, x, y, z unless said otherwise.
 */
import type { Simulation } from "#mujoco";
import type { Mt19937 } from "#random";
import type { Predicate } from "./bddl.ts";
import type { DrawScene } from "./draw-scene.ts";
import type { Scene } from "./scene.ts";
import type { SceneSimulation } from "./scene-simulation.ts";

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
  /** Neither open nor closed: for `:init`, so that a start tells nothing about the goal. */
  readonly ajar?: JointCondition;
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

/** How a robot is built and moved. Names here are as in its XML; the engine prefixes them `robot0_`, `gripper0_`, `mount0_`. */
export type Robot = ArmRobot | TwoArmRobot;

/** One arm with a gripper of its own file, moved by robosuite's OSC_POSE: actions of 7 numbers. */
export interface ArmRobot {
  readonly kind: "arm";
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
  /** Proportional gain of the controller, 1/s² (LIBERO: 150); damping is critical: 2·√stiffness. */
  readonly stiffness: number;
}

/**
 * Two arms with position servos, moved by steps of inverse kinematics: actions of 14 numbers, the left arm's first.
 *
 * For each side S of "left", "right" the XML has joints `S_joint1`… with actuators `S_servo1`…, joints `S_finger_joint1` and
 * `S_finger_joint2` with actuators `S_grasp1` and `S_grasp2`, the geoms `S_pad1` and `S_pad2`, the site `S_grip`, and bodies
 * that begin with `S_`.
 */
export interface TwoArmRobot {
  readonly kind: "two arms";
  readonly xml: string;
  /** Vertical fields of view in degrees, by camera of the XML, in place of what it says there. */
  readonly views: Readonly<Record<string, number>>;
  /** Joint positions at rest, by side. */
  readonly rest: Readonly<Record<Side, readonly number[]>>;
  /** Standard deviation of the joints about their rest when a start is drawn, in radians. */
  readonly jitter: number;
  /** Meters and radians that an action of 1 asks for. */
  readonly translationPerUnit: number;
  readonly rotationPerUnit: number;
  /** How far the aim may run ahead of the hand, in meters and radians. */
  readonly leash: readonly [translation: number, rotation: number];
  /** No aim lies lower: the fingertips would meet the workspace. */
  readonly lowestAim: number;
  /** Targets of each finger's servo when open and closed, in meters, and how fast the target moves, in m/s. */
  readonly fingers: { readonly open: number; readonly closed: number; readonly speed: number };
}

export const sides = ["left", "right"] as const;
export type Side = (typeof sides)[number];

/** When actions become motion, and when it is looked at. LIBERO's numbers are in the comments. */
export interface ControlSettings {
  /** Seconds per control step (0.05). */
  readonly period: number;
  /** Physics steps per control step (25). */
  readonly substeps: number;
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
  /** Control steps in a row at whose end the goal must hold to count (1). */
  readonly holdSteps: number;
}

/** What policies see: names of cameras in the compiled scene, and how a picture is turned for them. */
export interface Sights {
  readonly main: string;
  readonly wrists: readonly string[];
  /** By half, for cameras that face the robot, or only set upright: see `turned-picture.ts`. */
  readonly turn: "half" | "upright";
  /** Which groups of geoms are drawn; those not named are. Group 0 collides and is hidden, group 1 is what is seen. */
  readonly geomGroups: readonly boolean[];
  /** Whether lamps cast shadows in them. */
  readonly shadows: boolean;
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

/** Which start, and with which sampler things are placed before the pack does the rest. */
export interface StartRequest {
  readonly taskName: string;
  /** Numbered starts of mirrored tasks alternate by it; absent: drawn. */
  readonly trial?: number;
  readonly draw: DrawScene;
}

/** Leaves the world in the start, all but mirroring, and answers its joint positions [nq], at rest. */
export type DrawStart = (world: SceneSimulation, random: Mt19937, request: StartRequest) => Float64Array;

/** Compiles a predicate by its name in lower case; undefined for one that the engine's own meaning is right for. */
export type PackPredicates = (scene: Scene, simulation: Simulation) => CompilePredicate;
export type CompilePredicate = (
  predicate: Predicate,
  fail: (what: string) => never,
) => (() => boolean) | undefined;

export interface AssetPack {
  readonly name: string;
  /** MJCF with compiler, option, size and visual settings: everything else is merged into it. */
  readonly baseXml: string;
  readonly objects: Readonly<Record<string, ObjectCategory>>;
  readonly problems: Readonly<Record<string, Problem>>;
  readonly robots: Readonly<Record<string, Robot>>;
  readonly suites: Readonly<Record<string, readonly TaskEntry[]>>;
  readonly control: ControlSettings;
  readonly sights: Sights;
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
  /** Draws a start of a task that is not among the stored ones; absent: where `:init` puts things, the robot at rest. */
  drawStart?: DrawStart;
  /** Predicates that only this pack's goals use, or that mean something else here. */
  readonly predicates?: PackPredicates;
}
