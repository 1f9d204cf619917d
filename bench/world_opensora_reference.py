"""OpenSora's STDiT3 with actions, its rectified flow and its autoencoder, in plain PyTorch.

Like the published code it runs all twelve frames in every step, the four of memory too. Shapes: B videos, T frames,
S patches of a frame, D width, H heads, E head width.
"""
import math
import torch
import torch.nn.functional as F
from torch import nn
from world_kl_reference import AutoencoderKL, Named, RmsNorm, in_parts


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.qkv, self.proj = heads, nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.q_norm, self.k_norm = RmsNorm(width // heads), RmsNorm(width // heads)

    def forward(self, x, rotary=None):
        n, l, d = x.shape
        q, k, v = self.qkv(x).view(n, l, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        q, k = self.q_norm(q), self.k_norm(k)
        if rotary is not None:
            q, k = rotate(q, *rotary), rotate(k, *rotary)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=rotary is not None)
        return self.proj(y.transpose(1, 2).reshape(n, l, d))


def rotate(x, cos, sin):
    even, odd = x.unflatten(-1, (-1, 2)).unbind(-1)
    return torch.stack((even * cos - odd * sin, odd * cos + even * sin), -1).flatten(-2)


class Mlp(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(width, hidden), nn.Linear(hidden, width)

    def forward(self, x):
        return self.fc2(F.gelu(self.fc1(x), approximate="tanh"))


def norm(x):
    return F.layer_norm(x, x.shape[-1:], eps=1e-6)


class Block(nn.Module):
    def __init__(self, s, over_time):
        super().__init__()
        width = s["hidden_size"]
        self.scale_shift_table, self.over_time = nn.Parameter(torch.zeros(6, width)), over_time
        self.attn, self.mlp = Attention(width, s["num_heads"]), Mlp(width, int(width * s["mlp_ratio"]))

    def forward(self, x, table, rotary):
        b, t, s, d = x.shape
        shift1, scale1, gate1, shift2, scale2, gate2 = (table + self.scale_shift_table).unsqueeze(3).unbind(2)
        y = norm(x) * (1 + scale1) + shift1
        if self.over_time:
            y = self.attn(y.transpose(1, 2).reshape(b * s, t, d), rotary).view(b, s, t, d).transpose(1, 2)
        else:
            y = self.attn(y.reshape(b * t, s, d)).view(b, t, s, d)
        x = x + gate1 * y
        return x + gate2 * self.mlp(norm(x) * (1 + scale2) + shift2)


class Final(nn.Module):
    def __init__(self, width, outputs):
        super().__init__()
        self.scale_shift_table, self.linear = nn.Parameter(torch.zeros(2, width)), nn.Linear(width, outputs)

    def forward(self, x, t):
        shift, scale = (self.scale_shift_table + t[:, None])[:, None, None].unbind(3)
        return self.linear(norm(x) * (1 + scale) + shift)


def mlp(*widths):
    return nn.Sequential(nn.Linear(widths[0], widths[1]), nn.SiLU(), nn.Linear(widths[1], widths[2]))


class STDiT3(nn.Module):
    def __init__(self, s):
        super().__init__()
        width, patch = s["hidden_size"], s["patch_size"]
        self.s, self.out = s, s["in_channels"] * (2 if s["pred_sigma"] else 1)
        self.rope = Named(freqs=nn.Parameter(torch.ones(width // s["num_heads"] // 2)))
        self.x_embedder = Named(proj=nn.Conv3d(s["in_channels"], width, patch, patch))
        self.t_embedder = Named(mlp=mlp(256, width, width))
        self.action_embedder = Named(fc=mlp(s["action_dim"], int(width * s["mlp_ratio"]), width))
        self.t_block = nn.Sequential(nn.SiLU(), nn.Linear(width, 6 * width))
        self.spatial_blocks = nn.ModuleList([Block(s, False) for _ in range(s["depth"])])
        self.temporal_blocks = nn.ModuleList([Block(s, True) for _ in range(s["depth"])])
        self.final_layer = Final(width, math.prod(patch) * self.out)

    def time(self, t):
        half = torch.exp(-math.log(10000) * torch.arange(128, device=t.device) / 128)
        waves = t.float()[:, None] * half
        return self.t_embedder.mlp(torch.cat((waves.cos(), waves.sin()), 1).to(self.t_block[1].weight.dtype))

    def positions(self, rows, columns, pixels, like):
        width = self.s["hidden_size"]
        freq = torch.exp(-math.log(10000) * torch.arange(0, width // 2, 2, device=like.device) / (width // 2))
        base, scale = round(math.sqrt(rows * columns)), pixels / self.s["input_sq_size"]

        def axis(n):
            angles = (torch.arange(n, device=like.device) / scale * (base / n))[:, None] * freq
            return torch.cat((angles.sin(), angles.cos()), 1)

        c = axis(columns)[None].expand(rows, -1, -1)
        r = axis(rows)[:, None].expand(-1, columns, -1)
        return torch.cat((c, r), 2).reshape(1, 1, rows * columns, width).to(like.dtype)

    def forward(self, x, t, actions, memory):
        """Velocity of all frames; the first `memory` ones are told timestep 15."""
        dtype = self.t_block[1].weight.dtype
        b, _, frames, h, w = x.shape
        told, clean = self.time(t), self.time(torch.full_like(t, 15))
        action = self.action_embedder.fc(actions.to(dtype))
        six = lambda v: self.t_block(v).unflatten(-1, (6, -1))
        still = six(clean[:, None]).expand(-1, memory, -1, -1)
        spatial = torch.cat((still, six(told[:, None] + action)), 1)
        temporal = torch.cat((still, six(told[:, None]).expand(-1, frames - memory, -1, -1)), 1)
        angles = torch.arange(frames, device=x.device, dtype=dtype)[:, None] * self.rope.freqs
        rotary = (angles.cos(), angles.sin())
        y = self.x_embedder.proj(x.to(dtype))
        rows, columns = y.shape[3:]
        y = y.flatten(3).permute(0, 2, 3, 1) + self.positions(rows, columns, self.s["vae_downscale"] * math.sqrt(h * w), y)
        y = y.contiguous()
        for space, time in zip(self.spatial_blocks, self.temporal_blocks):
            y = time(space(y, spatial, rotary), temporal, rotary)
        y = self.final_layer(y[:, memory:], told)  # nobody reads the memory's velocity
        p, q, r = self.s["patch_size"]
        y = y.view(b, (frames - memory) // p, rows, columns, p, q, r, self.out).permute(0, 7, 1, 4, 2, 5, 3, 6)
        return y.reshape(b, self.out, frames - memory, h, w).float()


class World(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.sizes, self.denoiser, self.vae = sizes, STDiT3(sizes["denoiser"]), AutoencoderKL(sizes["vae"])

    def compiled_parts(self):
        return [part for part in self.modules() if isinstance(part, Block)]

    def random_inputs(self, envs, device):
        s = self.sizes
        z, side = s["vae"]["latent_channels"], s["image"] // s["denoiser"]["vae_downscale"]
        latents = torch.randn(envs, z, s["memory"], side, side, device=device)
        return {"memory": latents, "actions": torch.rand(envs, s["chunk"], s["denoiser"]["action_dim"], device=device)}

    def imagine(self, given, steps=None):
        s, memory = self.sizes, given["memory"]
        b, z, m, h, w = memory.shape
        bend = math.sqrt(s["image"] ** 2 / 512**2) * 2
        times = [1 - i / s["steps"] for i in range(s["steps"])]
        times = [bend * t / (1 + (bend - 1) * t) for t in times] + [0]
        x = given["noise"] if "noise" in given else torch.randn(b, z, s["chunk"], h, w, device=memory.device)
        for now, after in list(zip(times, times[1:]))[:steps]:
            t = torch.full((b,), now * 1000, device=x.device)
            x = x + self.denoiser(torch.cat((memory, x), 2), t, given["actions"], m)[:, :z] * (now - after)
        frames = in_parts(self.vae.decode, x.transpose(1, 2).flatten(0, 1), s["vae_batch"])
        return {"latents": x, "frames": frames.float().unflatten(0, (b, -1))}
