// Layers that are no products of matrices: operators.py, which is PyTorch's, in JavaScript.
import * as torch from "../../dist/in-node/index.js";
import { filled, numbers } from "./given.mjs";

const { autograd, nn, optim } = torch,
  F = nn.functional;

/** efficient-kan's: a spline on each edge. */
class KANLinear extends nn.Module {
  constructor(inFeatures, outFeatures, { grid_size = 4, spline_order = 3, grid_range = [-1, 1] } = {}) {
    super();
    Object.assign(this, { inFeatures, outFeatures, order: spline_order });
    const h = (grid_range[1] - grid_range[0]) / grid_size;
    const grid = torch
      .arange(-spline_order, grid_size + spline_order + 1)
      .mul(h)
      .add(grid_range[0])
      .expand(inFeatures, -1)
      .contiguous();
    this.register_buffer("grid", grid);
    this.base_weight = nn.Parameter(torch.Tensor(outFeatures, inFeatures));
    this.spline_weight = nn.Parameter(torch.empty(outFeatures, inFeatures, grid_size + spline_order));
    this.spline_scaler = nn.Parameter(torch.empty(outFeatures, inFeatures));
    nn.init.kaiming_uniform_(this.base_weight, { a: Math.sqrt(5) });
  }
  b_splines(x) {
    const grid = this.grid;
    x = x.unsqueeze(-1);
    let bases = x
      .ge(grid.index(":", ":-1"))
      .bitwise_and(x.lt(grid.index(":", "1:")))
      .to(x.dtype);
    for (let k = 1; k <= this.order; k++) {
      const low = grid.index(":", `:${-(k + 1)}`);
      const high = grid.index(":", `${k + 1}:`);
      const left = x
        .sub(low)
        .div(grid.index(":", `${k}:-1`).sub(low))
        .mul(bases.index(":", ":", ":-1"));
      const right = high
        .sub(x)
        .div(high.sub(grid.index(":", `1:${-k}`)))
        .mul(bases.index(":", ":", "1:"));
      bases = left.add(right);
    }
    return bases.contiguous();
  }
  curve2coeff(x, y) {
    const [A, B] = [this.b_splines(x).transpose(0, 1), y.transpose(0, 1)];
    return torch.linalg.lstsq(A, B).solution.permute(2, 0, 1).contiguous();
  }
  forward(x) {
    const base = F.linear(F.silu(x), this.base_weight);
    const weight = this.spline_weight.mul(this.spline_scaler.unsqueeze(-1));
    return base.add(F.linear(this.b_splines(x).view(x.size(0), -1), weight.view(this.outFeatures, -1)));
  }
  regularization_loss({ activation = 1.0, entropy = 1.0 } = {}) {
    const l1 = this.spline_weight.abs().mean(-1);
    const p = l1.div(l1.sum());
    return l1
      .sum()
      .mul(activation)
      .sub(torch.sum(p.mul(p.log())).mul(entropy));
  }
}

export function kan() {
  const model = filled(nn.Sequential(new KANLinear(2, 5), new KANLinear(5, 1)));
  const x = numbers([12, 2], 5).mul(0.9);
  const y = torch.exp(torch.sin(x.index(":", [0]).mul(Math.PI)).add(x.index(":", [1]).pow(2)));
  torch.no_grad(() => {
    const layer = model[0];
    const at = layer.grid.T.index("3:-3")
      .mul(0.97)
      .add(numbers([5, 2], 60).mul(0.3));
    const curves = torch.stack(
      Array.from({ length: 5 }, (_, j) => torch.sin(at.mul(j + 1))),
      { dim: -1 },
    );
    const many = [torch.cat([at, at.mul(0.5), at.mul(0.8)]), torch.cat([curves, curves.mul(0.5), curves])];
    layer.spline_weight.data.lerp_(layer.curve2coeff(...many), 0.1);
  });
  const optimizer = optim.AdamW(model.parameters(), { lr: 1e-2, weight_decay: 1e-4, eps: 1e-4 });
  const scheduler = optim.lr_scheduler.ExponentialLR(optimizer, { gamma: 0.8 });

  async function step() {
    optimizer.zero_grad();
    const out = model(x);
    let loss = F.mse_loss(out, y);
    for (const layer of model) loss = loss.add(layer.regularization_loss().mul(1e-2));
    loss.backward();
    await optimizer.step();
    scheduler.step();
    return [loss, out];
  }
  return [model, step];
}

/** The Fourier neural operator's: few frequencies, each with a matrix of its own. */
class SpectralConv2d extends nn.Module {
  constructor(channels, modes1, modes2) {
    super();
    [this.m1, this.m2] = [modes1, modes2];
    this.weights1 = nn.Parameter(torch.zeros(channels, channels, modes1, modes2, 2));
    this.weights2 = nn.Parameter(torch.zeros(channels, channels, modes1, modes2, 2));
  }
  forward(x) {
    const [B, C, H, W] = x.shape;
    const mul = (a, w) => torch.einsum("bixy,ioxy->boxy", a, torch.view_as_complex(w));
    const xFt = torch.fft.rfft2(x, { norm: "ortho" });
    const outFt = torch.zeros(B, C, H, Math.floor(W / 2) + 1, { dtype: xFt.dtype, device: x.device });
    const low = [":", ":", `:${this.m1}`, `:${this.m2}`],
      high = [":", ":", `-${this.m1}:`, `:${this.m2}`];
    outFt.set(low, mul(xFt.index(...low), this.weights1));
    outFt.set(high, mul(xFt.index(...high), this.weights2));
    return torch.fft.irfft2(outFt, { s: [H, W], norm: "ortho" });
  }
}

class FNO extends nn.Module {
  constructor(width = 4) {
    super();
    this.p = nn.Conv2d(3, width, 1);
    this.spectral = nn.ModuleList([0, 1].map(() => new SpectralConv2d(width, 2, 2)));
    this.w = nn.ModuleList([0, 1].map(() => nn.Conv2d(width, width, 1)));
    this.norm = nn.InstanceNorm2d(width, { affine: true });
    this.q = nn.Sequential(nn.Conv2d(width, 8, 1), nn.GELU({ approximate: "tanh" }), nn.Conv2d(8, 1, 1));
  }
  get_grid([b, , h, w]) {
    const gx = torch.linspace(0, 1, h).reshape(1, 1, h, 1).repeat([b, 1, 1, w]);
    const gy = torch.linspace(0, 1, w).reshape(1, 1, 1, w).repeat(b, 1, h, 1);
    return torch.cat([gx, gy], { dim: 1 });
  }
  forward(x) {
    x = F.pad(this.p(torch.cat([x, this.get_grid(x.shape)], { dim: 1 })), [0, 2, 0, 2]);
    for (const [i, spectral] of [...this.spectral].entries())
      x = F.gelu(this.norm(spectral(this.norm(x))).add(this.w[i](x)));
    return this.q(x.index("...", ":-2", ":-2"));
  }
}

export function fourier_operator() {
  const model = filled(new FNO());
  const a = numbers([2, 1, 6, 6], 5);
  const y = torch
    .roll(a, { shifts: [1, 2], dims: [-2, -1] })
    .cumsum(-1)
    .div(3);

  function lpLoss(x, y) {
    const b = x.size(0);
    const gap = torch.norm(x.reshape(b, -1).sub(y.reshape(b, -1)), 2, 1);
    return gap.div(torch.norm(y.reshape(b, -1), 2, 1)).sum();
  }
  const optimizer = optim.Adam(model.parameters(), { lr: 5e-3, weight_decay: 1e-4, eps: 1e-4 });
  const scheduler = optim.lr_scheduler.OneCycleLR(optimizer, { max_lr: 1e-2, total_steps: 6, pct_start: 0.4 });

  async function step() {
    optimizer.zero_grad();
    const out = model(a);
    const loss = lpLoss(out, y);
    loss.backward();
    await optimizer.step();
    scheduler.step();
    return [loss, out];
  }
  return [model, step];
}

/** Structured states by a diagonal matrix of complex numbers, as one long convolution by Fourier transforms. */
class S4D extends nn.Module {
  constructor(dModel, N = 4) {
    super();
    this.D = nn.Parameter(torch.zeros(dModel));
    this.log_dt = nn.Parameter(torch.linspace(-3, -1, dModel));
    const C = torch.complex(torch.ones(dModel, N), torch.zeros(dModel, N));
    this.C = nn.Parameter(torch.view_as_real(C).clone());
    this.log_A_real = nn.Parameter(torch.log(torch.ones(dModel, N).mul(0.5)));
    this.A_imag = nn.Parameter(torch.arange(N).repeat(dModel, 1).to(torch.get_default_dtype()).mul(Math.PI));
  }
  kernel(L) {
    const [dt, C] = [torch.exp(this.log_dt), torch.view_as_complex(this.C)];
    const A = torch.complex(torch.exp(this.log_A_real).neg(), this.A_imag);
    const dtA = A.mul(dt.unsqueeze(-1));
    const K = dtA.unsqueeze(-1).mul(torch.arange(L));
    const scaled = C.mul(torch.exp(dtA).sub(1.0)).div(A);
    return torch.einsum("hn, hnl -> hl", scaled, torch.exp(K)).real.mul(2);
  }
  forward(u) {
    const L = u.size(-1);
    const k = torch.fft.rfft(this.kernel(L), { n: 2 * L });
    const y = torch.fft.irfft(torch.fft.rfft(u, { n: 2 * L }).mul(k), { n: 2 * L }).index("...", `:${L}`);
    return F.glu(torch.cat([y.add(u.mul(this.D.unsqueeze(-1))), u], { dim: -2 }), { dim: -2 });
  }
}

class S4Model extends nn.Module {
  constructor(d = 4) {
    super();
    this.encoder = nn.Linear(2, d);
    this.decoder = nn.Linear(d, 3);
    this.s4 = new S4D(d);
    this.norm = nn.RMSNorm(d, { eps: 1e-6 });
    this.drop = nn.Dropout1d(0.0);
  }
  forward(x) {
    x = this.encoder(x).transpose(-1, -2);
    x = this.drop(this.s4(x)).add(x).transpose(-1, -2);
    return this.decoder(this.norm(x).mean({ dim: 1 }));
  }
}

export function long_convolution() {
  const model = filled(new S4Model());
  torch.no_grad(() => model.s4.A_imag.add_(torch.arange(4).mul(Math.PI)));
  const [x, labels] = [numbers([3, 10, 2], 5), torch.tensor([0, 2, 1], { dtype: torch.long })];
  const special = [...model.named_parameters()]
    .filter(([n]) => ["log_dt", "log_A_real", "A_imag"].includes(n.split(".").at(-1)))
    .map(([, p]) => p);
  const rest = [...model.parameters()].filter((p) => !special.includes(p));
  const optimizer = optim.AdamW(rest, { lr: 0.01, weight_decay: 0.01, eps: 1e-4 });
  optimizer.add_param_group({ params: special, lr: 0.001, weight_decay: 0.0 });
  const scheduler = optim.lr_scheduler.CosineAnnealingLR(optimizer, { T_max: 4, eta_min: 1e-3 });

  async function step() {
    optimizer.zero_grad();
    const logits = model(x);
    const loss = F.cross_entropy(logits, labels, { label_smoothing: 0.1 });
    loss.backward();
    await optimizer.step();
    scheduler.step();
    return [loss.add(optimizer.param_groups.reduce((sum, g) => sum + g.lr, 0)), logits];
  }
  return [model, step];
}

/** A layer until it rests; its gradient is another fixed point, by a hook. */
class DEQ extends nn.Module {
  constructor(n = 6) {
    super();
    this.linear1 = nn.Linear(n, n);
    this.linear2 = nn.Linear(n, n, { bias: false });
    this.norm = nn.GroupNorm(2, n);
  }
  f(z, x) {
    return this.norm(F.relu(x.add(this.linear2(F.relu(this.linear1(z))).mul(0.4))));
  }
  forward(x) {
    let z = torch.no_grad(() => rest((z) => this.f(z, x), torch.zeros_like(x)));
    z = this.f(z, x);
    const z0 = z.clone().detach().requires_grad_();
    const f0 = this.f(z0, x);
    const backwardHook = (grad) => rest((y) => autograd.grad(f0, z0, y, { retain_graph: true })[0].add(grad), grad);
    if (z.requires_grad) z.register_hook(backwardHook);
    return z;
  }
}

/** Where f changes nothing any more, or nearly so. */
function rest(f, z, { steps = 15, damping = 0.5 } = {}) {
  for (let k = 0; k < steps; k++) z = torch.lerp(z, f(z), damping);
  return z;
}

export function equilibrium() {
  const model = filled(new DEQ());
  const [x, y] = [numbers([4, 6], 5), numbers([4, 6], 60)];
  const optimizer = optim.SGD(model.parameters(), { lr: 0.1, momentum: 0.5 });

  async function step() {
    optimizer.zero_grad();
    const out = model(x);
    const loss = F.smooth_l1_loss(out, y, { beta: 0.3 });
    loss.backward();
    await optimizer.step();
    return [loss, out];
  }
  return [model, step];
}

/** Accelerations from an energy: the equations of Euler and Lagrange, by derivatives of a network's derivatives. */
class Lagrangian extends nn.Module {
  constructor() {
    super();
    this.net = nn.Sequential(
      nn.Linear(4, 8),
      nn.Softplus({ beta: 2 }),
      nn.Linear(8, 8),
      nn.Softplus(),
      nn.Linear(8, 1),
    );
  }
  lagrangian(q, qt) {
    return qt
      .dot(qt)
      .mul(0.5)
      .add(this.net(torch.cat([q, qt])).squeeze());
  }
  forward(q, qt) {
    const { grad, hessian, jacfwd, vmap } = torch.func;
    const energy = (q, qt) => this.lagrangian(q, qt);
    const acceleration = (q, qt) => {
      const force = grad(energy, { argnums: 0 })(q, qt);
      const mixed = jacfwd(grad(energy, 1), 0)(q, qt);
      const mass = hessian(energy, { argnums: 1 })(q, qt);
      return torch.linalg.pinv(mass).matmul(force.sub(mixed.matmul(qt)));
    };
    return vmap(acceleration)(q, qt);
  }
}

export function lagrangian() {
  const model = filled(new Lagrangian());
  const [q, qt, wanted] = [numbers([5, 2], 5), numbers([5, 2], 60), numbers([5, 2], 90)];
  const optimizer = optim.NAdam(model.parameters(), { lr: 5e-3, eps: 1e-4 });

  async function step() {
    optimizer.zero_grad();
    const out = model(q, qt);
    const loss = F.l1_loss(out, wanted);
    loss.backward();
    await optimizer.step();
    return [loss, out];
  }
  return [model, step];
}
