/** The worker's side, wherever it lives: makes the worker, then answers calls one after the other in the order in which they came. */
import { loadPlugins, type Methods } from "#registry";
import { type Call, failureOf, type OpenOrder, openMethod, type Reply } from "./messages.ts";

/** The line to the caller. */
export interface CallerLine {
  send(reply: Reply): void;
  pack(value: unknown): unknown;
  unpack(value: unknown): unknown;
}

/** Gives what to do with each call that comes. */
export function answerCalls(line: CallerLine): (call: Call) => void {
  let worker: Methods = {
    [openMethod]: async (order: OpenOrder) => {
      worker = await make(order);
    },
  };
  const answer = async ({ id, method, argument }: Call): Promise<void> => {
    try {
      const run = worker[method];
      if (!run) throw new Error(`internal: the worker has no method ${method}`);
      const tell = (event: unknown): void => line.send({ id, event });
      const value = await run.call(worker, line.unpack(argument), tell);
      line.send({ id, value: line.pack(value) });
    } catch (error) {
      line.send({ id, failure: failureOf(error) });
    }
  };
  let previous: Promise<void> = Promise.resolve();
  return (call) => {
    if (call.urgent) void answer(call);
    else previous = previous.then(() => answer(call));
  };
}

async function make({ module, factory, options, plugins }: OpenOrder): Promise<Methods> {
  await loadPlugins(plugins);
  return (await import(module))[factory](options);
}
