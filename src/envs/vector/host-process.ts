/** The program of an env worker process: one slot host that answers requests until its parent is gone. */
import { UserError } from "#registry";
import type { HostReply, HostRequest } from "./host-link.ts";
import { type HostSettings, SlotHost } from "./slot-host.ts";

let host: SlotHost | undefined;

function answer({ id, method, argument }: HostRequest): HostReply {
  try {
    if (method === "open") {
      host = new SlotHost(argument as HostSettings);
      return { id, value: undefined };
    }
    if (!host) throw new Error("internal: a request before the host was opened");
    const run = host[method].bind(host) as (argument: unknown) => unknown;
    return { id, value: run(argument) };
  } catch (error) {
    const isUserError = error instanceof UserError;
    const text = error instanceof Error ? error : new Error(String(error));
    return { id, error: isUserError ? text.message : (text.stack ?? text.message), isUserError };
  }
}

process.on("message", (request: HostRequest) => process.send?.(answer(request)));
process.on("disconnect", () => process.exit(0));
