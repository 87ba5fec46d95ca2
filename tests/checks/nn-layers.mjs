// torch.nn's modules with parameters: options, starting values, and what the recordings of PyTorch do not ask.
const stats = async (x) => {
  const v = Array.from(await x.data()),
    mean = v.reduce((a, b) => a + b, 0) / v.length;
  return {
    min: Math.min(...v),
    max: Math.max(...v),
    mean,
    std: Math.sqrt(v.reduce((a, b) => a + (b - mean) ** 2, 0) / v.length),
  };
};

export default {
  "options go by position, by name, or mixed; device and dtype are among them": async (t) => {
    const { nn } = t.torch;
    for (const m of [
      nn.Linear(3, 2, false),
      nn.Linear(3, 2, { bias: false }),
      new nn.Linear({ in_features: 3, out_features: 2, bias: false }),
    ]) {
      t.equal([m.weight.shape, m.bias, m.weight.device], [[2, 3], null, t.device]);
    }
    t.equal(nn.Conv2d(4, 8, 3, 2, { groups: 2 }).weight.shape, [8, 2, 3, 3]);
    t.equal(nn.LayerNorm([4], { dtype: t.torch.float64, device: "cpu" }).weight.dtype, "float64");
    t.equal(nn.LSTM(2, 3, { device: "cpu" }).weight_ih_l0.device, "cpu");
    await t.throws(() => nn.Linear(3), /Linear: missing required argument 'out_features'/);
    await t.throws(() => nn.Linear(3, 2, { biass: true }), /Linear: got an unexpected keyword argument 'biass'/);
    await t.throws(() => nn.Conv2d(3, 4, 3, { groups: 2 }), /in_channels must be divisible by groups/);
    await t.throws(
      () => nn.Conv2d(3, 4, 3, { padding: "same", stride: 2 }),
      /padding='same' is not supported for strided convolutions/,
    );
    await t.throws(
      () => nn.ConvTranspose1d(2, 2, 3, { padding_mode: "reflect" }),
      /Only "zeros" padding mode is supported for ConvTranspose1d/,
    );
    await t.throws(() => nn.MultiheadAttention(5, 2), /embed_dim must be divisible by num_heads/);
    await t.throws(() => nn.LSTM(2, 3, { proj_size: 3 }), /proj_size has to be smaller than hidden_size/);
  },
  "a subclass of a layer is a layer": async (t) => {
    const { nn } = t.torch;
    class Doubled extends nn.Linear {
      forward(x) {
        return super.forward(x).mul(2);
      }
    }
    const m = new Doubled(1, 1);
    m.load_state_dict({ weight: [[3]], bias: [1] });
    t.equal(
      [await m(t.tensor([[2]])).tolist(), String(m), m instanceof nn.Linear],
      [[[14]], "Doubled(in_features=1, out_features=1, bias=True)", true],
    );
  },
  "starting values follow PyTorch's rules": async (t) => {
    const { nn } = t.torch;
    t.torch.manual_seed(5);
    const linear = await stats(nn.Linear(100, 50).weight),
      conv = await stats(nn.Conv2d(4, 64, 5).weight);
    t.equal([linear.max <= 0.1, linear.max > 0.097, conv.min >= -0.1, conv.min < -0.097], [true, true, true, true]);
    const rows = await stats(nn.Embedding(100, 50).weight);
    t.close([rows.mean, rows.std], [0, 1], { atol: 0.05 });
    t.equal(await nn.Embedding(3, 2, { padding_idx: 1 }).weight.select(0, 1).tolist(), [0, 0]);
    const hidden = await stats(nn.GRU(3, 25).weight_hh_l0);
    t.equal([hidden.max <= 0.2, hidden.max > 0.19], [true, true]);
    t.equal(await nn.PReLU(2).weight.tolist(), [0.25, 0.25]);
  },
  "nn.init writes into tensors in place": async (t) => {
    const { nn } = t.torch,
      { init } = nn,
      w = t.torch.empty([40, 60], { device: t.device });
    t.torch.manual_seed(3);
    const spread = async (x) => (await stats(x)).std;
    t.equal(init.uniform_(w, { a: 2, b: 3 }) === w, true);
    t.equal([(await stats(w)).min >= 2, (await stats(w)).max <= 3], [true, true]);
    t.close(await spread(init.normal_(w, 0, 0.5)), 0.5, { atol: 0.03 });
    t.close(await spread(init.xavier_normal_(w, 2)), 2 * Math.sqrt(2 / 100), { atol: 0.03 });
    t.close((await stats(init.xavier_uniform_(w))).max, Math.sqrt(6 / 100), { atol: 0.01 });
    t.close(await spread(init.kaiming_normal_(w, { mode: "fan_out", nonlinearity: "relu" })), Math.sqrt(2 / 40), {
      atol: 0.02,
    });
    t.close((await stats(init.kaiming_uniform_(w, Math.sqrt(5)))).max, 1 / Math.sqrt(60), { atol: 0.005 });
    const cut = await stats(init.trunc_normal_(w, { std: 2, a: -1, b: 3 }));
    t.equal([cut.min >= -1, cut.max <= 3, cut.max > 2.9], [true, true, true]);
    init.sparse_(w, 0.25);
    const zeros = (await w.tolist()).reduce(
      (counts, row) => counts.map((c, i) => c + (row[i] === 0)),
      new Array(60).fill(0),
    );
    t.equal(zeros, new Array(60).fill(10));
    t.equal(await init.eye_(t.torch.empty([2, 3], { device: t.device })).tolist(), [
      [1, 0, 0],
      [0, 1, 0],
    ]);
    t.equal(await init.dirac_(t.torch.empty([2, 2, 3], { device: t.device })).tolist(), [
      [
        [0, 1, 0],
        [0, 0, 0],
      ],
      [
        [0, 0, 0],
        [0, 1, 0],
      ],
    ]);
    t.equal(await init.constant_(nn.Parameter(t.torch.empty([2])), 7).tolist(), [7, 7]);
    t.close(
      [init.calculate_gain("relu"), init.calculate_gain("leaky_relu", 0.2), init.calculate_gain("tanh")],
      [Math.SQRT2, Math.sqrt(2 / 1.04), 5 / 3],
    );
    await t.throws(
      () => init.xavier_uniform_(t.torch.zeros([3])),
      /Fan in and fan out can not be computed for tensor with fewer than 2 dimensions/,
    );
    await t.throws(() => init.kaiming_uniform_(w, { mode: "fan" }), /Mode fan not supported/);
  },
  "orthogonal starting values are orthogonal, either way round": async (t) => {
    const { init } = t.torch.nn;
    for (const shape of [
      [3, 5],
      [5, 3],
    ]) {
      const w = init.orthogonal_(t.torch.empty(shape, { device: t.device }), 2),
        small = shape[0] < shape[1] ? w.matmul(w.t()) : w.t().matmul(w);
      t.close(
        await small.tolist(),
        [
          [4, 0, 0],
          [0, 4, 0],
          [0, 0, 4],
        ],
        { atol: 1e-5 },
      );
    }
  },
  "padding modes are pad and then a convolution without": async (t) => {
    const { nn } = t.torch,
      x = t.tensor([[[1, 2, 3, 4]]]);
    const m = nn.Conv1d(1, 1, 3, { padding: 1, padding_mode: "circular", bias: false });
    m.load_state_dict({ weight: [[[1, 10, 100]]] });
    t.equal(await m(x).tolist(), [[[214, 321, 432, 143]]]);
    const up = nn.ConvTranspose1d(1, 1, 3, { stride: 2 });
    t.equal(
      [up(x).shape, up(x, [10]).shape],
      [
        [1, 1, 9],
        [1, 1, 10],
      ],
    );
    await t.throws(
      () => up(x, [11]),
      /requested an output size of \[11\], but valid sizes range from \[9\] to \[10\] \(for an input of \[4\]\)/,
    );
  },
  "recurrent networks: layouts, states, layers, dropout, errors": async (t) => {
    const { nn } = t.torch,
      m = nn.LSTM(2, 3, 2, { bidirectional: true, proj_size: 2 }),
      x = t.torch.randn([5, 4, 2], { device: t.device });
    const [out, [h, c]] = m(x);
    t.equal(
      [out.shape, h.shape, c.shape],
      [
        [5, 4, 4],
        [4, 4, 2],
        [4, 4, 3],
      ],
    );
    const zeros = [t.torch.zeros([4, 4, 2], { device: t.device }), t.torch.zeros([4, 4, 3], { device: t.device })];
    t.close(await m(x, zeros)[0].tolist(), await out.tolist());
    const first = nn.LSTM(2, 3, 2, { bidirectional: true, proj_size: 2, batch_first: true });
    first.load_state_dict(m.state_dict());
    t.close(await first(x.transpose(0, 1))[0].transpose(0, 1).tolist(), await out.tolist());
    const [one] = m(x.select(1, 2));
    t.close(await one.tolist(), await out.select(1, 2).tolist());
    const drops = nn.GRU(2, 3, 2, { dropout: 1 });
    t.close((await drops.eval()(x)[0].sum().item()) === 0, false);
    await t.throws(
      () => m(t.torch.zeros([5, 4, 3], { device: t.device })),
      /input.size\(-1\) must be equal to input_size. Expected 2, got 3/,
    );
    await t.throws(
      () => m(t.torch.zeros([2], { device: t.device })),
      /LSTM: Expected input to be 2D or 3D, got 1D instead/,
    );
    await t.throws(() => m(x, [zeros[1], zeros[1]]), /Expected hidden\[0\] size \(4, 4, 2\), got \[4, 4, 3\]/);
    await t.throws(
      () => drops(x.select(1, 0), t.torch.zeros([2, 1, 3], { device: t.device })),
      /For unbatched 2-D input, hx should also be 2-D but got 3-D tensor/,
    );
  },
  "a cell's steps are a network's": async (t) => {
    const { nn } = t.torch,
      x = t.torch.randn([3, 2, 2], { device: t.device });
    for (const [whole, cell] of [
      [nn.LSTM(2, 3), nn.LSTMCell(2, 3)],
      [nn.GRU(2, 3), nn.GRUCell(2, 3)],
      [nn.RNN(2, 3, 1, "relu"), nn.RNNCell(2, 3, { nonlinearity: "relu" })],
    ]) {
      cell.load_state_dict(
        Object.fromEntries(Object.entries(whole.state_dict()).map(([name, value]) => [name.replace("_l0", ""), value])),
      );
      let state = null;
      for (let step = 0; step < 3; step++) state = cell(x.select(0, step), state);
      t.close(await (Array.isArray(state) ? state[0] : state).tolist(), await whole(x)[0].select(0, 2).tolist(), {
        atol: 1e-6,
      });
    }
  },
  "packed sequences give what each sequence gives alone": async (t) => {
    const { nn } = t.torch,
      { rnn } = nn.utils,
      lengths = [2, 4, 1],
      own = lengths.map((n) => t.torch.randn([n, 2], { device: t.device }));
    const padded = rnn.pad_sequence(own, { padding_value: 9 }),
      gone = t.torch.tensor([2, 1]),
      packed = rnn.pack_padded_sequence(padded, lengths, { enforce_sorted: false });
    gone.dispose();
    await t.throws(() => rnn.pack_padded_sequence(padded, gone), /pack_padded_sequence: this tensor was disposed of/);
    t.equal(
      [padded.shape, packed.batch_sizes, packed.data.shape, await packed.sorted_indices.tolist()],
      [
        [4, 3, 2],
        [3, 2, 1, 1],
        [7, 2],
        [1, 0, 2],
      ],
    );
    const back = rnn.unpack_sequence(packed);
    for (const [i, x] of own.entries()) t.close(await back[i].tolist(), await x.tolist());
    await t.throws(
      () => rnn.pack_padded_sequence(padded, lengths),
      /`lengths` array must be sorted in decreasing order when `enforce_sorted` is True/,
    );
    for (const m of [nn.LSTM(2, 3, 2, { bidirectional: true }), nn.GRU(2, 3, { bidirectional: true })]) {
      const [out, state] = m(packed),
        [whole, counts] = rnn.pad_packed_sequence(out, { batch_first: true }),
        last = Array.isArray(state) ? state[0] : state;
      t.equal(await counts.tolist(), lengths);
      for (const [i, x] of own.entries()) {
        const [alone, end] = m(x);
        t.close(await whole.index(i, `:${lengths[i]}`).tolist(), await alone.tolist(), { atol: 1e-6 });
        t.close(await last.select(1, i).tolist(), await (Array.isArray(end) ? end[0] : end).tolist(), { atol: 1e-6 });
      }
      whole.sum().backward();
      const together = await m.weight_ih_l0.grad.tolist();
      m.zero_grad();
      for (const x of own) m(x)[0].sum().backward();
      t.close(together, await m.weight_ih_l0.grad.tolist(), { atol: 1e-5 });
    }
  },
  "lazy modules learn their channels from an input or a state": async (t) => {
    const { nn } = t.torch,
      m = nn.Sequential(nn.LazyConv1d(4, 3), nn.LazyBatchNorm1d(), nn.Flatten(), nn.LazyLinear(2));
    const parameters = m.parameters();
    t.equal(m(t.torch.randn([2, 3, 5], { device: t.device })).shape, [2, 2]);
    t.equal(
      [String(m[0]), String(m[3]), m[0].constructor === nn.Conv1d(1, 1, 1).constructor],
      ["Conv1d(3, 4, kernel_size=(3,), stride=(1,))", "Linear(in_features=12, out_features=2, bias=True)", true],
    );
    t.equal(
      m.parameters().every((p, i) => p === parameters[i]),
      true,
    );
    const loaded = nn.LazyLinear(2);
    loaded.load_state_dict(m[3].state_dict());
    t.equal(await loaded.weight.tolist(), await m[3].weight.tolist());
    const norm = nn.LazyInstanceNorm1d(); // which has weights and averages
    norm(t.tensor([1, 3, 2, 6], { shape: [1, 2, 2] }));
    t.equal([await norm.weight.tolist(), norm.running_mean.shape], [[1, 1], [2]]);
  },
  "tables and bags of rows": async (t) => {
    const { nn } = t.torch,
      rows = t.tensor([
        [1, 2],
        [3, 4],
        [5, 6],
      ]),
      long = { dtype: t.torch.long };
    const table = nn.Embedding.from_pretrained(rows),
      bags = nn.EmbeddingBag.from_pretrained(rows, { mode: "sum" });
    t.equal(
      [await table(t.tensor([2, 0], long)).tolist(), table.weight.requires_grad],
      [
        [
          [5, 6],
          [1, 2],
        ],
        false,
      ],
    );
    t.equal(await bags(t.tensor([0, 1, 2], long), t.tensor([0, 2], long)).tolist(), [
      [4, 6],
      [5, 6],
    ]);
    t.equal(await bags(t.tensor([[0, 1]], long), { per_sample_weights: t.tensor([[1, 10]]) }).tolist(), [[31, 42]]);
    await t.throws(() => nn.Embedding(3, 2, { padding_idx: 3 }), /Padding_idx must be within num_embeddings/);
  },
  "the adaptive softmax picks from the whole distribution": async (t) => {
    const { nn } = t.torch,
      m = nn.AdaptiveLogSoftmaxWithLoss(8, 10, [2, 5], { div_value: 2 }),
      x = t.torch.randn([10, 8], { device: t.device });
    const all = m.log_prob(x),
      target = t.torch.arange(10, { device: t.device }),
      { output, loss } = m(x, target);
    t.close(await all.exp().sum(1).tolist(), new Array(10).fill(1), { atol: 1e-5 });
    t.close(await output.tolist(), await all.diagonal().tolist(), { atol: 1e-5 });
    t.close(await loss.item(), -(await output.mean().item()), { atol: 1e-5 });
    loss.backward();
    t.equal((await m.tail[1][0].weight.grad.abs().sum().item()) > 0, true);
    await t.throws(
      () => nn.AdaptiveLogSoftmaxWithLoss(8, 10, [5, 2]),
      /cutoffs should be a sequence of unique, positive integers sorted/,
    );
  },
  "a transformer is its layers; what comes later is hidden by a mask": async (t) => {
    const { nn } = t.torch,
      layer = nn.TransformerEncoderLayer(4, 2, 8, 0, { batch_first: true, activation: "gelu" });
    const stack = nn.TransformerEncoder(layer, 2, nn.LayerNorm(4)),
      x = t.torch.randn([2, 3, 4], { device: t.device });
    t.close(await stack(x).tolist(), await stack.norm(layer(layer(x))).tolist(), { atol: 1e-5 });
    t.equal(stack.layers[0].linear1.weight === layer.linear1.weight, false);
    const mask = nn.Transformer.generate_square_subsequent_mask(3, { device: t.device });
    const own = nn.Transformer(2, 1, 1, 1, 2).generate_square_subsequent_mask(3, { device: t.device });
    t.equal(await own.tolist(), await mask.tolist());
    t.equal(await mask.tolist(), [
      [0, -Infinity, -Infinity],
      [0, 0, -Infinity],
      [0, 0, 0],
    ]);
    const causal = stack(x, { mask, is_causal: true });
    t.close(await causal.select(1, 0).tolist(), await stack(x.index(":", "0:1")).select(1, 0).tolist(), { atol: 1e-5 });
    // without batch_first time is first: what one of the batch holds says nothing to another
    const turned = nn.TransformerEncoderLayer(4, 2, 8, 0),
      [a, b] = [x, x.index_fill(1, t.tensor([1], { dtype: t.torch.long }), 3)];
    t.close(await turned(a).select(1, 0).tolist(), await turned(b).select(1, 0).tolist(), { atol: 1e-5 });
    const both = nn.Transformer({
      d_model: 4,
      nhead: 2,
      num_encoder_layers: 1,
      num_decoder_layers: 1,
      dim_feedforward: 8,
      dropout: 0,
    });
    t.equal(
      both(t.torch.randn([5, 2, 4], { device: t.device }), t.torch.randn([3, 2, 4], { device: t.device }), {
        tgt_mask: mask,
      }).shape,
      [3, 2, 4],
    );
    await t.throws(
      () => both(t.torch.zeros([5, 2, 3]), t.torch.zeros([3, 2, 3])),
      /the feature number of src and tgt must be equal to d_model/,
    );
  },
  "fractional pooling reaches both ends of its input": async (t) => {
    const { nn } = t.torch,
      x = t.torch.arange(36, { device: t.device, dtype: t.torch.float32 }).reshape([1, 1, 6, 6]);
    const [values, indices] = nn.FractionalMaxPool2d(2, { output_size: 3, return_indices: true })(x);
    t.equal(
      [values.shape, await values.tolist(), await values.max().item()],
      [[1, 1, 3, 3], await indices.tolist(), 35],
    );
    t.equal(
      nn.FractionalMaxPool3d(2, { output_ratio: 0.5 })(t.torch.zeros([1, 4, 6, 8], { device: t.device })).shape,
      [1, 2, 3, 4],
    );
    const wave = (shape) => {
        const numbers = Array.from({ length: shape.reduce((a, b) => a * b) }, (_, i) => Math.sin(0.7 * i));
        return t.tensor(numbers).reshape(shape);
      },
      places = (found) => found[1].flatten().tolist();
    const rows = nn.functional.fractional_max_pool2d(wave([1, 2, 7, 10]), [2, 3], {
        output_size: [4, 3],
        return_indices: true,
        _random_samples: t.tensor([
          [
            [0.1, 0.3],
            [0.2, 0.45],
          ],
        ]),
      }),
      boxes = nn.functional.fractional_max_pool3d(wave([1, 1, 5, 7, 9]), [2, 2, 3], {
        output_size: [2, 4, 3],
        return_indices: true,
        _random_samples: t.tensor([[[0.1, 0.7, 0.45]]]),
      });
    t.equal(
      await places(rows),
      [11, 3, 19, 20, 23, 38, 30, 45, 47, 50, 65, 57, 12, 4, 7, 22, 24, 39, 40, 56, 49, 50, 66, 58],
    ); // PyTorch 2.13's
    t.equal(
      await places(boxes),
      [74, 3, 80, 83, 12, 89, 92, 30, 107, 110, 48, 125, 191, 192, 269, 200, 201, 278, 218, 219, 296, 236, 237, 314],
    );
    await t.throws(
      () => nn.FractionalMaxPool2d(2),
      /FractionalMaxPool2d requires specifying either an output size, or a pooling ratio/,
    );
  },
};
