// The same call with other numbers: the work is reused, the numbers are not.
export default {
  "numbers of the same call change its result": async (t) => {
    const x = t.tensor([-1, 2, -3]);
    for (const alpha of [1, 1.5, -2, 7, 1])
      t.close(await x.add(x, { alpha }).tolist(), [-1 - alpha, 2 + 2 * alpha, -3 - 3 * alpha]);
    for (const alpha of [1, 2, 3, 4, 5, 6])
      t.equal(await x.int().add(x.int(), { alpha }).tolist(), [-1 - alpha, 2 + 2 * alpha, -3 - 3 * alpha]);
  },
  "and that of its gradient": async (t) => {
    for (const slope of [0.25, 0.5, 0.75, 0.25]) {
      const x = t.tensor([-1, 2, -3], { requires_grad: true }),
        y = t.torch.nn.functional.leaky_relu(x, slope);
      y.sum().backward();
      t.close(await y.tolist(), [-slope, 2, -3 * slope]);
      t.close(await x.grad.tolist(), [slope, 1, slope]);
    }
  },
  "a number that chooses another formula is not confused": async (t) => {
    const x = t.tensor([3, -4]);
    for (const [p, wanted] of [
      [2, 5],
      [1, 7],
      [Infinity, 4],
      [2, 5],
    ])
      t.close(await t.torch.norm(x, p).item(), wanted);
  },
  "the same numbers in other lists make other work": async (t) => {
    const x = t.torch.zeros([1, 1, 5, 5], { device: t.device }),
      { unfold } = t.torch.nn.functional;
    // Sizes [2, 1], dilation 2 and size 2, dilation [1, 2]: without the brackets both are 2, 1, 2.
    t.equal(unfold(x, [2, 1], 2, 0, 1).shape, [1, 2, 15]);
    t.equal(unfold(x, 2, [1, 2], 0, 1).shape, [1, 4, 12]);
    t.equal(unfold(x, [2, 1], { dilation: 2, padding: 1, stride: 2 }).shape, [1, 2, 12]);
    t.equal(unfold(x, 2, { dilation: [1, 2], padding: 1, stride: 2 }).shape, [1, 4, 9]);
  },
  "a number that decides a size makes other work": async (t) => {
    const x = t.torch.arange(4, { device: t.device }).reshape([1, 1, 4]).float();
    for (const [scale_factor, wanted] of [
      [1.5, [0, 0.5, 1, 2, 2.5, 3]],
      [0.5, [0.5, 2.5]],
      [1.5, [0, 0.5, 1, 2, 2.5, 3]],
    ]) {
      const y = t.torch.nn.functional.interpolate(x, { scale_factor, mode: "area", recompute_scale_factor: true });
      t.close(await y.tolist(), [[wanted]]);
    }
  },
};
