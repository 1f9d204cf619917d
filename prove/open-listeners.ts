/** Which TCP sockets of some processes listen, and whether other machines could reach them; read from the kernel's own tables. */
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";

export interface Listener {
  readonly pid: number;
  readonly address: string; // "127.0.0.1:4711", "[::]:80"
  readonly isLoopback: boolean;
}

const listening = "0A"; // TCP_LISTEN in the kernel's tables

export function openListeners(pids: readonly number[]): Listener[] {
  return pids.flatMap((pid) => {
    const own = socketsOf(pid);
    return ["tcp", "tcp6"].flatMap((table) => listenersIn(pid, table).filter(({ inode }) => own.has(inode)));
  });
}

function listenersIn(pid: number, table: string): (Listener & { inode: string })[] {
  const path = `/proc/${pid}/net/${table}`;
  const rows = existsSync(path) ? readFileSync(path, "utf8").trim().split("\n").slice(1) : [];
  return rows
    .map((row) => row.trim().split(/\s+/))
    .filter((fields) => fields[3] === listening)
    .map((fields) => {
      const [host = "", port = ""] = fields[1]!.split(":");
      const bytes = bytesOf(host);
      const name = bytes.length === 4 ? bytes.join(".") : `[${Buffer.from(bytes).toString("hex")}]`;
      return {
        pid,
        address: `${name}:${Number.parseInt(port, 16)}`,
        isLoopback: isLoopback(bytes),
        inode: fields[9] ?? "",
      };
    });
}

/** The kernel prints 32-bit words in the machine's order, which is little-endian on all that we run on. */
function bytesOf(hex: string): number[] {
  const bytes = [...Buffer.from(hex, "hex")];
  return bytes.flatMap((_, i) => (i % 4 === 0 ? bytes.slice(i, i + 4).reverse() : []));
}

function isLoopback(bytes: readonly number[]): boolean {
  if (bytes.length === 4) return bytes[0] === 127;
  const mapped = bytes.slice(0, 12).join() === "0,0,0,0,0,0,0,0,0,0,255,255";
  return mapped ? bytes[12] === 127 : bytes.join() === `${"0,".repeat(15)}1`;
}

function socketsOf(pid: number): Set<string> {
  const folder = `/proc/${pid}/fd`;
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return new Set(
    names.flatMap((name) => {
      try {
        const [, inode] = /^socket:\[(\d+)\]$/.exec(readlinkSync(`${folder}/${name}`)) ?? [];
        return inode === undefined ? [] : [inode];
      } catch {
        return []; // closed since
      }
    }),
  );
}
