// torch.linalg beyond ops: norms told apart by axes and words, chains of products, systems, and what numbers beside
// tensors become.

export default {
  "norms by word, order and axes": async (t) => {
    const { linalg } = t.torch,
      a = t.tensor([
        [3, 0],
        [0, -4],
      ]);
    t.close(await linalg.norm(a).item(), 5);
    t.close(await linalg.norm(a, "nuc").item(), 7);
    t.close(await linalg.matrix_norm(a, 2).item(), 4);
    t.close(await linalg.matrix_norm(a, -2).item(), 3);
    t.close(
      await linalg
        .matrix_norm(
          t.tensor([
            [1, -2],
            [3, 4],
          ]),
          1,
        )
        .item(),
      6,
    );
    t.close(
      await linalg
        .matrix_norm(
          t.tensor([
            [1, -2],
            [3, 4],
          ]),
          Infinity,
        )
        .item(),
      7,
    );
    t.close(
      await linalg
        .norm(
          t.tensor([
            [
              [1, -2],
              [3, 4],
            ],
          ]),
          { ord: -1, dim: [1, 2], keepdim: true },
        )
        .tolist(),
      [[[4]]],
    );
    t.close(await t.torch.norm(a, "fro", 1).tolist(), [3, 4]);
    t.close(await linalg.cond(a).item(), 4 / 3);
    t.close(await linalg.cond(a, 1).item(), 4 / 3);
    await t.throws(() => linalg.matrix_norm(a, 3), /Order 3 not supported/);
    await t.throws(() => linalg.norm(a, 2, [0, 1, 0]), /must be of length 1 or 2/);
  },
  "powers, chains and tensors as matrices": async (t) => {
    const { linalg } = t.torch,
      a = t.tensor([
        [1, 1],
        [0, 1],
      ]);
    t.equal(await linalg.matrix_power(a, 5).tolist(), [
      [1, 5],
      [0, 1],
    ]);
    t.close(await linalg.matrix_power(a, -2).tolist(), [
      [1, -2],
      [0, 1],
    ]);
    // The identity holds nothing for its gradient, which is zeros as often as it is asked for.
    const x = t
        .tensor([
          [1, 2],
          [3, 4],
        ])
        .requires_grad_(),
      identity = linalg.matrix_power(x, 0);
    for (let i = 0; i < 2; i++) identity.sum().backward();
    t.equal(await x.grad.tolist(), [
      [0, 0],
      [0, 0],
    ]);
    t.equal(await linalg.matrix_power(a, 0).tolist(), [
      [1, 0],
      [0, 1],
    ]);
    t.equal(await linalg.multi_dot([t.tensor([1, 2]), a, t.tensor([[3], [4]])]).tolist(), [15]);
    await t.throws(
      () => linalg.multi_dot([a, t.tensor([[1, 2, 3]])]),
      /tensors 0 and 1 with shapes \[2, 2\] and \[1, 3\] cannot be multiplied/,
    );
    const eye = t.torch.eye(4, { device: t.device }).mul(2).reshape(2, 2, 4);
    t.close(
      await linalg.tensorinv(eye).tolist(),
      await t.torch.eye(4, { device: t.device }).mul(0.5).reshape(4, 2, 2).tolist(),
    );
    t.close(
      await linalg
        .tensorsolve(
          eye,
          t.tensor([
            [2, 4],
            [6, 8],
          ]),
        )
        .tolist(),
      [1, 2, 3, 4],
    );
  },
  "systems from the left and the right, of vectors, and without a solution": async (t) => {
    const { linalg } = t.torch,
      a = t.tensor([
        [0, 2],
        [4, 0],
      ]);
    t.close(await linalg.solve(a, t.tensor([2, 8])).tolist(), [2, 1]);
    t.close(await linalg.solve(a, t.tensor([[2, 8]]), { left: false }).tolist(), [[4, 0.5]]);
    const { solution, residuals, rank } = linalg.lstsq(
      t.tensor([
        [1, 0],
        [1, 0],
        [0, 2],
      ]),
      t.tensor([[1], [3], [4]]),
      { driver: "gelsd" },
    );
    t.close(await solution.tolist(), [[2], [2]]);
    t.close(await residuals.tolist(), [2]);
    t.equal(await rank.item(), 2);
    await t.throws(() => linalg.lstsq(a, t.tensor([[1], [2], [3]])), /input.size\(-2\) should match other.size\(-2\)/);
  },
  "gradients flow through factors and exponentials": async (t) => {
    const { linalg, matrix_exp } = t.torch,
      a = t.tensor(
        [
          [0, 1],
          [0, 0],
        ],
        { requires_grad: true },
      );
    matrix_exp(a).sum().backward();
    t.close(
      await a.grad.tolist(),
      [
        [1.5, 1],
        [13 / 6, 1.5],
      ],
      { atol: 1e-5 },
    );
    const b = t.tensor(
        [
          [1, 2],
          [4, 4],
        ],
        { requires_grad: true },
      ),
      { LU, pivots } = linalg.lu_factor(b);
    t.equal(await pivots.tolist(), [2, 2]);
    linalg
      .lu_solve(LU, pivots, t.tensor([[3], [8]]))
      .sum()
      .backward();
    const inverse = linalg.inv(b.detach()),
      x = inverse.matmul(t.tensor([[3], [8]]));
    t.close(
      await b.grad.tolist(),
      await inverse.T.matmul(t.torch.ones([2, 1], { device: t.device }))
        .matmul(x.T)
        .neg()
        .tolist(),
      { atol: 1e-5 },
    );
  },
  "a number beside whole ones is cut, the factor of a sum refused": async (t) => {
    const x = t.tensor([1, 2], { dtype: t.torch.int32 });
    t.equal(await x.masked_fill(x.gt(1), 7.9).tolist(), [1, 7]);
    await t.throws(() => t.torch.add(x, x, { alpha: 1.5 }), /alpha must not be a floating point number/);
  },
  "a gradient of a number that was broadcast is the sum of all it went to": async (t) => {
    const x = t.tensor(1, { requires_grad: true });
    t.torch.addmv(x, t.torch.ones([3, 2], { device: t.device }), t.tensor([1, 2])).backward(t.tensor([1, 2, 3]));
    t.equal(await x.grad.item(), 6);
  },
  "the next number, boxes of a histogram, classes that are counted": async (t) => {
    t.equal(
      await t.torch
        .nextafter(t.tensor([1, 1]), t.tensor([2, 0]))
        .sub(1)
        .tolist(),
      [2 ** -23, -(2 ** -24)],
    );
    const [hist, edges] = t.torch.histogramdd(
      t.tensor([
        [0, 0],
        [1, 1],
        [3, 1],
      ]),
      [2, 2],
    );
    t.equal(await hist.tolist(), [
      [1, 1],
      [0, 1],
    ]);
    t.equal(await edges[0].tolist(), [0, 1.5, 3]);
    t.equal(await (await t.torch.nn.functional.one_hot(t.tensor([0, 2], { dtype: t.torch.int32 }))).tolist(), [
      [1, 0, 0],
      [0, 0, 1],
    ]);
  },
  "the gradient of cholesky_inverse has both halves, as PyTorch's": async (t) => {
    for (const upper of [false, true]) {
      const wanted = [
          [-0.234375, -0.08984375],
          [-0.03125, 0.0546875],
        ],
        turned = (x) => (upper ? x.t().contiguous() : x),
        half = turned(
          t.tensor([
            [2, 0],
            [1, 4],
          ]),
        )
          .detach()
          .requires_grad_();
      t.torch.cholesky_inverse(half, upper).backward(
        t.tensor([
          [1, 2],
          [0, -1],
        ]),
      );
      t.close(await turned(half.grad).tolist(), wanted);
    }
  },
};
