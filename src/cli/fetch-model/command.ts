/** The model half of `reverie fetch`: progress on the terminal, and what to write into a config afterwards. */
import { type FetchModelOptions, fetchModel } from "./index.ts";

export async function fetchModelCommand(options: FetchModelOptions): Promise<void> {
  const began = performance.now();
  const say = (line: string): void => console.log(line);
  const token = process.env.HF_TOKEN;
  const onBytes = process.stdout.isTTY ? progress() : undefined;
  const { folder, files, fetched, bytes } = await fetchModel({
    ...options,
    say,
    ...(token !== undefined && { token }),
    ...(onBytes && { onBytes }),
  });
  if (onBytes) process.stdout.write("\n");
  const seconds = ((performance.now() - began) / 1000).toFixed(0);
  say(`${fetched} of ${files} files fetched in ${seconds} s, ${(bytes / 1e9).toFixed(2)} GB in all`);
  say(`use it with actor.model.model_path=${folder}`);
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
