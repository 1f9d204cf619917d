/**
 * What `fetch` may be asked for: a model or a dataset of the Hugging Face Hub, by the name that guides print.
 *
 * The Hub's address is `HF_ENDPOINT`, as for Hugging Face's own tools.
 */
import { homedir } from "node:os";
import { join } from "node:path";
import { UserError } from "#registry";

export interface Repository {
  readonly kind: "model" | "dataset";
  /** owner/name */
  readonly name: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

const publicHub = "https://huggingface.co";

/** `owner/name`, `datasets/owner/name`, or either as an address on the Hub. */
export function repositoryOf(given: string, environment: Environment = process.env): Repository {
  const path = [hubAddress(environment), publicHub].reduce(
    (text, hub) => (text.startsWith(`${hub}/`) ? text.slice(hub.length + 1) : text),
    given,
  );
  const [, dataset, name = ""] = /^(datasets\/)?([\w.-]+\/[\w.-]+?)(?:\.git|\/)?$/.exec(path) ?? [];
  if (name === "" || name.startsWith("datasets/") || name.split("/").some((part) => /^\.+$/.test(part)))
    throw new UserError(
      `"${given}" is not a name on the Hugging Face Hub; expected owner/name for a model, datasets/owner/name for a dataset`,
    );
  return { kind: dataset === undefined ? "model" : "dataset", name };
}

/** `HF_ENDPOINT`, else the public Hub; without a slash at its end. */
export function hubAddress({ HF_ENDPOINT: given }: Environment = process.env): string {
  if (given === undefined || given === "") return publicHub;
  if (!URL.canParse(given) || !/^https?:$/.test(new URL(given).protocol))
    throw new UserError(`HF_ENDPOINT is "${given}"; expected an address such as https://hf-mirror.com`);
  return given.replace(/\/+$/, "");
}

/** `$REVERIE_HOME/models/<owner>/<name>` (or `datasets/…`), else under `~/.cache/reverie`. */
export function repositoryFolder({ kind, name }: Repository, environment: Environment = process.env): string {
  return join(environment.REVERIE_HOME ?? join(homedir(), ".cache", "reverie"), `${kind}s`, name);
}

/** Where one file of one commit is. */
export function fileAddress(hub: string, { kind, name }: Repository, commit: string, path: string): string {
  const place = kind === "dataset" ? `datasets/${name}` : name;
  return `${hub}/${place}/resolve/${commit}/${path.split("/").map(encodeURIComponent).join("/")}`;
}
