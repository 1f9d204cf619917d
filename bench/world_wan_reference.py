"""Wan's diffusion transformer with actions, its flow matching and its streaming video autoencoder, in plain PyTorch.

Shapes: B videos, T pictures, F latent frames, S patches of one, D width, C channels.
"""
import math
import torch
import torch.nn.functional as F
from torch import nn
from world_kl_reference import RmsNorm, in_parts


def mlp(inputs, middle, outputs, activation):
    return nn.Sequential(nn.Linear(inputs, middle), activation, nn.Linear(middle, outputs))


def norm(x):
    return F.layer_norm(x, x.shape[-1:], eps=1e-6)


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.o = [nn.Linear(width, width) for _ in range(4)]
        self.norm_q, self.norm_k = RmsNorm(width), RmsNorm(width)

    def forward(self, x, memory, rotary=None):
        split = lambda y: y.unflatten(2, (self.heads, -1)).transpose(1, 2)
        q, k, v = split(self.norm_q(self.q(x))), split(self.norm_k(self.k(memory))), split(self.v(memory))
        if rotary is not None:
            q, k = rotate(q, rotary), rotate(k, rotary)
        return self.o(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))


def rotate(x, rotary):
    # float32 is enough for bfloat16 numbers; the original turns them in float64, which is slower still
    y = torch.view_as_complex(x.float().unflatten(-1, (-1, 2)).contiguous()) * rotary
    return torch.view_as_real(y).flatten(-2).to(x.dtype)


class Block(nn.Module):
    def __init__(self, s):
        super().__init__()
        width = s["dim"]
        self.modulation = nn.Parameter(torch.zeros(1, 6, width))
        self.self_attn, self.cross_attn = Attention(width, s["num_heads"]), Attention(width, s["num_heads"])
        self.norm3 = nn.LayerNorm(width, eps=1e-6)
        self.ffn = mlp(width, s["ffn_dim"], width, nn.GELU(approximate="tanh"))

    def forward(self, x, time, context, rotary):
        b, f, s, d = x.shape
        shift1, scale1, gate1, shift2, scale2, gate2 = (self.modulation + time).unsqueeze(3).unbind(2)
        y = (norm(x) * (1 + scale1) + shift1).flatten(1, 2)
        x = x + gate1 * self.self_attn(y, y, rotary).view(b, f, s, d)
        x = x + self.cross_attn(self.norm3(x).flatten(1, 2), context).view(b, f, s, d)
        return x + gate2 * self.ffn(norm(x) * (1 + scale2) + shift2)


class Head(nn.Module):
    def __init__(self, width, outputs):
        super().__init__()
        self.modulation, self.head = nn.Parameter(torch.zeros(1, 2, width)), nn.Linear(width, outputs)

    def forward(self, x, time):
        shift, scale = (self.modulation + time[:, :, None]).unsqueeze(3).unbind(2)
        return self.head(norm(x) * (1 + scale) + shift)


class WanDiT(nn.Module):
    def __init__(self, s):
        super().__init__()
        width, patch = s["dim"], s["patch_size"]
        self.s = s
        self.action_mlp1 = mlp(s["action_dim"], width, width, nn.GELU())
        self.action_mlp2 = mlp(4 * s["action_dim"], 4 * width, width, nn.SiLU())
        self.patch_embedding = nn.Conv3d(s["z_dim"], width, patch, patch)
        self.time_embedding = mlp(s["freq_dim"], width, width, nn.SiLU())
        self.time_projection = nn.Sequential(nn.SiLU(), nn.Linear(width, 6 * width))
        self.blocks = nn.ModuleList([Block(s) for _ in range(s["num_layers"])])
        self.head = Head(width, math.prod(patch) * s["z_dim"])

    def rotary(self, grid, device):
        head = self.s["dim"] // self.s["num_heads"]
        side = head // 3
        angles = []
        for axis, channels in enumerate((head - 2 * side, side, side)):
            freq = 10000 ** -(torch.arange(0, channels, 2, device=device, dtype=torch.float64) / channels)
            table = torch.arange(grid[axis], device=device, dtype=torch.float64)[:, None] * freq
            shape = [1, 1, 1, -1]
            shape[axis] = grid[axis]
            angles.append(table.view(shape).expand(*grid, -1))
        angles = torch.cat(angles, 3).flatten(0, 2)
        return torch.polar(torch.ones_like(angles), angles).to(torch.complex64)

    def forward(self, x, t, actions):
        dtype, device = self.patch_embedding.weight.dtype, x.device
        actions = actions.to(dtype)
        context = self.action_mlp1(actions)
        y = self.patch_embedding(x)
        b, width, frames, rows, columns = y.shape
        waves = torch.tensor([0.0, t], device=device, dtype=dtype).double()[:, None]
        half = self.s["freq_dim"] // 2
        waves = waves * torch.exp(-math.log(10000) * torch.arange(half, device=device, dtype=torch.float64) / half)
        still, moving = self.time_embedding(torch.cat((waves.cos(), waves.sin()), 1).to(dtype))
        times = torch.stack([still, still] + [moving] * (frames - 2))
        grouped = torch.cat((actions[:, :1].expand(-1, 3, -1), actions), 1).reshape(b, frames, -1)
        time = times + self.action_mlp2(grouped)
        six = self.time_projection(time).unflatten(2, (6, width))
        rotary = self.rotary((frames, rows, columns), device)
        y = y.flatten(3).permute(0, 2, 3, 1).contiguous()
        for block in self.blocks:
            y = block(y, six, context, rotary)
        y = self.head(y, time)
        p, q, r = self.s["patch_size"]
        y = y.view(b, frames, rows, columns, p, q, r, self.s["z_dim"]).permute(0, 7, 1, 4, 2, 5, 3, 6)
        return y.reshape(b, self.s["z_dim"], frames * p, rows * q, columns * r)


# ---- the autoencoder, fed piece by piece; a cache holds what each layer needs of the piece before


class Cache:
    def __init__(self):
        self.slots, self.cursor, self.pieces = [], 0, 0

    def next_piece(self):
        self.cursor, self.pieces = 0, self.pieces + 1

    def slot(self):
        self.cursor += 1
        if len(self.slots) < self.cursor:
            self.slots.append(None)
        return self.cursor - 1


def last_two(x, before):
    if x.shape[2] >= 2:
        return x[:, :, -2:].clone()
    return torch.cat((before[:, :, -1:], x), 2) if before is not None else x.clone()


class CausalConv3d(nn.Conv3d):
    def __init__(self, inputs, outputs, kernel, padding=(0, 0, 0), stride=1):
        super().__init__(inputs, outputs, kernel, stride, (0, padding[1], padding[2]))
        self.look = 2 * padding[0]

    def after(self, x, past=None):
        if past is not None and self.look:
            x = torch.cat((past, x), 2)
        missing = self.look - (past.shape[2] if past is not None and self.look else 0)
        return self(F.pad(x, (0, 0, 0, 0, missing, 0)) if missing > 0 else x)

    def stream(self, x, cache):
        slot = cache.slot()
        y = self.after(x, cache.slots[slot])
        cache.slots[slot] = last_two(x, cache.slots[slot])
        return y


def cube(inputs, outputs):
    return CausalConv3d(inputs, outputs, 3, (1, 1, 1))


class ChannelNorm(nn.Module):
    def __init__(self, channels, trailing=3):
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(channels, *([1] * trailing)))

    def forward(self, x):
        return F.normalize(x, dim=1) * x.shape[1] ** 0.5 * self.gamma


class Residual(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.residual = nn.ModuleDict({"0": ChannelNorm(inputs), "2": cube(inputs, outputs), "3": ChannelNorm(outputs), "6": cube(outputs, outputs)})
        if inputs != outputs:
            self.shortcut = CausalConv3d(inputs, outputs, 1)

    def stream(self, x, cache):
        r = self.residual
        y = r["2"].stream(F.silu(r["0"](x)), cache)
        y = r["6"].stream(F.silu(r["3"](y)), cache)
        return y + (self.shortcut.after(x) if hasattr(self, "shortcut") else x)


class PictureAttention(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.norm = ChannelNorm(channels, 2)
        self.to_qkv, self.proj = nn.Conv2d(channels, 3 * channels, 1), nn.Conv2d(channels, channels, 1)

    def stream(self, x, cache):
        b, c, t, h, w = x.shape
        y = x.transpose(1, 2).reshape(b * t, c, h, w)
        q, k, v = self.to_qkv(self.norm(y)).flatten(2).transpose(1, 2)[:, None].chunk(3, 3)
        y = F.scaled_dot_product_attention(q, k, v)[:, 0].transpose(1, 2).reshape(b * t, c, h, w)
        return self.proj(y).view(b, t, c, h, w).transpose(1, 2) + x


def per_picture(x, f):
    b, _, t = x.shape[:3]
    return f(x.transpose(1, 2).flatten(0, 1)).unflatten(0, (b, t)).transpose(1, 2)


class Downsample(nn.Module):
    def __init__(self, channels, over_time):
        super().__init__()
        self.resample = nn.ModuleDict({"1": nn.Conv2d(channels, channels, 3, 2)})
        if over_time:
            self.time_conv = CausalConv3d(channels, channels, (3, 1, 1), stride=(2, 1, 1))

    def stream(self, x, cache):
        x = per_picture(x, lambda y: self.resample["1"](F.pad(y, (0, 1, 0, 1))))
        if not hasattr(self, "time_conv"):
            return x
        slot = cache.slot()
        before, cache.slots[slot] = cache.slots[slot], x[:, :, -1:].clone()
        return x if before is None else self.time_conv(torch.cat((before, x), 2))


class Upsample(nn.Module):
    def __init__(self, channels, over_time):
        super().__init__()
        self.resample = nn.ModuleDict({"1": nn.Conv2d(channels, channels, 3, padding=1)})
        if over_time:
            self.time_conv = CausalConv3d(channels, 2 * channels, (3, 1, 1), (1, 0, 0))

    def stream(self, x, cache):
        if hasattr(self, "time_conv"):
            slot = cache.slot()
            if cache.pieces > 1:
                past = cache.slots[slot]
                y = self.time_conv.after(x, past)
                cache.slots[slot] = last_two(x, torch.zeros_like(x[:, :, :1]) if past is None else past)
                x = y.unflatten(1, (2, -1)).permute(0, 2, 3, 1, 4, 5).flatten(2, 3)
        return per_picture(x, lambda y: self.resample["1"](F.interpolate(y, scale_factor=2.0, mode="nearest-exact")))


def average_down(x, channels, time, space):
    x = F.pad(x, (0, 0, 0, 0, -x.shape[2] % time, 0))
    b, c, t, h, w = x.shape
    x = x.reshape(b, c, t // time, time, h // space, space, w // space, space).permute(0, 1, 3, 5, 7, 2, 4, 6)
    return x.reshape(b, channels, -1, t // time, h // space, w // space).mean(2)


def duplicate_up(x, channels, time, space, first):
    b, c, t, h, w = x.shape
    x = x.repeat_interleave(channels * time * space * space // c, 1).view(b, channels, time, space, space, t, h, w)
    x = x.permute(0, 1, 5, 2, 6, 3, 7, 4).reshape(b, channels, t * time, h * space, w * space)
    return x[:, :, time - 1 :] if first else x


class DownStage(nn.Module):
    def __init__(self, inputs, outputs, blocks, over_space, over_time):
        super().__init__()
        layers = [Residual(inputs if i == 0 else outputs, outputs) for i in range(blocks)]
        self.downsamples = nn.ModuleList(layers + ([Downsample(outputs, over_time)] if over_space else []))
        self.outputs, self.time, self.space = outputs, 2 if over_time else 1, 2 if over_space else 1

    def stream(self, x, cache):
        y = x
        for layer in self.downsamples:
            y = layer.stream(y, cache)
        return y + average_down(x, self.outputs, self.time, self.space)


class UpStage(nn.Module):
    def __init__(self, inputs, outputs, blocks, over_space, over_time):
        super().__init__()
        layers = [Residual(inputs if i == 0 else outputs, outputs) for i in range(blocks)]
        self.upsamples = nn.ModuleList(layers + ([Upsample(outputs, over_time)] if over_space else []))
        self.outputs, self.time, self.over_space = outputs, 2 if over_time else 1, over_space

    def stream(self, x, cache):
        y = x
        for layer in self.upsamples:
            y = layer.stream(y, cache)
        return y + duplicate_up(x, self.outputs, self.time, 2, cache.pieces == 1) if self.over_space else y


def middle(channels):
    return nn.ModuleList([Residual(channels, channels), PictureAttention(channels), Residual(channels, channels)])


class Coder(nn.Module):
    def stream(self, x, cache):
        x = self.conv1.stream(x, cache)
        for stage in self.order():
            x = stage.stream(x, cache)
        return self.head["2"].stream(F.silu(self.head["0"](x)), cache)


class Encoder(Coder):
    def __init__(self, s):
        super().__init__()
        mult = s["dim_mult"]
        widths = [f * s["vae_dim"] for f in [1] + mult]
        self.conv1 = cube(12, widths[0])
        self.downsamples = nn.ModuleList([DownStage(widths[i], widths[i + 1], s["num_res_blocks"], i < len(mult) - 1, 0 < i < len(mult) - 1) for i in range(len(mult))])
        self.middle = middle(widths[-1])
        self.head = nn.ModuleDict({"0": ChannelNorm(widths[-1]), "2": cube(widths[-1], 2 * s["z_dim"])})

    def order(self):
        return [*self.downsamples, *self.middle]


class Decoder(Coder):
    def __init__(self, s):
        super().__init__()
        mult = s["dim_mult"][::-1]
        widths = [f * s["vae_dec_dim"] for f in [mult[0]] + mult]
        self.conv1 = cube(s["z_dim"], widths[0])
        self.middle = middle(widths[0])
        self.upsamples = nn.ModuleList([UpStage(widths[i], widths[i + 1], s["num_res_blocks"] + 1, i < len(mult) - 1, i < len(mult) - 2) for i in range(len(mult))])
        self.head = nn.ModuleDict({"0": ChannelNorm(widths[-1]), "2": cube(widths[-1], 12)})

    def order(self):
        return [*self.middle, *self.upsamples]


def streamed(coder, pieces):
    cache, done = Cache(), []
    for piece in pieces:
        cache.next_piece()
        if piece.is_cuda:
            piece = piece.contiguous(memory_format=torch.channels_last_3d)
        done.append(coder.stream(piece, cache))
    return torch.cat(done, 2)


class WanVAE(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.s, self.encoder, self.decoder = s, Encoder(s), Decoder(s)
        self.conv1, self.conv2 = CausalConv3d(2 * s["z_dim"], 2 * s["z_dim"], 1), CausalConv3d(s["z_dim"], s["z_dim"], 1)

    def statistics(self, like):
        return [torch.tensor(self.s[k], device=like.device, dtype=like.dtype).view(1, -1, 1, 1, 1) for k in ("vae_mean", "vae_std")]

    def encode(self, x):
        b, c, t, h, w = x.shape
        x = x.view(b, c, t, h // 2, 2, w // 2, 2).permute(0, 1, 6, 4, 2, 3, 5).reshape(b, 4 * c, t, h // 2, w // 2)
        y = streamed(self.encoder, x.split([1] + [4] * ((t - 1) // 4), 2))
        mu = self.conv1(y)[:, : self.s["z_dim"]]
        mean, std = self.statistics(mu)
        return (mu - mean) / std

    def decode(self, z):
        mean, std = self.statistics(z)
        y = streamed(self.decoder, self.conv2(z * std + mean).split(1, 2))
        b, c, t, h, w = y.shape
        y = y.view(b, c // 4, 2, 2, t, h, w).permute(0, 1, 4, 5, 3, 6, 2).reshape(b, c // 4, t, 2 * h, 2 * w)
        return y.clamp(-1, 1)


class World(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.sizes, self.denoiser, self.vae = sizes, WanDiT(sizes), WanVAE(sizes)

    def compiled_parts(self):
        return [part for part in self.modules() if isinstance(part, Block)]

    def random_inputs(self, envs, device):
        s = self.sizes
        frames = torch.rand(envs, s["memory"], 3, s["image"], s["image"], device=device) * 2 - 1
        return {"frames": frames, "actions": torch.rand(envs, s["memory"] + s["chunk"], s["action_dim"], device=device)}

    def imagine(self, given, steps=None):
        s = self.sizes
        dtype = self.vae.conv1.weight.dtype
        seen = ((given["frames"] + 1) / 2 * 255).clamp(0, 255).to(torch.uint8).to(dtype) * (2 / 255) - 1
        condition = in_parts(self.vae.encode, seen.transpose(1, 2), s["vae_batch"])
        b, z, _, h, w = condition.shape
        frames = 1 + (s["memory"] + s["chunk"] - 1) // 4
        x = given.get("noise")
        x = torch.randn(b, z, frames, h, w, device=condition.device) if x is None else x
        x = x.to(dtype)
        x[:, :, :2] = condition
        levels = [1 - i / s["steps"] for i in range(s["steps"])]
        shift = s["sigma_shift"]
        levels = [shift * l / (1 + (shift - 1) * l) for l in levels] + [0]
        for now, after in list(zip(levels, levels[1:]))[:steps]:
            x = x + self.denoiser(x, 1000 * now, given["actions"]) * (after - now)
            x[:, :, :2] = condition
        video = in_parts(self.vae.decode, x, s["vae_batch"]).float()
        frames = ((video + 1) * 127.5).clamp(0, 255).to(torch.uint8).float() / 255 * 2 - 1
        return {"latents": x.float(), "frames": frames.transpose(1, 2)[:, s["memory"] :]}
