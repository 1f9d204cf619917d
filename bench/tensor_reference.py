"""The Python side of `npm run bench -- tensor`: answers timing requests, one JSON line each."""
import json, math, sys, time
import torch
import torch.nn.functional as F

device, threads = sys.argv[1], int(sys.argv[2])
torch.set_num_threads(threads)
cuda = device == "cuda"
WINDOW = 500  # calls measured at a time


def clock_ns():
    """Processor time on the CPU, which a busy machine disturbs less; the wall clock on a GPU."""
    return time.perf_counter_ns() if cuda else time.process_time_ns()


def sync():
    if cuda:
        torch.cuda.synchronize()


def small(name, count):
    a, b = torch.ones(1, device=device), torch.ones(1, device=device)
    m = torch.ones(8, 8, device=device)
    g = torch.ones(1, device=device, requires_grad=True)
    x, y, f = {
        "add": (a, b, torch.add),
        "add with gradient": (g, b, torch.add),
        "multiply by a number": (a, 0.5, torch.mul),
        "matmul 8x8": (m, m, torch.matmul),
    }[name]
    for _ in range(2000):
        f(x, y)
    windows = []
    for _ in range(count // WINDOW):
        sync()
        start = time.perf_counter_ns()
        for _ in range(WINDOW):
            f(x, y)
        sync()
        windows.append((time.perf_counter_ns() - start) / WINDOW)
    return sorted(windows)[len(windows) // 20]


def load(path, index, dtype):
    raw = open(path, "rb").read()
    tensors = {}
    for name, shape, offset in index:
        n = math.prod(shape)
        t = torch.frombuffer(bytearray(raw[offset : offset + 4 * n]), dtype=torch.float32).reshape(shape)
        tensors[name] = t.to(device=device, dtype=dtype)
    return tensors


class Model:
    def __init__(self, request):
        s = request["sizes"]
        self.d, self.layers, self.v, self.t, self.b = s["width"], s["layers"], s["vocabulary"], s["length"], s["batch"]
        self.n = self.d // 32
        dtype = torch.bfloat16 if cuda else torch.float32
        self.p = {k: t.requires_grad_() for k, t in load(request["path"], request["index"], dtype).items()}
        self.tokens = torch.tensor(request["tokens"], device=device).reshape(self.b, self.t + 1)
        self.optimizer = torch.optim.AdamW(list(self.p.values()), lr=1e-3, weight_decay=0.01, fused=True)

    def block(self, x, l):
        p, d = self.p, self.d
        h = F.layer_norm(x, [d], p[f"{l}.ln1.w"], p[f"{l}.ln1.b"])
        qkv = F.linear(h, p[f"{l}.qkv.w"], p[f"{l}.qkv.b"]).view(self.b, self.t, 3, self.n, d // self.n)
        q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(self.b, self.t, d)
        y = x + F.linear(mixed, p[f"{l}.o.w"], p[f"{l}.o.b"])
        h = F.layer_norm(y, [d], p[f"{l}.ln2.w"], p[f"{l}.ln2.b"])
        return y + F.linear(F.gelu(F.linear(h, p[f"{l}.up.w"], p[f"{l}.up.b"])), p[f"{l}.down.w"], p[f"{l}.down.b"])

    def step(self):
        p = self.p
        x = F.embedding(self.tokens[:, :-1], p["embedding"]) + p["position"]
        for l in range(self.layers):
            x = self.block(x, l)
        x = F.layer_norm(x, [self.d], p["final.w"], p["final.b"])
        logits = F.linear(x, p["head.w"], p["head.b"]).view(-1, self.v)
        loss = F.cross_entropy(logits.float(), self.tokens[:, 1:].reshape(-1))
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        return loss


model = None


def train(request):
    global model
    if "path" in request:
        model = Model(request)
    sync()
    start = clock_ns()
    losses = [model.step() for _ in range(request["steps"])]
    sync()
    ms = (clock_ns() - start) / 1e6
    return {"ms": ms / request["steps"], "losses": [loss.item() for loss in losses]}


def open_file(path):
    import resource
    from safetensors import safe_open

    def resident():
        return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()

    before, start = resident(), time.perf_counter()
    with safe_open(path, framework="pt") as f:
        tensors = {k: f.get_tensor(k) for k in f.keys()}
    ms = 1e3 * (time.perf_counter() - start)
    return {"ms": ms, "bytes": resident() - before, "tensors": len(tensors)}


for line in sys.stdin:
    request = json.loads(line)
    kind = request["kind"]
    if kind == "version":
        answer = {"version": torch.__version__}
    elif kind == "small":
        answer = {"ns": small(request["name"], request["count"])}
    elif kind == "train":
        answer = train(request)
    elif kind == "open":
        answer = open_file(request["path"])
    print(json.dumps(answer), flush=True)
