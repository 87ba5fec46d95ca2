// Functions exported to ONNX and read again give what they gave: node exported_ops.mjs OUT cpu|webgpu
// OUT gets NAME.onnx.  Prints {name: failure or null} as JSON.
import { mkdirSync } from "node:fs";
import { distance } from "../exchange/values.mjs";

const [out, device] = process.argv.slice(2);
const torch = await import("../../dist/in-node/index.js"),
  onnx = await import("../../dist/in-node/runtime/onnx/both-ways.js");
if (device === "webgpu" && !(await torch.initWebGPUAsync())) throw new Error("no WebGPU in Node");
torch.set_slow_warnings(false);
mkdirSync(out, { recursive: true });
const { nn } = torch,
  F = nn.functional;
torch.manual_seed(1);
const r = (...size) => torch.rand(size, { device }),
  n = (...size) => torch.randn(size, { device }),
  whole = (high, ...size) => torch.randint(0, high, size, { device }),
  at = (...list) => torch.tensor(list, { dtype: "int64", device }),
  on = (module) => module.eval().to(device);
const modules = {
  batch_norm: on(nn.BatchNorm2d(4)),
  lstm: on(nn.LSTM(3, 4, { batch_first: true, bidirectional: true })),
  gru: on(nn.GRU(3, 4, { batch_first: true })),
  attention: on(nn.MultiheadAttention(4, 2, { batch_first: true })),
  transformer: on(nn.TransformerEncoderLayer(4, 2, 8, { batch_first: true })),
};

/** By name: a function, and its arguments. */
const CASES = {
  // convolutions and pools
  conv: [(x, w, b) => F.conv2d(x, w, b, { stride: 2, padding: 1 }), n(1, 2, 6, 6), n(4, 2, 3, 3), n(4)],
  conv_groups: [(x, w) => F.conv2d(x, w, { groups: 2, dilation: 2 }), n(1, 2, 8, 8), n(4, 1, 3, 3)],
  conv_same: [(x, w) => F.conv2d(x, w, { padding: "same" }), n(1, 2, 8, 8), n(4, 2, 4, 3)],
  conv_alone: [(x, w) => F.conv1d(x, w), n(2, 8), n(3, 2, 3)],
  conv_whole: [(x, w) => F.conv1d(x, w), whole(5, 1, 2, 8), whole(5, 3, 2, 3)],
  conv_transpose: [(x, w) => F.conv_transpose2d(x, w, { stride: 2, output_padding: 1 }), n(1, 2, 4, 4), n(2, 3, 3, 3)],
  max_pool: [(x) => F.max_pool2d(x, 3, 2, 1), n(1, 2, 6, 6)],
  max_pool_ceil: [(x) => F.max_pool2d(x, 3, 2, { ceil_mode: true }), n(1, 2, 6, 6)],
  max_pool_places: [(x) => F.max_pool2d(x, 2, { return_indices: true }), n(1, 2, 6, 6)],
  avg_pool: [(x) => F.avg_pool2d(x, 3, 2, 1), n(1, 2, 6, 6)],
  avg_pool_without_pad: [(x) => F.avg_pool2d(x, 3, 2, 1, { count_include_pad: false }), n(1, 2, 6, 6)],
  adaptive_pool: [(x) => F.adaptive_avg_pool2d(x, [3, 2]), n(1, 2, 7, 7)],
  unfold: [(x) => F.unfold(x, 3), n(1, 2, 6, 6)],
  fold: [(x) => F.fold(x, [6, 6], 3), n(1, 18, 16)],
  bilinear: [(x) => F.interpolate(x, { scale_factor: 2, mode: "bilinear" }), n(1, 2, 4, 4)],
  bicubic: [(x) => F.interpolate(x, { size: [7, 5], mode: "bicubic" }), n(1, 2, 4, 4)],
  grid: [(x, g) => F.grid_sample(x, g), n(1, 2, 4, 4), n(1, 3, 3, 2)],
  // norms and losses
  batch_norm_training: [(x) => F.batch_norm(x, null, null, { training: true }), n(8, 6, 3)],
  layer_norm: [(x) => F.layer_norm(x, [5]), n(3, 5)],
  group_norm: [(x) => F.group_norm(x, 2), n(2, 4, 3)],
  rms_norm: [(x) => F.rms_norm(x, [5]), n(3, 5)],
  cross_entropy: [(x, t) => F.cross_entropy(x, t), n(4, 5), whole(5, 4)],
  with_logits: [(x, t) => F.binary_cross_entropy_with_logits(x, t), n(4, 5), r(4, 5)],
  // pointwise
  softplus: [(x) => F.softplus(x), n(7)],
  gelu: [(x) => [F.gelu(x), F.gelu(x, { approximate: "tanh" })], n(7)],
  clamped: [(x) => torch.clamp(x, -0.5, 0.5), n(5)],
  rounded: [(x) => [torch.round(x.mul(4)), torch.trunc(x.mul(4)), torch.floor(x.mul(4))], n(5)],
  remainders: [(x) => [torch.fmod(x.mul(4), 1.5), torch.remainder(x.mul(4), 1.5)], n(5)],
  angles: [(a, b) => [torch.atan2(a, b), torch.sin(a), torch.tan(b)], n(5), n(5)],
  small: [(x) => [torch.log1p(x), torch.expm1(x)], r(5)],
  bessel: [(x) => torch.i0(x), n(5)],
  whole_numbers: [(x) => [torch.remainder(x.sub(20), 7), x.bitwise_and(6), x.bitwise_not()], whole(50, 6)],
  shifts: [
    (x, by) => [x.sub(25).bitwise_right_shift(by), x.bitwise_left_shift(by.clamp(0, 9))],
    whole(50, 6),
    at(0, 1, 2, 31, 40, -1),
  ],
  classes: [(x) => F.one_hot(x, 5), whole(5, 6)],
  booleans: [(x) => [torch.logical_not(x.gt(0)), torch.where(x.gt(0), x, x.mul(2))], n(6)],
  types: [(x) => [x.mul(9).to("int32"), x.gt(0).to("float32"), x.to("bool")], n(6)],
  // reductions and scans
  greatest: [(x) => [torch.argmax(x, 1), torch.argmin(x), torch.amax(x, [0, 2])], n(4, 5, 2)],
  logic: [(x) => [torch.any(x.gt(1), 1), torch.all(x.gt(-1), 0)], n(4, 5)],
  moments: [(x) => [torch.std(x, 1), torch.var(x), torch.mean(x, 0), torch.prod(x, 1)], n(4, 5)],
  softmax: [(x) => [F.softmax(x, 1), F.log_softmax(x, 0)], n(3, 4)],
  logsumexp: [(x) => torch.logsumexp(x, 1), n(3, 4)],
  running: [(x) => [torch.cumsum(x, 0), torch.cumprod(x, 1), torch.cummax(x, 1)[0]], n(4, 5)],
  running_along_one: [(x) => torch.cumprod(x.mul(2), 0), n(1, 5)],
  sorted: [(x) => [torch.sort(x, 1)[0], torch.topk(x, 3, 1)[1], torch.argsort(x, 0)], n(5, 7)],
  // places
  searched: [
    (rows, x, i) => [
      torch.searchsorted(rows.index(0), x),
      torch.searchsorted(rows, x, { side: "right" }),
      torch.bucketize(i, i.index(":3"), { right: true }),
    ],
    torch.sort(n(2, 4), 1)[0],
    n(2, 3),
    at(1, 1, 4, 0, 9, 3),
  ],
  gather: [(x, i) => torch.gather(x, 1, i), n(4, 5), whole(5, 4, 2)],
  embedding: [(w, i) => F.embedding(i, w), n(9, 4), whole(9, 2, 3)],
  indexed: [(x, i) => x.index(i, ":", 1), n(4, 5, 3), whole(4, 3)],
  scatter: [(x, i, s) => torch.scatter(x, 1, i, s), n(2, 3), at(2, 0, 1, 2).reshape([2, 2]), r(2, 2)],
  scatter_add: [(x, i, s) => torch.scatter_add(x, 0, i, s), n(5, 3), whole(5, 4, 3), r(4, 3)],
  bag: [(w, i, o) => F.embedding_bag(i, w, o, { mode: "max" }), n(20, 6), whole(20, 12), at(0, 3, 5, 7)],
  triangle: [(x) => torch.tril(x), n(4, 4)],
  // memory: views, joins, changes in place
  views: [(x) => [x.transpose(0, 2).reshape([6, 4]), x.index(1), x.index(":", "1:", "::2")], n(4, 2, 3)],
  windows: [(x) => x.unfold(1, 3, 2), n(2, 9)],
  turned: [(x) => [torch.flip(x, [1]), torch.roll(x, 2, 1), x.expand([2, 4, 5])], n(4, 5)],
  joined: [(a, b) => [torch.cat([a, b], 1), torch.stack([a, b.index(":", ":3")], 1)], n(2, 3), n(2, 4)],
  split: [(a) => torch.chunk(a, 3, 1), n(2, 9)],
  padded: [(x) => [F.pad(x, [1, 2]), F.pad(x, [1, 2], "reflect")], n(1, 4, 5)],
  changed: [
    (x) => {
      const y = x.clone();
      y.index(0).add_(1);
      y.index(":", 1).mul_(2);
      return y;
    },
    n(3, 2),
  ],
  same: [(x) => [x, x], n(3)],
  empty: [(x) => torch.add(x, 1), torch.zeros([0, 3], { device })],
  // products
  products: [(a, b) => [torch.bmm(a, b), torch.einsum("bij,bjk->ik", a, b)], n(2, 3, 4), n(2, 4, 5)],
  turned_products: [(a, b) => torch.matmul(a.transpose(0, 1), b.t()), n(4, 3), n(5, 4)],
  vectors: [(a, b) => [torch.mv(a, b), torch.outer(b, b), torch.dot(b, b)], n(3, 4), n(4)],
  distances: [(a, b) => torch.cdist(a, b), n(3, 4), n(5, 4)],
  causal: [
    (q, k, v) => F.scaled_dot_product_attention(q, k, v, { is_causal: true }),
    n(1, 2, 4, 3),
    n(1, 2, 4, 3),
    n(1, 2, 4, 3),
  ],
  grouped: [
    (q, k, v) => F.scaled_dot_product_attention(q, k, v, { enable_gqa: true }),
    n(1, 4, 4, 3),
    n(1, 2, 4, 3),
    n(1, 2, 4, 3),
  ],
  // spectra
  spectra: [
    (x) => {
      const half = torch.fft.rfft(x, 12, 1, "ortho");
      const whole = torch.fft.fft(torch.complex(x, x.mul(2)), 5, 0);
      return [torch.view_as_real(half), torch.fft.irfft(half, 7, 1), torch.view_as_real(torch.fft.ifft(whole, 6, 1))];
    },
    n(4, 9, 2),
  ],
  loudness: [(x) => torch.abs(torch.stft(x, 8, { hop_length: 4, return_complex: true })), n(2, 32)],
  filled: [(x) => torch.full([3], -(2 ** 20), { dtype: "int64", device }).add(x), whole(9, 3)],
  // modules
  batch_norm: [modules.batch_norm, n(2, 4, 3, 3)],
  lstm: [modules.lstm, n(2, 5, 3)],
  gru: [modules.gru, n(2, 5, 3)],
  attention: [modules.attention, n(2, 5, 4), n(2, 5, 4), n(2, 5, 4)],
  transformer: [modules.transformer, n(2, 5, 4)],
  compiled: [torch.compile(modules.transformer), n(2, 5, 4)],
};

const leaves = (value) =>
  value instanceof torch.Tensor
    ? [value]
    : value === null
      ? []
      : [...Object.values({ ...value, length: null })].flatMap(leaves);
/** Tensors of lists and results, each once. */
const tensors = (value) => [...new Set(leaves(value))];

async function compare(name, [f, ...args], options = {}) {
  const wanted = tensors(torch.no_grad(() => f(...args)));
  await onnx.export(f, args, `${out}/${name}.onnx`, options);
  const again = (await torch.onnx.load(`${out}/${name}.onnx`, device)).module(),
    result = await torch.no_grad(() => again(...args)),
    got = name === "same" ? [result[1]] : tensors(result);
  if (got.length !== wanted.length) return `${got.length} outputs instead of ${wanted.length}`;
  const wrong = [];
  for (const [i, x] of wanted.entries()) {
    const far = await distance(torch, got[i], x);
    if (!(far < 2e-5) || got[i].dtype !== x.dtype) wrong.push(`output ${i} of ${got[i].dtype} is ${far} away`);
  }
  return wrong.join("; ") || null;
}

const results = {},
  // where the standard had the operators otherwise
  earlier = [["spectra_of_18", CASES.spectra, { opset_version: 18 }]];
for (const [name, given, options] of [...Object.entries(CASES), ...earlier]) {
  try {
    results[name] = await compare(name, given, options);
  } catch (error) {
    results[name] = String(error.stack);
  }
}
process.stdout.write(`${JSON.stringify(results)}\n`, () => process.exit(0));
