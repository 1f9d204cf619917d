"""EVAC's video UNet, its DDIM sampler, autoencoder, CLIP and resamplers, in plain PyTorch.

Runs in bfloat16 like ours (the original runs in float32). Drawn poses are given: drawing them is not part of its time.
Shapes: B videos, T frames, N = B·T, C channels, H W positions, L = H·W.
"""
import math
import torch
import torch.nn.functional as F
from torch import nn
from world_evac_context_reference import ClipVisual, Resampler, clip_picture
from world_kl_reference import AutoencoderKL, Named, in_parts


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.to_q, self.to_k, self.to_v = [nn.Linear(width, width, bias=False) for _ in range(3)]
        self.to_out = nn.ModuleList([nn.Linear(width, width)])

    def mix(self, q, k, v):
        q, k, v = [x.unflatten(2, (self.heads, -1)).transpose(1, 2) for x in (q, k, v)]
        return self.to_out[0](F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))

    def forward(self, x, conditions=None):
        return self.mix(self.to_q(x), self.to_k(x), self.to_v(x))


class ConditionAttention(Attention):
    """To the actions in even layers, to the first picture in odd ones; all frames of a video share them."""

    def __init__(self, width, context, heads, index):
        super().__init__(width, heads)
        del self.to_k, self.to_v
        self.kind = "tp" if index % 2 == 0 else "ip"
        for name in ("to_k_", "to_v_"):
            setattr(self, name + self.kind, nn.Linear(context, width, bias=False))

    def forward(self, x, conditions):
        memory = conditions[0 if self.kind == "tp" else 1]
        q = self.to_q(x).reshape(memory.shape[0], -1, x.shape[2])
        k, v = getattr(self, "to_k_" + self.kind)(memory), getattr(self, "to_v_" + self.kind)(memory)
        return self.mix(q, k, v).view(x.shape)


class GateProjection(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, 8 * width)

    def forward(self, x):
        value, gate = self.proj(x).chunk(2, -1)
        return value * F.gelu(gate)


class FeedForward(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.net = nn.ModuleDict({"0": GateProjection(width), "2": nn.Linear(4 * width, width)})

    def forward(self, x):
        return self.net["2"](self.net["0"](x))


class Layer(nn.Module):
    def __init__(self, width, heads, context=None, index=None):
        super().__init__()
        self.attn1, self.ff = Attention(width, heads), FeedForward(width)
        self.attn2 = Attention(width, heads) if context is None else ConditionAttention(width, context, heads, index)
        self.norm1, self.norm2, self.norm3 = [nn.LayerNorm(width) for _ in range(3)]

    def forward(self, x, conditions=None):
        x = x + self.attn1(self.norm1(x))
        x = x + self.attn2(self.norm2(x), conditions)
        return x + self.ff(self.norm3(x))


class FrameTransformer(nn.Module):
    def __init__(self, channels, head, context, index):
        super().__init__()
        self.norm = nn.GroupNorm(32, channels, 1e-6)
        self.proj_in, self.proj_out = nn.Linear(channels, channels), nn.Linear(channels, channels)
        self.transformer_blocks = nn.ModuleList([Layer(channels, channels // head, context, index)])

    def forward(self, x, emb, conditions, frames):
        y = self.proj_in(self.norm(x).flatten(2).transpose(1, 2))
        y = self.proj_out(self.transformer_blocks[0](y, conditions))
        return x + y.transpose(1, 2).unflatten(2, x.shape[2:])


class TimeTransformer(nn.Module):
    def __init__(self, channels, head, heads, convolve=False):
        super().__init__()
        width = head * heads
        self.norm = nn.GroupNorm(32, channels, 1e-6)
        make = (lambda i, o: nn.Conv1d(i, o, 1)) if convolve else nn.Linear
        self.proj_in, self.proj_out = make(channels, width), make(width, channels)
        self.transformer_blocks = nn.ModuleList([Layer(width, heads)])

    def forward(self, x, emb, conditions, frames):
        n, c, h, w = x.shape
        y = self.norm(x.unflatten(0, (-1, frames)).transpose(1, 2)).permute(0, 3, 4, 2, 1).reshape(-1, frames, c)
        y = F.linear(y, self.proj_in.weight.flatten(1), self.proj_in.bias)
        y = self.transformer_blocks[0](y)
        y = F.linear(y, self.proj_out.weight.flatten(1), self.proj_out.bias)
        return x + y.view(n // frames, h, w, frames, c).permute(0, 3, 4, 1, 2).flatten(0, 1)


class TimeConvolution(nn.Module):
    def __init__(self, channels, index):
        super().__init__()
        self.index = index
        self.add_module("0", nn.GroupNorm(32, channels))
        self.add_module(index, nn.Conv3d(channels, channels, (3, 1, 1)))

    def forward(self, x):
        x = F.silu(getattr(self, "0")(x))
        return getattr(self, self.index)(torch.cat((x[:, :, :1], x[:, :, :1], x), 2))


class TimeConvolutions(nn.Module):
    def __init__(self, channels):
        super().__init__()
        for i in range(4):
            setattr(self, f"conv{i + 1}", TimeConvolution(channels, "2" if i == 0 else "3"))

    def forward(self, x):
        return x + self.conv4(self.conv3(self.conv2(self.conv1(x))))


class ResidualBlock(nn.Module):
    def __init__(self, inputs, outputs, embedding):
        super().__init__()
        self.in_layers = nn.ModuleDict({"0": nn.GroupNorm(32, inputs), "2": nn.Conv2d(inputs, outputs, 3, padding=1)})
        self.emb_layers = nn.ModuleDict({"1": nn.Linear(embedding, outputs)})
        self.out_layers = nn.ModuleDict({"0": nn.GroupNorm(32, outputs), "3": nn.Conv2d(outputs, outputs, 3, padding=1)})
        if inputs != outputs:
            self.skip_connection = nn.Conv2d(inputs, outputs, 1)
        self.temopral_conv = TimeConvolutions(outputs)

    def forward(self, x, emb, conditions, frames):
        y = self.in_layers["2"](F.silu(self.in_layers["0"](x)))
        y = y + self.emb_layers["1"](F.silu(emb))[:, :, None, None]
        y = self.out_layers["3"](F.silu(self.out_layers["0"](y)))
        y = (self.skip_connection(x) if hasattr(self, "skip_connection") else x) + y
        return self.temopral_conv(y.unflatten(0, (-1, frames)).transpose(1, 2)).transpose(1, 2).flatten(0, 1)


class Downsample(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.op = nn.Conv2d(channels, channels, 3, 2, 1)

    def forward(self, x, *_):
        return self.op(x)


class Upsample(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, x, *_):
        return self.conv(F.interpolate(x, scale_factor=2.0))


class Plain(nn.Conv2d):
    def forward(self, x, *_):
        return super().forward(x)


def waves(t, size):
    angles = t.float()[:, None] * torch.exp(-math.log(10000) * torch.arange(size // 2, device=t.device) / (size // 2))
    return torch.cat((angles.cos(), angles.sin()), 1)


def mlp(inputs, width):
    return nn.Sequential(nn.Linear(inputs, width), nn.SiLU(), nn.Linear(width, width))


class UNet(nn.Module):
    def __init__(self, s):
        super().__init__()
        base, mult, head, context = s["model_channels"], s["channel_mult"], s["num_head_channels"], s["context_dim"]
        emb = 4 * base
        self.s, index, skips, channels = s, 0, [base], base
        self.domain_embedding = nn.Embedding(30, emb)
        self.time_embed, self.fps_embedding = mlp(base, emb), mlp(base, emb)

        def attention(level):
            nonlocal index
            if level is not None and 2**level not in s["attention_resolutions"]:
                return []
            index += 1
            return [FrameTransformer(channels, head, context, index - 1), TimeTransformer(channels, head, channels // head)]

        blocks = [nn.ModuleList([Plain(s["in_channels"], base, 3, padding=1)])]
        for level, factor in enumerate(mult):
            for _ in range(s["num_res_blocks"]):
                block = [ResidualBlock(channels, base * factor, emb)]
                channels = base * factor
                blocks.append(nn.ModuleList(block + attention(level)))
                skips.append(channels)
            if level < len(mult) - 1:
                blocks.append(nn.ModuleList([Downsample(channels)]))
                skips.append(channels)
        self.input_blocks = nn.ModuleList(blocks)
        self.init_attn = nn.ModuleList([TimeTransformer(base, head, 8, True)])
        middle = [ResidualBlock(channels, channels, emb)] + attention(None)
        self.middle_block = nn.ModuleList(middle + [ResidualBlock(channels, channels, emb)])
        blocks = []
        for level, factor in reversed(list(enumerate(mult))):
            for i in range(s["num_res_blocks"] + 1):
                block = [ResidualBlock(channels + skips.pop(), base * factor, emb)]
                channels = base * factor
                block += attention(level)
                blocks.append(nn.ModuleList(block + ([Upsample(channels)] if level and i == s["num_res_blocks"] else [])))
        self.output_blocks = nn.ModuleList(blocks)
        self.out = nn.ModuleDict({"0": nn.GroupNorm(32, base), "2": nn.Conv2d(base, s["out_channels"], 3, padding=1)})

    def forward(self, x, t, fps, domain, conditions, memory):
        b, _, frames = x.shape[:3]
        dtype, base = x.dtype, self.s["model_channels"]
        video = self.fps_embedding(waves(fps, base).to(dtype)) + self.domain_embedding(domain)
        still, moving = [self.time_embed(waves(v, base).to(dtype)) + video for v in (torch.zeros_like(t), t)]
        emb = torch.stack([still] * memory + [moving] * (frames - memory), 1).flatten(0, 1)
        x = x.transpose(1, 2).flatten(0, 1)
        if x.is_cuda:
            x = x.contiguous(memory_format=torch.channels_last)
        skips = []
        for i, block in enumerate(self.input_blocks):
            for layer in [*block, *(self.init_attn if i == 0 else [])]:
                x = layer(x, emb, conditions, frames)
            skips.append(x)
        for layer in self.middle_block:
            x = layer(x, emb, conditions, frames)
        for block in self.output_blocks:
            x = torch.cat((x, skips.pop()), 1)
            for layer in block:
                x = layer(x, emb, conditions, frames)
        x = self.out["2"](F.silu(self.out["0"](x)))
        return x.unflatten(0, (b, frames)).transpose(1, 2)


class World(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        params = lambda name: sizes[name]["params"]
        self.sizes = sizes
        self.model = Named(diffusion_model=UNet(params("unet_config")))
        self.first_stage_model = AutoencoderKL(sizes["vae"])
        self.cond_stage_model = Resampler(params("cond_stage_config"))
        self.image_proj_model = Resampler(params("image_proj_stage_config"))
        self.embedder = Named(model=Named(visual=ClipVisual(params("img_cond_stage_config"))))

    def compiled_parts(self):
        return [part for part in self.modules() if isinstance(part, (FrameTransformer, TimeTransformer, ResidualBlock))]

    def random_inputs(self, envs, device):
        s, random = self.sizes, lambda *shape: torch.randn(*shape, device=device)
        side = s["image"] // 8
        return {
            "memory": random(envs, 4, s["memory"], side, side),
            "first": random(envs, 3, s["image"], s["image"]).clamp(-1, 1),
            "maps": random(envs * s["chunk"], 3, s["image"], s["image"]).clamp(-1, 1),
            "actions": random(envs, s["chunk"], 14),
        }

    def steps(self, count):
        """Factors of each step, noisiest first."""
        s = self.sizes
        betas = torch.linspace(s["linear_start"] ** 0.5, s["linear_end"] ** 0.5, 1000, dtype=torch.float64) ** 2
        signal = (1 - betas).cumprod(0).sqrt()
        alphas = ((signal - signal[-1]) * signal[0] / (signal[0] - signal[-1])) ** 2
        scales = torch.cat((torch.linspace(1, s["base_scale"], 400, dtype=torch.float64), torch.full((1000,), s["base_scale"], dtype=torch.float64)))
        times = [round(1000 - i * 1000 / count) - 1 for i in range(count)][::-1]
        for i, t in reversed(list(enumerate(times))):
            a, before = alphas[t].item(), alphas[times[i - 1] if i else 0].item()
            sigma = math.sqrt((1 - before) / (1 - a) * (1 - a / before))
            yield t, a**0.5, (1 - a) ** 0.5, before**0.5, max(0, 1 - before - sigma**2) ** 0.5, sigma, (scales[times[max(i - 1, 0)]] / scales[t]).item()

    def imagine(self, given, steps=None):
        s, memory = self.sizes, given["memory"]
        dtype, device = self.cond_stage_model.latents.dtype, memory.device
        b, z, m, h, w = memory.shape
        shape = (b, z, s["chunk"], h, w)
        draw = lambda *size: torch.randn(*size, device=device)
        tokens = given.get("tokens")
        if tokens is None:
            tokens = self.image_proj_model(self.embedder.model.visual(clip_picture(given["first"]).to(dtype)))
        actions = self.cond_stage_model(given["actions"])
        noise = given["map_noise"] if "map_noise" in given else draw(b * s["chunk"], z, h, w)
        maps = in_parts(self.first_stage_model.encode, given["maps"], s["vae_batch"], noise).float()
        maps = maps.unflatten(0, (b, -1)).transpose(1, 2)
        held = torch.cat((memory, memory[:, :, -1:].expand(-1, -1, s["chunk"], -1, -1)), 2)
        drawn = torch.cat((torch.zeros_like(memory), maps), 2)
        rays = self.rays(h, device).view(1, 6, 1, h, w).expand(b, -1, m + s["chunk"], -1, -1)
        pictures = torch.cat((held, torch.ones_like(held[:, :1]), drawn, rays), 1).to(dtype)
        x = given["noise"] if "noise" in given else draw(*shape)
        fps, domain = torch.full((b,), float(s["fps"]), device=device), torch.full((b,), s["domain"], device=device)
        for i, (t, signal, noise, previous, direction, sigma, rescale) in enumerate(list(self.steps(s["steps"]))[:steps]):
            window = torch.cat((torch.cat((memory, x), 2).to(dtype), pictures), 1)
            told = torch.full((b,), float(t), device=device)
            v = self.model.diffusion_model(window, told, fps, domain, (actions, tokens.to(dtype)), m)[:, :, m:].float()
            clean = (x * signal - v * noise) * rescale
            fresh = given["step_noise"][i] if "step_noise" in given else draw(*shape)
            x = clean * previous + (v * signal + x * noise) * direction + fresh * sigma
        frames = in_parts(self.first_stage_model.decode, x.transpose(1, 2).flatten(0, 1), s["vae_batch"])
        return {"latents": torch.cat((memory, x), 2), "frames": frames.float().unflatten(0, (b, -1))}

    def rays(self, side, device):
        """Directions and origins of the camera's rays through the latent pixels."""
        q = [-0.43318870663642883, 0.0, 0.901303231716156, 0.0]
        x, y, z, w = q
        k = 2 / sum(v * v for v in q)
        rotation = torch.tensor([[1 - k * (y * y + z * z), k * (x * y - z * w), k * (x * z + y * w)], [k * (x * y + z * w), 1 - k * (x * x + z * z), k * (y * z - x * w)], [k * (x * z - y * w), k * (y * z + x * w), 1 - k * (x * x + y * y)]], device=device)
        at = (torch.arange(side, device=device) + 0.5 - 8) / 8  # focal length 64 and center 64, eight pixels a latent one
        local = torch.stack((at[None].expand(side, -1), at[:, None].expand(-1, side), torch.ones(side, side, device=device)))
        directions = F.normalize(torch.einsum("ij,jhw->ihw", rotation, local), dim=0)
        origins = torch.tensor([0.3, 0.0, 0.6], device=device).view(3, 1, 1).expand(-1, side, side)
        return torch.cat((directions, origins))
