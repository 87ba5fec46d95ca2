// Bad input is refused with the operator, what was given and what is expected; nothing changes.
export default {
  "wrong shapes": async (t) => {
    const a = t.torch.ones([2, 3], { device: t.device });
    await t.throws(() => a.matmul(a), /matmul.*(2x3 and 2x3|\[2, 3\])/);
    await t.throws(() => a.add(t.torch.ones([2, 2], { device: t.device })), /add.*(3.*2|broadcast)/);
    await t.throws(() => a.reshape(4, 2), /reshape.*\[4, 2\]/);
    await t.throws(() => t.torch.cat([a, t.torch.ones([2], { device: t.device })]), /cat/);
  },
  "a dimension out of range": async (t) => {
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
  "an absurd size": async (t) => {
    await t.throws(() => t.torch.ones([1 << 20, 1 << 20], { device: t.device }).add(1).sum().item(), /size|large|memory|limit|bytes/i);
    await t.throws(() => t.torch.ones([-1], { device: t.device }), /-1|negative/);
  },
  "an index out of range": async (t) => {
    const x = t.tensor([1, 2, 3]);
    await t.throws(() => x.index(3), /3/);
    // A GPU is not waited for: what comes after goes on, and the next reading throws, once.
    const { torch } = t, F = torch.nn.functional, long = (values) => t.tensor(values, { dtype: torch.long });
    await t.throws(async () => {
      torch.gather(x, 0, long([0, 5]));
      await x.add(1).tolist();
      if (t.device === "cpu") throw new Error("read");
    }, /gather: index 5 is out of bounds for an axis of length 3/);
    t.equal(await x.add(1).tolist(), [2, 3, 4]);
    await t.throws(() => torch.scatter_add(x, 0, long([-1]), x).tolist(), /scatter_add: index -1 is out of bounds for an axis of length 3/);
    await t.throws(() => torch.index_select(t.tensor([[1], [2]]), 1, long([1])).tolist(), /index_select: index 1 is out of bounds for an axis of length 1/);
    await t.throws(() => F.embedding(long([0, 2]), t.tensor([[1, 2], [3, 4]])).sum().item(), /embedding: index 2 is out of bounds for an axis of length 2/);
    await t.throws(() => F.cross_entropy(t.tensor([[1, 2]]), long([2])).item(), /cross_entropy: index 2 is out of bounds for an axis of length 2/);
    t.equal(await F.cross_entropy(t.tensor([[1, 1], [5, 6]]), long([1, -100])).item(), Math.fround(Math.log(2)));
    await t.throws(() => t.tensor([[1, 2], [3, 4]]).index(long([0]), long([2])).tolist(), /index -?\d is out of bounds/);
    await t.throws(() => x.index(long([-4])).tolist(), /index -4 is out of bounds/);
  },
  "elements that are not allowed": async (t) => {
    // On a GPU, which is not waited for, the next reading throws.
    const { torch } = t, { linalg } = torch, F = torch.nn.functional, long = (values) => t.tensor(values, { dtype: torch.long });
    const throws = (f, words) => t.throws(async () => { const made = f(); await (Array.isArray(made) || !made.tolist ? made[0] : made).tolist(); }, words);
    const probabilities = t.tensor([0.5, -0.5]), zero = t.tensor([[0, 0], [0, 0]]);
    await throws(() => torch.multinomial(probabilities, 1), /multinomial.*element < 0/);
    await throws(() => torch.bernoulli(probabilities), /bernoulli.*from 0 to 1/);
    await throws(() => F.binary_cross_entropy(t.tensor([2]), t.tensor([1])), /binary_cross_entropy: .*between 0 and 1/);
    await throws(() => torch.cov(t.tensor([[1, 2]]), { aweights: probabilities }), /cov.*aweights cannot be negative/);
    for (const f of [linalg.inv, torch.inverse, linalg.tensorinv, (x) => linalg.solve(x, x), torch.cholesky_inverse, (x) => linalg.matrix_power(x, -1)]) {
      await throws(() => f(f === linalg.tensorinv ? zero.reshape(2, 1, 2) : zero), /singular/);
    }
    t.equal(await linalg.inv(t.tensor([[NaN, 0], [0, 1]])).isnan().any().item(), true);
    await throws(() => linalg.inv_ex(zero, { check_errors: true }), /inv_ex: .*singular/);
    await throws(() => linalg.solve_ex(zero, zero, { check_errors: true }), /solve_ex: .*singular/);
    await throws(() => linalg.cholesky(t.tensor([[1, 2], [2, 1]])), /cholesky: .*not positive-definite/);
    await throws(() => torch.cholesky(t.tensor([[1, 2], [2, 4]])), /cholesky: .*not positive-definite/);
    await throws(() => linalg.cholesky_ex(zero, { check_errors: true }), /cholesky_ex: .*not positive-definite/);
    await throws(() => linalg.lu_factor(zero), /lu_factor: U has a zero on its diagonal/);
    await throws(() => linalg.svd(t.tensor([[NaN, 1]])), /svd: .*non-finite/);
    await throws(() => torch.quantile(probabilities, 1.5), /quantile: .*in the range \[0, 1\]/);
    await throws(() => F.ctc_loss(torch.zeros([3, 1, 4], { device: t.device }), long([[1, 2]]), long([5]), long([2])), /ctc_loss: input_lengths/);
    t.equal((await torch.multinomial(t.tensor([0, 1]), 1).tolist()), [1]);
    t.equal(await torch.bernoulli(t.tensor([0, 1])).tolist(), [0, 1]);
    t.equal(await linalg.inv(t.tensor([[2, 0], [0, 4]])).tolist(), [[0.5, 0], [0, 0.25]]);
  },
  "a failed call leaves its tensors as they were": async (t) => {
    const a = t.tensor([1, 2, 3]);
    await t.throws(() => a.add_(t.tensor([1, 2])), /add_?/);
    t.equal(await a.tolist(), [1, 2, 3]);
  },
};
