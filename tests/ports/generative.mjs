// Models that generate: diffusion, variational autoencoders, adversaries, codebooks; generative.py in JavaScript.
import * as torch from "../../dist/in-node/index.js";
import { filled, integers, numbers } from "./given.mjs";

const { nn, optim } = torch,
  F = nn.functional,
  { Independent, Normal, kl_divergence } = torch.distributions;

class ResBlock extends nn.Module {
  constructor(cIn, cOut, time) {
    super();
    this.norm1 = nn.GroupNorm(2, cIn);
    this.conv1 = nn.Conv2d(cIn, cOut, 3, { padding: 1 });
    this.time = nn.Linear(time, 2 * cOut);
    this.norm2 = nn.GroupNorm(2, cOut);
    this.conv2 = nn.Conv2d(cOut, cOut, 3, { padding: 1 });
    this.skip = cIn !== cOut ? nn.Conv2d(cIn, cOut, 1) : nn.Identity();
  }
  forward(x, t) {
    let h = this.conv1(F.silu(this.norm1(x)));
    const [scale, shift] = this.time(F.silu(t)).index(":", ":", null, null).chunk(2, { dim: 1 });
    h = this.conv2(F.silu(this.norm2(h).mul(scale.add(1)).add(shift)));
    return h.add(this.skip(x));
  }
}

class UNet extends nn.Module {
  constructor(width = 4, time = 8) {
    super();
    this.width = width;
    this.time_mlp = nn.Sequential(nn.Linear(width, time), nn.SiLU(), nn.Linear(time, time));
    this.inp = nn.Conv2d(1, width, 3, { padding: 1 });
    this.down = new ResBlock(width, width, time);
    this.pool = nn.Conv2d(width, 2 * width, 3, { stride: 2, padding: 1 });
    this.middle = new ResBlock(2 * width, 2 * width, time);
    this.up = nn.ConvTranspose2d(2 * width, width, 4, { stride: 2, padding: 1 });
    this.last = new ResBlock(2 * width, width, time);
    this.out = nn.Conv2d(width, 1, 1);
  }
  embedding(t) {
    const half = this.width / 2;
    const frequencies = torch.exp(torch.arange(half).mul(-Math.log(10000)).div(half));
    const angles = t.index(":", null).float().mul(frequencies.index(null));
    return torch.cat([torch.sin(angles), torch.cos(angles)], { dim: -1 });
  }
  forward(x, t) {
    t = this.time_mlp(this.embedding(t).to(x));
    const a = this.down(this.inp(x), t);
    const b = this.middle(this.pool(a), t);
    return this.out(this.last(torch.cat([this.up(b), a], { dim: 1 }), t));
  }
}

export function ddpm() {
  const model = filled(new UNet());
  const { AveragedModel, get_ema_multi_avg_fn } = torch.optim.swa_utils;
  const averaged = AveragedModel(model, { multi_avg_fn: get_ema_multi_avg_fn(0.9) });
  const betas = torch.linspace(1e-4, 0.02, 50);
  const alphas = betas.rsub(1.0);
  const alphasCumprod = torch.cumprod(alphas, { dim: 0 });
  const images = numbers([3, 1, 8, 8], 2);
  const optimizer = optim.AdamW(model.parameters(), { lr: 2e-3, eps: 1e-4 });

  const extract = (values, t, x) => values.gather(-1, t).reshape(t.shape[0], ...Array(x.dim() - 1).fill(1));
  const denoise = (x, t, noise) =>
    torch.no_grad(() => {
      const [a, b, c] = [extract(alphas, t, x), extract(betas, t, x), extract(alphasCumprod, t, x)];
      const predicted = b.div(torch.sqrt(c.rsub(1))).mul(averaged(x, t));
      const mean = x.sub(predicted).div(torch.sqrt(a));
      return mean.add(t.gt(0).to(x).view(-1, 1, 1, 1).mul(torch.sqrt(b)).mul(noise));
    });

  async function step(i) {
    const [t, noise] = [integers(50, [3], 10 * i), numbers([3, 1, 8, 8], 300 + i)];
    const c = extract(alphasCumprod, t, images);
    const noisy = torch
      .sqrt(c)
      .mul(images)
      .add(torch.sqrt(c.rsub(1.0)).mul(noise));
    const loss = F.mse_loss(model(noisy, t), noise);
    optimizer.zero_grad();
    loss.backward();
    await optimizer.step();
    averaged.update_parameters(model);
    return [loss, denoise(noisy, t, numbers([3, 1, 8, 8], 600))];
  }
  return [model, step];
}

class VAE extends nn.Module {
  constructor() {
    super();
    this.encoder = nn.Sequential(nn.Linear(16, 12), nn.ELU(), nn.Linear(12, 6));
    this.decoder = nn.Sequential(nn.Linear(3, 12), nn.ELU(), nn.Linear(12, 16));
  }
  forward(x, noise) {
    const [mu, raw] = this.encoder(x).chunk(2, { dim: -1 });
    const posterior = Independent(Normal(mu, F.softplus(raw).add(1e-3)), 1);
    const z = posterior.mean.add(posterior.stddev.mul(noise)); // rsample, whose noise is PyTorch's own
    return [this.decoder(z), posterior];
  }
}

export function vae() {
  const model = filled(new VAE());
  const [x, noise] = [numbers([5, 16], 4).gt(0).to(torch.get_default_dtype()), numbers([5, 3], 200)];
  const prior = Independent(Normal(torch.zeros(3), torch.ones(3)), 1);
  const optimizer = optim.NAdam(model.parameters(), { lr: 0.01, eps: 1e-4 });

  async function step(i) {
    optimizer.zero_grad();
    const [logits, posterior] = model(x, noise);
    const reconstruction = F.binary_cross_entropy_with_logits(logits, x, { reduction: "none" }).sum(-1);
    const loss = reconstruction.add(kl_divergence(posterior, prior).mul(Math.min(1.0, (i + 1) / 2))).mean();
    loss.backward();
    await optimizer.step();
    return [loss, torch.sigmoid(logits)];
  }
  return [model, step];
}

/** With a penalty for the critic's gradient, a derivative of second order. */
export function wgan() {
  const generator = nn.Sequential(nn.Linear(2, 8), nn.BatchNorm1d(8), nn.ReLU(true), nn.Linear(8, 4), nn.Tanh());
  const critic = nn.Sequential(nn.Linear(4, 8), nn.LeakyReLU(0.2, { inplace: true }), nn.Linear(8, 1));
  const model = filled(nn.ModuleDict({ generator, critic }));
  const optimizerG = optim.Adam(generator.parameters(), { lr: 1e-2, betas: [0.5, 0.9], eps: 1e-4 });
  const optimizerD = optim.Adam(critic.parameters(), { lr: 1e-2, betas: [0.5, 0.9], eps: 1e-4 });
  const real = numbers([6, 4], 50);

  async function step(i) {
    const noise = numbers([6, 2], 20 * i);
    const fake = generator(noise).detach();
    const share = numbers([6, 1], 80).div(2).add(0.5);
    const between = share.mul(real).add(share.rsub(1).mul(fake)).requires_grad_(true);
    const scores = critic(between);
    const [slope] = torch.autograd.grad(scores, between, {
      grad_outputs: torch.ones_like(scores),
      create_graph: true,
    });
    const penalty = slope.norm(2, { dim: 1 }).sub(1).pow(2).mean();
    const lossD = critic(fake).mean().sub(critic(real).mean()).add(penalty.mul(10));
    optimizerD.zero_grad();
    lossD.backward();
    await optimizerD.step();
    critic.requires_grad_(false);
    optimizerG.zero_grad();
    critic(generator(noise)).mean().neg().backward();
    await optimizerG.step();
    critic.requires_grad_(true);
    return [lossD, generator(noise)];
  }
  return [model, step];
}

/** VQ-VAE's codebook: straight through, and moved by averages. */
class VectorQuantizer extends nn.Module {
  constructor(codes = 7, dim = 4, decay = 0.8) {
    super();
    this.decay = decay;
    this.register_buffer("codebook", numbers([codes, dim], 77));
    this.register_buffer("cluster_size", torch.ones(codes));
    this.register_buffer("average", this.codebook.clone());
  }
  forward(z) {
    const flat = z.permute(0, 2, 3, 1).reshape(-1, z.size(1));
    const nearest = torch.cdist(flat, this.codebook).argmin({ dim: 1 });
    const codes = F.one_hot(nearest, this.codebook.size(0)).type(flat.dtype);
    const quantized = F.embedding(nearest, this.codebook).view(z.size(0), z.size(2), z.size(3), -1).permute(0, 3, 1, 2);
    if (this.training)
      torch.no_grad(() => {
        const alpha = 1 - this.decay;
        this.cluster_size.mul_(this.decay).add_(codes.sum(0), { alpha });
        this.average.mul_(this.decay).add_(codes.t().matmul(flat), { alpha });
        this.codebook.copy_(this.average.div(this.cluster_size.clamp({ min: 1e-5 }).unsqueeze(1)));
      });
    return [z.add(quantized.sub(z).detach()), F.mse_loss(z, quantized.detach()), nearest];
  }
}

export function vqvae() {
  const encoder = nn.Conv2d(1, 4, 2, 2);
  const decoder = nn.Sequential(nn.Conv2d(4, 4, 1), nn.PixelShuffle(2));
  const model = filled(nn.ModuleDict({ encoder, quantizer: new VectorQuantizer(), decoder }));
  const x = numbers([2, 1, 6, 6], 9);
  const optimizer = optim.Adamax(model.parameters(), { lr: 0.02, eps: 1e-4 });

  async function step() {
    optimizer.zero_grad();
    const [z, commitment, nearest] = model.quantizer(model.encoder(x));
    const out = model.decoder(z);
    const loss = F.l1_loss(out, x).add(commitment.mul(0.25));
    loss.backward();
    await optimizer.step();
    const used = (await torch.bincount(nearest, { minlength: 7 })).float().div(nearest.numel());
    const perplexity = torch.exp(torch.sum(used.mul(torch.log(used.add(1e-10)))).neg());
    return [loss.add(perplexity.detach()), out];
  }
  return [model, step];
}
