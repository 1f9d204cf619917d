/** The program of a worker process: lives for its parent alone, and ends with it. */
import { answerCalls } from "./answer-calls.ts";
import { liveForParent } from "./child-life.ts";
import { LentBytes } from "./lent-bytes.ts";
import type { Reply } from "./messages.ts";

const [, , , lends] = process.argv;
const bytes = lends ? new LentBytes() : undefined;
const parentIsGone = liveForParent();

/** A parent that was killed reads no more. Work that never looks at the event loop learns of it here. */
function send(reply: Reply): void {
  if (parentIsGone()) process.exit(0);
  process.send?.(reply, undefined, undefined, (error) => error && process.exit(0));
}

process.on(
  "message",
  answerCalls({
    send,
    pack: (value) => (bytes ? bytes.pack(value) : value),
    unpack: (value) => value,
  }) as (call: unknown) => void,
);
