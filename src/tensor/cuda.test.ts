import assert from "node:assert/strict";
import { test } from "node:test";
import { AdamW } from "#optimization";
import { Event, Stream } from "./cuda.ts";
import {
  aten,
  cudaAvailable,
  deviceMemory,
  emptyCache,
  Fork,
  Generator,
  Graph,
  grad,
  keep,
  liveTensors,
  noGrad,
  randn,
  scope,
  synchronize,
  type Tensor,
  tensor,
  zeros,
} from "./index.ts";

const skip = cudaAvailable() ? false : "needs a CUDA build of libtorch and a GPU";

test("a captured forward pass replays with new inputs", { skip }, () => {
  const w = randn([64, 64], { device: "cuda", generator: new Generator(1, "cuda") });
  const x = zeros([8, 64], { device: "cuda" });
  const { graph, result } = noGrad(() => Graph.capture(() => aten.gelu(x.matmul(w)).sum(1)));
  const fresh = randn([8, 64], { device: "cuda" });
  x.copy_(fresh);
  graph.replay();
  synchronize();
  assert.deepEqual(result.toArray(), noGrad(() => aten.gelu(fresh.matmul(w)).sum(1)).toArray());
  graph.dispose();
});

test("a captured training step gives the weights of the same steps run one by one", { skip }, () => {
  const run = (captured: boolean) => {
    const w = keep(randn([32, 32], { device: "cuda", generator: new Generator(2, "cuda") })).requiresGrad_();
    const x = keep(randn([16, 32], { device: "cuda", generator: new Generator(3, "cuda") }));
    const adam = new AdamW([{ parameters: new Map([["w", w]]), lr: 1e-2 }]);
    const step = () =>
      scope(() => {
        const loss = x.matmul(w).tanh().square().mean();
        adam.step(new Map([["w", grad([loss], [w])[0] as Tensor]]));
        return 0;
      });
    const steps = 6;
    if (!captured) for (let i = 0; i < steps; i++) step();
    else {
      const { graph } = Graph.capture(step, { warmups: 2 }); // the capture itself records and does not run
      for (let i = 2; i < steps; i++) graph.replay();
      synchronize();
      graph.dispose();
    }
    return w.toArray();
  };
  const [captured, plain] = [run(true), run(false)];
  const worst = Math.max(...captured.map((x, i) => Math.abs(x - (plain[i] ?? Number.NaN))));
  assert.ok(worst < 1e-6, `weights differ by ${worst}`);
});

test("random numbers in a graph are fresh at each replay, from a registered generator", { skip }, () => {
  const generator = new Generator(5, "cuda");
  const { graph, result } = Graph.capture(() => randn([4], { device: "cuda", generator }), {
    generators: [generator],
  });
  graph.replay();
  const first = result.toArray();
  graph.replay();
  assert.notDeepEqual(result.toArray(), first);
  graph.dispose();
});

test("events measure time and streams run beside the default one", { skip }, async () => {
  const a = randn([512, 512], { device: "cuda" });
  const [from, to] = [new Event().record(), new Event()];
  const stream = new Stream();
  const product = stream.run(() => {
    from.wait();
    return a.matmul(a);
  });
  stream.uses(a);
  await stream.synchronized();
  to.record();
  synchronize();
  assert.ok(from.elapsed(to) >= 0 && to.done);
  assert.deepEqual(product.shape, [512, 512]);
});

test("work side by side gives what one after the other gives, captured or not", { skip }, () => {
  const generator = new Generator(3, "cuda");
  const [a, b] = [
    randn([64, 64], { device: "cuda", generator }),
    randn([64, 64], { device: "cuda", generator }),
  ];
  const fork = new Fork();
  const both = () => {
    const [left, right] = fork.run(
      () => a.matmul(b).matmul(a),
      () => scope(() => b.matmul(a).matmul(b)),
    );
    return left.add(right);
  };
  const expected = a.matmul(b).matmul(a).add(b.matmul(a).matmul(b)).toArray();
  assert.deepEqual(both().toArray(), expected);
  const { graph, result } = Graph.capture(both);
  graph.replay();
  assert.deepEqual(result.toArray(), expected);
  graph.dispose();
});

test("pinned memory copies to the device and back without blocking, unchanged", { skip }, () => {
  const host = tensor(
    Float32Array.from({ length: 1000 }, (_, i) => i),
    { pinned: true },
  );
  const device = host.to({ device: "cuda", nonBlocking: true });
  synchronize();
  assert.deepEqual(device.toArray(), host.toArray());
});

test("freed device memory comes back to the allocator, and peaks are measured", { skip }, () => {
  const before = deviceMemory(0, true);
  const living = liveTensors();
  scope(() => {
    zeros([1024, 1024, 16], { device: "cuda" });
    return 0;
  });
  synchronize();
  const after = deviceMemory(0);
  assert.equal(liveTensors(), living);
  assert.equal(after.allocated, before.allocated);
  assert.ok(after.allocatedPeak >= before.allocated + 64 * 2 ** 20);
  emptyCache();
});
