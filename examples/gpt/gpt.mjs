// A small GPT learns to continue a text letter by letter; gpt.py is the same program in PyTorch.
// It runs in Node (train.mjs) and in a page alike.
import * as torch from "../../dist/index.js";
import { letters, passages } from "../alice/text.mjs";

const { nn, optim } = torch,
  F = nn.functional;
const BATCH = 8,
  LENGTH = 32,
  WIDTH = 32,
  HEADS = 4,
  LAYERS = 2,
  STEPS = 200;

class Attention extends nn.Module {
  constructor(width) {
    super();
    this.qkv = nn.Linear(width, 3 * width);
    this.out = nn.Linear(width, width);
  }

  forward(x) {
    const [q, k, v] = this.qkv(x)
      .chunk(3, 2)
      .map((part) => part.unflatten(2, [HEADS, -1]).transpose(1, 2));
    const seen = F.scaled_dot_product_attention(q, k, v, { is_causal: true });
    return this.out(seen.transpose(1, 2).flatten(2));
  }
}

class Block extends nn.Module {
  constructor(width) {
    super();
    this.norm1 = nn.LayerNorm(width);
    this.attention = new Attention(width);
    this.norm2 = nn.LayerNorm(width);
    this.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width));
  }

  forward(x) {
    x = x.add(this.attention(this.norm1(x)));
    return x.add(this.mlp(this.norm2(x)));
  }
}

export class GPT extends nn.Module {
  constructor({ count = letters.length, width = WIDTH, layers = LAYERS, length = LENGTH } = {}) {
    super();
    this.letter = nn.Embedding(count, width);
    this.place = nn.Embedding(length, width);
    this.blocks = nn.Sequential(...Array.from({ length: layers }, () => new Block(width)));
    this.norm = nn.LayerNorm(width);
    this.head = nn.Linear(width, count, { bias: false });
    this.apply(this.start);
  }

  start(module) {
    if (module instanceof nn.Linear || module instanceof nn.Embedding) nn.init.normal_(module.weight, { std: 0.02 });
    if (module instanceof nn.Linear && module.bias) nn.init.zeros_(module.bias);
  }

  forward(ids) {
    const x = this.letter(ids).add(this.place(torch.arange(ids.size(1), { device: ids.device })));
    return this.head(this.norm(this.blocks(x)));
  }
}

/** AdamW for a GPT: its matrices decay, the rest does not. */
export function adamw(model, lr) {
  const matrices = model.parameters().filter((p) => p.dim() > 1);
  const others = model.parameters().filter((p) => p.dim() === 1);
  return optim.AdamW([{ params: matrices }, { params: others, weight_decay: 0 }], {
    lr,
    betas: [0.9, 0.99],
    weight_decay: 0.1,
  });
}

/** Yields the loss of each step, from the weights with which PyTorch began. */
export async function* train(device, steps = STEPS) {
  const model = new GPT();
  await model.load_state_dict(new URL("weights.safetensors", import.meta.url));
  await model.to(device);
  const optimizer = adamw(model, 1e-2);
  const warmup = optim.lr_scheduler.LinearLR(optimizer, 0.1, 1, 20);
  const decay = optim.lr_scheduler.CosineAnnealingLR(optimizer, STEPS - 20, 1e-3);
  const schedule = optim.lr_scheduler.SequentialLR(optimizer, [warmup, decay], [20]);
  for (let step = 0; step < steps; step++) {
    const [x, y] = passages(step, BATCH, LENGTH, device);
    const loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten());
    optimizer.zero_grad();
    loss.backward();
    nn.utils.clip_grad_norm_(model.parameters(), 1);
    await optimizer.step();
    schedule.step();
    yield loss;
  }
}
