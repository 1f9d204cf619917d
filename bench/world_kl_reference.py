"""Stable Diffusion's image autoencoder in plain PyTorch, under the names of our weights, and bricks that several worlds use."""
import torch
import torch.nn.functional as F
from torch import nn


class Named(nn.Module):
    def __init__(self, **parts):
        super().__init__()
        for name, part in parts.items():
            setattr(self, name, part)


class RmsNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return F.rms_norm(x, self.weight.shape, self.weight, 1e-6)


class Resnet(nn.Module):
    def __init__(self, inputs, outputs, groups):
        super().__init__()
        self.norm1, self.conv1 = nn.GroupNorm(groups, inputs, 1e-6), nn.Conv2d(inputs, outputs, 3, padding=1)
        self.norm2, self.conv2 = nn.GroupNorm(groups, outputs, 1e-6), nn.Conv2d(outputs, outputs, 3, padding=1)
        if inputs != outputs:
            self.conv_shortcut = nn.Conv2d(inputs, outputs, 1)

    def forward(self, x):
        y = self.conv1(F.silu(self.norm1(x)))
        y = self.conv2(F.silu(self.norm2(y)))
        return (self.conv_shortcut(x) if hasattr(self, "conv_shortcut") else x) + y


class ImageAttention(nn.Module):
    def __init__(self, channels, groups):
        super().__init__()
        self.group_norm = nn.GroupNorm(groups, channels, 1e-6)
        self.to_q, self.to_k, self.to_v = [nn.Linear(channels, channels) for _ in range(3)]
        self.to_out = nn.ModuleList([nn.Linear(channels, channels)])

    def forward(self, x):
        n, c, h, w = x.shape
        y = self.group_norm(x).flatten(2).transpose(1, 2)
        q, k, v = [to(y)[:, None] for to in (self.to_q, self.to_k, self.to_v)]
        y = self.to_out[0](F.scaled_dot_product_attention(q, k, v)[:, 0])
        return x + y.transpose(1, 2).reshape(n, c, h, w)


class Mid(nn.Module):
    def __init__(self, channels, groups):
        super().__init__()
        self.attentions = nn.ModuleList([ImageAttention(channels, groups)])
        self.resnets = nn.ModuleList([Resnet(channels, channels, groups) for _ in range(2)])

    def forward(self, x):
        return self.resnets[1](self.attentions[0](self.resnets[0](x)))


class Resampled(nn.Module):
    def __init__(self, channels, stride, padding):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, stride, padding)


class Down(nn.Module):
    def __init__(self, inputs, outputs, layers, groups, resample):
        super().__init__()
        self.resnets = nn.ModuleList([Resnet(inputs if i == 0 else outputs, outputs, groups) for i in range(layers)])
        if resample:
            self.downsamplers = nn.ModuleList([Resampled(outputs, 2, 0)])

    def forward(self, x):
        for block in self.resnets:
            x = block(x)
        return self.downsamplers[0].conv(F.pad(x, (0, 1, 0, 1))) if hasattr(self, "downsamplers") else x


class Up(nn.Module):
    def __init__(self, inputs, outputs, layers, groups, resample):
        super().__init__()
        self.resnets = nn.ModuleList([Resnet(inputs if i == 0 else outputs, outputs, groups) for i in range(layers)])
        if resample:
            self.upsamplers = nn.ModuleList([Resampled(outputs, 1, 1)])

    def forward(self, x):
        for block in self.resnets:
            x = block(x)
        return self.upsamplers[0].conv(F.interpolate(x, scale_factor=2.0)) if hasattr(self, "upsamplers") else x


class Coder(nn.Module):
    def __init__(self, inputs, outputs, widths, layers, groups, block, mid_first, name):
        super().__init__()
        self.conv_in, self.name, self.mid_first = nn.Conv2d(inputs, widths[0], 3, padding=1), name, mid_first
        blocks = [block(widths[max(i - 1, 0)], w, layers, groups, i < len(widths) - 1) for i, w in enumerate(widths)]
        setattr(self, name, nn.ModuleList(blocks))
        self.mid_block = Mid(widths[0] if mid_first else widths[-1], groups)
        self.conv_norm_out = nn.GroupNorm(groups, widths[-1], 1e-6)
        self.conv_out = nn.Conv2d(widths[-1], outputs, 3, padding=1)

    def forward(self, x):
        x = self.conv_in(x)
        if self.mid_first:
            x = self.mid_block(x)
        for block in getattr(self, self.name):
            x = block(x)
        if not self.mid_first:
            x = self.mid_block(x)
        return self.conv_out(F.silu(self.conv_norm_out(x)))


class AutoencoderKL(nn.Module):
    def __init__(self, s):
        super().__init__()
        widths, layers, groups, z = s["block_out_channels"], s["layers_per_block"], s["norm_num_groups"], s["latent_channels"]
        self.encoder = Coder(s["in_channels"], 2 * z, widths, layers, groups, Down, False, "down_blocks")
        self.decoder = Coder(z, s["out_channels"], widths[::-1], layers + 1, groups, Up, True, "up_blocks")
        self.quant_conv, self.post_quant_conv, self.scale = nn.Conv2d(2 * z, 2 * z, 1), nn.Conv2d(z, z, 1), s["scaling_factor"]

    def encode(self, images, noise):
        mean, logvar = self.quant_conv(self.encoder(self.laid_out(images))).chunk(2, 1)
        return (mean + (0.5 * logvar.clamp(-30, 20)).exp() * noise.to(mean.dtype)) * self.scale

    def decode(self, latents):
        return self.decoder(self.post_quant_conv(self.laid_out(latents / self.scale)))

    def laid_out(self, x):
        x = x.to(self.quant_conv.weight.dtype)
        return x.contiguous(memory_format=torch.channels_last) if x.is_cuda else x


def in_parts(f, rows, limit, *others):
    return torch.cat([f(*[x[i : i + limit] for x in (rows, *others)]) for i in range(0, rows.shape[0], limit)])
