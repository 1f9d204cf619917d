/**
 * LIBERO's files for tests: those that the user has fetched, or, on a developer's machine, prepared here from the
 * reference material beside the checkout and from the package index.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { UserError } from "#registry";
import { liberoFolder, prepareLibero } from "#simulators";
import { sharedFolder } from "./shared.ts";

const own = fileURLToPath(new URL("../.deps/libero", import.meta.url));

export interface LiberoForTests {
  readonly folder: string;
  /** For node:test's `skip` option: false, or why there are no files. */
  readonly skip: string | false;
}

export async function liberoForTests(): Promise<LiberoForTests> {
  if (existsSync(join(liberoFolder(), "manifest.json"))) return { folder: liberoFolder(), skip: false };
  const shared = sharedFolder();
  if (shared === undefined) return { folder: own, skip: "needs LIBERO's files: run `reverie fetch libero`" };
  try {
    await prepareLibero({ folder: own, from: join(shared, "libero-assets.tar.xz") });
    return { folder: own, skip: false };
  } catch (error) {
    if (!(error instanceof UserError && error.message.startsWith("pip could not"))) throw error;
    return { folder: own, skip: `LIBERO's files could not be prepared: ${error.message}` };
  }
}
