/** What a result was made with: written beside every result and into every checkpoint. */
import { readFileSync } from "node:fs";
import { arch, cpus, platform } from "node:os";
import { deviceCount, deviceName, torchVersion } from "#tensor";

export function versions(): Record<string, string> {
  const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  return {
    reverie: String(version),
    node: process.version,
    torch: torchVersion(),
    machine: `${platform()} ${arch()}, ${cpus()[0]?.model.trim() ?? "unknown processor"}`,
    ...(deviceCount() > 0 && { accelerator: `${deviceCount()} × ${deviceName(0)}` }),
  };
}
