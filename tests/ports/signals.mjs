// Sound and graphs: spectrograms, transcripts, messages along edges; signals.py is the same in PyTorch.
import * as torch from "../../dist/in-node/index.js";
import { filled, integers, numbers } from "./given.mjs";

const { nn, optim } = torch,
  F = nn.functional;

/** torchaudio's triangles. */
function melFilters(bins, mels, rate) {
  const frequencies = torch.linspace(0, rate / 2, bins);
  const highest = 2595.0 * Math.log10(1.0 + rate / 2 / 700.0);
  const exponents = torch.linspace(0.0, highest, mels + 2).div(2595.0);
  const points = torch.pow(10.0, exponents).sub(1.0).mul(700.0);
  const widths = points.index("1:").sub(points.index(":-1"));
  const slopes = points.unsqueeze(0).sub(frequencies.unsqueeze(1));
  const down = slopes.index(":", ":-2").neg().div(widths.index(":-1"));
  const up = slopes.index(":", "2:").div(widths.index("1:"));
  return torch.clamp(torch.min(down, up), { min: 0.0 });
}

class Keywords extends nn.Module {
  constructor({ nFft = 32, mels = 10, classes = 3 } = {}) {
    super();
    this.nFft = nFft;
    this.register_buffer("window", torch.hann_window(nFft));
    this.register_buffer("filters", melFilters(nFft / 2 + 1, mels, 800));
    this.net = nn.Sequential(
      nn.InstanceNorm1d(mels),
      nn.Conv1d(mels, 8, 3, { padding: "same" }),
      nn.PReLU(),
      nn.MaxPool1d(2),
      nn.Conv1d(8, 8, 3, { dilation: 2 }),
      nn.Hardswish(),
      nn.AdaptiveMaxPool1d(2),
      nn.Flatten(),
      nn.Linear(16, classes),
    );
  }
  forward(sound) {
    const spectrum = torch.stft(sound, this.nFft, {
      hop_length: 8,
      window: this.window,
      center: true,
      pad_mode: "reflect",
      return_complex: true,
    });
    const power = spectrum.abs().pow(2.0);
    const mel = torch.matmul(power.transpose(-1, -2), this.filters).transpose(-1, -2);
    return this.net(torch.log10(torch.clamp(mel, { min: 1e-3 })).mul(10.0));
  }
}

export function keywords() {
  const model = filled(new Keywords());
  const t = torch.arange(200).div(800);
  const pitch = torch.tensor([[60.0], [110.0], [220.0], [350.0]]);
  const sound = torch.sin(pitch.mul(2 * Math.PI).mul(t)).add(numbers([4, 200], 8).mul(0.5));
  const labels = integers(3, [4]);
  const optimizer = optim.RAdam(model.parameters(), { lr: 0.01 });

  async function step() {
    optimizer.zero_grad();
    const logits = model(sound);
    const loss = F.multi_margin_loss(logits, labels).add(F.cross_entropy(logits, labels));
    loss.backward();
    await optimizer.step();
    return [loss, logits];
  }
  return [model, step];
}

class Transcriber extends nn.Module {
  constructor({ features = 5, hidden = 6, letters = 6 } = {}) {
    super();
    this.conv = nn.utils.parametrizations.weight_norm(nn.Conv1d(features, 8, 3, { stride: 2, padding: 1 }));
    this.gru = nn.GRU(8, hidden, { num_layers: 2, bidirectional: true });
    this.fc = nn.Linear(2 * hidden, letters);
  }
  forward(x) {
    const h = F.glu(this.conv(x).repeat_interleave(2, { dim: 1 }), { dim: 1 });
    const [out] = this.gru(h.permute(2, 0, 1));
    return F.log_softmax(this.fc(out), { dim: -1 });
  }
}

export function transcripts() {
  const model = filled(new Transcriber());
  const [x, targets] = [numbers([2, 5, 18], 6), integers(5, [2, 4], 90).add(1)];
  const [inputLengths, targetLengths] = [
    [9, 7],
    [4, 2],
  ].map((n) => torch.tensor(n, { dtype: torch.long }));
  const criterion = nn.CTCLoss({ blank: 0, zero_infinity: true });
  const optimizer = optim.SGD(model.parameters(), { lr: 0.05, momentum: 0.9, weight_decay: 1e-3 });
  const scheduler = optim.lr_scheduler.OneCycleLR(optimizer, { max_lr: 0.1, total_steps: 6 });

  async function step() {
    optimizer.zero_grad();
    const logProbs = model(x);
    const loss = criterion(logProbs, targets, inputLengths, targetLengths);
    loss.backward();
    await optimizer.step();
    scheduler.step();
    return [loss, logProbs];
  }
  return [model, step];
}

const EDGES = [
  [0, 1, 1, 2, 3, 3, 4, 5, 5, 0],
  [1, 0, 2, 3, 1, 4, 5, 3, 0, 5],
];

class GCNConv extends nn.Module {
  constructor(cIn, cOut) {
    super();
    this.lin = nn.Linear(cIn, cOut, { bias: false });
    this.bias = nn.Parameter(torch.zeros(cOut));
  }
  forward(x, edgeIndex) {
    const n = x.size(0);
    const loops = torch.arange(n).unsqueeze(0).repeat(2, 1);
    const [row, col] = torch.cat([edgeIndex, loops], { dim: 1 });
    const degree = torch.zeros(n).scatter_add_(0, col, torch.ones(col.size(0)));
    const inverse = degree.pow(-0.5);
    inverse.set([inverse.eq(Infinity)], 0);
    const norm = inverse.index(row).mul(inverse.index(col));
    const messages = this.lin(x).index(row).mul(norm.view(-1, 1));
    return torch.zeros(n, messages.size(1)).index_add(0, col, messages).add(this.bias);
  }
}

class GATConv extends nn.Module {
  constructor(cIn, cOut, heads) {
    super();
    Object.assign(this, { heads, cOut });
    this.lin = nn.Linear(cIn, heads * cOut, { bias: false });
    this.att_src = nn.Parameter(torch.zeros(1, heads, cOut));
    this.att_dst = nn.Parameter(torch.zeros(1, heads, cOut));
  }
  forward(x, edgeIndex) {
    const n = x.size(0),
      [src, dst] = edgeIndex;
    const h = this.lin(x).view(n, this.heads, this.cOut);
    let alpha = h.mul(this.att_src).sum(-1).index(src).add(h.mul(this.att_dst).sum(-1).index(dst));
    alpha = F.leaky_relu(alpha, 0.2);
    const index = dst.unsqueeze(-1).expand_as(alpha);
    const highest = torch.full([n, this.heads], -Infinity).scatter_reduce(0, index, alpha, "amax");
    alpha = torch.exp(alpha.sub(highest.index(dst).detach()));
    const total = torch.zeros(n, this.heads).scatter_add(0, index, alpha);
    alpha = alpha.div(total.index_select(0, dst).add(1e-16));
    const out = torch.zeros(n, this.heads, this.cOut);
    out.index_add_(0, dst, h.index(src).mul(alpha.unsqueeze(-1)));
    return out.mean({ dim: 1 });
  }
}

class GNN extends nn.Module {
  constructor() {
    super();
    this.gcn = new GCNConv(5, 8);
    this.gat = new GATConv(8, 6, 2);
    this.out = nn.Linear(12, 2);
  }
  forward(x, edgeIndex, batch) {
    x = F.relu(this.gcn(x, edgeIndex));
    x = F.elu(this.gat(x, edgeIndex));
    const index = batch.index(":", null).expand(-1, x.size(1));
    const pooled = (reduce) => torch.zeros(2, x.size(1)).scatter_reduce(0, index, x, { reduce, include_self: false });
    return this.out(torch.cat([pooled("mean"), pooled("amax")], { dim: -1 }));
  }
}

export function graphs() {
  const model = filled(new GNN());
  const long = (list) => torch.tensor(list, { dtype: torch.long });
  const [x, edgeIndex] = [numbers([6, 5], 13), long(EDGES)];
  const [batch, labels] = [long([0, 0, 0, 1, 1, 1]), long([1, 0])];
  const optimizer = optim.Adam(model.parameters(), { lr: 0.01, weight_decay: 5e-4, eps: 1e-4 });

  async function step() {
    optimizer.zero_grad();
    const out = model(x, edgeIndex, batch);
    const loss = F.nll_loss(F.log_softmax(out, { dim: 1 }), labels);
    loss.backward();
    await optimizer.step();
    return [loss, out];
  }
  return [model, step];
}
