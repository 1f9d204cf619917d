/** One rank of the collectives test: joins, runs every collective, prints what it got as one JSON line. Rank 0 first prints its port. */
import { ProcessGroup, tensor, zeros } from "#tensor";
import { openListeners } from "../../prove/open-listeners.ts";

const [rank = 0, worldSize = 2, port = 0, mode = "all", timeoutMs = 60000] = process.argv
  .slice(2)
  .map((x) => (/^\d+$/.test(x) ? Number(x) : x)) as [number, number, number, string, number];
const group = await ProcessGroup.join({
  backend: "gloo",
  meet: { port, onListening: (own) => console.log(JSON.stringify({ port: own })) },
  rank,
  worldSize,
  timeoutMs,
});

if (mode === "die" && rank === 1) process.kill(process.pid, "SIGKILL");
if (mode === "die") await new Promise((resolve) => setTimeout(resolve, 300));

try {
  const sum = tensor([rank + 1, 10 * (rank + 1)]);
  await group.allReduce(sum);
  const fromRoot = tensor([rank === 0 ? 42 : 0]);
  await group.broadcast(fromRoot, 0);
  const gathered = zeros([worldSize]);
  await group.allGather(gathered, tensor([rank + 5]));
  const scattered = zeros([1]);
  await group.reduceScatter(scattered, tensor(Array.from({ length: worldSize }, (_, i) => i + rank)));
  const listeners = openListeners([process.pid]);
  await group.barrier();
  console.log(
    JSON.stringify({
      sum: sum.toArray(),
      fromRoot: fromRoot.toArray(),
      gathered: gathered.toArray(),
      scattered: scattered.toArray(),
      outside: listeners.filter(({ isLoopback }) => !isLoopback).map(({ address }) => address),
    }),
  );
  group.close();
} catch (error) {
  console.log(
    JSON.stringify({ error: error instanceof Error ? `${error.name}: ${error.message}` : String(error) }),
  );
  process.exit(3);
}
process.exit(0);
