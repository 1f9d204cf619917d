/** The model half of `reverie fetch`: progress on the terminal, and what to write into a config afterwards. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { folderKeyOf, recognizeWorld } from "#worlds";
import { type FetchModelOptions, fetchModel } from "./index.ts";

export async function fetchModelCommand(options: FetchModelOptions): Promise<void> {
  const began = performance.now();
  const say = (line: string): void => console.log(line);
  const onBytes = process.stdout.isTTY ? progress() : undefined;
  const { folder, files, fetched, bytes, commit } = await fetchModel({
    ...options,
    say,
    ...(onBytes && { onBytes }),
  });
  if (onBytes) process.stdout.write("\n");
  const seconds = ((performance.now() - began) / 1000).toFixed(0);
  say(`${fetched} of ${files} files fetched in ${seconds} s, ${(bytes / 1e9).toFixed(2)} GB in all`);
  say(`commit ${commit ?? "unknown"}; hashes in ${folder}/reverie-source.json`);
  say(`use it with ${await settingFor(folder)}`);
}

/** Which setting a folder is for, by what it holds. */
export async function settingFor(folder: string): Promise<string> {
  const has = (name: string): boolean => existsSync(join(folder, name));
  const world = await recognizeWorld(folder);
  if (world) return `env.train.${folderKeyOf(world.name)}=${folder}`;
  if (has("adapter_config.json")) return `actor.model.is_lora=True actor.model.lora_path=${folder}`;
  if (has("config.json")) return `actor.model.model_path=${folder}`;
  return `the settings that name its files, in ${folder}`;
}

/** One line that overwrites itself, a few times a second. */
function progress(): (done: number, total: number, file: string) => void {
  let shown = 0;
  return (done, total, file) => {
    const now = performance.now();
    if (now - shown < 200 && done < total) return;
    shown = now;
    const share = ((100 * done) / Math.max(total, 1)).toFixed(1);
    process.stdout.write(
      `\r\x1b[K${share} %  ${(done / 1e9).toFixed(2)} of ${(total / 1e9).toFixed(2)} GB  ${file}`,
    );
  };
}
