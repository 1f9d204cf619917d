#!/usr/bin/env node
/**
 * The `reverie` command: starts the TypeScript command line in this very process.
 *
 * tsx turns TypeScript into JavaScript as it is loaded, so there is no build step and no second process.
 */
import { existsSync } from "node:fs";

const tsx = new URL("../node_modules/tsx/package.json", import.meta.url);
if (!existsSync(tsx)) {
  process.stderr.write("this checkout is not set up yet; run: npm start\n");
  process.exit(2);
}
const { register } = await import("tsx/esm/api");
register();
const { main } = await import("../src/cli/main.ts");
await main(process.argv.slice(2));
