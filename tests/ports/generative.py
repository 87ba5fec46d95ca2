"""Models that generate: diffusion, variational autoencoders, adversaries, codebooks."""

import math

import torch
import torch.nn.functional as F
from given import filled, integers, numbers
from torch import nn, optim
from torch.distributions import Independent, Normal, kl_divergence


class ResBlock(nn.Module):
    def __init__(self, c_in, c_out, time):
        super().__init__()
        self.norm1, self.conv1 = nn.GroupNorm(2, c_in), nn.Conv2d(c_in, c_out, 3, padding=1)
        self.time = nn.Linear(time, 2 * c_out)
        self.norm2, self.conv2 = nn.GroupNorm(2, c_out), nn.Conv2d(c_out, c_out, 3, padding=1)
        self.skip = nn.Conv2d(c_in, c_out, 1) if c_in != c_out else nn.Identity()

    def forward(self, x, t):
        h = self.conv1(F.silu(self.norm1(x)))
        scale, shift = self.time(F.silu(t))[:, :, None, None].chunk(2, dim=1)
        h = self.conv2(F.silu(self.norm2(h) * (1 + scale) + shift))
        return h + self.skip(x)


class UNet(nn.Module):
    def __init__(self, width=4, time=8):
        super().__init__()
        self.width = width
        self.time_mlp = nn.Sequential(nn.Linear(width, time), nn.SiLU(), nn.Linear(time, time))
        self.inp = nn.Conv2d(1, width, 3, padding=1)
        self.down = ResBlock(width, width, time)
        self.pool = nn.Conv2d(width, 2 * width, 3, stride=2, padding=1)
        self.middle = ResBlock(2 * width, 2 * width, time)
        self.up = nn.ConvTranspose2d(2 * width, width, 4, stride=2, padding=1)
        self.last = ResBlock(2 * width, width, time)
        self.out = nn.Conv2d(width, 1, 1)

    def embedding(self, t):
        half = self.width // 2
        frequencies = torch.exp(-math.log(10000) * torch.arange(half) / half)
        angles = t[:, None].float() * frequencies[None]
        return torch.cat([torch.sin(angles), torch.cos(angles)], dim=-1)

    def forward(self, x, t):
        t = self.time_mlp(self.embedding(t).to(x))
        a = self.down(self.inp(x), t)
        b = self.middle(self.pool(a), t)
        return self.out(self.last(torch.cat([self.up(b), a], dim=1), t))


def ddpm():
    model = filled(UNet())
    averaged = torch.optim.swa_utils.AveragedModel(model, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.9))
    betas = torch.linspace(1e-4, 0.02, 50)
    alphas = 1.0 - betas
    alphas_cumprod = torch.cumprod(alphas, dim=0)
    images, optimizer = numbers([3, 1, 8, 8], 2), optim.AdamW(model.parameters(), lr=2e-3, eps=1e-4)

    def extract(values, t, x):
        return values.gather(-1, t).reshape(t.shape[0], *((1,) * (x.dim() - 1)))

    @torch.no_grad()
    def denoise(x, t, noise):
        a, b, c = extract(alphas, t, x), extract(betas, t, x), extract(alphas_cumprod, t, x)
        mean = (x - b / torch.sqrt(1 - c) * averaged(x, t)) / torch.sqrt(a)
        return mean + (t > 0).to(x).view(-1, 1, 1, 1) * torch.sqrt(b) * noise

    def step(i):
        t, noise = integers(50, [3], 10 * i), numbers([3, 1, 8, 8], 300 + i)
        c = extract(alphas_cumprod, t, images)
        noisy = torch.sqrt(c) * images + torch.sqrt(1.0 - c) * noise
        loss = F.mse_loss(model(noisy, t), noise)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        averaged.update_parameters(model)
        return loss, denoise(noisy, t, numbers([3, 1, 8, 8], 600))

    return model, step


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(16, 12), nn.ELU(), nn.Linear(12, 6))
        self.decoder = nn.Sequential(nn.Linear(3, 12), nn.ELU(), nn.Linear(12, 16))

    def forward(self, x, noise):
        mu, raw = self.encoder(x).chunk(2, dim=-1)
        posterior = Independent(Normal(mu, F.softplus(raw) + 1e-3), 1)
        z = posterior.mean + posterior.stddev * noise  # rsample, whose noise is PyTorch's own
        return self.decoder(z), posterior


def vae():
    model = filled(VAE())
    x, noise = (numbers([5, 16], 4) > 0).to(torch.get_default_dtype()), numbers([5, 3], 200)
    prior = Independent(Normal(torch.zeros(3), torch.ones(3)), 1)
    optimizer = optim.NAdam(model.parameters(), lr=0.01, eps=1e-4)

    def step(i):
        optimizer.zero_grad()
        logits, posterior = model(x, noise)
        reconstruction = F.binary_cross_entropy_with_logits(logits, x, reduction="none").sum(-1)
        loss = (reconstruction + min(1.0, (i + 1) / 2) * kl_divergence(posterior, prior)).mean()
        loss.backward()
        optimizer.step()
        return loss, torch.sigmoid(logits)

    return model, step


def wgan():
    """With a penalty for the critic's gradient, a derivative of second order."""
    generator = nn.Sequential(nn.Linear(2, 8), nn.BatchNorm1d(8), nn.ReLU(True), nn.Linear(8, 4), nn.Tanh())
    critic = nn.Sequential(nn.Linear(4, 8), nn.LeakyReLU(0.2, inplace=True), nn.Linear(8, 1))
    model = filled(nn.ModuleDict({"generator": generator, "critic": critic}))
    optimizer_g = optim.Adam(generator.parameters(), lr=1e-2, betas=(0.5, 0.9), eps=1e-4)
    optimizer_d = optim.Adam(critic.parameters(), lr=1e-2, betas=(0.5, 0.9), eps=1e-4)
    real = numbers([6, 4], 50)

    def step(i):
        noise = numbers([6, 2], 20 * i)
        fake = generator(noise).detach()
        share = numbers([6, 1], 80) / 2 + 0.5
        between = (share * real + (1 - share) * fake).requires_grad_(True)
        scores = critic(between)
        (slope,) = torch.autograd.grad(scores, between, grad_outputs=torch.ones_like(scores), create_graph=True)
        penalty = ((slope.norm(2, dim=1) - 1) ** 2).mean()
        loss_d = critic(fake).mean() - critic(real).mean() + 10 * penalty
        optimizer_d.zero_grad()
        loss_d.backward()
        optimizer_d.step()
        critic.requires_grad_(False)
        optimizer_g.zero_grad()
        (-critic(generator(noise)).mean()).backward()
        optimizer_g.step()
        critic.requires_grad_(True)
        return loss_d, generator(noise)

    return model, step


class VectorQuantizer(nn.Module):
    """VQ-VAE's codebook: straight through, and moved by averages."""

    def __init__(self, codes=7, dim=4, decay=0.8):
        super().__init__()
        self.decay = decay
        self.register_buffer("codebook", numbers([codes, dim], 77))
        self.register_buffer("cluster_size", torch.ones(codes))
        self.register_buffer("average", self.codebook.clone())

    def forward(self, z):
        flat = z.permute(0, 2, 3, 1).reshape(-1, z.size(1))
        nearest = torch.cdist(flat, self.codebook).argmin(dim=1)
        codes = F.one_hot(nearest, self.codebook.size(0)).type(flat.dtype)
        quantized = F.embedding(nearest, self.codebook).view(z.size(0), z.size(2), z.size(3), -1).permute(0, 3, 1, 2)
        if self.training:
            with torch.no_grad():
                self.cluster_size.mul_(self.decay).add_(codes.sum(0), alpha=1 - self.decay)
                self.average.mul_(self.decay).add_(codes.t() @ flat, alpha=1 - self.decay)
                self.codebook.copy_(self.average / self.cluster_size.clamp(min=1e-5).unsqueeze(1))
        return z + (quantized - z).detach(), F.mse_loss(z, quantized.detach()), nearest


def vqvae():
    encoder, decoder = nn.Conv2d(1, 4, 2, 2), nn.Sequential(nn.Conv2d(4, 4, 1), nn.PixelShuffle(2))
    model = filled(nn.ModuleDict({"encoder": encoder, "quantizer": VectorQuantizer(), "decoder": decoder}))
    x = numbers([2, 1, 6, 6], 9)
    optimizer = optim.Adamax(model.parameters(), lr=0.02, eps=1e-4)

    def step(i):
        optimizer.zero_grad()
        z, commitment, nearest = model["quantizer"](model["encoder"](x))
        out = model["decoder"](z)
        loss = F.l1_loss(out, x) + 0.25 * commitment
        loss.backward()
        optimizer.step()
        used = torch.bincount(nearest, minlength=7).float() / nearest.numel()
        perplexity = torch.exp(-torch.sum(used * torch.log(used + 1e-10)))
        return loss + perplexity.detach(), out

    return model, step


PROGRAMS = [ddpm, vae, wgan, vqvae]
