/** The program of an env worker process: one slot host that answers requests until its parent is gone. */
import { UserError } from "#registry";
import { FrameSender } from "./frame-file.ts";
import type { HostReply, HostRequest, OpenRequest } from "./host-link.ts";
import { SlotHost } from "./slot-host.ts";

let host: SlotHost | undefined;
let frames: FrameSender | undefined;

function answer({ id, method, argument }: HostRequest): HostReply {
  try {
    if (method === "open") {
      const { settings, frameFile } = argument as OpenRequest;
      frames = new FrameSender(frameFile);
      host = new SlotHost(settings);
      return { id, value: undefined };
    }
    if (!host || !frames) throw new Error("internal: a request before the host was opened");
    if (method === "restore") return { id, value: host.restore(argument as never) };
    return { id, value: frames.pack(host[method](argument as never)) };
  } catch (error) {
    const isUserError = error instanceof UserError;
    const text = error instanceof Error ? error : new Error(String(error));
    return { id, error: isUserError ? text.message : (text.stack ?? text.message), isUserError };
  }
}

process.on("message", (request: HostRequest) => process.send?.(answer(request)));
process.on("disconnect", () => process.exit(0));
