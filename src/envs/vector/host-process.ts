/** The program of an env worker process: one slot host that answers requests until its parent is gone. */
import { liveForParent, UserError } from "#registry";
import { type HostSettings, SlotHost } from "#simulators";
import { FrameSender } from "./frame-file.ts";
import type { HostReply, HostRequest } from "./host-link.ts";

liveForParent();
const frames = new FrameSender();
let host: SlotHost | undefined;

function answer({ id, method, argument }: HostRequest): HostReply {
  try {
    if (method === "open") {
      host = new SlotHost(argument as HostSettings);
      return { id, value: undefined };
    }
    if (!host) throw new Error("internal: a request before the host was opened");
    if (method === "restore") return { id, value: host.restore(argument as never) };
    return { id, value: frames.pack(host[method](argument as never)) };
  } catch (error) {
    const isUserError = error instanceof UserError;
    const text = error instanceof Error ? error : new Error(String(error));
    return { id, error: isUserError ? text.message : (text.stack ?? text.message), isUserError };
  }
}

process.on("message", (request: HostRequest) => process.send?.(answer(request)));
