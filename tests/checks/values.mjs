// Values at the edges of what formulas say: infinities and NaN beside a mask or a factor of 0, kinks, roots of 0, small
// integers. What is wanted is what PyTorch 2.13 answers.

export const I = Infinity;
export const numbers = async (x) => Array.from(await x.data(), (v) => (typeof v === "boolean" ? +v : v));

/** Each: a call, its numbers, and its type where that is the point. */
export async function answers({ tensor, torch, equal }, cases) {
  for (const [name, call, wanted, dtype] of cases) {
    const got = call(torch, tensor);
    try {
      equal(await numbers(got), wanted);
      if (dtype) equal(got.dtype, dtype);
    } catch (error) {
      throw new Error(`${name}: ${error.message}`);
    }
  }
}

/** Each: a call of one tensor, where, and the gradient of the sum of its results. */
export async function slopes({ tensor, torch, close }, cases) {
  for (const [name, call, at, wanted] of cases) {
    const x = tensor(at, { requires_grad: true });
    call(x, torch).sum().backward();
    try {
      close(await numbers(x.grad), wanted.flat(Infinity), { rtol: 1e-4 });
    } catch (error) {
      throw new Error(`${name} at ${JSON.stringify(at)}: ${error.message}`);
    }
  }
}

export default {
  "the place of the largest of equal values is the first, in every row": async (t) => {
    // more rows than are met at once, the last of -Infinity alone, which is larger than nothing
    const rows = 9000,
      data = new Float32Array(2 * rows).map((_, i) => (i % 2 ? 5 : 0)).fill(-Infinity, rows),
      places = await t.tensor(data).reshape(rows, 2).argmax(1).tolist();
    t.equal(
      [places.slice(0, rows / 2).every((place) => place === 1), places.slice(rows / 2).every((p) => p === 0)],
      [true, true],
    );
  },
  "a transposed convolution is one of the input with zeros between": async ({ torch, close }) => {
    const F = torch.nn.functional,
      draw = (...shape) =>
        torch
          .linspace(
            -3,
            4,
            shape.reduce((a, b) => a * b),
          )
          .mul(7.3)
          .sin()
          .reshape(shape);
    // Each: shapes of input and weight, stride, padding, output_padding, groups, dilation.
    for (const [size, weight, stride, padding, extra, groups, dilation] of [
      [[2, 6, 9], [6, 5, 4], [2], [1], [0], 1, [1]],
      [[2, 6, 9], [6, 2, 3], [4], [0], [3], 2, [1]],
      [[3, 4, 5, 6], [4, 5, 4, 4], [2, 2], [1, 1], [0, 0], 1, [1, 1]],
      [[1, 6, 7, 5], [6, 2, 3, 5], [4, 3], [2, 0], [1, 2], 3, [2, 3]],
      [[1, 3, 40, 41], [3, 16, 3, 3], [4, 3], [1, 0], [3, 2], 1, [1, 1]],
      [[2, 3, 3, 4, 3], [3, 4, 2, 3, 2], [2, 3, 4], [0, 1, 0], [1, 0, 2], 1, [1, 1, 1]],
    ]) {
      const n = stride.length,
        [batch, channels, ...places] = size,
        [, out, ...window] = weight,
        x = draw(...size),
        w = draw(...weight),
        b = draw(out * groups);
      const got = F[`conv_transpose${n}d`](x, w, b, stride, padding, extra, groups, dilation);
      // The input, stretched, is convolved with the turned weight of each group.
      const stretched = places.map((s, d) => (s - 1) * stride[d] + 1),
        most = window.map((k, d) => dilation[d] * (k - 1));
      let wide = x;
      for (let d = 0; d < n; d++) {
        const holes = torch.zeros([...wide.shape.slice(0, d + 3), stride[d] - 1, ...wide.shape.slice(d + 3)]);
        wide = torch
          .cat([wide.unsqueeze(d + 3), holes], d + 3)
          .flatten(d + 2, d + 3)
          .narrow(d + 2, 0, stretched[d]);
      }
      const around = most.flatMap((m, d) => [m - padding[d], m - padding[d] + extra[d]].reverse()).reverse();
      const turned = w
        .reshape([groups, channels / groups, out, ...window])
        .transpose(1, 2)
        .flip(window.map((_, d) => d + 3))
        .reshape([groups * out, channels / groups, ...window]);
      const wanted = F[`conv${n}d`](F.pad(wide, around), turned, b, 1, 0, dilation, groups);
      close(await got.tolist(), await wanted.tolist(), { rtol: 1e-4, atol: 1e-4 });
      // A convolution's gradient by its input has the same holes.
      if (extra.every((e) => e === 0)) {
        const y = draw(...got.shape);
        y.requires_grad = true;
        F[`conv${n}d`](y, w, null, stride, padding, dilation, groups).mul(x).sum().backward();
        close(
          await y.grad.tolist(),
          await F[`conv_transpose${n}d`](x, w, null, stride, padding, extra, groups, dilation).tolist(),
          { rtol: 1e-4, atol: 1e-4 },
        );
      }
    }
  },
  "a factor of 1 is left out only where it is 1": async (c) => {
    const times = (alpha) => (t, x) => x([1, -2, 3]).add(x([10, 20, 30]), { alpha }),
      beta = (alpha, beta) => (t, x) => t.addmm(x([[1, 2]]), x([[3]]), x([[4, 5]]), { alpha, beta });
    await answers(c, [
      ["alpha 1", times(1), [11, 18, 33]],
      ["alpha 2 after 1", times(2), [21, 38, 63]],
      ["alpha 1 after 2", times(1), [11, 18, 33]],
      ["addmm", beta(1, 1), [13, 17]],
      ["addmm, alpha 2 after 1", beta(2, 1), [25, 32]],
      ["addmm, beta 3 after 1", beta(1, 3), [15, 21]],
    ]);
  },
  "a beta of 0 takes nothing of the input": async (c) => {
    const nan = (x, ...shape) => x(NaN).expand(shape),
      one = (x, ...shape) => x(1).expand(shape);
    await answers(c, [
      ["addmm", (t, x) => t.addmm(nan(x, 2, 2), one(x, 2, 2), one(x, 2, 2), { beta: 0 }), [2, 2, 2, 2]],
      ["addmm of one column", (t, x) => t.addmm(nan(x, 2, 1), one(x, 2, 2), one(x, 2, 2), { beta: 0 }), [2, 2, 2, 2]],
      ["addmm of a number", (t, x) => t.addmm(x([NaN]), one(x, 2, 2), one(x, 2, 2), { beta: 0 }), [2, 2, 2, 2]],
      ["addmv", (t, x) => t.addmv(nan(x, 2), one(x, 2, 2), one(x, 2), { beta: 0 }), [2, 2]],
      ["addr", (t, x) => t.addr(nan(x, 2, 2), one(x, 2), one(x, 2), { beta: 0 }), [1, 1, 1, 1]],
      ["baddbmm", (t, x) => t.baddbmm(nan(x, 1, 2, 2), one(x, 1, 2, 2), one(x, 1, 2, 2), { beta: 0 }), [2, 2, 2, 2]],
      ["addbmm", (t, x) => t.addbmm(nan(x, 2, 2), one(x, 2, 2, 2), one(x, 2, 2, 2), { beta: 0 }), [4, 4, 4, 4]],
      [
        "addmm_",
        (t, x) =>
          nan(x, 2, 2)
            .clone()
            .addmm_(one(x, 2, 2), one(x, 2, 2), { beta: 0 }),
        [2, 2, 2, 2],
      ],
    ]);
    await slopes(c, [
      [
        "addmm",
        (x, t) => t.addmm(x, x.new_ones([2, 2]), x.new_ones([2, 2]), { beta: 0 }),
        [
          [1, 2],
          [3, 4],
        ],
        [0, 0, 0, 0],
      ],
    ]);
  },
  "running maxima name the last of equals": async (c) => {
    const last = (n, key) => (t, x) => (key ? t[n](x, 0)[key] : t[n](x, 0).values);
    for (const [n, list] of [
      ["cummax", [1, 3, 3, 2, 3]],
      ["cummin", [3, 1, 1, 2, 1]],
    ]) {
      await answers(c, [
        [n, (t, x) => last(n, "indices")(t, x(list)), [0, 1, 2, 2, 4]],
        [`${n} of whole numbers`, (t, x) => last(n, "indices")(t, x(list, { dtype: "int32" })), [0, 1, 2, 2, 4]],
        [
          `${n} of columns`,
          (t, x) => last(n, "indices")(t, x(list.map((v) => [v, v]))),
          [0, 0, 1, 1, 2, 2, 2, 2, 4, 4],
        ],
        [`${n} of NaN`, (t, x) => last(n, "indices")(t, x([1, NaN, 2, NaN])), [0, 1, 1, 3]],
        [
          `${n} of ${list.length * 100}`,
          (t, x) => last(n, "indices")(t, x(Array.from({ length: 500 }, () => 1))),
          Array.from({ length: 500 }, (_, i) => i),
        ],
      ]);
      await slopes(c, [[n, (x, t) => t[n](x, 0).values, list, [1, 1, 2, 0, 1]]]);
    }
  },
  "NaN, infinities and -0 where elements are compared": (c) => {
    const odd = [NaN, I, -I, -0, 0, 2],
      of = (f) => (t, x) => f(t, x(odd)),
      F = (n, ...more) => of((t, x) => t.nn.functional[n](x, ...more));
    return answers(c, [
      [
        "any",
        (t, x) =>
          t.any(
            x([
              [NaN, 0],
              [0, -0],
            ]),
            1,
          ),
        [1, 0],
      ],
      [
        "all",
        (t, x) =>
          t.all(
            x([
              [NaN, 1],
              [NaN, 0],
            ]),
            1,
          ),
        [1, 0],
      ],
      ["logical_and", of((t, x) => t.logical_and(x, x)), [1, 1, 1, 0, 0, 1]],
      ["logical_not", of((t, x) => t.logical_not(x)), [0, 0, 0, 1, 1, 0]],
      ["logical_xor", of((t, x) => t.logical_xor(x, x.new_zeros([6]))), [1, 1, 1, 0, 0, 1]],
      ["bool", of((t, x) => x.to("bool")), [1, 1, 1, 0, 0, 1]],
      ["eq", of((t, x) => t.eq(x, x)), [0, 1, 1, 1, 1, 1]],
      ["ne", of((t, x) => t.ne(x, x)), [1, 0, 0, 0, 0, 0]],
      ["ge", of((t, x) => t.ge(x, 0)), [0, 1, 0, 1, 1, 1]],
      ["count_nonzero", of((t, x) => t.count_nonzero(x)), [4]],
      ["sign", of((t, x) => t.sign(x).abs()), [0, 1, 1, 0, 0, 1]],
      ["relu", F("relu"), [NaN, I, 0, -0, 0, 2]],
      ["relu of 16 bits", (t, x) => t.relu(x([-0, 2, -1], { dtype: "bfloat16" })), [-0, 2, 0]],
      ["relu6", F("relu6"), [NaN, 6, 0, 0, 0, 2]],
      ["softshrink", of((t, x) => t.nn.functional.softshrink(x).abs()), [NaN, I, I, 0, 0, 1.5]],
      ["hardshrink", of((t, x) => t.nn.functional.hardshrink(x).abs()), [NaN, I, I, 0, 0, 2]],
      ["threshold", F("threshold", 1, 9), [NaN, I, 9, 9, 9, 2]],
      ["hardtanh", of((t, x) => t.nn.functional.hardtanh(x).abs()), [NaN, 1, 1, 0, 0, 1]],
      ["clamp", of((t, x) => t.clamp(x, -1, 1).abs()), [NaN, 1, 1, 0, 0, 1]],
      ["maximum", of((t, x) => t.maximum(x, x.new_ones([6]))), [NaN, I, 1, 1, 1, 2]],
      [
        "margin_ranking_loss",
        of((t, x) => {
          const [zero, one] = [x.new_zeros([6]), x.new_ones([6])];
          return t.nn.functional.margin_ranking_loss(x, zero, one, { reduction: "none" });
        }),
        [NaN, 0, I, 0, 0, 0],
      ],
      ["fmax", of((t, x) => t.fmax(x, x.new_ones([6]))), [1, I, 1, 1, 1, 2]],
      ["max", of((t, x) => t.max(x)), [NaN]],
      ["argmax", of((t, x) => t.argmax(x)), [0]],
      ["heaviside", of((t, x) => t.heaviside(x, x.new_full([6], 5))), [0, 1, 0, 5, 5, 1]],
      ["isclose", of((t, x) => t.isclose(x, x)), [0, 1, 1, 1, 1, 1]],
      ["where", of((t, x) => t.where(x.gt(0), x, x.new_zeros([6]))), [0, I, 0, 0, 0, 2]],
      ["nan_to_num", of((t, x) => t.nan_to_num(x, { nan: 1, posinf: 3, neginf: -3 }).abs()), [1, 3, 3, 0, 0, 2]],
    ]);
  },
  "what PyTorch refuses is refused": async ({ tensor, torch, equal, throws }) => {
    const F = torch.nn.functional,
      of = (...shape) => torch.ones(shape, { device: tensor(0).device }),
      read = async (x) => numbers(x);
    const whole = (list) => tensor(list, { dtype: "int32" }),
      bools = tensor([true, false]);
    for (const [call, message] of [
      [() => F.binary_cross_entropy(of(3, 1), of(3)), /same/],
      [() => F.binary_cross_entropy_with_logits(of(2, 3), of(3)), /same/],
      [() => F.binary_cross_entropy_with_logits(of(2, 1), of(1, 2)), /same/],
      [() => F.binary_cross_entropy(of(3), of(3), of(2, 3)), /broadcast/],
      [() => F.conv1d(of(1, 1, 3), of(1, 1, 5), null, 1, "valid"), /greater than actual input size/],
      [() => F.conv_transpose1d(of(1, 1, 2), of(1, 1, 1), null, 1, 1), /too small/],
      [() => F.avg_pool1d(of(1, 1, 3), 5), /too small/],
      [() => F.avg_pool3d(of(1, 1, 3, 3, 3), 4, 1, 1), /smaller than kernel/],
      [() => F.lp_pool2d(of(1, 1, 3, 3), 2, 5), /too small/],
      [() => F.group_norm(of(1, 2), 2), /more than 1 value per channel/],
      [() => torch.sub(bools, bools), /bool/],
      [() => torch.rsub(bools, 1), /bool/],
      [() => F.scaled_dot_product_attention(of(1, 2, 2), of(1, 2, 2), of(1, 2, 2), of(2, 2), 0, true), /is_causal/],
      [() => F.embedding_bag(whole([0]), of(3, 1), whole([0]), { padding_idx: 3 }), /padding_idx/],
      [() => F.embedding(whole([0]), of(3, 1), -4), /[Pp]adding_idx/],
      [() => of(2, 3).masked_scatter(of(2, 3).gt(0), of(5)), /Number of elements of source < number of ones in mask/],
      [() => of(2).masked_scatter_(of(2).gt(0), of(0)), /Number of elements of source/],
      [() => F.gaussian_nll_loss(of(2), of(2), tensor([1, -1])), /negative entry/],
      [() => torch.normal(of(2), tensor([1, -1])), /all elements of std >= 0/],
      [() => torch.normal(0, tensor([NaN])), /all elements of std >= 0/],
    ])
      await throws(async () => read(call()), message);
    equal(await read(of(3).masked_scatter(tensor([true, false, true]), tensor([5, 6]))), [5, 1, 6]);
    equal(await read(of(2).masked_scatter(of(2).lt(0), of(0))), [1, 1]);
    equal(await read(torch.diff(bools)), [1]);
    equal(F.group_norm(of(1, 4), 2).shape.length, 2);
    equal(F.avg_pool1d(of(1, 1, 3), 5, null, 0, true).shape, [1, 1, 1]);
  },
  "what has no answer at infinities, NaN and weights of nothing is refused": async ({
    torch,
    tensor,
    throws,
    close,
  }) => {
    const { linalg } = torch,
      m = (bad) =>
        tensor([
          [2, 0.5],
          [bad, 3],
        ]),
      upper = (bad) =>
        tensor([
          [2, bad],
          [0.5, 3],
        ]),
      x = tensor([
        [1, 2],
        [3, 4],
      ]);
    const whole = (values) => tensor(values, { dtype: "int32" });
    for (const bad of [NaN, I, -I]) {
      for (const call of [
        (a) => linalg.eigvalsh(a),
        (a) => linalg.eigh(a).eigenvalues,
        (a) => linalg.pinv(a),
        (a) => torch.pinverse(a),
        (a) => linalg.matrix_rank(a),
        (a) => linalg.svdvals(a),
        (a) => linalg.pinv(a, { hermitian: true }),
        (a) => linalg.matrix_rank(a, { hermitian: true }),
        (a) => linalg.cond(a),
        (a) => linalg.matrix_norm(a, "nuc"),
      ]) {
        await throws(async () => (await call(m(bad))).data(), /contained non-finite values/);
      }
      await throws(() => torch.histogram(m(bad), 3)[0].data(), /range of the data is not finite/);
      await throws(() => torch.histogramdd(m(bad), 3)[0].data(), /range of the data is not finite/);
      for (const call of [(a) => linalg.eigvalsh(a), (a) => linalg.eigh(a).eigenvalues])
        close(await call(upper(bad)).tolist(), [1.7929, 3.2071], { rtol: 1e-3 });
      await throws(() => linalg.eigvalsh(upper(bad), "U").data(), /contained non-finite values/);
      close(
        await linalg.pinv(upper(bad), { hermitian: true }).tolist(),
        await linalg
          .inv(
            tensor([
              [2, 0.5],
              [0.5, 3],
            ]),
          )
          .tolist(),
        { rtol: 1e-3 },
      );
    }
    for (const weights of [
      { fweights: whole([0, 0]) },
      { aweights: tensor([0, 0]) },
      { fweights: whole([1, 0]), aweights: tensor([0, 1]) },
    ]) {
      for (const rows of [x, x.select(0, 0)])
        await throws(() => torch.cov(rows, weights).data(), /weights sum to zero/);
    }
  },
  "an infinite weight reaches only what it is multiplied by": async ({ torch, tensor, equal, device }) => {
    const F = torch.nn.functional,
      ones = (...shape) => tensor(new Float32Array(shape.reduce((a, b) => a * b)).fill(1), { shape });
    const weights = (bad, ...shape) => {
      const w = new Float32Array(shape.reduce((a, b) => a * b)).fill(1);
      w[0] = bad;
      return tensor(w, { shape });
    };
    for (const bad of [I, -I, NaN]) {
      const m = bad,
        v = tensor([[[bad, 1, 2]]]);
      for (const [stride, padding, wanted] of [
        [1, 0, [m, m, m, m, 3, 2]],
        [1, 1, [m, m, m, 3]],
        [2, 0, [m, 1, m, 1, m, 1, m, 1, 2].map((x, k) => (k % 2 || k === 8 ? x : m))],
        [2, 1, [1, m, 1, m, 1, m, 1]],
      ]) {
        equal(await numbers(F.conv_transpose1d(ones(1, 1, 4), v, { stride, padding })), wanted);
      }
      const x = ones(1, 1, 4).requires_grad_();
      F.conv1d(x, v, { padding: 1 }).sum().backward();
      equal(await numbers(x.grad), [m, m, m, 3]);
      // Of all elements those are bad to which the first weight leads; with several channels, as large kernels take
      // them. A GPU's tiles multiply the zeros between and beside inputs, too.
      for (const [n, c, size, k] of [
        [1, 1, 4, 3],
        ...(device === "cpu"
          ? [
              [2, 8, 9, 3],
              [3, 17, 8, 2],
            ]
          : []),
      ]) {
        const got = await numbers(F.conv_transpose2d(ones(n, c, size, size), weights(bad, c, c, k, k))),
          wide = size + k - 1;
        equal(got.filter((value) => Number.isNaN(value)).length, Number.isNaN(bad) ? n * size * size : 0);
        equal(
          got
            .map((value, at) => [value, at])
            .filter(([value]) => !Number.isFinite(value))
            .map(([, at]) => at),
          Array.from(
            { length: n * size * size },
            (_, p) => Math.floor(p / size / size) * c * wide * wide + (Math.floor(p / size) % size) * wide + (p % size),
          ),
        );
        const input = ones(n, c, size, size).requires_grad_();
        F.conv2d(input, weights(bad, c, c, k, k))
          .sum()
          .backward();
        equal((await numbers(input.grad)).filter((value) => !Number.isFinite(value)).length, n * (size - k + 1) ** 2);
      }
    }
    // A factor's own -0 is multiplied.
    equal(await numbers(F.conv_transpose1d(tensor([[[-0, 1]]]), tensor([[[I, 1]]]))), [NaN, I, 1]);
  },
};
