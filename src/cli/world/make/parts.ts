/** The parts of a world in the order in which they are made, from what a recipe says: each by the function of its own command. */
import { copyFileSync, existsSync, renameSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { makeFolder } from "#formats";
import { counted } from "#metrics";
import { infoPath, recordingSettings } from "#recordings";
import { copyWorld, type RecordingOrder } from "#world-training";
import { deviceOf } from "../../option-values.ts";
import { inEmptyFolder } from "../../own-folder.ts";
import type { WorldArguments } from "../arguments.ts";
import { record } from "../collect.ts";
import { evaluate } from "../evaluate.ts";
import { makePart } from "../parts.ts";
import { policySection } from "../policy-section.ts";
import { UnfinishedTraining } from "../unfinished-training.ts";
import { orWithoutGraphs } from "./or-without-graphs.ts";
import { continued, type WorldRecipe } from "./recipe.ts";

export interface RecipePart {
  readonly name: string;
  readonly about: string;
  /** What the part depends on: noted when it is made, and compared when the recipe is read again. */
  readonly settings: unknown;
  /** Why this recipe makes no such part. */
  readonly leftOut?: string | undefined;
  /** Of work, at the rates that the recipe gives. */
  readonly seconds?: number | undefined;
  /** Whether what the part makes is whole; `noted`: that it was finished here. */
  isDone(noted: boolean): boolean;
  /** False: somebody stopped it. `begun`: an earlier attempt was interrupted. */
  make(begun: boolean): Promise<boolean>;
}

type Settings = Readonly<Record<string, unknown>>;
type Wish = { readonly episodes: number; readonly seed: number; readonly temperatures?: readonly number[] };

/** How many steps one makes between two pictures of a plan: what published and own worlds imagine at once. */
const usualChunk = 8;

export function recipeParts(recipe: WorldRecipe): RecipePart[] {
  const { recordings, rounds, policy } = recipe;
  const [first, more] = [
    ["scripted", ...(policy && recordings.played ? ["played"] : [])],
    recordings.played_more,
  ];
  const known = [...first, ...(policy && more ? ["played-more"] : [])];
  const testing = { steps_after_success: recordings.steps, purpose: "exams" }; // recorded to their ends
  return [
    recordingPart(recipe, "scripted", recordings.scripted, { by: "experts" }),
    recordingPart(recipe, "played", recordings.played, { by: "policy" }),
    recordingPart(recipe, "tested", recordings.tested, { by: policy ? "policy" : "experts", set: testing }),
    trainingPart(recipe, "autoencoder", { command: "train-vae", settings: recipe.autoencoder, data: first }),
    recordingPart(recipe, "played-more", more, { by: "policy" }),
    trainingPart(recipe, "denoiser", { command: "train", settings: recipe.denoiser, data: known }),
    ...(recipe.more ? [stagePart(recipe, "denoiser, more", "first", recipe.more, known)] : []),
    trainingPart(recipe, "reward model", {
      command: "train-reward",
      settings: recipe.reward_model,
      data: first,
    }),
    startsPart(recipe, first),
    ...rounds.flatMap(({ recorded, denoiser }, i) => {
      const seen = rounds.slice(0, i + 1).flatMap((round, n) => (round.recorded ? [`dreamt${n}`] : []));
      const learning = stagePart(recipe, `round ${i}`, `before-round${i}`, denoiser, [...known, ...seen]);
      const playing = recordingPart(recipe, `dreamt${i}`, recorded, { by: "dream" });
      return [...(recorded ? [playing] : []), policy ? learning : { ...learning, leftOut: noPolicy }];
    }),
    ...reportParts(recipe),
  ];
}

const noPolicy = "the recipe names no policy";
const worldOf = ({ out }: WorldRecipe): string => join(out, "world");
const recordingOf = ({ out, data }: WorldRecipe, name: string): string => join(data ?? out, name);

/** As if all that a command takes had been typed. */
const argumentsOf = (recipe: WorldRecipe, own: Partial<WorldArguments>): WorldArguments => ({
  data: [],
  exam: [],
  world: worldOf(recipe),
  device: deviceOf(recipe.device),
  settings: {},
  resume: false,
  family: recipe.family,
  timeLimit: recipe.minutes ? 60 * recipe.minutes : undefined,
  policy: undefined,
  suite: undefined,
  modelKeys: recipe.model,
  out: undefined,
  ...own,
});

function recordingPart(
  recipe: WorldRecipe,
  name: string,
  wish: Wish | null | undefined,
  { by, set }: { readonly by: "experts" | "policy" | "dream"; readonly set?: Settings },
): RecipePart {
  const folder = recordingOf(recipe, name);
  const { suite, recordings, rates } = recipe;
  const { size, steps } = recordings;
  const settings = { by, size, steps, ...set, ...wish };
  const rate = by === "dream" ? rates?.dreamt : rates?.episodes;
  const about = `${counted(wish?.episodes ?? 0, "episode")} of ${by === "experts" ? "scripted experts" : "the policy"}`;
  return {
    name: `record ${name}`,
    about: by === "dream" ? `${about} in the dream, played by the simulator` : about,
    settings,
    leftOut: !wish ? "the recipe asks for none" : by !== "experts" && !recipe.policy ? noPolicy : undefined,
    seconds: wish && rate ? wish.episodes / rate : undefined,
    isDone: () => existsSync(infoPath(folder)), // appears when all is there; it may be another world's
    async make(begun) {
      const { episodes, seed, temperatures } = wish!;
      if (begun) rmSync(folder, { recursive: true, force: true });
      const order: RecordingOrder = {
        settings: recordingSettings.parse({ suite, size, steps, seed, ...set }),
        ...(by !== "experts" && { policy: await playerOf(recipe, temperatures ?? [1], by === "dream") }),
      };
      const workers = recipe.workers ?? availableParallelism();
      await inEmptyFolder(folder, "reverie world make", () =>
        record({ order, out: folder, episodes, workers }),
      );
      return true;
    },
  };
}

const playerOf = async (
  recipe: WorldRecipe,
  temperatures: readonly number[],
  inDream: boolean,
): Promise<NonNullable<RecordingOrder["policy"]>> => ({
  section: await policySection(recipe.policy!, recipe.suite, recipe.model),
  temperatures,
  device: inDream ? deviceOf(recipe.device) : "cpu",
  ...(inDream && { world: worldOf(recipe) }),
});

interface Learning {
  readonly command: "train-vae" | "train" | "train-reward";
  readonly settings: Settings;
  readonly data: readonly string[];
  /** Before the first step. */
  readonly prepare?: () => void;
}

function trainingPart(
  recipe: WorldRecipe,
  name: string,
  { command, settings, data, prepare }: Learning,
): RecipePart {
  const world = worldOf(recipe);
  const { steps, batch_size: batch } = settings as { steps?: number; batch_size?: number };
  const rates = { "train-vae": recipe.rates?.autoencoder, train: recipe.rates?.denoiser };
  const rate = command === "train-reward" ? recipe.rates?.reward_model : rates[command];
  const limit = recipe.minutes ? 60 * recipe.minutes : Number.POSITIVE_INFINITY;
  const length = steps === undefined ? "as many steps as usual" : counted(steps, "step");
  return {
    name,
    about: `${length}${batch === undefined ? "" : ` of ${batch}`}, from ${data.join(", ")}`,
    settings,
    seconds: steps && rate ? Math.min(steps / rate, limit) : undefined,
    isDone: (noted) => noted && existsSync(world),
    make(begun) {
      prepare?.();
      const unfinished = new UnfinishedTraining(world, command);
      if (!begun) unfinished.forgetFinished(); // what an earlier training of this network left
      const folders = data.map((each) => recordingOf(recipe, each));
      const attempt = (own: Settings, resume: boolean): Promise<boolean> =>
        makePart(
          command,
          argumentsOf(recipe, { data: folders, settings: own, resume }),
          "the same command and --resume",
        );
      return orWithoutGraphs(name, { ...recipe, settings, begun }, attempt);
    },
  };
}

/** The denoiser learns on from where it is; the world before stays in a folder of its own, and is what it goes on from. */
function stagePart(
  recipe: WorldRecipe,
  name: string,
  before: string,
  stage: Settings,
  data: readonly string[],
): RecipePart {
  const source = join(recipe.out, before);
  const settings = { ...continued(recipe.denoiser, stage), init_from: source };
  const prepare = (): void => {
    if (existsSync(source)) return;
    const part = `${source}.part`;
    rmSync(part, { recursive: true, force: true });
    copyWorld(worldOf(recipe), part);
    renameSync(part, source);
  };
  return trainingPart(recipe, name, { command: "train", settings, data, prepare });
}

function startsPart(recipe: WorldRecipe, data: readonly string[]): RecipePart {
  const { count, keyframes } = recipe.starts;
  return {
    name: "starts",
    about: `${counted(count, "first frame")}${keyframes > 0 ? ` and ${counted(keyframes, "keyframe start")}` : ""}`,
    settings: recipe.starts,
    isDone: (noted) => noted && existsSync(join(worldOf(recipe), "dataset")),
    make: () => {
      const folders = data.map((each) => recordingOf(recipe, each));
      return makePart("starts", argumentsOf(recipe, { data: folders, settings: recipe.starts }), "");
    },
  };
}

/** Against recordings, and with the policy in the dream; runs in the world read the first beside it. */
function reportParts(recipe: WorldRecipe): RecipePart[] {
  const { policy, suite, report, recordings, denoiser } = recipe;
  const { num_sampling_steps, hold_frames, batch, dreamt } = report;
  const chunk = typeof denoiser.chunk === "number" ? denoiser.chunk : usualChunk;
  const chunks = Math.max(1, Math.floor(recordings.steps / chunk));
  const out = join(recipe.out, "report");
  const shared = { chunks, num_sampling_steps, hold_frames };
  const measured = { ...shared, episodes: recordings.tested.episodes, batch };
  const acted = { ...shared, episodes: dreamt, batch: Math.min(64, batch), size: recordings.size };
  const part = (
    name: string,
    file: string,
    settings: Settings,
    own: Partial<WorldArguments>,
  ): RecipePart => ({
    name,
    about: counted(Number(settings.episodes), "episode"),
    settings,
    isDone: (noted) => noted && existsSync(join(out, file)),
    async make() {
      await evaluate(argumentsOf(recipe, { ...own, settings, out: makeFolder(out) }));
      if (own.data) copyFileSync(join(out, file), join(worldOf(recipe), file));
      return true;
    },
  });
  const against = part("report, recordings", "truth.json", measured, {
    data: [recordingOf(recipe, "tested")],
  });
  const inDream = part("report, the policy in the dream", "truth-policy.json", acted, {
    suite,
    ...(policy && { policy }),
  });
  const without = !policy ? noPolicy : dreamt === 0 ? "the recipe asks for none" : undefined;
  return [against, { ...inDream, leftOut: without }];
}
