/** A worker for tests of threads. */
import { UserError } from "#registry";
import type { Tensor } from "#tensor";

export async function makeAdder({ extra }: { extra: number }) {
  return {
    async add({ x, y }: { x: Tensor; y: number }) {
      const sum = x.add(y + extra);
      x.select(0, 0).fill_(2); // seen by the sender: the memory is shared
      return new Map([["sum", sum]]);
    },
    async fail(kind: "user" | "bug") {
      throw kind === "user" ? new UserError("your fault") : new Error("internal: ours");
    },
  };
}
