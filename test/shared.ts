/**
 * The folder of reference material that developers have beside their checkout and users do not.
 *
 * Tests that read it ask here and skip with the reason when it is absent.
 */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const candidate = fileURLToPath(new URL("../../shared", import.meta.url));

/** The folder's path, or undefined on a machine that has none. */
export const sharedFolder = (): string | undefined =>
  existsSync(`${candidate}/fixtures`) ? candidate : undefined;

/** For node:test's `skip` option: false when the folder is there, else why the test is skipped. */
export const needsShared = (): string | false =>
  sharedFolder() === undefined
    ? "needs the reference fixtures (../shared), which are not on this machine"
    : false;
