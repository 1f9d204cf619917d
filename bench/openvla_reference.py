"""The Python side of `npm run bench -- policies`: OpenVLA-OFT in plain PyTorch, answering one JSON line a request.

Written for the benchmark from the published layout, without transformers or timm: scaled_dot_product_attention,
bfloat16, one torch.utils.checkpoint per block, AdamW(fused=True). Like ours it skips the vision blocks that nobody
reads and computes only the action rows of the vocabulary. Names are the checkpoint's, so both sides can load one file.
Shapes: B batch, P patches, L prompt columns, A action tokens, S all tokens, D width.
"""
import gc, json, signal, sys, time
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

answers, sys.stdout = sys.stdout, sys.stderr  # whatever a library prints must not look like an answer
sizes, device, action_tokens = json.loads(sys.argv[1]), sys.argv[2], int(sys.argv[3])
cuda = device == "cuda"
dtype = torch.bfloat16 if cuda else torch.float32
if not cuda:
    torch.set_num_threads(1)


class RmsNorm(nn.Module):
    def __init__(self, width, eps):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(width)), eps

    def forward(self, x):
        wide = x.float()
        return self.weight * (wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + self.eps)).to(x.dtype)


class VisionAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.qkv, self.proj = heads, nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        return self.proj(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, n, d))


class Mlp(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(width, hidden), nn.Linear(hidden, width)

    def forward(self, x):
        return self.fc2(F.gelu(self.fc1(x)))


class LayerScale(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.scale_factor = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x * self.scale_factor


class VisionBlock(nn.Module):
    def __init__(self, c):
        super().__init__()
        width, scaled = c["embed_dim"], c.get("init_values") is not None
        self.norm1, self.norm2 = nn.LayerNorm(width, eps=1e-6), nn.LayerNorm(width, eps=1e-6)
        self.attn, self.mlp = VisionAttention(width, c["num_heads"]), Mlp(width, int(width * c["mlp_ratio"]))
        self.ls1, self.ls2 = [LayerScale(width) if scaled else nn.Identity() for _ in range(2)]

    def forward(self, x):
        x = x + self.ls1(self.attn(self.norm1(x)))
        return x + self.ls2(self.mlp(self.norm2(x)))


class PatchEmbed(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.proj = nn.Conv2d(3, c["embed_dim"], c["patch_size"], c["patch_size"])

    def forward(self, pixels):
        return self.proj(pixels).flatten(2).transpose(1, 2)


class Tower(nn.Module):
    """All blocks but the last, which is in a checkpoint and never computed."""

    def __init__(self, c, patches):
        super().__init__()
        width = c["embed_dim"]
        if c["class_token"]:
            self.cls_token = nn.Parameter(torch.zeros(1, 1, width))
        if c["reg_tokens"]:
            self.reg_token = nn.Parameter(torch.zeros(1, c["reg_tokens"], width))
        self.prefix = int(c["class_token"]) + c["reg_tokens"]
        self.pos_embed = nn.Parameter(torch.zeros(1, patches, width))
        self.patch_embed = PatchEmbed(c)
        self.blocks = nn.ModuleList(VisionBlock(c) for _ in range(c["depth"] - 1))

    def forward(self, pixels, run):
        x = self.patch_embed(pixels) + self.pos_embed
        if self.prefix:
            front = [getattr(self, n) for n in ("cls_token", "reg_token") if hasattr(self, n)]
            x = torch.cat([t.expand(x.shape[0], -1, -1) for t in front] + [x], 1)
        for block in self.blocks:
            x = run(block, x)
        return x[:, self.prefix :]


class VisionBackbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.featurizer = Tower(sizes["vision"][0], sizes["patches"])
        self.fused_featurizer = Tower(sizes["vision"][1], sizes["patches"])

    def forward(self, pixels, run):
        return torch.cat([self.featurizer(pixels[:, :3], run), self.fused_featurizer(pixels[:, 3:], run)], 2)


class Projector(nn.Module):
    def __init__(self, seen, width):
        super().__init__()
        self.fc1, self.fc2, self.fc3 = nn.Linear(seen, 4 * seen), nn.Linear(4 * seen, width), nn.Linear(width, width)

    def forward(self, x):
        return self.fc3(F.gelu(self.fc2(F.gelu(self.fc1(x)))))


def rotate(x, cos, sin):
    first, second = x.chunk(2, -1)
    return x * cos + torch.cat([-second, first], -1) * sin


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        for name in ("q_proj", "k_proj", "v_proj", "o_proj"):
            setattr(self, name, nn.Linear(width, width, bias=False))

    def forward(self, x, cos, sin):
        b, s, d = x.shape
        q, k, v = [f(x).view(b, s, self.heads, -1).transpose(1, 2) for f in (self.q_proj, self.k_proj, self.v_proj)]
        seen = F.scaled_dot_product_attention(rotate(q, cos, sin), rotate(k, cos, sin), v)
        return self.o_proj(seen.transpose(1, 2).reshape(b, s, d))


class GatedMlp(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.gate_proj, self.up_proj = [nn.Linear(width, hidden, bias=False) for _ in range(2)]
        self.down_proj = nn.Linear(hidden, width, bias=False)

    def forward(self, x):
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class DecoderLayer(nn.Module):
    def __init__(self, t):
        super().__init__()
        width = t["hidden_size"]
        self.self_attn, self.mlp = Attention(width, t["num_attention_heads"]), GatedMlp(width, t["intermediate_size"])
        self.input_layernorm, self.post_attention_layernorm = [RmsNorm(width, t["rms_norm_eps"]) for _ in range(2)]

    def forward(self, x, cos, sin):
        x = x + self.self_attn(self.input_layernorm(x), cos, sin)
        return x + self.mlp(self.post_attention_layernorm(x))


class LanguageModel(nn.Module):
    def __init__(self, t):
        super().__init__()
        self.model = nn.Module()
        self.model.embed_tokens = nn.Embedding(t["vocab_size"], t["hidden_size"])
        self.model.layers = nn.ModuleList(DecoderLayer(t) for _ in range(t["num_hidden_layers"]))
        self.model.norm = RmsNorm(t["hidden_size"], t["rms_norm_eps"])
        self.lm_head = nn.Linear(t["hidden_size"], t["vocab_size"], bias=False)


class OpenVlaOft(nn.Module):
    def __init__(self):
        super().__init__()
        text = sizes["text"]
        self.vision_backbone = VisionBackbone()
        self.projector = Projector(sum(c["embed_dim"] for c in sizes["vision"]), text["hidden_size"])
        self.language_model = LanguageModel(text)
        self.head_width, self.theta = text["hidden_size"] // text["num_attention_heads"], text["rope_theta"]
        self.first, self.bins = sizes["vocabulary"] - sizes["actionBins"], sizes["actionBins"]

    def rotation(self, length):
        steps = torch.arange(0, self.head_width, 2, device=device).float() / self.head_width
        angles = torch.arange(length, device=device).float()[:, None] / self.theta**steps
        angles = torch.cat([angles, angles], -1)[None, None]
        return angles.cos().to(dtype), angles.sin().to(dtype)

    def forward(self, pixels, ids, run=lambda block, *x: block(*x)):
        patches = self.projector(self.vision_backbone(pixels, run))
        words = self.language_model.model.embed_tokens(ids)
        zeros = words.new_zeros(words.shape[0], action_tokens, words.shape[2])
        x = torch.cat([words[:, :1], patches, words[:, 1:], zeros], 1)
        cos, sin = self.rotation(x.shape[1])
        for layer in self.language_model.model.layers:
            x = run(layer, x, cos, sin)
        return self.logits(self.language_model.model.norm(x[:, -action_tokens - 1 : -1]))

    def logits(self, x):
        head, rows = self.language_model.lm_head, slice(self.first, self.first + self.bins)
        if isinstance(head, Lora):
            return (F.linear(x, head.base_layer.weight[rows]) + F.linear(head.lora_A(x), head.lora_B.weight[rows])).float()
        return F.linear(x, head.weight[rows]).float()


class Lora(nn.Module):
    """PEFT's form with alpha = r: base(x) + B(A(x))."""

    def __init__(self, base, rank):
        super().__init__()
        self.base_layer = base.requires_grad_(False)
        if isinstance(base, nn.Conv2d):
            self.lora_A = nn.Conv2d(base.in_channels, rank, base.kernel_size, base.stride, bias=False)
            self.lora_B = nn.Conv2d(rank, base.out_channels, 1, bias=False)
        else:
            self.lora_A = nn.Linear(base.in_features, rank, bias=False)
            self.lora_B = nn.Linear(rank, base.out_features, bias=False)
        self.to(device=device, dtype=dtype)

    def forward(self, x):
        return self.base_layer(x) + self.lora_B(self.lora_A(x))


def adapt(module, rank=32):
    module.requires_grad_(False)
    for parent in [m for m in module.modules() if not isinstance(m, Lora)]:
        for name, child in list(parent.named_children()):
            if isinstance(child, (nn.Linear, nn.Conv2d)):
                setattr(parent, name, Lora(child, rank))


model, adapted = None, False


def network(lora=False):
    """Random weights, made on the device."""
    global model, adapted
    if model is not None and adapted == lora:
        return model
    release()
    with torch.device("meta"):
        model = OpenVlaOft()
    model = model.to(dtype).to_empty(device=device)
    with torch.no_grad():
        for p in model.parameters():
            p.normal_(0, 0.02) if p.ndim > 1 else p.fill_(1)
    if lora:
        adapt(model)
    adapted = lora
    return model


def release():
    global model
    model = None
    gc.collect()
    if cuda:
        torch.cuda.empty_cache()


def sync():
    if cuda:
        torch.cuda.synchronize()


def timed(body, count):
    sync()
    start = time.perf_counter()
    for _ in range(count):
        body()
    sync()
    return 1e3 * (time.perf_counter() - start) / count


def inputs(batch):
    side, length = sizes["imageSize"], sizes["promptLength"]
    pixels = torch.randn(batch, 6, side, side, device=device, dtype=dtype)
    return pixels, torch.randint(3, sizes["vocabulary"] - sizes["actionBins"], (batch, length), device=device)


def rollout(request):
    net, given = network(), inputs(request["batch"])
    blocks = [m for m in net.modules() if isinstance(m, (DecoderLayer, VisionBlock))]
    compiled = request.get("compiled", False)
    try:
        if compiled:
            signal.signal(signal.SIGALRM, give_up)
            signal.alarm(int(request["limit_s"]))
            for block in blocks:
                block.compile(dynamic=False)
        with torch.no_grad():
            for _ in range(2):
                net(*given)
            signal.alarm(0)
            return {"ms": timed(lambda: net(*given), request["count"])}
    finally:
        signal.alarm(0)
        for block in blocks:
            block._compiled_call_impl = None


def give_up(*_):
    raise TimeoutError("compiling took too long")


def train(request):
    """A whole step: forward, checkpointed backward, fused AdamW. Peak memory is of the last step."""
    net, (pixels, ids) = network(request["lora"]), inputs(request["batch"])
    tokens = torch.randint(0, sizes["actionBins"], (request["batch"], action_tokens, 1), device=device)
    wanted = [p for p in net.parameters() if p.requires_grad]
    adam = torch.optim.AdamW(wanted, lr=1e-5, weight_decay=0.01, fused=True)
    run = lambda block, *x: checkpoint(block, *x, use_reentrant=False)

    def step():
        logits = net(pixels, ids, run)
        loss = -logits.log_softmax(-1).gather(2, tokens).mean()
        loss.backward()
        adam.step()
        adam.zero_grad(set_to_none=True)

    step()
    if cuda:
        torch.cuda.reset_peak_memory_stats()
    ms = timed(step, request["count"])
    peak = torch.cuda.max_memory_allocated() / 1e9 if cuda else 0
    return {"ms": ms, "peak_gb": peak, "parameters": sum(p.numel() for p in wanted)}


def compare(request):
    """Logits of the weights in a file, for a check that both sides are one model."""
    from safetensors.torch import load_file

    state, given = load_file(request["weights"]), load_file(request["inputs"])
    net = network()
    net.load_state_dict({k: state[k].to(dtype) for k in net.state_dict()})
    with torch.no_grad():
        logits = net(given["pixels"].to(device, dtype), given["ids"].to(device))
    return {"logits": logits.flatten().tolist()}


def matmul(request):
    a, b = [torch.randn(request["side"], request["side"], device=device, dtype=dtype) for _ in range(2)]
    timed(lambda: a @ b, 5)
    return {"ms": min(timed(lambda: a @ b, 10) for _ in range(3))}


kinds = {"rollout": rollout, "train": train, "compare": compare, "matmul": matmul, "release": lambda _: release()}
for line in sys.stdin:
    request = json.loads(line)
    try:
        answer = kinds[request["kind"]](request) or {}
    except Exception as error:  # a failed part is one row less, not the end of the run
        answer = {"error": f"{type(error).__name__}: {error}"[:300]}
        release()
    print(json.dumps(answer), file=answers, flush=True)
