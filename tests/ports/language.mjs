// Language models, as Llama's, transformers' and Mamba's authors write them; language.py is the same in PyTorch.
import * as torch from "../../dist/in-node/index.js";
import { filled, integers, numbers } from "./given.mjs";

const { nn, optim } = torch,
  F = nn.functional;

class RMSNorm extends nn.Module {
  constructor(dim, eps = 1e-6) {
    super();
    this.eps = eps;
    this.weight = nn.Parameter(torch.ones(dim));
  }
  forward(x) {
    return x.mul(torch.rsqrt(x.pow(2).mean(-1, { keepdim: true }).add(this.eps))).mul(this.weight);
  }
}

function rotateHalf(x) {
  const [x1, x2] = x.chunk(2, { dim: -1 });
  return torch.cat([x2.neg(), x1], { dim: -1 });
}

/** Grouped queries with rotary positions; the cache keeps keys and values of what was said. */
class Attention extends nn.Module {
  constructor(dim, heads, kvHeads) {
    super();
    Object.assign(this, { heads, kvHeads, headDim: dim / heads });
    this.q_proj = nn.Linear(dim, heads * this.headDim, { bias: false });
    this.k_proj = nn.Linear(dim, kvHeads * this.headDim, { bias: false });
    this.v_proj = nn.Linear(dim, kvHeads * this.headDim, { bias: false });
    this.o_proj = nn.Linear(heads * this.headDim, dim, { bias: false });
  }
  forward(x, cos, sin, cache = null) {
    const [B, T] = x.shape;
    let q = this.q_proj(x).view(B, T, this.heads, -1).transpose(1, 2);
    let k = this.k_proj(x).view(B, T, this.kvHeads, -1).transpose(1, 2);
    let v = this.v_proj(x).view(B, T, this.kvHeads, -1).transpose(1, 2);
    q = q.mul(cos).add(rotateHalf(q).mul(sin));
    k = k.mul(cos).add(rotateHalf(k).mul(sin));
    if (cache) {
      if ("k" in cache) {
        k = torch.cat([cache.k, k], { dim: 2 });
        v = torch.cat([cache.v, v], { dim: 2 });
      }
      Object.assign(cache, { k, v });
    }
    const repeats = this.heads / this.kvHeads;
    k = k.repeat_interleave(repeats, { dim: 1 });
    v = v.repeat_interleave(repeats, { dim: 1 });
    const out = F.scaled_dot_product_attention(q, k, v, { is_causal: T > 1 });
    return this.o_proj(out.transpose(1, 2).contiguous().view(B, T, -1));
  }
}

class Layer extends nn.Module {
  constructor(dim, heads, kvHeads) {
    super();
    this.attention_norm = new RMSNorm(dim);
    this.attention = new Attention(dim, heads, kvHeads);
    this.ffn_norm = new RMSNorm(dim);
    this.w1 = nn.Linear(dim, 2 * dim, { bias: false });
    this.w3 = nn.Linear(dim, 2 * dim, { bias: false });
    this.w2 = nn.Linear(2 * dim, dim, { bias: false });
  }
  forward(x, cos, sin, cache = null) {
    const h = x.add(this.attention(this.attention_norm(x), cos, sin, cache));
    const n = this.ffn_norm(h);
    return h.add(this.w2(F.silu(this.w1(n)).mul(this.w3(n))));
  }
}

class Llama extends nn.Module {
  constructor({ words = 11, dim = 16, layers = 2, heads = 4, kvHeads = 2 } = {}) {
    super();
    this.embed = nn.Embedding(words, dim);
    this.layers = nn.ModuleList(Array.from({ length: layers }, () => new Layer(dim, heads, kvHeads)));
    this.norm = new RMSNorm(dim);
    this.lm_head = nn.Linear(dim, words, { bias: false });
    this.lm_head.weight = this.embed.weight;
    const d = dim / heads;
    const frequencies = torch.pow(10000, torch.arange(0, d, 2).float().div(d)).reciprocal();
    this.register_buffer("inv_freq", frequencies, { persistent: false });
  }
  forward(ids, start = 0, caches = null) {
    let angles = torch.outer(torch.arange(start, start + ids.shape[1]).to(this.inv_freq), this.inv_freq);
    angles = torch.cat([angles, angles], { dim: -1 });
    const [cos, sin] = [angles.cos(), angles.sin()];
    let x = this.embed(ids);
    for (const [i, layer] of [...this.layers].entries()) x = layer(x, cos, sin, caches ? caches[i] : null);
    return this.lm_head(this.norm(x));
  }
}

const generate = (model, ids, count) =>
  torch.no_grad(() => {
    const caches = [...model.layers].map(() => ({}));
    let logits = model(ids, 0, caches);
    for (let i = 0; i < count; i++) {
      const following = logits.index(":", -1).argmax(-1, { keepdim: true });
      ids = torch.cat([ids, following], { dim: 1 });
      logits = model(following, ids.shape[1] - 1, caches);
    }
    return logits.index(":", -1);
  });

export function llama() {
  const model = filled(new Llama());
  const ids = integers(11, [2, 9]);
  const optimizer = optim.AdamW(model.parameters(), { lr: 3e-3, betas: [0.9, 0.95], weight_decay: 0.1 });

  async function step() {
    const logits = model(ids.index(":", ":-1"));
    const loss = F.cross_entropy(logits.reshape(-1, logits.size(-1)), ids.index(":", "1:").reshape(-1), {
      ignore_index: 0,
    });
    optimizer.zero_grad();
    loss.backward();
    nn.utils.clip_grad_norm_(model.parameters(), 1.0);
    await optimizer.step();
    return [loss, generate(model, ids.index(":", ":4"), 3)];
  }
  return [model, step];
}

/** Without a scale, with a bias for each distance, in buckets. */
class T5Attention extends nn.Module {
  constructor(dim, heads, relative, { bidirectional = false } = {}) {
    super();
    Object.assign(this, { heads, bidirectional });
    for (const name of ["q", "k", "v", "o"]) this[name] = nn.Linear(dim, dim, { bias: false });
    if (relative) this.relative_attention_bias = nn.Embedding(8, heads);
  }
  bucket(distance, buckets = 8, furthest = 20) {
    const result = torch.zeros_like(distance);
    if (this.bidirectional) {
      buckets = Math.floor(buckets / 2);
      result.add_(distance.gt(0).to(torch.long).mul(buckets));
      distance = torch.abs(distance);
    } else {
      distance = torch.min(distance, torch.zeros_like(distance)).neg();
    }
    const exact = Math.floor(buckets / 2);
    let far = torch
      .log(distance.float().div(exact))
      .div(Math.log(furthest / exact))
      .mul(buckets - exact)
      .to(torch.long)
      .add(exact);
    far = torch.min(far, torch.full_like(far, buckets - 1));
    return result.add(torch.where(distance.lt(exact), distance, far));
  }
  bias(q, k) {
    const distance = torch.arange(k).index(null, ":").sub(torch.arange(q).index(":", null));
    return this.relative_attention_bias(this.bucket(distance)).permute(2, 0, 1).unsqueeze(0);
  }
  forward(x, memory, bias = null) {
    const split = (t) => t.unflatten(-1, [this.heads, -1]).transpose(1, 2);
    const [q, k, v] = [split(this.q(x)), split(this.k(memory)), split(this.v(memory))];
    let scores = torch.einsum("bhid,bhjd->bhij", q, k);
    if (bias) scores = scores.add(bias);
    const attended = torch.einsum("bhij,bhjd->bhid", F.softmax(scores.float(), { dim: -1 }).type_as(scores), v);
    return this.o(attended.transpose(1, 2).flatten(-2));
  }
}

class T5 extends nn.Module {
  constructor({ words = 9, dim = 12, heads = 3 } = {}) {
    super();
    this.shared = nn.Embedding(words, dim);
    this.encoder = new T5Attention(dim, heads, true, { bidirectional: true });
    this.decoder = new T5Attention(dim, heads, true);
    this.cross = new T5Attention(dim, heads, false);
    this.norms = nn.ModuleList([0, 1, 2, 3].map(() => nn.RMSNorm(dim, { eps: 1e-6 })));
    this.wi_0 = nn.Linear(dim, 2 * dim, { bias: false });
    this.wi_1 = nn.Linear(dim, 2 * dim, { bias: false });
    this.wo = nn.Linear(2 * dim, dim, { bias: false });
  }
  forward(ids, mask, targets) {
    let x = this.shared(ids);
    const padding = mask.index(":", null, null, ":").to(x).rsub(1.0).mul(torch.finfo(x.dtype).min);
    let n = this.norms[0](x);
    x = x.add(this.encoder(n, n, this.encoder.bias(ids.size(1), ids.size(1)).add(padding)));
    let y = this.shared(F.pad(targets.index(":", ":-1"), [1, 0]));
    const T = y.size(1);
    const causal = torch.full([T, T], -Infinity).triu(1);
    n = this.norms[1](y);
    y = y.add(this.decoder(n, n, this.decoder.bias(T, T).add(causal)));
    y = y.add(this.cross(this.norms[2](y), x, padding));
    n = this.norms[3](y);
    y = y.add(this.wo(F.gelu(this.wi_0(n), { approximate: "tanh" }).mul(this.wi_1(n))));
    return y.mul(y.size(-1) ** -0.5).matmul(this.shared.weight.T);
  }
}

export function t5() {
  const model = filled(new T5());
  const [ids, targets] = [integers(8, [2, 7]).add(1), integers(8, [2, 5], 50).add(1)];
  const mask = torch
    .arange(7)
    .index(null, ":")
    .lt(torch.tensor([7, 4]).index(":", null));
  const optimizer = optim.SGD(model.parameters(), { lr: 0.1, momentum: 0.9 });
  const scheduler = optim.lr_scheduler.LambdaLR(optimizer, (epoch) => Math.min(1.0, (epoch + 1) / 2));

  async function step() {
    optimizer.zero_grad();
    const logits = model(ids, mask, targets);
    const loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten());
    loss.backward();
    await optimizer.step();
    scheduler.step();
    return [loss, F.log_softmax(logits, { dim: -1 })];
  }
  return [model, step];
}

/** A selective state space, scanned step by step. */
class Mamba extends nn.Module {
  constructor({ dModel = 6, dState = 4, dConv = 3, dtRank = 2 } = {}) {
    super();
    Object.assign(this, { dtRank, dState });
    const d = 2 * dModel;
    this.in_proj = nn.Linear(dModel, 2 * d, { bias: false });
    this.conv1d = nn.Conv1d(d, d, dConv, { groups: d, padding: dConv - 1 });
    this.x_proj = nn.Linear(d, dtRank + 2 * dState, { bias: false });
    this.dt_proj = nn.Linear(dtRank, d);
    this.A_log = nn.Parameter(
      torch.log(
        torch
          .arange(1, dState + 1)
          .float()
          .repeat(d, 1),
      ),
    );
    this.D = nn.Parameter(torch.ones(d));
    this.out_proj = nn.Linear(d, dModel, { bias: false });
  }
  forward(input) {
    const [B, L] = input.shape;
    let [x, z] = this.in_proj(input).chunk(2, { dim: -1 });
    x = F.silu(this.conv1d(x.transpose(1, 2)).index("...", `:${L}`).transpose(1, 2));
    let [delta, b, c] = this.x_proj(x).split([this.dtRank, this.dState, this.dState], { dim: -1 });
    delta = F.softplus(this.dt_proj(delta));
    const A = torch.exp(this.A_log.float()).neg();
    const dA = torch.exp(torch.einsum("bld,dn->bldn", delta, A));
    const dBx = torch.einsum("bld,bln,bld->bldn", delta, b, x);
    let h = torch.zeros(B, ...A.shape);
    const ys = [];
    for (let t = 0; t < L; t++) {
      h = dA.index(":", t).mul(h).add(dBx.index(":", t));
      ys.push(torch.einsum("bdn,bn->bd", h, c.index(":", t)));
    }
    const y = torch.stack(ys, { dim: 1 }).add(x.mul(this.D));
    return this.out_proj(y.mul(F.silu(z)));
  }
}

export function mamba() {
  const model = filled(nn.Sequential(new Mamba(), nn.RMSNorm(6, { eps: 1e-5 }), nn.Linear(6, 6)));
  const x = numbers([2, 6, 6], 17);
  const optimizer = optim.Adagrad(model.parameters(), { lr: 0.02, eps: 1e-4 });

  async function step() {
    optimizer.zero_grad();
    const out = model(x.index(":", ":-1"));
    const loss = F.mse_loss(out, x.index(":", "1:"));
    loss.backward();
    await optimizer.step();
    return [loss, out];
  }
  return [model, step];
}

/** Two LSTMs and Bahdanau's attention; sequences of different lengths are packed. */
class Seq2Seq extends nn.Module {
  constructor({ words = 10, dim = 6 } = {}) {
    super();
    this.embed = nn.Embedding(words, dim, { padding_idx: 0 });
    this.encoder = nn.LSTM(dim, dim, { batch_first: true, bidirectional: true });
    this.bridge = nn.Linear(2 * dim, dim);
    this.cell = nn.LSTMCell(3 * dim, dim);
    this.query = nn.Linear(dim, dim, { bias: false });
    this.key = nn.Linear(2 * dim, dim, { bias: false });
    this.energy = nn.Linear(dim, 1, { bias: false });
    this.out = nn.Linear(dim, words);
  }
  async forward(ids, lengths, targets) {
    const { pack_padded_sequence, pad_packed_sequence } = nn.utils.rnn;
    const onCpu = await lengths.cpu();
    const packed = pack_padded_sequence(this.embed(ids), onCpu, true, { enforce_sorted: false });
    const [packedStates, [last]] = this.encoder(packed);
    const [states] = pad_packed_sequence(packedStates, { batch_first: true });
    const mask = torch.arange(states.size(1)).index(null, ":").ge(lengths.index(":", null));
    let h = torch.tanh(this.bridge(torch.cat([last.index(0), last.index(1)], { dim: -1 })));
    let c = torch.zeros_like(h);
    const logits = [];
    for (let t = 0; t < targets.size(1); t++) {
      const word = t === 0 ? torch.zeros_like(targets.index(":", 0)) : targets.index(":", t - 1);
      const scores = this.energy(torch.tanh(this.query(h).unsqueeze(1).add(this.key(states)))).squeeze(-1);
      const weights = scores.masked_fill(mask, -Infinity).softmax(-1);
      const context = torch.bmm(weights.unsqueeze(1), states).squeeze(1);
      [h, c] = this.cell(torch.cat([this.embed(word), context], { dim: -1 }), [h, c]);
      logits.push(this.out(h));
    }
    return torch.stack(logits, { dim: 1 });
  }
}

export function seq2seq() {
  const model = filled(new Seq2Seq());
  const lengths = torch.tensor([3, 6, 4], { dtype: torch.long });
  const targets = integers(9, [3, 4], 70).add(1);
  const ids = integers(9, [3, 6])
    .add(1)
    .masked_fill(torch.arange(6).index(null, ":").ge(lengths.index(":", null)), 0);
  const optimizer = optim.Adam(model.parameters(), { lr: 0.01, eps: 1e-4 });
  const criterion = nn.NLLLoss({ ignore_index: 0, reduction: "sum" });

  async function step() {
    optimizer.zero_grad();
    const logits = await model(ids, lengths, targets);
    const loss = criterion(logits.log_softmax(-1).transpose(1, 2), targets).div(targets.numel());
    loss.backward();
    nn.utils.clip_grad_value_(model.parameters(), 0.1);
    await optimizer.step();
    return [loss, logits];
  }
  return [model, step];
}
