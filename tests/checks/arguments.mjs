// Arguments by name and of the wrong kind: what a function does not take it refuses, with its name, the argument's,
// what came and what it wanted.  tests/node/garbage feeds all exports; here are the words, and what was silent.
export const refused = (t, wanted) => async (f) => {
  let error = null;
  try {
    await f();
  } catch (e) {
    error = e;
  }
  if (!(error instanceof t.torch.OpError)) throw new Error(`${f}: ${error ? error.stack : "answers"}`);
  if (!wanted.test(error.message)) throw new Error(`${f}: "${error.message}" lacks ${wanted}`);
};

export default {
  "what makes a tensor takes its arguments by name": async (t) => {
    const { torch } = t,
      on = { device: t.device },
      list = async (x) => (await x).tolist();
    t.equal(await list(torch.linspace({ start: 0, end: 1, steps: 5, ...on })), [0, 0.25, 0.5, 0.75, 1]);
    t.equal(await list(torch.linspace(0, 1, { steps: 3, ...on })), [0, 0.5, 1]);
    t.equal(await list(torch.logspace({ start: 0, end: 2, steps: 3, base: 2, ...on })), [1, 2, 4]);
    t.equal(await list(torch.arange({ end: 3, ...on })), [0, 1, 2]);
    t.equal(await list(torch.arange({ start: 1, end: 6, step: 2, ...on })), [1, 3, 5]);
    t.equal(await list(torch.full({ size: [2], fill_value: 3, ...on })), [3, 3]);
    t.equal(await list(torch.eye({ n: 2, m: 3, ...on })), [
      [1, 0, 0],
      [0, 1, 0],
    ]);
    t.equal(torch.randint({ low: 2, high: 3, size: [2, 2], ...on }).shape, [2, 2]);
    t.equal(await list(torch.randint({ high: 1, size: [2], ...on })), [0, 0]);
    t.equal(torch.randperm({ n: 4, ...on }).shape, [4]);
    t.equal(torch.rand({ size: [2, 3], ...on }).shape, [2, 3]);
    t.equal(await list(torch.tril_indices({ row: 2, col: 2, ...on })), [
      [0, 1, 1],
      [0, 0, 1],
    ]);
    t.equal(torch.empty_strided({ size: [2, 3], stride: [1, 2], ...on }).strides, [1, 2]);
  },
  "what copies takes memory_format, by name alone; options are no argument by position": async (t) => {
    const { torch } = t,
      x = t
        .tensor([
          [1, 2],
          [3, 4],
        ])
        .t(),
      all = ["float", "half", "double", "int", "long", "byte", "char", "bool", "clone", "contiguous", "cpu"];
    for (const name of all) {
      if (t.device !== "cpu" && (name === "double" || name === "half")) continue;
      for (const option of ["memory_format", "memoryFormat"]) {
        const plain = await x[name](),
          asked = await x[name]({ [option]: "torch.preserve_format" });
        t.equal([asked.dtype, await asked.tolist()], [plain.dtype, await plain.tolist()]);
      }
      await refused(
        t,
        new RegExp(`${name}: takes at most 0 positional arguments, but got 1`),
      )(() => x[name]("torch.preserve_format"));
      await refused(t, new RegExp(`${name}: .*'memory_fromat'.*memory_format`))(() => x[name]({ memory_fromat: 1 }));
    }
    t.equal(await torch.clone(x, { memory_format: "torch.preserve_format" }).tolist(), [
      [1, 3],
      [2, 4],
    ]);
    for (const name of ["detach", "zero_", "numel", "is_contiguous"])
      await refused(t, new RegExp(`${name}: .*'nothing'`))(() => x[name]({ nothing: 1 }));
  },
  "methods that are functions take their arguments by name, as those do": async (t) => {
    const x = t.tensor([
      [1, 2, 3],
      [4, 5, 6],
    ]);
    t.equal(await x.transpose({ dim0: 0, dim1: 1 }).tolist(), [
      [1, 4],
      [2, 5],
      [3, 6],
    ]);
    t.equal(await x.select({ dim: 1, index: 2 }).tolist(), [3, 6]);
    t.equal(
      [x.unsqueeze({ dim: 1 }).shape, x.unsqueeze(0).squeeze({ dim: 0 }).shape, x.t().shape],
      [
        [2, 1, 3],
        [2, 3],
        [3, 2],
      ],
    );
    await refused(t, /transpose: takes at most/)(() => x.transpose(0, 1, 2));
    await refused(t, /squeeze: .*'axes'/)(() => x.squeeze({ axes: 0 }));
    t.equal(x.unsqueeze(0).squeeze({ axis: 0 }).shape, x.shape);
  },
  "the sizes of a module are whole numbers": async (t) => {
    const { nn } = t.torch,
      made = {
        Linear: ["in_features", "out_features"],
        Bilinear: ["in1_features", "in2_features", "out_features"],
        Embedding: ["num_embeddings", "embedding_dim"],
        EmbeddingBag: ["num_embeddings", "embedding_dim"],
        Conv2d: ["in_channels", "out_channels", "groups"],
        ConvTranspose1d: ["in_channels", "out_channels", "groups"],
        BatchNorm1d: ["num_features"],
        InstanceNorm2d: ["num_features"],
        GroupNorm: ["num_groups", "num_channels"],
        PReLU: ["num_parameters"],
        LSTM: ["input_size", "hidden_size", "num_layers", "proj_size"],
        GRUCell: ["input_size", "hidden_size"],
        MultiheadAttention: ["embed_dim", "num_heads"],
        Transformer: ["d_model", "nhead", "num_encoder_layers", "num_decoder_layers", "dim_feedforward"],
        TransformerEncoderLayer: ["d_model", "nhead", "dim_feedforward"],
        AdaptiveLogSoftmaxWithLoss: ["in_features", "n_classes"],
        LinearCrossEntropyLoss: ["in_features", "num_classes"],
      };
    const more = {
      Conv2d: { kernel_size: 1 },
      ConvTranspose1d: { kernel_size: 1 },
      AdaptiveLogSoftmaxWithLoss: { cutoffs: [1] },
    };
    for (const [name, sizes] of Object.entries(made)) {
      for (const size of sizes) {
        for (const bad of [2.5, -1, "2", null, true, [2]]) {
          const given = { ...Object.fromEntries(sizes.map((other) => [other, 4])), ...more[name], [size]: bad };
          await refused(
            t,
            new RegExp(`${name}: argument '${size}' must be (a whole number|non-negative)`),
          )(() => new nn[name](given));
        }
      }
    }
    await refused(t, /LSTM: argument 'num_layers' must be at most 65536/)(() => new nn.LSTM(2, 2, 1e9));
    // What a module was made with stands in its attributes.
    const unkept = ["LinearCrossEntropyLoss", "Transformer", "TransformerEncoderLayer"];
    for (const [name, sizes] of Object.entries(made)) {
      const wide = name === "GroupNorm" ? 4 : 8,
        given = { ...Object.fromEntries(sizes.map((size, n) => [size, n ? 4 : wide])), ...more[name] };
      if ("proj_size" in given) given.proj_size = 2;
      const module = new nn[name](given);
      for (const size of unkept.includes(name) ? [] : sizes)
        t.equal([name, size, module[size]], [name, size, given[size]]);
    }
  },
  "triangles of all offsets": async (t) => {
    const { torch } = t;
    for (const [rows, cols] of [
      [3, 3],
      [2, 5],
      [5, 2],
      [0, 3],
      [3, 0],
    ]) {
      for (let offset = -6; offset <= 6; offset++) {
        for (const [name, inside] of [
          ["tril_indices", (i, j) => j - i <= offset],
          ["triu_indices", (i, j) => j - i >= offset],
        ]) {
          const places = [[], []];
          for (let i = 0; i < rows; i++)
            for (let j = 0; j < cols; j++) if (inside(i, j)) [i, j].forEach((n, k) => places[k].push(n));
          for (const dtype of ["int64", "int32"])
            t.equal(await torch[name](rows, cols, offset, { dtype, device: t.device }).tolist(), places);
        }
      }
    }
  },
  "what makes a tensor refuses what is no size, number, type or option": async (t) => {
    const { torch } = t,
      no = (words) => refused(t, words);
    for (const bad of [undefined, null, "3", true, NaN, 2.5, -1, {}, [], () => 1, Symbol("s"), 2 ** 60, Infinity]) {
      await no(/linspace.*'?steps/)(() => torch.linspace(0, 1, bad));
      await no(/logspace.*'?steps/)(() => torch.logspace(0, 1, bad));
      await no(/eye.*'n'/)(() => torch.eye(bad));
      await no(/randperm/)(() => torch.randperm(bad));
      await no(/tril_indices.*'row'/)(() => torch.tril_indices(bad, 2));
      if (!Array.isArray(bad) && bad !== undefined && bad !== null) {
        for (const make of ["zeros", "ones", "rand", "randn", "empty"]) {
          await no(/'size'|zeros|ones|rand|empty/)(() => torch[make]([2, bad]));
          if (typeof bad !== "object") await no(/./)(() => torch[make](bad));
        }
        await no(/shape|size|negative/)(() => torch.tensor([1, 2], { shape: [bad, 2] }));
      }
      if (typeof bad !== "number" && typeof bad !== "boolean") {
        await no(/linspace.*'end'/)(() => torch.linspace(0, bad, 3));
        await no(/full.*'fill_value'/)(() => torch.full([2], bad));
      }
    }
    await no(/shape.*negative|negative.*-1/)(() => torch.tensor([1, 2, 3, 4], { shape: [-1, -1] }));
    for (const dtype of ["constructor", "toString", "__proto__", "torch.constructor", 3, {}]) {
      await no(/dtype/)(() => torch.zeros(2, { dtype }));
      await no(/dtype/)(() => torch.tensor([1], { dtype }));
      await no(/dtype/)(() => torch.ones(2).to({ dtype }));
      await no(/dtype/)(() => torch.ones(2).sum({ dtype }));
    }
    await no(/zeros.*'dtyp'.*did you mean 'dtype'/)(() => torch.zeros(2, { dtyp: "int32" }));
    await no(/sum.*'keep_dim'.*did you mean 'keepdim'/)(() => torch.ones(2).sum(0, { keep_dim: true }));
    await no(/requires_grad/)(() => torch.zeros(2, { requires_grad: "yes" }));
    for (const bad of [NaN, "1", 1.5, 1e300, null, undefined]) await no(/manual_seed/)(() => torch.manual_seed(bad));
    await no(/set_rng_state/)(() => torch.set_rng_state(null));
  },
  "sizes that no memory holds are refused before anything is computed": async (t) => {
    const { torch } = t,
      no = refused(t, /too large|too many|GiB|memory|buffer|binds at most|can bind/i),
      began = Date.now();
    await no(() => torch.signal.windows.hamming(1e9));
    await no(() => torch.tril_indices(60000, 60000));
    const whose = (name) => refused(t, new RegExp(`^${name}: `)),
      most = 2 ** 31 - 1;
    for (const name of ["arange", "linspace", "randperm", "zeros", "ones", "rand", "randn", "empty"]) {
      const args = name === "linspace" ? [0, 1, most] : [most];
      await whose(name)(() => torch[name](...args, { dtype: "float32", device: t.device }));
    }
    await whose("bincount")(() => torch.bincount(t.tensor([most - 1], { dtype: "int32" })));
    for (const size of [2 ** 31, 2 ** 40, 1e12]) {
      await no(() => torch.linspace(0, 1, size));
      await no(() => torch.logspace(0, 1, size));
      await no(() => torch.arange(size));
      await no(() => torch.randperm(size));
      await no(() => torch.zeros(size));
      await no(() => torch.eye(size, 2));
    }
    if (t.device === "webgpu") {
      // What the host could hold, and computes for a GPU that cannot.
      const n = 1.5e9; // beyond what any GPU binds at once
      await no(() => torch.logspace(0, 1, n, { device: t.device }));
      await no(() => torch.linspace(0, 1, n, { device: t.device }));
      await no(() => torch.arange(0, n, { dtype: "int32", device: t.device }));
      await no(() => torch.randperm(n, { dtype: "int32", device: t.device }));
      await no(() => torch.eye(50000, 30000, { device: t.device }));
      await no(() => torch.tril_indices(40000, 40000, { device: t.device }));
    }
    if (Date.now() - began > 20000) throw new Error(`took ${Date.now() - began} ms`);
  },
  "places beyond the last are refused, but where they hold nothing": async (t) => {
    const { torch } = t,
      x = t.tensor([1]);
    t.equal(x.to("float32", null, null, null, null, undefined, null).dtype, "float32");
    await t.throws(() => x.to("float32", false, false, null, null, 1), /to.*takes.*but 6|to.*6/);
    await t.throws(() => torch.autograd.detect_anomaly(() => 1, true, 1), /detect_anomaly/);
    await t.throws(() => torch.profiler.record_function("name", () => 1, 1), /record_function/);
  },
  "triangles' places have the type that is asked for": async (t) => {
    for (const dtype of ["int32", "float32", "uint8"]) {
      const found = t.torch.tril_indices(2, 2, { dtype, device: t.device });
      t.equal(
        [found.dtype, found.shape, await found.tolist()],
        [
          dtype,
          [2, 3],
          [
            [0, 1, 1],
            [0, 0, 1],
          ],
        ],
      );
    }
  },
  "no number of a list means one that is left out": async (t) => {
    const { torch } = t,
      F = torch.nn.functional,
      x = t.tensor([
        [
          [
            [1, 2],
            [3, 4],
          ],
        ],
      ]),
      least = -(2 ** 31);
    t.equal(await F.adaptive_avg_pool2d(x, [null, 1]).tolist(), [[[[1.5], [3.5]]]]);
    const refusing = refused(t, /must be whole numbers, but got -2147483648/);
    for (const call of [
      () => F.adaptive_avg_pool2d(x, [least, 1]),
      () => F.adaptive_max_pool2d(x, least),
      () => F.interpolate(x, { size: [least, 2] }),
      () => F.avg_pool2d(x, [1, least]),
      () => F.pad(x, [least, 0]),
      () => x.sum([0, least]),
    ])
      await refusing(call);
  },
  "a factor may stand before what it multiplies, as until PyTorch 1.5": async (t) => {
    const { torch } = t,
      ones = (...size) => torch.ones(size, { device: t.device });
    const square = [ones(2, 2), ones(2, 2)],
      batch = [ones(1, 2, 2), ones(1, 2, 2)];
    for (const [method, like, args, answer] of [
      ["add", ones(2), [-0.5, ones(2)], 0.5],
      ["sub", ones(2), [-0.5, ones(2)], 1.5],
      ["addcmul", ones(2), [-0.5, ones(2), ones(2)], 0.5],
      ["addcdiv", ones(2), [0.5, ones(2), ones(2)], 1.5],
      ["addmm", ones(2, 2), [3, -2, ...square], -1],
      ["addmm", ones(2, 2), [3, ...square], 5],
      ["baddbmm", ones(1, 2, 2), [3, -2, ...batch], -1],
      ["addbmm", ones(2, 2), [3, -2, ...batch], -1],
      ["addmv", ones(2), [3, -2, square[0], ones(2)], -1],
      ["addr", ones(2, 2), [3, -2, ones(2), ones(2)], 1],
    ])
      for (const name of [method, `${method}_`]) {
        const x = like.clone(),
          [first] = await x[name](...args)
            .flatten()
            .tolist();
        t.equal([name, first], [name, answer]);
        t.equal((await x.flatten().tolist())[0], name === method ? 1 : answer);
      }
    t.equal(await ones(1).add(2).tolist(), [3]);
    const few = refused(t, /takes at most 3 positional arguments, but got [56]/);
    await few(() => ones(2, 2).addmm(1, ones(2, 2), 2, 3));
    await few(() => ones(2, 2).addmm(1, 2, 3, ...square));
  },
};
