/**
 * LIBERO's objects and scenes from the Hugging Face hub, file by file, checked against the hub's own checksums.
 *
 * One commit of the repository, not its newest: what is fetched tomorrow is what is fetched today.
 */
import { downloadFile, fileDownloadInfo } from "@huggingface/hub";
import { UserError } from "#registry";
import { sha256 } from "../manifest.ts";
import type { AssetSource } from "./source.ts";

const repository = "lerobot/libero-assets";
const repo = { type: "dataset", name: repository } as const;
const revision = "0b3ea86be5fe169d0fd036ae63d1070ec09e90f6";
/** As messages and the manifest name it. */
export const sourceName = `huggingface.co/datasets/${repository} at revision ${revision.slice(0, 7)}`;
const attempts = 3;

export interface HubOptions {
  /** Another server that speaks the hub's protocol. */
  readonly hubUrl?: string;
  /** Shown to the server. */
  readonly accessToken?: string;
  /** Pause before the second attempt, in milliseconds; doubled for the third. */
  readonly pause?: number;
}

type Server = Pick<HubOptions, "hubUrl" | "accessToken">;

export function hubSource({ pause = 1000, ...server }: HubOptions = {}): AssetSource {
  return {
    label: sourceName,
    async read(file) {
      for (let attempt = 1; ; attempt++) {
        try {
          return await readOnce(file, server);
        } catch (error) {
          if (attempt === attempts) throw unreachable(file, error);
          await new Promise((resume) => setTimeout(resume, pause * 2 ** (attempt - 1)));
        }
      }
    },
  };
}

async function readOnce(path: string, server: Server): Promise<Uint8Array | undefined> {
  const info = await fileDownloadInfo({ repo, path, revision, ...server });
  if (!info) return undefined;
  const blob = await downloadFile({ repo, path, revision, downloadInfo: info, ...server });
  if (!blob) return undefined;
  const bytes = new Uint8Array(await blob.arrayBuffer());
  if (bytes.byteLength !== info.size) throw new Error(`got ${bytes.byteLength} of ${info.size} bytes`);
  // Large files are named by their SHA-256 on the hub; small ones by a Git hash, which says nothing simpler than size.
  const [etag] = /[0-9a-f]{64}/.exec(info.etag) ?? [];
  if (etag !== undefined && etag !== sha256(bytes)) throw new Error("its checksum is wrong");
  return bytes;
}

const unreachable = (file: string, error: unknown): UserError => {
  const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : "";
  const reason = `${error instanceof Error ? error.message : String(error)}${cause}`;
  return new UserError(
    `cannot download ${file} from ${sourceName} (${reason}); what has arrived is kept: ` +
      "run the command again, or give a local copy of LIBERO's assets with --from PATH",
  );
};
