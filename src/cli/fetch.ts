/** `fetch libero` prepares a benchmark's files on this machine, `fetch owner/name` a model's, a world's or a dataset's; each once. */
import { parseArgs } from "node:util";
import { UserError } from "#registry";
import { liberoFolder, prepareLibero } from "#simulators";
import type { Command } from "./command.ts";
import { fetchModelCommand } from "./fetch-model/command.ts";
import { hubAddress } from "./fetch-model/repository.ts";

const options = {
  from: { type: "string" },
  to: { type: "string" },
  wheels: { type: "string" },
  revision: { type: "string" },
} as const;

export const fetchCommand: Command = {
  options,
  words: () => ["libero"],
  usage:
    "fetch libero|[datasets/]OWNER/NAME [--from FOLDER|ARCHIVE] [--to FOLDER] [--wheels FOLDER] [--revision NAME]",
  details: `  --from PATH       takes the files from a local folder or archive instead of the network
  --to FOLDER       where they go; default: below $REVERIE_HOME, else below ~/.cache/reverie
  --wheels FOLDER   LIBERO: Python wheels that are already here
  --revision NAME   a branch, tag or commit on the Hugging Face Hub; default main

OWNER/NAME is a policy or a world, datasets/OWNER/NAME a dataset; docs/checkpoints.md lists what is published. All files are of one commit, which
is said and written to reverie-source.json beside them, with their hashes. What is already there is checked and kept; an interrupted fetch goes on
where it stopped. HF_ENDPOINT names a mirror, HF_TOKEN opens private repositories.

  reverie fetch libero
  reverie fetch RLinf/RLinf-OpenVLAOFT-LIBERO-90-Base-Lora
  reverie fetch RLinf/RLinf-Wan-LIBERO-Spatial
  reverie fetch datasets/jzndd/evac_for_rlinf --from copy/of/the/folder`,

  async run(argv) {
    const { values, positionals } = parseArgs({ args: argv, allowPositionals: true, options });
    const [what = "", ...more] = positionals;
    if (more.length === 0 && what.includes("/")) return fetchModelCommand({ repo: what, ...values });
    if (more.length > 0 || what !== "libero")
      throw new UserError(
        `fetch what? libero, or owner/name of a model or world, or datasets/owner/name; usage: reverie ${this.usage}`,
      );
    const folder = values.to ?? liberoFolder();
    const { from, wheels, revision } = values;
    if (revision !== undefined)
      throw new UserError(
        "--revision is for models, worlds and datasets; LIBERO's files are pinned to one revision",
      );
    const accessToken = process.env.HF_TOKEN || undefined;
    const hub = { hubUrl: hubAddress(), ...(accessToken !== undefined && { accessToken }) };
    const place = {
      folder,
      hub,
      ...(from !== undefined && { from }),
      ...(wheels !== undefined && { wheels }),
    };
    const began = performance.now();
    const say = (line: string) =>
      console.log(`[${((performance.now() - began) / 1000).toFixed(1)} s] ${line}`);
    const { files, bytes, fetched } = await prepareLibero({ ...place, say });
    say(
      `${fetched} files written; ${files} files (${(bytes / 1e6).toFixed(0)} MB) of LIBERO ready in ${folder}`,
    );
  },
};
