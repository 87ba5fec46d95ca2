"""StyleGAN2: weights modulated per image in grouped convolutions, rates of learning that are equal, R1 and path penalties."""

import math

import torch
import torch.nn.functional as F
from given import filled, numbers
from torch import autograd, nn, optim
from torch.nn.utils import spectral_norm


def blur(x, kernel):
    b, c, h, w = x.shape
    x = F.pad(x.reshape(b * c, 1, h, w), [1, 1, 1, 1])
    return F.conv2d(x, torch.flip(kernel, [0, 1])[None, None]).view(b, c, h - 1, w - 1)


class PixelNorm(nn.Module):
    def forward(self, x):
        return x * torch.rsqrt(torch.mean(x**2, dim=1, keepdim=True) + 1e-8)


class EqualLinear(nn.Module):
    def __init__(self, inputs, outputs, lr_mul=1.0, activation=False):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(outputs, inputs).div_(lr_mul))
        self.bias = nn.Parameter(torch.zeros(outputs).fill_(1))
        self.activation, self.scale, self.lr_mul = activation, lr_mul / math.sqrt(inputs), lr_mul

    def forward(self, x):
        out = F.linear(x, self.weight * self.scale, bias=self.bias * self.lr_mul)
        return F.leaky_relu(out, negative_slope=0.2) * 2**0.5 if self.activation else out


class ModulatedConv(nn.Module):
    def __init__(self, inputs, outputs, k, style, demodulate=True, up=False):
        super().__init__()
        self.outputs, self.k, self.demodulate, self.up = outputs, k, demodulate, up
        ramp = torch.tensor([1.0, 3.0, 3.0, 1.0])
        self.register_buffer("kernel", ramp.outer(ramp) / 16)
        self.weight = nn.Parameter(torch.zeros(1, outputs, inputs, k, k))
        self.modulation = EqualLinear(style, inputs)

    def forward(self, x, style):
        b, c, h, w = x.shape
        weight = self.weight / math.sqrt(c * self.k**2) * self.modulation(style).view(b, 1, c, 1, 1)
        if self.demodulate:
            weight = weight * torch.rsqrt(weight.pow(2).sum([2, 3, 4]) + 1e-8).view(b, self.outputs, 1, 1, 1)
        x = x.view(1, b * c, h, w)
        if self.up:
            weight = weight.transpose(1, 2).reshape(b * c, self.outputs, self.k, self.k)
            out = F.conv_transpose2d(x, weight, padding=0, stride=2, groups=b)
            return blur(out.view(b, self.outputs, *out.shape[2:]), self.kernel)
        out = F.conv2d(x, weight.view(b * self.outputs, c, self.k, self.k), padding=self.k // 2, groups=b)
        return out.view(b, self.outputs, *out.shape[-2:])


class Generator(nn.Module):
    def __init__(self, z=6):
        super().__init__()
        layers = [EqualLinear(z, z, lr_mul=0.5, activation=True) for _ in range(2)]
        self.style = nn.Sequential(PixelNorm(), *layers)
        self.const = nn.Parameter(torch.zeros(1, 4, 4, 4))
        self.first = ModulatedConv(4, 4, 3, z)
        self.second = ModulatedConv(4, 4, 3, z, up=True)
        self.rgb = ModulatedConv(4, 3, 1, z, demodulate=False)
        self.strength = nn.Parameter(torch.zeros(1))
        for n in range(2):
            self.register_buffer(f"noise_{n}", numbers([1, 1, 4 * 2**n, 4 * 2**n], n), persistent=False)

    def forward(self, styles, inject=1):
        w = [self.style(z).unsqueeze(1) for z in styles]
        latent = torch.cat([w[0].repeat(1, inject, 1), w[-1].repeat(1, 3 - inject, 1)], 1)
        x = self.const.repeat(latent.shape[0], 1, 1, 1)
        x = F.leaky_relu(self.first(x, latent[:, 0]) + self.strength * self.noise_0, 0.2)
        x = F.leaky_relu(self.second(x, latent[:, 1]) + self.strength * self.noise_1, 0.2)
        return self.rgb(x, latent[:, 2]), latent


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 4, 3, 2, 1)
        self.second = spectral_norm(nn.Conv2d(5, 4, 3, 1, 1), n_power_iterations=2)
        self.last = nn.utils.parametrizations.spectral_norm(nn.Linear(64, 1))

    def forward(self, x):
        x = F.softplus(self.first(x))
        b, c, h, w = x.shape
        s = torch.sqrt(x.view(2, -1, 1, c, h, w).var(0, unbiased=False) + 1e-2)
        s = s.mean([2, 3, 4], keepdims=True).squeeze(2).repeat(2, 1, h, w)
        return self.last(F.softplus(self.second(torch.cat([x, s], 1))).flatten(1))


def stylegan():
    """Both networks, penalties that are differentiated twice, and a generator that follows the other's average."""
    nets = filled(nn.ModuleDict({"g": Generator(), "d": Discriminator()}))
    with torch.no_grad():
        for name, x in nets.named_buffers():
            if name.endswith(("_u", "_v")):
                x.copy_(F.normalize(numbers(list(x.shape), x.numel()), dim=0))
    g, d = nets["g"], nets["d"]
    average = filled(Generator()).requires_grad_(False).eval()
    g_opt = optim.Adam(g.parameters(), lr=0.002, betas=(0.0, 0.99), eps=1e-4)
    d_opt = optim.Adam(d.parameters(), lr=0.002, betas=(0.0, 0.99), eps=1e-4)
    real, mean_path = numbers([4, 3, 8, 8], 9), torch.zeros(())

    def step(i):
        nonlocal mean_path
        z = [numbers([4, 6], 100 * i), numbers([4, 6], 100 * i + 50)]
        g.requires_grad_(False)
        images = real.clone().requires_grad_(True)
        scores = d(images)
        (slope,) = autograd.grad(outputs=scores.sum(), inputs=images, create_graph=True)
        d_loss = F.softplus(-scores).mean() + F.softplus(d(g(z)[0])).mean()
        d_loss = d_loss + 5 * slope.pow(2).reshape(slope.shape[0], -1).sum(1).mean()
        d_opt.zero_grad()
        d_loss.backward()
        d_opt.step()
        g.requires_grad_(True)
        fake, latent = g(z[:1])
        noise = numbers(list(fake.shape), 7 * i) / math.sqrt(fake.shape[2] * fake.shape[3])
        (slope,) = autograd.grad(outputs=(fake * noise).sum(), inputs=latent, create_graph=True)
        lengths = torch.sqrt(slope.pow(2).sum(2).mean(1))
        mean = mean_path + 0.1 * (lengths.mean() - mean_path)
        mean_path = mean.detach()
        loss = F.softplus(-d.eval()(fake)).mean() + 2 * (lengths - mean).pow(2).mean()
        d.train()
        g_opt.zero_grad()
        loss.backward(inputs=list(g.parameters()))
        g_opt.step()
        with torch.no_grad():
            for p, q in zip(average.parameters(), g.parameters()):
                p.lerp_(q, 0.5)
            image, _ = average(z)
        return loss + d_loss, image

    return nets, step


PROGRAMS = [stylegan]
