/**
 * Simulates the worlds of some slots; runs inside a worker process, or in this one.
 *
 * A task's scene is assembled and compiled once, its worlds and its renderer are reused by whichever slot plays it next,
 * and a picture is drawn only of the last moment of a chunk unless somebody films. Everything a slot does follows from
 * its start and its actions, so another host that is given a slot's snapshot goes on with the same bits.
 */

import { createHash } from "node:crypto";
import {
  assembleScene,
  drawAfterReset,
  PackCamera,
  readBddl,
  restAction,
  robotState,
  type Scene,
  SceneSimulation,
} from "#engine";
import type { Model } from "#mujoco";
import { Mt19937 } from "#random";
import { UserError, type WorkerProgram } from "#registry";
import { drawEvaluationStart } from "../starts/fresh-start.ts";
import { findSuite, type Suite } from "../suites.ts";
import { FilmCamera, type FilmView } from "./film-camera.ts";

export interface HostSettings {
  readonly suite: string;
  readonly width: number;
  readonly height: number;
  readonly wrist: boolean;
  /** How films are drawn; absent: as the policy sees it. */
  readonly film?: FilmView | undefined;
  /** Actions of rest after a stored start is set; the pack's own number if absent. */
  readonly settleSteps?: number | undefined;
  readonly gripperOpen: boolean;
  /** Tasks kept compiled at once; the least recently used one without a playing slot makes room. */
  readonly keptTasks?: number | undefined;
}

export interface SlotStart {
  readonly slot: number;
  readonly task: number;
  readonly trial: number;
  /** Of the draws that place fixtures, and of fresh starts everything. */
  readonly seed: number;
  /** Begin from a new start drawn from the seed instead of the stored one. */
  readonly fresh?: boolean | undefined;
  /** Begin from this state instead of the stored one: `[time, qpos…, qvel…]`. */
  readonly row?: Float64Array | undefined;
  /** Also draw the start for a film. */
  readonly film?: boolean | undefined;
}

export interface SlotChunk {
  readonly slot: number;
  readonly actions: Float32Array; // [C, A]
  /** Also draw the moments between. */
  readonly film?: boolean | undefined;
}

export interface SlotSnapshot {
  readonly slot: number;
  readonly task: number;
  readonly snapshot: Float64Array;
}

/** Pictures may be views of memory that the next answer of the same host overwrites. */
export interface Sight {
  readonly state: Float32Array; // [8 per hand]
  readonly main: Uint8Array; // [H, W, 3], turned as policies see it
  /** [K, H, W, 3], of each of the robot's wrists. */
  readonly wrist?: Uint8Array | undefined;
  readonly snapshot: Float64Array;
  /** Of the state that the episode begins from, after settling, or of the state after the last action. */
  readonly hash: string;
  /** At the beginning of an episode from a fresh start: the state before settling, `[time, qpos…, qvel…]`. */
  readonly row?: Float64Array | undefined;
  /** For films: one picture of the start, or one of the moment after each action. */
  readonly film?: readonly Uint8Array[] | undefined;
}

export interface ChunkSight extends Sight {
  readonly success: Uint8Array; // [C]
  readonly hashes: readonly string[]; // [C], of the state after each action
}

interface Stage {
  readonly scene: Scene;
  readonly model: Model;
  readonly eye: PackCamera;
  film?: FilmCamera | undefined;
  readonly idle: SceneSimulation[];
  playing: number;
}

interface Seat {
  readonly task: number;
  readonly world: SceneSimulation;
}

export class SlotHost {
  readonly #settings: HostSettings;
  readonly #suite: Suite;
  readonly #stages = new Map<number, Stage>(); // least recently used first
  readonly #seats = new Map<number, Seat>();

  constructor(settings: HostSettings) {
    this.#settings = settings;
    this.#suite = findSuite(settings.suite);
  }

  begin(starts: readonly SlotStart[]): Sight[] {
    return starts.map((start) => this.#begin(start));
  }

  chunk(requests: readonly SlotChunk[]): ChunkSight[] {
    return requests.map((request) => this.#chunk(request));
  }

  restore(snapshots: readonly SlotSnapshot[]): void {
    for (const { slot, task, snapshot } of snapshots) this.#seat(slot, task).world.restore(snapshot);
  }

  dispose(): void {
    for (const slot of [...this.#seats.keys()]) this.#leave(slot);
    for (const task of [...this.#stages.keys()]) this.#closeStage(task);
  }

  #begin(start: SlotStart): Sight {
    const { slot, task, seed, film = false } = start;
    const { world } = this.#seat(slot, task);
    const { pack } = this.#suite;
    const row = this.#rowOf(start, world);
    drawAfterReset(world, new Mt19937(seed)); // fixtures stand where the seed puts them
    world.setState(row);
    const rest = restAction(pack, this.#settings.gripperOpen ? -1 : 0);
    const steps = this.#settings.settleSteps ?? pack.control.settleSteps;
    const camera = this.#camera(task, world, film);
    for (let step = 1; step <= steps; step++) world.step(rest, step === steps ? camera.look : undefined);
    if (steps === 0) camera.look();
    const state = robotState(world.drive.readings);
    const sight = { ...camera.seen(), state, snapshot: world.snapshot(), hash: stateHash(world) };
    return { ...sight, ...(start.fresh && { row }), ...(film && { film: [camera.filmed()] }) };
  }

  #rowOf({ task, trial, seed, row, fresh }: SlotStart, world: SceneSimulation): Float64Array {
    if (row) return row;
    if (!fresh) return storedStart(this.#suite, task, trial);
    return drawEvaluationStart(world, this.#suite.tasks[task]!.name, { seed, trial });
  }

  #chunk({ slot, actions, film = false }: SlotChunk): ChunkSight {
    const { task, world } = this.#seats.get(slot) ?? missing(slot);
    const { actionSize } = world;
    const length = actions.length / actionSize;
    const success = new Uint8Array(length);
    const hashes: string[] = [];
    const pictures: Uint8Array[] = [];
    const camera = this.#camera(task, world, film);
    for (let i = 0; i < length; i++) {
      const action = actions.subarray(i * actionSize, (i + 1) * actionSize);
      success[i] = Number(world.step(action, film || i === length - 1 ? camera.look : undefined));
      hashes.push(stateHash(world));
      if (film) pictures.push(camera.filmed());
    }
    const state = robotState(world.drive.readings);
    const sight = { ...camera.seen(), state, snapshot: world.snapshot(), hash: hashes.at(-1) ?? "" };
    return { ...sight, success, hashes, ...(film && { film: pictures }) };
  }

  /** Draws when told to look, and gives the last pictures drawn. */
  #camera(task: number, { simulation }: SceneSimulation, film: boolean) {
    const stage = this.#stages.get(task)!;
    const filmCamera = film ? this.#filmCamera(stage) : undefined;
    let main: Uint8Array = new Uint8Array(0);
    let wrist: Uint8Array | undefined;
    let filmed: Uint8Array | undefined;
    return {
      look: () => {
        main = stage.eye.main(simulation);
        if (this.#settings.wrist) wrist = stage.eye.wrists(simulation);
        filmed = filmCamera?.shoot(simulation);
      },
      seen: () => ({ main, wrist }),
      filmed: () => filmed ?? main,
    };
  }

  #filmCamera(stage: Stage): FilmCamera | undefined {
    const { film } = this.#settings;
    if (film) stage.film ??= new FilmCamera(stage.model, this.#suite.pack, film);
    return stage.film;
  }

  /** The slot's world of that task: the one it has, an idle one, or a new one. */
  #seat(slot: number, task: number): Seat {
    const seat = this.#seats.get(slot);
    if (seat?.task === task) return seat;
    if (seat) this.#leave(slot);
    const stage = this.#openStage(task);
    stage.playing++;
    const taken = { task, world: stage.idle.pop() ?? new SceneSimulation(stage.scene, stage.model) };
    this.#seats.set(slot, taken);
    return taken;
  }

  #leave(slot: number): void {
    const { task, world } = this.#seats.get(slot) ?? missing(slot);
    const stage = this.#stages.get(task)!;
    stage.idle.push(world);
    stage.playing--;
    this.#seats.delete(slot);
  }

  #openStage(task: number): Stage {
    const known = this.#stages.get(task) ?? this.#makeStage(task);
    this.#stages.delete(task);
    this.#stages.set(task, known);
    return known;
  }

  #makeStage(task: number): Stage {
    const { pack, tasks } = this.#suite;
    const entry = tasks[task];
    if (!entry) throw new UserError(`${this.#suite.name} has tasks 0 to ${tasks.length - 1}, not ${task}`);
    this.#makeRoom();
    const scene = assembleScene(pack, readBddl(pack.resolve(entry.bddl)));
    const model = SceneSimulation.compile(scene);
    return { scene, model, eye: new PackCamera(model, pack.sights, this.#settings), idle: [], playing: 0 };
  }

  #makeRoom(): void {
    const { keptTasks = 6 } = this.#settings;
    for (const [task, { playing }] of this.#stages) {
      if (this.#stages.size < keptTasks) return;
      if (playing === 0) this.#closeStage(task);
    }
  }

  #closeStage(task: number): void {
    const { idle, eye, film, model } = this.#stages.get(task)!;
    for (const world of idle) world.dispose();
    eye.dispose();
    film?.dispose();
    model.dispose();
    this.#stages.delete(task);
  }
}

/** For whoever starts hosts elsewhere. */
export const slotHostProgram: WorkerProgram = { module: import.meta.url, factory: "openSlotHost" };
export const openSlotHost = (settings: HostSettings): SlotHost => new SlotHost(settings);

/** A row of a task's stored starts. */
export function storedStart({ pack, tasks }: Suite, task: number, trial: number): Float64Array {
  const { count, width, data } = pack.readInitStates(tasks[task]!);
  if (trial < count) return data.subarray(trial * width, (trial + 1) * width);
  throw new UserError(`${tasks[task]!.name} has ${count} stored starts, none with number ${trial}`);
}

const missing = (slot: number): never => {
  throw new Error(`internal: slot ${slot} has no world here`);
};

/** Of positions and velocities, bit for bit. */
function stateHash({ simulation: { qpos, qvel } }: SceneSimulation): string {
  const hash = createHash("sha1");
  for (const { buffer, byteOffset, byteLength } of [qpos, qvel])
    hash.update(new Uint8Array(buffer, byteOffset, byteLength));
  return hash.digest("base64url").slice(0, 16);
}
