// Idioms of torchvision and timm: squeezed and inverted blocks, skips, frozen layers, focal losses, hooks, averages;
// segmenting.py is the same in PyTorch.
import * as torch from "../../dist/in-node/index.js";
import { filled, integers, numbers } from "./given.mjs";

const { nn, optim } = torch,
  F = nn.functional;

class SqueezeExcitation extends nn.Module {
  constructor(channels, squeeze) {
    super();
    this.avgpool = nn.AdaptiveAvgPool2d(1);
    this.fc1 = nn.Conv2d(channels, squeeze, 1);
    this.fc2 = nn.Conv2d(squeeze, channels, 1);
  }
  forward(x) {
    const scale = F.relu(this.fc1(this.avgpool(x)), { inplace: true });
    return F.hardsigmoid(this.fc2(scale), { inplace: true }).mul(x);
  }
}

class InvertedResidual extends nn.Module {
  constructor(inp, hidden, out, stride) {
    super();
    const norm = (n) => nn.BatchNorm2d(n, { eps: 0.001, momentum: 0.01 });
    this.use_res_connect = stride === 1 && inp === out;
    this.block = nn.Sequential(
      nn.Conv2d(inp, hidden, 1, { bias: false }),
      norm(hidden),
      nn.Hardswish({ inplace: true }),
      nn.Conv2d(hidden, hidden, 3, stride, 1, { groups: hidden, bias: false }),
      norm(hidden),
      nn.Hardswish(),
      new SqueezeExcitation(hidden, Math.max(Math.floor(hidden / 4), 2)),
      nn.Conv2d(hidden, out, 1, { bias: false }),
      norm(out),
    );
  }
  forward(x) {
    const result = this.block(x);
    return this.use_res_connect ? result.add(x) : result;
  }
}

export function mobilenet() {
  const model = filled(
    nn.Sequential(new InvertedResidual(3, 8, 4, 2), new InvertedResidual(4, 12, 4, 1), nn.Flatten(), nn.Linear(64, 5)),
  );
  const [images, labels] = [numbers([4, 3, 8, 8], 5), integers(5, [4], 2)];
  const optimizer = optim.SGD(model.parameters(), { lr: 0.05, momentum: 0.9, weight_decay: 1e-4, nesterov: true });
  const scheduler = optim.lr_scheduler.OneCycleLR(optimizer, { max_lr: 0.05, total_steps: 6, pct_start: 0.5 });

  function step() {
    model.train();
    optimizer.zero_grad({ set_to_none: true });
    const loss = F.cross_entropy(model(images), labels, { weight: torch.linspace(0.5, 1.5, 5) });
    loss.backward();
    optimizer.step();
    scheduler.step();
    model.eval();
    const out = torch.inference_mode(() => model(images).softmax(-1));
    const group = optimizer.param_groups[0];
    return [loss, torch.cat([out.flatten(), torch.tensor([group.lr, group.momentum])])];
  }
  return [model, step];
}

class DoubleConv extends nn.Module {
  constructor(inp, out) {
    super();
    this.double_conv = nn.Sequential(
      nn.Conv2d(inp, out, { kernel_size: 3, padding: 1, bias: false }),
      nn.GroupNorm(2, out),
      nn.SiLU({ inplace: true }),
      nn.Conv2d(out, out, { kernel_size: 3, padding: "same", padding_mode: "replicate" }),
      nn.LeakyReLU(0.1),
    );
  }
  forward(x) {
    return this.double_conv(x);
  }
}

class UNet extends nn.Module {
  constructor() {
    super();
    this.down = nn.ModuleList([new DoubleConv(1, 4), new DoubleConv(4, 8)]);
    this.pool = nn.MaxPool2d(2);
    this.middle = new DoubleConv(8, 8);
    this.up = nn.ModuleDict({
      a: nn.ConvTranspose2d(8, 8, 2, { stride: 2 }),
      b: nn.ConvTranspose2d(8, 4, 2, { stride: 2 }),
    });
    this.merge = nn.ModuleDict({ a: new DoubleConv(16, 8), b: new DoubleConv(8, 4) });
    this.outc = nn.Conv2d(4, 1, 1);
  }
  forward(x) {
    const skips = [];
    for (const layer of this.down) {
      x = layer(x);
      skips.push(x);
      x = this.pool(x);
    }
    x = this.middle(x);
    for (const [name, up] of this.up.items()) {
      x = up(x);
      const skip = skips.pop();
      const [dy, dx] = [skip.size(2) - x.size(2), skip.size(3) - x.size(3)];
      const half = (n) => Math.floor(n / 2);
      x = F.pad(x, [half(dx), dx - half(dx), half(dy), dy - half(dy)]);
      x = this.merge[name](torch.cat([skip, x], { dim: 1 }));
    }
    return this.outc(x);
  }
}

function dice_loss(logits, target, smooth = 1.0) {
  const probs = torch.sigmoid(logits);
  const overlap = probs.mul(target).sum({ dim: [2, 3] });
  const union = probs.sum({ dim: [2, 3] }).add(target.sum({ dim: [2, 3] }));
  return torch.rsub(overlap.mul(2.0).add(smooth).div(union.add(smooth)).mean(), 1);
}

export function unet() {
  const model = filled(new UNet());
  const [images, masks] = [numbers([2, 1, 7, 9], 11), numbers([2, 1, 7, 9], 3).gt(0).to(torch.get_default_dtype())];
  const optimizer = optim.RMSprop(model.parameters(), { lr: 1e-3, weight_decay: 1e-8, momentum: 0.5, eps: 1e-4 });
  const scheduler = optim.lr_scheduler.ReduceLROnPlateau(optimizer, "max", { patience: 0, factor: 0.3 });
  const criterion = nn.BCEWithLogitsLoss({ pos_weight: torch.tensor([1.5]) });

  function step() {
    optimizer.zero_grad();
    const logits = model(images);
    const loss = criterion(logits, masks).add(dice_loss(logits, masks));
    loss.backward();
    nn.utils.clip_grad_value_(model.parameters(), 0.05);
    optimizer.step();
    scheduler.step(0.5);
    return [loss, torch.cat([logits.sigmoid().flatten(), torch.tensor(scheduler.get_last_lr())])];
  }
  return [model, step];
}

class BasicBlock extends nn.Module {
  constructor(inp, planes, stride = 1) {
    super();
    this.conv1 = nn.Conv2d(inp, planes, 3, { stride, padding: 1, bias: false });
    this.bn1 = nn.BatchNorm2d(planes);
    this.conv2 = nn.Conv2d(planes, planes, 3, { padding: 1, bias: false });
    this.bn2 = nn.BatchNorm2d(planes);
    this.downsample = null;
    if (stride !== 1 || inp !== planes)
      this.downsample = nn.Sequential(nn.Conv2d(inp, planes, 1, stride, { bias: false }), nn.BatchNorm2d(planes));
  }
  forward(x) {
    const identity = this.downsample === null ? x : this.downsample(x);
    let out = F.relu(this.bn1(this.conv1(x)));
    out = this.bn2(this.conv2(out));
    out.add_(identity);
    return F.relu(out);
  }
}

class ResNet extends nn.Module {
  constructor() {
    super();
    this.stem = nn.Sequential({ conv: nn.Conv2d(3, 4, 3), bn: nn.BatchNorm2d(4) });
    this.layer1 = new BasicBlock(4, 4);
    this.layer2 = new BasicBlock(4, 8, 2);
    this.fc = nn.Linear(8, 3);
  }
  forward(x) {
    x = this.layer2(this.layer1(F.max_pool2d(this.stem(x).relu_(), 3, 2, 1)));
    return this.fc(torch.flatten(F.adaptive_avg_pool2d(x, [1, 1]), 1));
  }
}

export function finetuned() {
  const model = filled(new ResNet());
  for (const m of model.modules()) if (m instanceof BasicBlock) nn.init.constant_(m.bn2.weight, 0.2);
  for (const p of model.stem.parameters()) p.requires_grad = false;
  const averaged = optim.swa_utils.AveragedModel(model, {
    multi_avg_fn: optim.swa_utils.get_ema_multi_avg_fn(0.9),
  });
  const early = [...model.named_parameters()].filter(([n, p]) => p.requires_grad && !n.startsWith("fc."));
  const optimizer = optim.AdamW([{ params: early.map(([, p]) => p) }, { params: model.fc.parameters(), lr: 1e-2 }], {
    lr: 1e-3,
    eps: 1e-4,
    amsgrad: true,
  });
  const [images, labels] = [numbers([4, 3, 10, 10], 2), integers(3, [4])];

  function step() {
    model.train();
    model.stem.eval();
    const loss = F.cross_entropy(model(images), labels, { label_smoothing: 0.1 });
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    averaged.update_parameters(model);
    averaged.eval();
    return torch.no_grad(() => [loss, averaged(images)]);
  }
  return [model, step];
}

class Pyramid extends nn.Module {
  constructor() {
    super();
    this.body = nn.ModuleDict({ c2: nn.Conv2d(3, 4, 3, 2, 1), c3: nn.Conv2d(4, 6, 3, 2, 1) });
    this.inner = nn.ModuleList([4, 6].map((n) => nn.Conv2d(n, 4, 1)));
    this.layer = nn.ModuleList([0, 1].map(() => nn.Conv2d(4, 4, 3, { padding: 1 })));
    [this.cls, this.box] = [nn.Conv2d(4, 2, 1), nn.Conv2d(4, 4, 1)];
  }
  forward(x) {
    const features = new Map();
    for (const [name, layer] of this.body.items()) {
      x = F.relu(layer(x));
      features.set(name, x);
    }
    const inner = [...features.values()].map((f, i) => this.inner[i](f));
    const top = F.interpolate(inner[1], { size: inner[0].shape.slice(-2), mode: "nearest" });
    const levels = [this.layer[0](inner[0].add(top)), this.layer[1](inner[1])];
    const flat = (head) =>
      torch.cat(
        levels.map((f) => head(f).permute(0, 2, 3, 1).flatten(1, 2)),
        { dim: 1 },
      );
    return [flat(this.cls), flat(this.box).sigmoid()];
  }
}

function sigmoid_focal_loss(inputs, targets, alpha = 0.25, gamma = 2.0) {
  const p = torch.sigmoid(inputs);
  const ce_loss = F.binary_cross_entropy_with_logits(inputs, targets, { reduction: "none" });
  const p_t = p.mul(targets).add(torch.rsub(p, 1).mul(torch.rsub(targets, 1)));
  const loss = ce_loss.mul(torch.rsub(p_t, 1).pow(gamma));
  return targets
    .mul(alpha)
    .add(torch.rsub(targets, 1).mul(1 - alpha))
    .mul(loss);
}

function generalized_box_iou_loss(boxes1, boxes2, eps = 1e-7) {
  const [x1, y1, x2, y2] = boxes1.unbind({ dim: -1 });
  const [x1g, y1g, x2g, y2g] = boxes2.unbind({ dim: -1 });
  const [xkis1, ykis1] = [torch.max(x1, x1g), torch.max(y1, y1g)];
  const [xkis2, ykis2] = [torch.min(x2, x2g), torch.min(y2, y2g)];
  const intsctk = torch.zeros_like(x1);
  const mask = ykis2.gt(ykis1).logical_and(xkis2.gt(xkis1));
  intsctk.set(
    [mask],
    xkis2
      .index(mask)
      .sub(xkis1.index(mask))
      .mul(ykis2.index(mask).sub(ykis1.index(mask))),
  );
  const area = (a, b, c, d) => c.sub(a).mul(d.sub(b));
  const unionk = area(x1, y1, x2, y2)
    .add(area(x1g, y1g, x2g, y2g))
    .sub(intsctk);
  const [xc1, yc1] = [torch.min(x1, x1g), torch.min(y1, y1g)];
  const [xc2, yc2] = [torch.max(x2, x2g), torch.max(y2, y2g)];
  const area_c = area(xc1, yc1, xc2, yc2);
  return torch.rsub(intsctk.div(unionk.add(eps)), 1).add(area_c.sub(unionk).div(area_c.add(eps)));
}

export function retina() {
  const model = filled(new Pyramid());
  const images = numbers([2, 3, 8, 8], 9);
  const labels = F.one_hot(integers(3, [2, 20], 4), 3)
    .index("...", "1:")
    .to(torch.get_default_dtype());
  const anchors = torch.tensor([0.2, 0.3, 0.6, 0.8]).add(numbers([2, 20, 4], 1).mul(0.05));
  const optimizer = optim.Adam(model.parameters(), { lr: 2e-3, betas: [0.9, 0.99], eps: 1e-4 });

  async function step() {
    const [logits, boxes] = model(images);
    const ordered = torch.cat([boxes.index("...", ":2").mul(0.5), boxes.index("...", "2:").mul(0.5).add(0.5)], {
      dim: -1,
    });
    const found = await labels.sum(-1).gt(0).nonzero({ as_tuple: true });
    const losses = {
      classification: sigmoid_focal_loss(logits, labels).sum().div(Math.max(1, found[0].numel())),
      bbox_regression: generalized_box_iou_loss(ordered.index(...found), anchors.index(...found)).mean(),
    };
    const loss = Object.values(losses).reduce((a, b) => a.add(b));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    const [scores, indices] = logits.sigmoid().flatten(1).topk(5, { dim: 1 });
    return [loss, torch.cat([scores, indices.to(scores.dtype)], { dim: 1 })];
  }
  return [model, step];
}

export function grad_cam() {
  const model = filled(
    nn.Sequential(
      nn.Conv2d(3, 6, 3),
      nn.ReLU(),
      nn.Conv2d(6, 6, 3),
      nn.ReLU(),
      nn.AdaptiveAvgPool2d(1),
      nn.Flatten(),
      nn.Linear(6, 4),
    ),
  );
  const [images, labels] = [numbers([2, 3, 9, 9], 8), integers(4, [2], 6)];
  const optimizer = optim.Adamax(model.parameters(), { lr: 1e-2 });
  const seen = {};
  model[2].register_forward_hook((_, __, output) => void (seen.activation = output.detach()));
  model[2].register_full_backward_hook((_, __, out) => void (seen.gradient = out[0].detach()));

  function step() {
    model.zero_grad();
    const logits = model(images);
    const best = logits.argmax({ dim: 1, keepdim: true });
    logits.gather(1, best).sum().backward({ retain_graph: true });
    const weights = seen.gradient.mean({ dim: [2, 3], keepdim: true });
    let cam = F.relu(weights.mul(seen.activation).sum(1, { keepdim: true }));
    cam = F.interpolate(cam, { size: [9, 9], mode: "bilinear", align_corners: false });
    const [low, high] = [cam.amin([1, 2, 3], { keepdim: true }), cam.amax([1, 2, 3], { keepdim: true })];
    optimizer.zero_grad();
    const loss = F.multi_margin_loss(logits, labels);
    loss.backward();
    optimizer.step();
    return [loss, cam.sub(low).div(high.sub(low).clamp_min(1e-3))];
  }
  return [model, step];
}

class Pixels extends nn.Module {
  constructor() {
    super();
    this.image = nn.Parameter(numbers([1, 3, 8, 8], 77).mul(0.5));
  }
}

export function style_transfer() {
  const features = filled(
    nn.Sequential(nn.Conv2d(3, 4, 3, { padding: 1 }), nn.ELU(), nn.AvgPool2d(2), nn.Conv2d(4, 5, 3)),
  );
  features.requires_grad_(false).eval();
  const model = new Pixels();
  const optimizer = optim.LBFGS([model.image], { max_iter: 4, history_size: 3 });

  function gram_matrix(x) {
    const [a, b, c, d] = x.size();
    const flat = x.view(a * b, c * d);
    return torch.mm(flat, flat.t()).div(a * b * c * d);
  }
  const content = features(numbers([1, 3, 8, 8], 1)),
    style = gram_matrix(features(numbers([1, 3, 8, 8], 500)));

  async function step() {
    const loss = await optimizer.step(() => {
      torch.no_grad(() => model.image.clamp_(-1, 1));
      optimizer.zero_grad();
      const y = features(model.image);
      let loss = F.mse_loss(y, content).add(F.mse_loss(gram_matrix(y), style).mul(10));
      const { image } = model;
      const across = image.index("...", "1:").sub(image.index("...", ":-1")).abs().mean();
      loss = loss.add(across.mul(0.01));
      loss.backward();
      return loss;
    });
    return [loss, model.image.detach().clone()];
  }
  return [model, step];
}
