// StyleGAN2: adversaries.py, which is PyTorch's, in JavaScript.
import * as torch from "../../dist/in-node/index.js";
import { filled, numbers } from "./given.mjs";

const { autograd, nn, optim } = torch,
  F = nn.functional,
  { spectral_norm } = nn.utils;

function blur(x, kernel) {
  const [b, c, h, w] = x.shape;
  x = F.pad(x.reshape(b * c, 1, h, w), [1, 1, 1, 1]);
  return F.conv2d(x, torch.flip(kernel, [0, 1]).index(null, null)).view(b, c, h - 1, w - 1);
}

class PixelNorm extends nn.Module {
  forward(x) {
    return x.mul(torch.rsqrt(torch.mean(x.pow(2), { dim: 1, keepdim: true }).add(1e-8)));
  }
}

class EqualLinear extends nn.Module {
  constructor(inputs, outputs, { lr_mul = 1.0, activation = false } = {}) {
    super();
    this.weight = nn.Parameter(torch.zeros(outputs, inputs).div_(lr_mul));
    this.bias = nn.Parameter(torch.zeros(outputs).fill_(1));
    Object.assign(this, { activation, scale: lr_mul / Math.sqrt(inputs), lr_mul });
  }
  forward(x) {
    const out = F.linear(x, this.weight.mul(this.scale), { bias: this.bias.mul(this.lr_mul) });
    return this.activation ? F.leaky_relu(out, { negative_slope: 0.2 }).mul(2 ** 0.5) : out;
  }
}

class ModulatedConv extends nn.Module {
  constructor(inputs, outputs, k, style, { demodulate = true, up = false } = {}) {
    super();
    Object.assign(this, { outputs, k, demodulate, up });
    const ramp = torch.tensor([1.0, 3.0, 3.0, 1.0]);
    this.register_buffer("kernel", ramp.outer(ramp).div(16));
    this.weight = nn.Parameter(torch.zeros(1, outputs, inputs, k, k));
    this.modulation = new EqualLinear(style, inputs);
  }
  forward(x, style) {
    const [b, c, h, w] = x.shape;
    let weight = this.weight.div(Math.sqrt(c * this.k ** 2)).mul(this.modulation(style).view(b, 1, c, 1, 1));
    if (this.demodulate)
      weight = weight.mul(torch.rsqrt(weight.pow(2).sum([2, 3, 4]).add(1e-8)).view(b, this.outputs, 1, 1, 1));
    x = x.view(1, b * c, h, w);
    if (this.up) {
      weight = weight.transpose(1, 2).reshape(b * c, this.outputs, this.k, this.k);
      const out = F.conv_transpose2d(x, weight, { padding: 0, stride: 2, groups: b });
      return blur(out.view(b, this.outputs, ...out.shape.slice(2)), this.kernel);
    }
    const padding = Math.floor(this.k / 2);
    const out = F.conv2d(x, weight.view(b * this.outputs, c, this.k, this.k), { padding, groups: b });
    return out.view(b, this.outputs, ...out.shape.slice(-2));
  }
}

class Generator extends nn.Module {
  constructor(z = 6) {
    super();
    const layers = [0, 1].map(() => new EqualLinear(z, z, { lr_mul: 0.5, activation: true }));
    this.style = nn.Sequential(new PixelNorm(), ...layers);
    this.const = nn.Parameter(torch.zeros(1, 4, 4, 4));
    this.first = new ModulatedConv(4, 4, 3, z);
    this.second = new ModulatedConv(4, 4, 3, z, { up: true });
    this.rgb = new ModulatedConv(4, 3, 1, z, { demodulate: false });
    this.strength = nn.Parameter(torch.zeros(1));
    for (let n = 0; n < 2; n++)
      this.register_buffer(`noise_${n}`, numbers([1, 1, 4 * 2 ** n, 4 * 2 ** n], n), { persistent: false });
  }
  forward(styles, inject = 1) {
    const w = styles.map((z) => this.style(z).unsqueeze(1));
    const latent = torch.cat([w[0].repeat(1, inject, 1), w.at(-1).repeat(1, 3 - inject, 1)], 1);
    let x = this.const.repeat(latent.shape[0], 1, 1, 1);
    x = F.leaky_relu(this.first(x, latent.index(":", 0)).add(this.strength.mul(this.noise_0)), 0.2);
    x = F.leaky_relu(this.second(x, latent.index(":", 1)).add(this.strength.mul(this.noise_1)), 0.2);
    return [this.rgb(x, latent.index(":", 2)), latent];
  }
}

class Discriminator extends nn.Module {
  constructor() {
    super();
    this.first = nn.Conv2d(3, 4, 3, 2, 1);
    this.second = spectral_norm(nn.Conv2d(5, 4, 3, 1, 1), { n_power_iterations: 2 });
    this.last = nn.utils.parametrizations.spectral_norm(nn.Linear(64, 1));
  }
  forward(x) {
    x = F.softplus(this.first(x));
    const [b, c, h, w] = x.shape;
    let s = torch.sqrt(x.view(2, -1, 1, c, h, w).var(0, { unbiased: false }).add(1e-2));
    s = s
      .mean([2, 3, 4], { keepdims: true })
      .squeeze(2)
      .repeat(b / 2, 1, h, w);
    return this.last(F.softplus(this.second(torch.cat([x, s], 1))).flatten(1));
  }
}

/** Both networks, penalties that are differentiated twice, and a generator that follows the other's average. */
export function stylegan() {
  const nets = filled(nn.ModuleDict({ g: new Generator(), d: new Discriminator() }));
  torch.no_grad(() => {
    for (const [name, x] of nets.named_buffers())
      if (/_[uv]$/.test(name)) x.copy_(F.normalize(numbers(x.shape, x.numel()), { dim: 0 }));
  });
  const { g, d } = nets;
  const average = filled(new Generator()).requires_grad_(false).eval();
  const g_opt = optim.Adam(g.parameters(), { lr: 0.002, betas: [0.0, 0.99], eps: 1e-4 });
  const d_opt = optim.Adam(d.parameters(), { lr: 0.002, betas: [0.0, 0.99], eps: 1e-4 });
  const real = numbers([4, 3, 8, 8], 9);
  let mean_path = torch.zeros([]);

  async function step(i) {
    const z = [numbers([4, 6], 100 * i), numbers([4, 6], 100 * i + 50)];
    g.requires_grad_(false);
    const images = real.clone().requires_grad_(true);
    const scores = d(images);
    let [slope] = autograd.grad({ outputs: scores.sum(), inputs: images, create_graph: true });
    let d_loss = F.softplus(scores.neg())
      .mean()
      .add(F.softplus(d(g(z)[0])).mean());
    d_loss = d_loss.add(slope.pow(2).reshape(slope.shape[0], -1).sum(1).mean().mul(5));
    d_opt.zero_grad();
    d_loss.backward();
    await d_opt.step();
    g.requires_grad_(true);
    const [fake, latent] = g(z.slice(0, 1));
    const noise = numbers(fake.shape, 7 * i).div(Math.sqrt(fake.shape[2] * fake.shape[3]));
    [slope] = autograd.grad({ outputs: fake.mul(noise).sum(), inputs: latent, create_graph: true });
    const lengths = torch.sqrt(slope.pow(2).sum(2).mean(1));
    const mean = mean_path.add(lengths.mean().sub(mean_path).mul(0.1));
    mean_path = mean.detach();
    const loss = F.softplus(d.eval()(fake).neg()).mean().add(lengths.sub(mean).pow(2).mean().mul(2));
    d.train();
    g_opt.zero_grad();
    loss.backward({ inputs: [...g.parameters()] });
    await g_opt.step();
    const image = torch.no_grad(() => {
      const followed = [...g.parameters()];
      for (const [k, p] of [...average.parameters()].entries()) p.lerp_(followed[k], 0.5);
      return average(z)[0];
    });
    return [loss.add(d_loss), image];
  }
  return [nets, step];
}
