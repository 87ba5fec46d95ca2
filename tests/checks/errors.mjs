// Bad input is refused with the operator, what was given and what is expected; nothing changes.
/** The class of an error. */
async function named(call) {
  try {
    await call();
  } catch (error) {
    return error.name;
  }
}

export default {
  "wrong shapes": async (t) => {
    const a = t.torch.ones([2, 3], { device: t.device });
    await t.throws(() => a.matmul(a), /matmul.*(2x3 and 2x3|\[2, 3\])/);
    await t.throws(() => a.add(t.torch.ones([2, 2], { device: t.device })), /add.*(3.*2|broadcast)/);
    await t.throws(() => a.reshape(4, 2), /reshape.*\[4, 2\]/);
    await t.throws(() => t.torch.cat([a, t.torch.ones([2], { device: t.device })]), /cat/);
  },
  "a dimension out of range": async (t) => {
    const { softmax } = t.torch.nn.functional,
      x = t.torch.ones([2], { device: t.device });
    for (const call of [() => softmax(x, 5), () => x.sum(1), () => x.flip(1)]) t.equal(await named(call), "IndexError");
    const a = t.torch.ones([2, 3], { device: t.device });
    await t.throws(() => a.sum(2), /\[-2, 1\].*2/);
    await t.throws(() => a.softmax(-3), /\[-2, 1\].*-3/);
  },
  "wrong types": async (t) => {
    const i = t.tensor([1, 2], { dtype: t.torch.int32 });
    await t.throws(() => t.torch.nn.functional.gelu(i), /gelu/);
    await t.throws(() => t.tensor([1, 2]).bitwise_and(t.tensor([1, 2])), /bitwise_and/);
    await t.throws(() => i.requires_grad_(true), /float/i);
    await t.throws(() => t.torch.matmul(t.tensor([1]), "two"), /matmul/);
  },
  "wrong options": async (t) => {
    const a = t.torch.ones([2, 3], { device: t.device });
    await t.throws(() => a.sum({ dims: 1 }), /sum.*dims/);
    await t.throws(() => t.torch.nn.functional.mse_loss(a, a, { reduction: "average" }), /mse_loss.*average/);
    await t.throws(() => a.sum(0, true, 7, 8), /sum/);
  },
  "a wrong device": async (t) => {
    await t.throws(() => t.torch.ones([1], { device: "tpu" }), /tpu/);
    if (t.device === "webgpu") {
      await t.throws(() => t.tensor([1]).add(t.torch.ones([1], { device: "cpu" })), /cpu.*webgpu|webgpu.*cpu/);
      await t.throws(() => t.tensor([1], { dtype: t.torch.float64 }), /float64/);
    }
  },
  "a disposed tensor": async (t) => {
    const a = t.tensor([1, 2]);
    a.dispose();
    await t.throws(() => a.add(1), /disposed/);
    await t.throws(() => a.tolist(), /disposed/);
  },
  "sizes that are one too small or too deep": async (t) => {
    const { torch } = t;
    await t.throws(
      () => torch.chunk(t.tensor([1, 2]), 0),
      /chunk: chunk expects `chunks` to be greater than 0, got: 0/,
    );
    for (const name of ["RNN", "LSTM", "GRU"]) {
      for (const sizes of [
        [0, 2],
        [2, 0],
      ])
        await t.throws(() => new torch.nn[name](...sizes), /_size must be greater than zero/);
    }
    const nested = (depth) => {
      let data = 5;
      for (let n = 0; n < depth; n++) data = [data];
      return data;
    };
    t.equal(await torch.tensor(nested(64)).item(), 5);
    await t.throws(() => torch.tensor(nested(65)), /nested more than 64 deep/);
  },
  "an index out of range": async (t) => {
    const x = t.tensor([1, 2, 3]);
    await t.throws(() => x.index(3), /3/);
    const { torch } = t,
      F = torch.nn.functional,
      long = (values) => t.tensor(values, { dtype: torch.long });
    await t.throws(
      () => torch.gather(x, 0, long([0, 5])).tolist(),
      /gather: index 5 is out of bounds for an axis of length 3/,
    );
    await t.throws(
      () => torch.scatter_add(x, 0, long([-1]), x).tolist(),
      /scatter_add: index -1 is out of bounds for an axis of length 3/,
    );
    await t.throws(
      () => torch.index_select(t.tensor([[1], [2]]), 1, long([1])).tolist(),
      /index_select: index 1 is out of bounds for an axis of length 1/,
    );
    await t.throws(
      () =>
        F.embedding(
          long([0, 2]),
          t.tensor([
            [1, 2],
            [3, 4],
          ]),
        )
          .sum()
          .item(),
      /embedding: index 2 is out of bounds for an axis of length 2/,
    );
    await t.throws(
      () => F.cross_entropy(t.tensor([[1, 2]]), long([2])).item(),
      /cross_entropy: index 2 is out of bounds for an axis of length 2/,
    );
    t.equal(
      await F.cross_entropy(
        t.tensor([
          [1, 1],
          [5, 6],
        ]),
        long([1, -100]),
      ).item(),
      Math.fround(Math.log(2)),
    );
    await t.throws(
      () =>
        t
          .tensor([
            [1, 2],
            [3, 4],
          ])
          .index(long([0]), long([2]))
          .tolist(),
      /index -?\d is out of bounds/,
    );
    await t.throws(() => x.index(long([-4])).tolist(), /index -4 is out of bounds/);
    const none = torch.zeros([0, 2], { device: t.device });
    for (const f of [() => none.index(long([1])), () => none.set([long([1])], 1)])
      await t.throws(f, /^(index|set): index is out of bounds for dimension with size 0/);
  },
  "on a GPU, which is not waited for, an error is that of all that was computed from the fault, and of nothing else":
    async (t) => {
      if (t.device === "cpu") return;
      const { torch } = t,
        F = torch.nn.functional,
        long = (values) => t.tensor(values, { dtype: torch.long });
      const x = t.tensor([1, 2, 3]),
        ok = long([0, 2]),
        wrong = /gather: index 5 is out of bounds for an axis of length 3/,
        is = async (y, values) => t.equal(await y.tolist(), values);
      const before = x.gather(0, ok),
        bad = x.gather(0, long([0, 5])),
        after = x.gather(0, ok),
        other = x.index_select(0, long([7]));
      const made = bad.mul(2).add(after).sum(),
        view = bad.narrow(0, 0, 1),
        copy = bad.clone(),
        apart = after.mul(before);
      // readings under way together
      const [a, b, c, d] = await Promise.allSettled([apart.tolist(), made.item(), after.tolist(), copy.tolist()]);
      t.equal([a.value, c.value, b.status, d.status], [[1, 9], [1, 3], "rejected", "rejected"]);
      for (let i = 0; i < 2; i++)
        for (const y of [bad, made, view, copy, bad.add(1), torch.cat([x, view]), bad.to("int32")])
          await t.throws(() => y.tolist(), wrong);
      await t.throws(() => other.add(bad.sum()).tolist(), /index_select: index 7|gather: index 5/);
      await t.throws(() => other.tolist(), /index_select: index 7 is out of bounds/);
      await is(before, [1, 3]);
      await is(x.add(1), [2, 3, 4]);
      await is(bad.copy_(after), [1, 3]); // other elements, no fault
      await t.throws(() => view.data().then(() => made.tolist()), wrong);
      // In place: what is not named stays, and the tensor is not to be trusted before it gets other elements.
      const target = t.tensor([1, 2, 3]),
        part = target.narrow(0, 2, 1);
      target.index_add_(0, long([1, -1]), t.tensor([5, 5]));
      for (const y of [target, part, target.mul(2)]) await t.throws(() => y.tolist(), /index_add: index -1/);
      part.zero_();
      await t.throws(() => target.tolist(), /index_add: index -1/);
      await is(target.zero_(), [0, 0, 0]);
      // Gradients, an optimizer's step and what it keeps; the parameter that had nothing to do with it is right.
      const table = t.tensor(
          [
            [1, 2],
            [3, 4],
          ],
          { requires_grad: true },
        ),
        free = t.tensor(
          [
            [1, 1],
            [1, 1],
          ],
          { requires_grad: true },
        );
      const mine = torch.optim.SGD([table], { lr: 1, momentum: 0.5 }),
        its = torch.optim.SGD([free], { lr: 1 });
      F.embedding(long([0, 2]), table)
        .sum()
        .backward();
      free.sum().backward();
      await mine.step();
      await its.step();
      for (const y of [table.grad, table, table.mul(2)])
        await t.throws(() => y.tolist(), /embedding: index 2 is out of bounds for an axis of length 2/);
      await is(free, [
        [0, 0],
        [0, 0],
      ]);
      torch.no_grad(() => table.copy_(free));
      await is(table, [
        [0, 0],
        [0, 0],
      ]);
      // Requirements tell of their op's results.
      const refused = torch.linalg.inv(
          t.tensor([
            [0, 0],
            [0, 0],
          ]),
        ),
        fine = torch.linalg.inv(
          t.tensor([
            [2, 0],
            [0, 4],
          ]),
        );
      await is(fine, [
        [0.5, 0],
        [0, 0.25],
      ]);
      for (let i = 0; i < 2; i++) await t.throws(() => refused.mm(fine).tolist(), /inv: .*singular/);
    },
  "on a GPU, more may be told between two readings than there is room for": async (t) => {
    if (t.device === "cpu") return;
    const long = (values) => t.tensor(values, { dtype: t.torch.long }),
      x = t.tensor([1, 2, 3]),
      ok = long([0, 2]),
      first = x.gather(0, long([4]));
    let sum = x.gather(0, ok);
    for (let i = 0; i < 300; i++) sum = sum.add(x.gather(0, ok));
    const bad = [];
    for (let i = 0; i < 600; i++) {
      const y = x.gather(0, i % 7 ? ok : long([5 + i, 0]));
      if (i % 7 === 0) bad.push(y.add(sum));
    }
    t.equal(await sum.tolist(), [301, 903]);
    await t.throws(() => first.tolist(), /index 4 is/);
    for (const [i, y] of bad.entries()) await t.throws(() => y.tolist(), new RegExp(`index ${5 + 7 * i} is`));
    t.equal(await x.tolist(), [1, 2, 3]);
  },
  "elements that are not allowed": async (t) => {
    // On a GPU, which is not waited for, reading the results throws.
    const { torch } = t,
      { linalg } = torch,
      F = torch.nn.functional,
      long = (values) => t.tensor(values, { dtype: torch.long });
    const throws = (f, words) =>
      t.throws(async () => {
        const made = f();
        await (Array.isArray(made) || !made.tolist ? made[0] : made).tolist();
      }, words);
    const probabilities = t.tensor([0.5, -0.5]),
      zero = t.tensor([
        [0, 0],
        [0, 0],
      ]);
    await throws(() => torch.multinomial(probabilities, 1), /multinomial.*element < 0/);
    await throws(() => torch.bernoulli(probabilities), /bernoulli.*from 0 to 1/);
    await throws(() => F.binary_cross_entropy(t.tensor([2]), t.tensor([1])), /binary_cross_entropy: .*between 0 and 1/);
    await throws(() => torch.cov(t.tensor([[1, 2]]), { aweights: probabilities }), /cov.*aweights cannot be negative/);
    for (const f of [
      linalg.inv,
      torch.inverse,
      linalg.tensorinv,
      (x) => linalg.solve(x, x),
      torch.cholesky_inverse,
      (x) => linalg.matrix_power(x, -1),
    ]) {
      await throws(() => f(f === linalg.tensorinv ? zero.reshape(2, 1, 2) : zero), /singular/);
    }
    t.equal(
      await linalg
        .inv(
          t.tensor([
            [NaN, 0],
            [0, 1],
          ]),
        )
        .isnan()
        .any()
        .item(),
      true,
    );
    await throws(() => linalg.inv_ex(zero, { check_errors: true }), /inv_ex: .*singular/);
    await throws(() => linalg.solve_ex(zero, zero, { check_errors: true }), /solve_ex: .*singular/);
    await throws(
      () =>
        linalg.cholesky(
          t.tensor([
            [1, 2],
            [2, 1],
          ]),
        ),
      /cholesky: .*not positive-definite/,
    );
    await throws(
      () =>
        torch.cholesky(
          t.tensor([
            [1, 2],
            [2, 4],
          ]),
        ),
      /cholesky: .*not positive-definite/,
    );
    await throws(() => linalg.cholesky_ex(zero, { check_errors: true }), /cholesky_ex: .*not positive-definite/);
    await throws(() => linalg.lu_factor(zero), /lu_factor: U has a zero on its diagonal/);
    await throws(() => linalg.svd(t.tensor([[NaN, 1]])), /svd: .*non-finite/);
    await throws(() => torch.quantile(probabilities, 1.5), /quantile: .*in the range \[0, 1\]/);
    await throws(
      () => F.ctc_loss(torch.zeros([3, 1, 4], { device: t.device }), long([[1, 2]]), long([5]), long([2])),
      /ctc_loss: input_lengths/,
    );
    t.equal(await torch.multinomial(t.tensor([0, 1]), 1).tolist(), [1]);
    t.equal(await torch.bernoulli(t.tensor([0, 1])).tolist(), [0, 1]);
    t.equal(
      await linalg
        .inv(
          t.tensor([
            [2, 0],
            [0, 4],
          ]),
        )
        .tolist(),
      [
        [0.5, 0],
        [0, 0.25],
      ],
    );
  },
  "what is not defined is told, of nothing it is not asked": async (t) => {
    const { torch } = t,
      { linalg } = torch,
      none = torch.zeros([0], { device: t.device }),
      whole = none.to("int32"),
      rows = none.reshape(0, 2);
    for (const f of [(x) => torch.clamp(x), (x) => x.clone().clamp_()])
      await t.throws(() => f(none), /clamp: At least one of 'min' or 'max'/);
    for (const p of [Infinity, -Infinity, -1])
      await t.throws(() => torch.norm(none, p), /norm of no elements is not defined/);
    t.equal(
      [
        await torch.norm(none).item(),
        await linalg.vector_norm(none, 1).item(),
        await linalg.vector_norm(rows, -Infinity, 1).tolist(),
      ],
      [0, 0, []],
    );
    for (const name of ["remainder", "fmod", "floor_divide"]) t.equal(await whole[name](0).tolist(), []);
    await t.throws(() => t.tensor([1], { dtype: "int32" }).fmod(0).tolist(), /ZeroDivisionError/);
    const leaf = t.tensor([[1, 2]], { requires_grad: true });
    for (const change of [(x) => x.t_(), (x) => x.squeeze_(), (x) => x.unsqueeze_(0), (x) => x.transpose_(0, 1)]) {
      await t.throws(() => change(leaf), /a leaf Variable/);
      await t.throws(() => change(leaf.view(2, 1)), /a view of a leaf Variable/);
      change(torch.no_grad(() => leaf.view(2, 1).detach()));
    }
  },
  "numbers are asked of where the tensor beside them is, whatever the default device": async (t) => {
    for (const device of new Set(["cpu", t.device])) {
      const x = t.torch.tensor([5, 7], { dtype: "int32", device });
      t.equal(
        [await x.remainder(2).tolist(), await x.clone().fmod_(3).tolist()],
        [
          [1, 1],
          [2, 1],
        ],
      );
      await t.throws(() => x.remainder(0).tolist(), /remainder: ZeroDivisionError/);
    }
  },
  "a failed call leaves its tensors as they were": async (t) => {
    const a = t.tensor([1, 2, 3]);
    await t.throws(() => a.add_(t.tensor([1, 2])), /add_?/);
    t.equal(await a.tolist(), [1, 2, 3]);
  },
};
