"""What tells EVAC's UNet about the first picture and the actions: CLIP's picture encoder and the resamplers, in plain PyTorch."""
import torch
import torch.nn.functional as F
from torch import nn


class Reading(nn.Module):
    def __init__(self, s):
        super().__init__()
        inner, self.heads = s["heads"] * s["dim_head"], s["heads"]
        self.norm1, self.norm2 = nn.LayerNorm(s["dim"]), nn.LayerNorm(s["dim"])
        self.to_q, self.to_kv = nn.Linear(s["dim"], inner, bias=False), nn.Linear(s["dim"], 2 * inner, bias=False)
        self.to_out = nn.Linear(inner, s["dim"], bias=False)

    def forward(self, x, questions):
        questions = self.norm2(questions)
        k, v = self.to_kv(torch.cat((self.norm1(x), questions), 1)).chunk(2, 2)
        q, k, v = [y.unflatten(2, (self.heads, -1)).transpose(1, 2) for y in (self.to_q(questions), k, v)]
        return self.to_out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))


class Resampler(nn.Module):
    def __init__(self, s):
        super().__init__()
        d, f = s["dim"], s["dim"] * s["ff_mult"]
        self.latents = nn.Parameter(torch.zeros(1, s["num_queries"] * s["video_length"], d))
        self.proj_in, self.proj_out = nn.Linear(s["embedding_dim"], d), nn.Linear(d, s["output_dim"])
        self.norm_out = nn.LayerNorm(s["output_dim"])
        think = lambda: nn.Sequential(nn.LayerNorm(d), nn.Linear(d, f, bias=False), nn.GELU(), nn.Linear(f, d, bias=False))
        self.layers = nn.ModuleList([nn.ModuleList([Reading(s), think()]) for _ in range(s["depth"])])

    def forward(self, x):
        x = self.proj_in(x.to(self.latents.dtype))
        y = self.latents.expand(x.shape[0], -1, -1)
        for read, think in self.layers:
            y = y + read(x, y)
            y = y + think(y)
        return self.norm_out(self.proj_out(y))


class ClipAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.in_proj_weight, self.in_proj_bias = nn.Parameter(torch.zeros(3 * width, width)), nn.Parameter(torch.zeros(3 * width))
        self.out_proj = nn.Linear(width, width)

    def forward(self, x):
        q, k, v = F.linear(x, self.in_proj_weight, self.in_proj_bias).unflatten(2, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        return self.out_proj(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))


class ClipBlock(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.ln_1, self.ln_2, self.attn = nn.LayerNorm(width), nn.LayerNorm(width), ClipAttention(width, heads)
        self.mlp = nn.ModuleDict({"c_fc": nn.Linear(width, 4 * width), "c_proj": nn.Linear(4 * width, width)})

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp["c_proj"](F.gelu(self.mlp["c_fc"](self.ln_2(x))))


class ClipVisual(nn.Module):
    def __init__(self, s):
        super().__init__()
        width, heads = s["width"], s.get("heads") or 16
        self.class_embedding = nn.Parameter(torch.zeros(width))
        self.positional_embedding = nn.Parameter(torch.zeros(257, width))
        self.conv1, self.ln_pre = nn.Conv2d(3, width, 14, 14, bias=False), nn.LayerNorm(width)
        self.transformer = nn.ModuleDict({"resblocks": nn.ModuleList([ClipBlock(width, heads) for _ in range(s["layers"])])})

    def forward(self, x):
        x = self.conv1(x).flatten(2).transpose(1, 2)
        x = torch.cat((self.class_embedding.expand(x.shape[0], 1, -1), x), 1) + self.positional_embedding
        x = self.ln_pre(x)
        for block in self.transformer["resblocks"]:
            x = block(x)
        return x


def clip_picture(x):
    """A small blur and a bicubic resize, then CLIP's statistics."""
    side = x.shape[-1]
    if side > 224:
        sigma = max((side / 224 - 1) / 2, 0.001)
        taps = torch.exp(-torch.tensor([-1.0, 0.0, 1.0], device=x.device) ** 2 / (2 * sigma**2))
        taps = (taps / taps.sum()).to(x.dtype)
        x = F.pad(x, (1, 1, 1, 1), mode="reflect")
        x = F.conv2d(x, taps.view(1, 1, 1, 3).expand(3, -1, -1, -1), groups=3)
        x = F.conv2d(x, taps.view(1, 1, 3, 1).expand(3, -1, -1, -1), groups=3)
    x = F.interpolate(x, (224, 224), mode="bicubic", align_corners=True)
    mean, std = [torch.tensor(v, device=x.device).view(1, 3, 1, 1) for v in ((0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711))]
    return ((x + 1) / 2 - mean) / std
