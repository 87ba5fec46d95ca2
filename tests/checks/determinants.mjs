// Slopes of determinants, against PyTorch's, also where a matrix is singular.

export default {
  "the slope of a determinant is that of its products, also where it is 0": async (t) => {
    const { autograd, linalg, logdet } = t.torch;
    // A matrix and its cofactors.
    for (const [at, wanted] of [
      [[[0]], [[1]]],
      [
        [
          [1, 2],
          [3, 4],
        ],
        [
          [4, -3],
          [-2, 1],
        ],
      ],
      [
        [
          [1, 2],
          [2, 4],
        ],
        [
          [4, -2],
          [-2, 1],
        ],
      ],
      [
        [
          [0, 0],
          [1, 2],
        ],
        [
          [2, -1],
          [0, 0],
        ],
      ],
      [
        [
          [0, 0],
          [0, 0],
        ],
        [
          [0, 0],
          [0, 0],
        ],
      ],
      [
        [
          [1, 2, 3],
          [4, 5, 6],
          [5, 7, 9],
        ],
        [
          [3, -6, 3],
          [3, -6, 3],
          [-3, 6, -3],
        ],
      ],
      [
        [
          [1, 0, 0],
          [0, 2, 0],
          [0, 0, 0],
        ],
        [
          [0, 0, 0],
          [0, 0, 0],
          [0, 0, 2],
        ],
      ],
      [
        [
          [1, 0, 0],
          [0, 0, 0],
          [0, 0, 3],
        ],
        [
          [0, 0, 0],
          [0, 3, 0],
          [0, 0, 0],
        ],
      ],
      [
        [
          [0, 1, 0],
          [0, 0, 1],
          [0, 0, 0],
        ],
        [
          [0, 0, 0],
          [0, 0, 0],
          [1, 0, 0],
        ],
      ],
      [
        [
          [1, 2, 3],
          [2, 4, 6],
          [3, 6, 9],
        ],
        [
          [0, 0, 0],
          [0, 0, 0],
          [0, 0, 0],
        ],
      ],
      [
        [
          [
            [1, 2],
            [2, 4],
          ],
          [
            [1, 2],
            [3, 4],
          ],
        ],
        [
          [
            [4, -2],
            [-2, 1],
          ],
          [
            [4, -3],
            [-2, 1],
          ],
        ],
      ],
    ]) {
      const a = t.tensor(at, { requires_grad: true });
      linalg.det(a).sum().backward();
      t.close(await a.grad.tolist(), wanted, { rtol: 1e-4, atol: 2e-5 });
    }
    const b = t.tensor(
        [
          [1, 2],
          [3, 4],
        ],
        { requires_grad: true },
      ),
      [g] = autograd.grad(linalg.det(b), b, { create_graph: true });
    t.close(
      await autograd
        .grad(
          g
            .mul(
              t.tensor([
                [1, 2],
                [3, 4],
              ]),
            )
            .sum(),
          b,
        )[0]
        .tolist(),
      [
        [4, -3],
        [-2, 1],
      ],
      { rtol: 1e-4 },
    );
    // The second slope, from differences: a determinant is linear in each element.  At singular matrices up to 3 by 3.
    const det = (m) =>
      m.length
        ? m.reduce(
            (sum, row, i) => sum + (-1) ** i * row[0] * det(m.filter((_, k) => k !== i).map((r) => r.slice(1))),
            0,
          )
        : 1;
    const bumped = (m, places) => m.map((row, i) => row.map((v, j) => v + places.some(([k, l]) => k === i && l === j)));
    for (const m of [
      [
        [1, 2],
        [2, 4],
      ],
      [
        [0, 0],
        [0, 0],
      ],
      [
        [1, 1],
        [1, 1],
      ],
      [[0]],
      [[5]],
      [
        [1, 2, 3],
        [4, 5, 6],
        [5, 7, 9],
      ],
      [
        [1, 0, 0],
        [0, 0, 0],
        [0, 0, 3],
      ],
      [
        [1, 2, 3],
        [2, 4, 6],
        [3, 6, 9],
      ],
      [
        [0, 0, 0],
        [0, 2, 0],
        [0, 0, 0],
      ],
      [
        [0, 0, 0],
        [0, 0, 0],
        [0, 0, 0],
      ],
      [
        [2, 1, 0],
        [1, 3, 1],
        [0, 1, 4],
      ],
      [
        [2, 1, 0, 1],
        [1, 3, 1, 0],
        [0, 1, 4, 2],
        [1, 0, 0, 3],
      ],
    ]) {
      const at = m.flatMap((row, i) => row.map((_, j) => [i, j])),
        weights = m.map((row, i) => row.map((_, j) => 1 + i * row.length + j));
      const wanted = m.map((row, i) =>
        row.map((_, j) =>
          at.reduce(
            (sum, [k, l]) =>
              k === i || l === j
                ? sum
                : sum +
                  weights[k][l] *
                    (det(
                      bumped(m, [
                        [i, j],
                        [k, l],
                      ]),
                    ) -
                      det(bumped(m, [[i, j]])) -
                      det(bumped(m, [[k, l]])) +
                      det(m)),
            0,
          ),
        ),
      );
      const a = t.tensor([m, m], { requires_grad: true }),
        [first] = autograd.grad(linalg.det(a).sum(), a, { create_graph: true });
      t.close(await autograd.grad(first.mul(t.tensor(weights)).sum(), a)[0].tolist(), [wanted, wanted], {
        rtol: 1e-4,
        atol: 1e-3,
      });
    }
    const a = t.tensor(
      [
        [1, 2],
        [3, 4],
      ],
      { requires_grad: true },
    );
    logdet(a).backward();
    t.equal(await a.grad.tolist(), [
      [0, 0],
      [0, 0],
    ]);
  },
};
