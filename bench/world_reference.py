"""The Python side of `npm run bench -- worlds`: answers one JSON line a request, for all families.

The models are in world_<family>_reference.py, in plain PyTorch from the published descriptions: bfloat16, no_grad,
scaled_dot_product_attention, channels-last convolutions, cudnn.benchmark where asked for. This file loads small weights for
the comparison, fills large ones at random, and takes the time.
"""
import gc, importlib, json, signal, struct, sys, time
import torch

answers, sys.stdout = sys.stdout, sys.stderr  # whatever a library prints must not look like an answer
torch.set_grad_enabled(False)
torch.set_num_threads(1)
dtypes = {"float32": torch.float32, "bfloat16": torch.bfloat16}
stored = {"F32": torch.float32, "I64": torch.int64, "BF16": torch.bfloat16}
world, known = None, None


def read_tensors(path):
    """A safetensors file, without the package: not every machine has it."""
    raw = open(path, "rb").read()
    size = struct.unpack("<Q", raw[:8])[0]
    header, base = json.loads(raw[8 : 8 + size]), 8 + size
    header.pop("__metadata__", None)
    found = {}
    for name, entry in header.items():
        start, end = entry["data_offsets"]
        data = torch.frombuffer(bytearray(raw[base + start : base + end]), dtype=stored[entry["dtype"]])
        found[name] = data.reshape(entry["shape"])
    return found


def write_tensors(path, tensors):
    header, body = {}, b""
    for name, value in tensors.items():
        data = value.detach().float().cpu().contiguous().numpy().tobytes()
        header[name] = {"dtype": "F32", "shape": list(value.shape), "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    open(path, "wb").write(struct.pack("<Q", len(text)) + text + body)


def release():
    global world, known
    world, known = None, None
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def built(request):
    """The family's world, made on the device without weights."""
    family = importlib.import_module(f"world_{request['family']}_reference")
    with torch.device(request["device"]):
        torch.set_default_dtype(dtypes[request["dtype"]])
        try:
            made = family.World(request["sizes"])
        finally:
            torch.set_default_dtype(torch.float32)
    return made


def channels_last(made, request):
    if request["device"] == "cuda":
        for part in made.modules():
            if isinstance(part, torch.nn.Conv2d):
                part.to(memory_format=torch.channels_last)
            if isinstance(part, torch.nn.Conv3d):
                part.to(memory_format=torch.channels_last_3d)
    return made


def compare(request):
    """One chunk from the weights and inputs in files, for a check that both sides are one model."""
    made = built(request)
    weights, inputs = read_tensors(request["weights"]), read_tensors(request["inputs"])
    missing = [key for key in made.state_dict() if key not in weights]
    if missing:
        raise KeyError(f"the file lacks {missing[:5]}")
    made.load_state_dict({key: weights[key] for key in made.state_dict()})
    channels_last(made, request)
    given = {key: value.to(request["device"]) for key, value in inputs.items()}
    write_tensors(request["out"], made.imagine(given))


def give_up(*_):
    raise TimeoutError("it took too long")


def chunk(request):
    """Seconds of one chunk for a number of episodes, weights and inputs random."""
    global world, known
    key = json.dumps([request["family"], request["sizes"]])
    if known != key:
        release()
        world, known = channels_last(built(request), request), key
        generator = torch.Generator(request["device"]).manual_seed(1)
        for value in world.parameters():
            value.normal_(0, 0.02, generator=generator) if value.ndim > 1 else value.fill_(1)
    cuda = request["device"] == "cuda"
    torch.backends.cudnn.benchmark = bool(request.get("tuned"))
    given = world.random_inputs(request["envs"], request["device"])
    try:
        signal.signal(signal.SIGALRM, give_up)
        signal.alarm(int(request["limit_s"]))
        if request.get("compile"):
            for block in world.compiled_parts():
                block.compile(dynamic=False)
        world.imagine(given, steps=1)  # warms up every shape
        times = []
        if cuda:
            torch.cuda.reset_peak_memory_stats()
        while len(times) < 2 and (not times or times[0] < request["long_s"]):
            if cuda:
                torch.cuda.synchronize()
            start = time.perf_counter()
            world.imagine(given)
            if cuda:
                torch.cuda.synchronize()
            times.append(time.perf_counter() - start)
    finally:
        signal.alarm(0)
        for block in world.compiled_parts():
            block._compiled_call_impl = None
    answer = {"s": min(times), "peak_gb": torch.cuda.max_memory_allocated() / 1e9 if cuda else 0}
    if cuda:
        del given
        torch.cuda.empty_cache()  # the other side is on this GPU too
    return answer


def matmul(request):
    a, b = [torch.randn(request["side"], request["side"], device=request["device"], dtype=torch.bfloat16) for _ in range(2)]
    best = float("inf")
    for _ in range(3):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(10):
            a @ b
        torch.cuda.synchronize()
        best = min(best, (time.perf_counter() - start) / 10)
    return {"s": best}


kinds = {"compare": compare, "chunk": chunk, "matmul": matmul, "release": lambda _: release()}
for line in sys.stdin:
    request = json.loads(line)
    try:
        answer = kinds[request["kind"]](request) or {}
    except BaseException as error:  # a failed part is one row less, not the end of the run
        answer = {"error": f"{type(error).__name__}: {error}"[:300]}
        release()
    print(json.dumps(answer), file=answers, flush=True)
