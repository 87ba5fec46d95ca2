// Idioms of transformers and of audio: caches, tied weights, adapters, random fields, packed rows, causal convolutions;
// sequences.py is the same in PyTorch.
import * as torch from "../../dist/in-node/index.js";
import { filled, integers, numbers } from "./given.mjs";

const { nn, optim } = torch,
  F = nn.functional,
  { pack_padded_sequence, pad_packed_sequence, pad_sequence } = nn.utils.rnn,
  range = (n) => Array.from({ length: n }, (_, i) => i);

function rotate_half(x) {
  const [x1, x2] = x.chunk(2, { dim: -1 });
  return torch.cat([x2.neg(), x1], { dim: -1 });
}

class CausalAttention extends nn.Module {
  constructor(dim = 12, heads = 2) {
    super();
    this.heads = heads;
    [this.c_attn, this.c_proj] = [nn.Linear(dim, 3 * dim), nn.Linear(dim, dim, { bias: false })];
  }
  forward(x, past = null) {
    const [B, T, C] = x.shape;
    let [q, k, v] = this.c_attn(x)
      .split(C, { dim: 2 })
      .map((y) => y.view(B, T, this.heads, -1).transpose(1, 2));
    const start = past === null ? 0 : past[0].size(-2);
    const freqs = torch.outer(
      torch.arange(start, start + T).to(x.dtype),
      torch.pow(100, torch.arange(0, 6, 2).to(x.dtype).div(6).neg()),
    );
    const [cos, sin] = [torch.cat([freqs, freqs], -1).cos(), torch.cat([freqs, freqs], -1).sin()];
    [q, k] = [q.mul(cos).add(rotate_half(q).mul(sin)), k.mul(cos).add(rotate_half(k).mul(sin))];
    if (past !== null) [k, v] = [torch.cat([past[0], k], { dim: -2 }), torch.cat([past[1], v], { dim: -2 })];
    const y = F.scaled_dot_product_attention(q, k, v, { is_causal: past === null });
    return [this.c_proj(y.transpose(1, 2).contiguous().view(B, T, C)), [k, v]];
  }
}

class GPT extends nn.Module {
  constructor(vocab = 11, dim = 12) {
    super();
    this.transformer = nn.ModuleDict({
      wte: nn.Embedding(vocab, dim),
      h: nn.ModuleList(range(2).map(() => new CausalAttention(dim))),
      ln_f: nn.LayerNorm(dim),
    });
    this.lm_head = nn.Linear(dim, vocab, { bias: false });
    this.transformer.wte.weight = this.lm_head.weight;
  }
  forward(idx, past = [null, null]) {
    let x = this.transformer.wte(idx);
    const kept = [];
    for (const [i, attention] of [...this.transformer.h].entries()) {
      const [y, own] = attention(F.layer_norm(x, x.shape.slice(-1)), past[i]);
      x = x.add(y);
      kept.push(own);
    }
    return [this.lm_head(this.transformer.ln_f(x)), kept];
  }
  generate(idx, n) {
    return torch.no_grad(() => {
      let [logits, past] = this(idx);
      for (let i = 0; i < n; i++) {
        idx = torch.cat([idx, logits.index(":", -1).argmax(-1, { keepdim: true })], { dim: 1 });
        [logits, past] = this(idx.index(":", "-1:"), past);
      }
      return [idx, logits];
    });
  }
}

export function gpt() {
  const model = filled(new GPT());
  const idx = integers(11, [2, 9], 5);
  const optimizer = optim.AdamW(model.parameters(), { lr: 3e-3, betas: [0.9, 0.95], weight_decay: 0.1, eps: 1e-4 });
  const lr_of = (it) => Math.min(1.0, (it + 1) / 2) * 0.5 * (1.0 + Math.cos((Math.PI * it) / 4));
  const scheduler = optim.lr_scheduler.LambdaLR(optimizer, lr_of);

  function step() {
    const [logits] = model(idx.index(":", ":-1"));
    const loss = F.cross_entropy(logits.view(-1, logits.size(-1)), idx.index(":", "1:").reshape(-1), {
      ignore_index: 3,
    });
    optimizer.zero_grad({ set_to_none: true });
    loss.backward();
    nn.utils.clip_grad_norm_(model.parameters(), 1.0);
    optimizer.step();
    scheduler.step();
    const [text, last] = model.generate(idx.index(":", ":3"), 4);
    return [loss, torch.cat([text.to(last.dtype).unsqueeze(1), last], { dim: -1 })];
  }
  return [model, step];
}

export function masked_language() {
  const layer = nn.TransformerEncoderLayer(8, 2, 16, 0.0, { activation: "gelu", batch_first: true, norm_first: true });
  const model = filled(
    nn.ModuleDict({
      embed: nn.Embedding(9, 8, { padding_idx: 0 }),
      encoder: nn.TransformerEncoder(layer, 2, nn.LayerNorm(8)),
      head: nn.Linear(8, 9),
    }),
  );
  let input_ids = integers(8, [3, 6], 21).add(1);
  const lengths = torch.tensor([6, 4, 2]);
  const attention_mask = torch.arange(6).index(null, ":").lt(lengths.index(":", null));
  input_ids = input_ids.masked_fill(attention_mask.logical_not(), 0);
  const masked = numbers([3, 6], 13).lt(-0.2).logical_and(attention_mask);
  const optimizer = optim.RAdam(model.parameters(), {
    lr: 5e-3,
    decoupled_weight_decay: true,
    weight_decay: 0.01,
    eps: 1e-4,
  });

  function step() {
    const hidden = model.get("encoder")(model.get("embed")(torch.where(masked, 8, input_ids)), {
      src_key_padding_mask: attention_mask.logical_not(),
    });
    const logits = model.get("head")(hidden);
    const loss = F.cross_entropy(logits.transpose(1, 2), torch.where(masked, input_ids, -100));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return [loss, logits.masked_fill(attention_mask.logical_not().unsqueeze(-1), 0.0).log_softmax({ dim: -1 })];
  }
  return [model, step];
}

class LoRALinear extends nn.Module {
  constructor(base, r = 2, alpha = 4) {
    super();
    this.base = base;
    this.lora_A = nn.Parameter(torch.empty(r, base.in_features));
    this.lora_B = nn.Parameter(torch.empty(base.out_features, r));
    this.scaling = alpha / r;
  }
  forward(x) {
    return this.base(x).add(x.matmul(this.lora_A.T).matmul(this.lora_B.T).mul(this.scaling));
  }
  merged() {
    return this.base.weight.add(this.lora_B.mul(this.scaling).matmul(this.lora_A));
  }
}

export function adapters() {
  const model = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Sequential(nn.Linear(8, 8), nn.ReLU()), nn.Linear(8, 3));
  for (const [name, module] of [...model.named_modules()]) {
    if (!(module instanceof nn.Linear)) continue;
    const path = name.split("."),
      last = path.pop();
    model.get_submodule(path.join("."))[last] = new LoRALinear(module);
  }
  filled(model);
  for (const [name, p] of model.named_parameters()) p.requires_grad_(name.includes("lora_"));
  const [x, y] = [numbers([6, 5], 4), integers(3, [6], 9)];
  const optimizer = optim.NAdam(
    model.parameters().filter((p) => p.requires_grad),
    { lr: 1e-2, eps: 1e-4 },
  );

  function step() {
    const loss = F.nll_loss(F.log_softmax(model(x), { dim: 1 }), y);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    const trained = model
      .parameters()
      .filter((p) => p.requires_grad)
      .reduce((sum, p) => sum + p.numel(), 0);
    return torch.no_grad(() => [loss, torch.cat([model[2][0].merged().flatten(), torch.tensor([trained])])]);
  }
  return [model, step];
}

class CRF extends nn.Module {
  constructor(tags = 4) {
    super();
    this.lstm = nn.LSTM(3, 4, { bidirectional: true });
    this.emit = nn.Linear(8, tags);
    this.transitions = nn.Parameter(torch.zeros(tags, tags));
    [this.start, this.end] = [nn.Parameter(torch.zeros(tags)), nn.Parameter(torch.zeros(tags))];
  }
  score(emissions, tags, mask) {
    const [length, batch] = tags.shape;
    const each = torch.arange(batch);
    let score = this.start.index(tags.index(0)).add(emissions.index(0, each, tags.index(0)));
    for (let i = 1; i < length; i++) {
      const [before, now] = [tags.index(i - 1), tags.index(i)];
      score = score.add(
        this.transitions
          .index(before, now)
          .add(emissions.index(i, each, now))
          .mul(mask.index(i)),
      );
    }
    return score.add(this.end.index(tags.index(mask.long().sum({ dim: 0 }).sub(1), each)));
  }
  normalizer(emissions, mask) {
    let score = this.start.add(emissions.index(0));
    for (let i = 1; i < emissions.size(0); i++) {
      const following = torch.logsumexp(score.unsqueeze(2).add(this.transitions).add(emissions.index(i).unsqueeze(1)), {
        dim: 1,
      });
      score = torch.where(mask.index(i).unsqueeze(1), following, score);
    }
    return torch.logsumexp(score.add(this.end), { dim: 1 });
  }
  decode(emissions) {
    let score = this.start.add(emissions.index(0)),
      indices;
    const history = [];
    for (const e of emissions.index("1:")) {
      [score, indices] = score.unsqueeze(2).add(this.transitions).add(e.unsqueeze(1)).max({ dim: 1 });
      history.push(indices);
    }
    const best = [score.add(this.end).argmax({ dim: 1 })];
    for (const indices of history.reverse()) best.push(indices.gather(1, best.at(-1).unsqueeze(1)).squeeze(1));
    return torch.stack(best.reverse());
  }
}

export function random_field() {
  const model = filled(new CRF());
  const rows = [5, 3, 2].map((n) => numbers([n, 3], 10 * n));
  const [x, lengths] = [pad_sequence(rows), torch.tensor([5, 3, 2])];
  const [tags, mask] = [integers(4, [5, 3], 8), torch.arange(5).index(":", null).lt(lengths)];
  const optimizer = optim.Adagrad(model.parameters(), { lr: 0.05, eps: 1e-6 });

  async function step() {
    const [packed] = model.lstm(await pack_padded_sequence(x, lengths));
    const [hidden] = await pad_packed_sequence(packed);
    const emissions = model.emit(hidden);
    const loss = model
      .normalizer(emissions, mask)
      .sub(model.score(emissions, tags, mask))
      .mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    const best = torch.no_grad(() => model.decode(emissions));
    return [loss, torch.cat([emissions.flatten(0, 1), best.to(emissions.dtype).flatten().view(-1, 1).expand(-1, 4)])];
  }
  return [model, step];
}

class Gated extends nn.Module {
  constructor(channels, dilation) {
    super();
    this.pad = dilation;
    this.conv = nn.utils.parametrizations.weight_norm(nn.Conv1d(channels, 2 * channels, 2, { dilation }));
    this.skip = nn.Conv1d(channels, channels, 1);
  }
  forward(x) {
    const y = F.glu(this.conv(F.pad(x, [this.pad, 0])), { dim: 1 });
    return [x.add(y), this.skip(y)];
  }
}

class WaveNet extends nn.Module {
  constructor(classes = 16, channels = 4) {
    super();
    this.embed = nn.Embedding(classes, channels);
    this.layers = nn.ModuleList(range(3).map((i) => new Gated(channels, 2 ** i)));
    this.out = nn.Sequential(nn.ReLU(), nn.Conv1d(channels, classes, 1));
  }
  forward(x) {
    x = this.embed(x).mT;
    let total = torch.zeros([]),
      skip;
    for (const layer of this.layers) {
      [x, skip] = layer(x);
      total = total.add(skip);
    }
    return this.out(total);
  }
}

export function wavenet() {
  const model = filled(new WaveNet());
  const wave = torch.sin(torch.arange(0, 24).mul(0.7)).view(2, 12);
  const mu = 15.0;
  const companded = torch
    .sign(wave)
    .mul(torch.log1p(wave.abs().mul(mu)))
    .div(Math.log1p(mu));
  const codes = companded.add(1).div(2).mul(mu).add(0.5).long();
  const optimizer = optim.Adam(model.parameters(), { lr: 1e-2, eps: 1e-4 });
  const { LinearLR, CosineAnnealingLR, SequentialLR } = optim.lr_scheduler;
  const scheduler = SequentialLR(
    optimizer,
    [LinearLR(optimizer, 0.5, { total_iters: 1 }), CosineAnnealingLR(optimizer, 4)],
    { milestones: [1] },
  );

  function step() {
    const logits = model(codes.index(":", ":-1"));
    const loss = F.cross_entropy(logits, codes.index(":", "1:"));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    scheduler.step();
    const probs = F.softmax(logits, { dim: 1 });
    const levels = torch.linspace(-1, 1, 16);
    return [loss, torch.cat([torch.einsum("bct,c->bt", probs, levels), probs.mul(probs.log()).sum(1).neg()])];
  }
  return [model, step];
}

class Harmonics extends nn.Module {
  constructor() {
    super();
    this.amplitudes = nn.Parameter(torch.zeros(5));
    this.register_buffer("window", torch.hann_window(16));
    this.filter = nn.Linear(5, 9);
  }
}

export function vocoder() {
  const model = filled(new Harmonics());
  const t = torch.arange(64).div(64);
  const wanted = torch.sin(t.mul(2 * Math.PI * 6)).add(torch.cos(t.mul(2 * Math.PI * 13)).mul(0.3));
  const optimizer = optim.SGD(model.parameters(), { lr: 0.02, momentum: 0.9 });

  function step() {
    const tones = torch.sin(
      torch
        .arange(1, 6)
        .index(":", null)
        .mul(2 * Math.PI)
        .mul(3)
        .mul(t),
    );
    let wave = model.amplitudes.tanh().index(":", null).mul(tones).sum(0);
    const S = torch.stft(wave, 16, 4, { window: model.window, return_complex: true });
    const gains = F.softplus(model.filter(model.amplitudes)).unsqueeze(-1);
    wave = torch.istft(S.mul(gains), 16, 4, { window: model.window, length: 64 });
    let loss = torch.zeros([]);
    for (const n of [16, 32]) {
      const [a, b] = [wave, wanted].map((x) =>
        torch
          .stft(x, n, n / 4, { window: torch.hann_window(n), return_complex: true })
          .abs()
          .clamp({ min: 0.1 }),
      );
      loss = loss.add(torch.linalg.norm(a.sub(b)).div(torch.linalg.norm(b))).add(F.l1_loss(a.log(), b.log()));
    }
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return [loss, torch.fft.irfft(torch.fft.rfft(wave).index(":12"), { n: 32 })];
  }
  return [model, step];
}
