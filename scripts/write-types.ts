/**
 * `node --import tsx scripts/write-types.ts`: writes `types/`, the declarations that an editor and a compiler read of an installed
 * package, from `src/index.ts`. Part of `npm pack`.
 *
 * A user's compiler does not skip TypeScript sources of packages, and ours has stricter settings than most; it reads these instead. They
 * import each other by relative paths, because "#room" means the sources.
 */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));
const out = join(root, "types");

rmSync(out, { recursive: true, force: true });
execFileSync(
  process.execPath,
  [
    join(root, "node_modules", "typescript", "bin", "tsc"),
    ...["--project", join(root, "scripts", "types.tsconfig.json"), "--outDir", out],
  ],
  { stdio: "inherit" },
);
const files = readdirSync(out, { recursive: true, encoding: "utf8" }).filter((file) =>
  file.endsWith(".d.ts"),
);
for (const file of files) {
  const path = join(out, file);
  const door = (room: string): string => {
    const way = relative(dirname(path), join(out, room, "index.js"));
    return way.startsWith(".") ? way : `./${way}`;
  };
  const text = readFileSync(path, "utf8")
    .replaceAll(
      /(\bfrom |\bimport\()"#([\w-]+)"/g,
      (_, before: string, room: string) => `${before}"${door(room)}"`,
    )
    .replaceAll(/(\bfrom |\bimport\()"(\.[^"]*)\.ts"/g, '$1"$2.js"');
  writeFileSync(path, text);
}
console.log(`${files.length} declarations in types/`);
