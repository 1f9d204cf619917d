/** The program of a worker thread. Its heartbeat tells that its event loop turns. */
import { parentPort } from "node:worker_threads";
import { answerCalls } from "./answer-calls.ts";
import { type Call, heartbeat, type Reply } from "./messages.ts";
import { beatHeart } from "./silence-watch.ts";
import { packTensors, unpackTensors } from "./tensor-message.ts";

const port = parentPort;
if (!port) throw new Error("internal: this is the program of a thread");
const send = (reply: Reply): void => port.postMessage(reply);
const answer = answerCalls({ send, pack: packTensors, unpack: unpackTensors });

beatHeart(() => send(heartbeat));
port.on("message", (message: Call | "end") => (message === "end" ? port.close() : answer(message)));
