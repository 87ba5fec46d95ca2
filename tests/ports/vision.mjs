// Networks of images, as torchvision and timm write them; vision.py is the same in PyTorch.
import * as torch from "../../dist/in-node/index.js";
import { filled, integers, numbers } from "./given.mjs";

const { nn, optim } = torch,
  F = nn.functional;

/** timm's transformer block, with a scale for each layer. */
class Block extends nn.Module {
  constructor(dim, heads) {
    super();
    this.norm1 = nn.LayerNorm(dim, { eps: 1e-6 });
    this.attn = nn.MultiheadAttention(dim, heads, { batch_first: true });
    this.ls1 = nn.Parameter(torch.full([dim], 0.1));
    this.norm2 = nn.LayerNorm(dim, { eps: 1e-6 });
    this.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Dropout(0.0), nn.Linear(4 * dim, dim));
    this.ls2 = nn.Parameter(torch.full([dim], 0.1));
  }
  forward(x) {
    const h = this.norm1(x);
    x = x.add(this.attn(h, h, h, { need_weights: false })[0].mul(this.ls1));
    return x.add(this.mlp(this.norm2(x)).mul(this.ls2));
  }
}

class ViT extends nn.Module {
  constructor({ size = 8, patch = 4, dim = 16, depth = 2, heads = 4, classes = 5 } = {}) {
    super();
    this.patch = nn.Conv2d(3, dim, patch, { stride: patch });
    this.cls_token = nn.Parameter(torch.zeros(1, 1, dim));
    this.pos_embed = nn.Parameter(torch.zeros(1, (size / patch) ** 2 + 1, dim));
    this.blocks = nn.ModuleList(Array.from({ length: depth }, () => new Block(dim, heads)));
    this.norm = nn.LayerNorm(dim);
    this.head = nn.Linear(dim, classes);
  }
  forward(images) {
    let x = this.patch(images).flatten(2).transpose(1, 2);
    x = torch.cat([this.cls_token.expand(x.shape[0], -1, -1), x], { dim: 1 }).add(this.pos_embed);
    for (const block of this.blocks) x = block(x);
    return this.head(this.norm(x).index(":", 0));
  }
}

export function vit() {
  const model = filled(new ViT());
  const [images, labels] = [numbers([3, 3, 8, 8], 7), integers(5, [3])];
  const decay = model.parameters().filter((p) => p.dim() > 1);
  const rest = model.parameters().filter((p) => p.dim() <= 1);
  const optimizer = optim.AdamW([{ params: decay }, { params: rest, weight_decay: 0 }], {
    lr: 1e-3,
    weight_decay: 0.05,
    eps: 1e-6, // the keys' biases have no gradient but rounding, which is to stay small
  });

  async function step() {
    optimizer.zero_grad();
    const logits = model(images);
    const loss = F.cross_entropy(logits, labels, { label_smoothing: 0.1 });
    loss.backward();
    nn.utils.clip_grad_norm_(model.parameters(), 1.0);
    await optimizer.step();
    return [loss, logits];
  }
  return [model, step];
}

class LayerNorm2d extends nn.LayerNorm {
  forward(x) {
    return super.forward(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2);
  }
}

class ConvNeXtBlock extends nn.Module {
  constructor(dim) {
    super();
    this.dwconv = nn.Conv2d(dim, dim, { kernel_size: 7, padding: 3, groups: dim });
    this.norm = nn.LayerNorm(dim, { eps: 1e-6 });
    this.pwconv1 = nn.Linear(dim, 4 * dim);
    this.pwconv2 = nn.Linear(4 * dim, dim);
    this.gamma = nn.Parameter(torch.ones(dim));
  }
  forward(x) {
    let h = this.dwconv(x).permute(0, 2, 3, 1);
    h = this.pwconv2(F.gelu(this.pwconv1(this.norm(h))));
    return x.add(this.gamma.mul(h).permute(0, 3, 1, 2));
  }
}

export function convnext() {
  const model = filled(
    nn.Sequential(
      nn.Conv2d(3, 8, { kernel_size: 2, stride: 2 }),
      new LayerNorm2d(8),
      new ConvNeXtBlock(8),
      new LayerNorm2d(8),
      nn.Conv2d(8, 12, 2, 2),
      new ConvNeXtBlock(12),
      nn.AdaptiveAvgPool2d(1),
      nn.Flatten(),
      nn.Linear(12, 4),
    ),
  );
  const [images, labels] = [numbers([2, 3, 12, 12], 3), torch.tensor([1, 3], { dtype: torch.long })];
  const optimizer = optim.SGD(model.parameters(), { lr: 0.05, momentum: 0.9, nesterov: true });
  const scheduler = optim.lr_scheduler.CosineAnnealingLR(optimizer, { T_max: 5 });
  const criterion = nn.CrossEntropyLoss();

  async function step() {
    const logits = model(images);
    const loss = criterion(logits, labels);
    optimizer.zero_grad({ set_to_none: true });
    loss.backward();
    await optimizer.step();
    scheduler.step();
    return [loss, logits];
  }
  return [model, step];
}

class SqueezeExcitation extends nn.Module {
  constructor(channels, squeeze) {
    super();
    this.avgpool = nn.AdaptiveAvgPool2d(1);
    this.fc1 = nn.Conv2d(channels, squeeze, 1);
    this.fc2 = nn.Conv2d(squeeze, channels, 1);
  }
  forward(x) {
    const scale = F.silu(this.fc1(this.avgpool(x)), { inplace: true });
    return torch.sigmoid(this.fc2(scale)).mul(x);
  }
}

function convBn(cIn, cOut, kernel, stride = 1, { groups = 1, activation = true } = {}) {
  const conv = nn.Conv2d(cIn, cOut, kernel, stride, { padding: Math.floor(kernel / 2), groups, bias: false });
  const layers = [conv, nn.BatchNorm2d(cOut, { momentum: 0.01, eps: 1e-3 })];
  return nn.Sequential(...layers, ...(activation ? [nn.SiLU({ inplace: true })] : []));
}

class MBConv extends nn.Module {
  constructor(cIn, cOut, expand, kernel, stride) {
    super();
    const hidden = cIn * expand;
    this.use_res_connect = stride === 1 && cIn === cOut;
    this.block = nn.Sequential(
      convBn(cIn, hidden, 1),
      convBn(hidden, hidden, kernel, stride, { groups: hidden }),
      new SqueezeExcitation(hidden, Math.max(1, Math.floor(cIn / 4))),
      convBn(hidden, cOut, 1, 1, { activation: false }),
    );
  }
  forward(x) {
    const out = this.block(x);
    if (this.use_res_connect) out.add_(x);
    return out;
  }
}

export function efficientnet() {
  const model = filled(
    nn.Sequential(
      convBn(3, 8, 3, 2),
      new MBConv(8, 8, 4, 3, 1),
      new MBConv(8, 12, 2, 5, 2),
      nn.AdaptiveAvgPool2d([1, 1]),
      nn.Flatten(1),
      nn.Dropout(0.0),
      nn.Linear(12, 6),
    ),
  );
  const [images, labels] = [numbers([4, 3, 16, 16], 11), integers(6, [4])];
  const optimizer = optim.RMSprop(model.parameters(), { lr: 0.002, alpha: 0.9, momentum: 0.9, eps: 0.0316 });

  async function step() {
    model.train();
    optimizer.zero_grad();
    const loss = F.cross_entropy(model(images), labels);
    loss.backward();
    await optimizer.step();
    model.eval();
    const probabilities = torch.no_grad(() => model(images).softmax(-1));
    return [loss, probabilities];
  }
  return [model, step];
}

/** Swin's, with a bias for each distance. */
class WindowAttention extends nn.Module {
  constructor(dim, window, heads) {
    super();
    this.heads = heads;
    this.scale = (dim / heads) ** -0.5;
    this.relative_position_bias_table = nn.Parameter(torch.zeros((2 * window - 1) ** 2, heads));
    const coords = torch
      .stack(torch.meshgrid(torch.arange(window), torch.arange(window), { indexing: "ij" }))
      .flatten(1);
    const relative = coords
      .index(":", ":", null)
      .sub(coords.index(":", null, ":"))
      .permute(1, 2, 0)
      .contiguous();
    relative.add_(window - 1);
    relative.index(":", ":", 0).mul_(2 * window - 1);
    this.register_buffer("relative_position_index", relative.sum(-1), { persistent: false });
    this.qkv = nn.Linear(dim, 3 * dim);
    this.proj = nn.Linear(dim, dim);
  }
  forward(x, mask) {
    const [B, N, C] = x.shape;
    const [q, k, v] = this.qkv(x)
      .reshape(B, N, 3, this.heads, C / this.heads)
      .permute(2, 0, 3, 1, 4)
      .unbind(0);
    let attn = q.mul(this.scale).matmul(k.transpose(-2, -1));
    const bias = this.relative_position_bias_table.index(this.relative_position_index.view(-1)).view(N, N, -1);
    attn = attn.add(bias.permute(2, 0, 1).unsqueeze(0));
    const W = mask.shape[0];
    attn = attn.view(B / W, W, this.heads, N, N).add(mask.unsqueeze(1).unsqueeze(0));
    attn = attn.view(-1, this.heads, N, N).softmax(-1);
    return this.proj(attn.matmul(v).transpose(1, 2).reshape(B, N, C));
  }
}

class SwinBlock extends nn.Module {
  constructor(dim = 8, window = 2, heads = 2, shift = 1) {
    super();
    this.window = window;
    this.shift = shift;
    this.norm = nn.LayerNorm(dim);
    this.attn = new WindowAttention(dim, window, heads);
  }
  windows(x) {
    const [B, H, W, C] = x.shape,
      w = this.window;
    return x
      .view(B, H / w, w, W / w, w, C)
      .permute(0, 1, 3, 2, 4, 5)
      .contiguous()
      .view(-1, w * w, C);
  }
  mask(H, W) {
    let regions = torch.zeros(1, H, W, 1);
    const slices = [`0:-${this.window}`, `-${this.window}:-${this.shift}`, `-${this.shift}:`];
    let n = 0;
    for (const h of slices) for (const w of slices) regions.set([":", h, w, ":"], n++);
    regions = this.windows(regions).squeeze(-1);
    const mask = regions.unsqueeze(1).sub(regions.unsqueeze(2));
    return mask.masked_fill(mask.ne(0), -100.0).masked_fill(mask.eq(0), 0.0);
  }
  forward(x) {
    const [B, H, W, C] = x.shape,
      { window: w, shift } = this;
    const shifted = torch.roll(this.norm(x), { shifts: [-shift, -shift], dims: [1, 2] });
    let out = this.attn(this.windows(shifted), this.mask(H, W));
    out = out
      .view(B, H / w, W / w, w, w, C)
      .permute(0, 1, 3, 2, 4, 5)
      .reshape(B, H, W, C);
    return x.add(torch.roll(out, { shifts: [shift, shift], dims: [1, 2] }));
  }
}

export function swin() {
  const model = filled(new SwinBlock());
  const [x, wanted] = [numbers([2, 4, 6, 8], 5), numbers([2, 4, 6, 8], 900)];
  const optimizer = optim.SGD(model.parameters(), { lr: 0.1, momentum: 0.9 });

  async function step() {
    optimizer.zero_grad();
    const out = model(x);
    const loss = F.smooth_l1_loss(out, wanted, { beta: 0.5 });
    loss.backward();
    await optimizer.step();
    return [loss, out];
  }
  return [model, step];
}
