/**
 * `parity libero DIR`: our simulator against episodes recorded from Python LIBERO.
 *
 * DIR is one recorded episode (a folder with meta.json, trace.npz and model.xml), a folder of them, or a folder of
 * such folders. Each scene is built from its BDDL; the recorded XML only serves as the reference for the compiled
 * model. With DIR "tasks" instead, every task of every suite is assembled, compiled and reset; with "python", every
 * task is compared with Python LIBERO, which runs beside us.
 */
import { existsSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { UserError } from "#registry";
import { liberoPack } from "#simulators";
import { everyTask } from "./libero/all-tasks.ts";
import { compareFrames } from "./libero/frames.ts";
import { compareModels } from "./libero/models.ts";
import { preparedAssets } from "./libero/prepared-assets.ts";
import { againstPython } from "./libero/python-tasks.ts";
import { type Recording, readRecording } from "./libero/recording.ts";
import { replayEpisode } from "./libero/replay.ts";
import type { ParityCase, ParityOptions } from "./main.ts";

export async function run(dir: string, options: ParityOptions = {}): Promise<ParityCase[]> {
  const folders = dir === everyTaskName || dir === pythonName ? [] : episodesIn(dir);
  const assets = await preparedAssets(options.assets);
  const pack = liberoPack(assets);
  const cases: ParityCase[] = [];
  const take = (found: Iterable<ParityCase>) => {
    for (const one of found) {
      cases.push(one);
      options.say?.(one);
    }
  };
  for (const folder of folders) take(runEpisode(folder, pack));
  if (dir === everyTaskName) take(everyTask(pack));
  if (dir === pythonName) for await (const found of againstPython(pack, assets)) take([found]);
  return cases;
}

const everyTaskName = "tasks";
const pythonName = "python";

/** Failing to build or run an episode fails that episode, not the others. */
function* runEpisode(folder: string, pack: ReturnType<typeof liberoPack>): Generator<ParityCase> {
  const name = basename(folder);
  try {
    const recording = readRecording(folder);
    yield* prefixed(name, episodeCases(recording, pack));
  } catch (error) {
    const reason = (error as Error).message.split("\n")[0];
    yield { name: `${name}: ${reason}`, ok: false, worst: 1, tolerance: 0 };
  }
}

function* episodeCases(recording: Recording, pack: ReturnType<typeof liberoPack>): Generator<ParityCase> {
  using built = recording.build(pack);
  yield* compareModels(recording, built, pack);
  yield* replayEpisode(recording, built);
  yield* compareFrames(recording, built);
}

function* prefixed(name: string, cases: Iterable<ParityCase>): Generator<ParityCase> {
  for (const found of cases) yield { ...found, name: `${name} ${found.name}` };
}

function episodesIn(dir: string): string[] {
  if (!existsSync(dir)) throw new UserError(`there is no folder ${dir}`);
  const isEpisode = (folder: string) => existsSync(join(folder, "meta.json"));
  if (isEpisode(dir)) return [dir];
  const below = (folder: string) =>
    readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => join(folder, entry.name))
      .sort();
  const direct = below(dir).filter(isEpisode);
  const found = direct.length > 0 ? direct : below(dir).flatMap(below).filter(isEpisode);
  if (found.length === 0) throw new UserError(`${dir} has no recorded episode: no folder with a meta.json`);
  return found;
}
