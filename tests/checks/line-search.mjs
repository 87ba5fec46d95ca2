// L-BFGS with a line search goes where PyTorch's goes, with as many evaluations of the function.
const FUNCTIONS = {
  rosen: (x, y) =>
    x
      .neg()
      .add(1)
      .pow(2)
      .add(y.sub(x.pow(2)).pow(2).mul(100)),
  waves: (x, y) => x.mul(3).sin().add(x.pow(2).mul(0.1)).add(y.mul(2).cos().mul(x)).add(y.pow(2).mul(0.2)),
  steep: (x, y) => x.exp().add(x.mul(-2).exp()).add(y.pow(4).div(8)),
};

/** Function, start, options; after each of three steps x, y, evaluations and directions so far.  By torch 2.13, the same
 * to five digits in float32 and float64. */
// biome-ignore format: a row each
const RUNS = [
  ["rosen", [-1.2, 1.0], {"max_iter": 3}, [[-1.02453, 1.07162, 3, 1], [-1.02888, 1.0655, 6, 3], [-1.02031, 1.03528, 9, 5]]],
  ["rosen", [-1.2, 1.0], {"lr": 50, "max_iter": 3}, [[-1.2, 1.0, 4, 1], [-1.2, 1.0, 8, 2], [-1.2, 1.0, 12, 3]]],
  ["rosen", [-1.2, 1.0], {"max_iter": 6, "max_eval": 4}, [[-1.02846, 1.06819, 4, 2], [-1.02031, 1.03528, 8, 5], [-0.88021, 0.72748, 12, 8]]],
  ["rosen", [0.5, -1.0], {"max_iter": 3}, [[-0.01032, -0.19099, 3, 2], [0.0225, 0.00178, 7, 4], [0.17931, 0.00552, 11, 5]]],
  ["rosen", [0.5, -1.0], {"lr": 50, "max_iter": 3}, [[0.5, -1.0, 4, 1], [0.5, -1.0, 8, 2], [0.5, -1.0, 12, 3]]],
  ["rosen", [0.5, -1.0], {"max_iter": 6, "max_eval": 4}, [[-0.00793, -0.00031, 4, 3], [0.1596, 0.0112, 8, 4], [0.2835, 0.06101, 12, 6]]],
  ["waves", [1.0, 2.0], {"lr": 0.001, "max_iter": 2}, [[1.00597, 1.99597, 3, 1], [1.04032, 1.97286, 6, 2], [1.07517, 1.94999, 9, 3]]],
  ["waves", [1.0, 2.0], {"lr": 50, "max_iter": 3}, [[1.0, 2.0, 4, 1], [1.59318, 1.59915, 8, 2], [1.59318, 1.59915, 12, 3]]],
  ["waves", [-2.0, 0.5], {"max_iter": 3}, [[-2.6635, -0.05445, 4, 2], [-2.66982, -5e-05, 7, 4], [-2.66998, -0.0, 9, 6]]],
  ["waves", [-2.0, 0.5], {"max_iter": 6, "max_eval": 4}, [[-2.6635, -0.05445, 4, 2], [-2.66998, -0.0, 8, 5], [-2.66998, -0.0, 9, 6]]],
  ["waves", [0.3, -1.0], {"max_iter": 3}, [[-0.4654, -1.07386, 3, 1], [-0.85976, -0.22414, 7, 2], [-0.79424, 0.0693, 10, 3]]],
  ["waves", [0.3, -1.0], {"lr": 50, "max_iter": 3}, [[-0.07452, -1.03614, 4, 1], [-0.07452, -1.03614, 8, 2], [-0.07452, -1.03614, 12, 3]]],
  ["waves", [0.3, -1.0], {"max_iter": 6, "max_eval": 4}, [[-0.97633, 0.02703, 5, 2], [-0.62016, -0.001, 10, 4], [-0.62232, -0.0, 13, 7]]],
  ["steep", [3.0, 2.0], {"max_iter": 3}, [[1.50894, 1.52259, 3, 2], [0.31115, 0.85682, 6, 4], [0.20274, 0.6099, 9, 6]]],
  ["steep", [3.0, 2.0], {"max_iter": 6, "max_eval": 4}, [[0.82018, 1.13354, 4, 3], [0.20274, 0.6099, 8, 6], [0.23131, 0.25384, 12, 9]]],
  ["steep", [-2.0, -3.0], {"max_iter": 3}, [[-0.92079, -2.74943, 3, 2], [-0.15218, -1.66837, 6, 4], [0.21446, -0.96405, 9, 6]]],
  ["steep", [-2.0, -3.0], {"max_iter": 6, "max_eval": 4}, [[-0.446, -2.16289, 4, 3], [0.21446, -0.96405, 8, 6], [0.234, -0.42328, 12, 9]]],
  ["steep", [0.5, 1.0], {"max_iter": 3}, [[0.1893, 0.82984, 3, 1], [0.22929, 0.51467, 6, 3], [0.23104, 0.29753, 9, 5]]],
  ["steep", [0.5, 1.0], {"max_iter": 6, "max_eval": 4}, [[0.21121, 0.72689, 4, 2], [0.23104, 0.29753, 8, 5], [0.23105, 0.12833, 12, 8]]],
];

/** Function, start, options; evaluations and directions of one step, which ends where little changes: by torch 2.13, the
 * same in float32 and float64. */
// biome-ignore format: a row each
const ENDS = [
  ["waves", [1.0, 2.0], {"tolerance_change": 0.3}, [2, 2]],
  ["waves", [1.0, 2.0], {"tolerance_change": 0.3, "line_search_fn": "strong_wolfe"}, [2, 2]],
  ["waves", [1.0, 2.0], {"tolerance_change": 0.05}, [3, 2]],
  ["waves", [1.0, 2.0], {"tolerance_change": 0.05, "line_search_fn": "strong_wolfe"}, [3, 2]],
  ["waves", [1.0, 2.0], {"tolerance_grad": 0.5}, [4, 3]],
  ["waves", [1.0, 2.0], {"tolerance_grad": 0.5, "line_search_fn": "strong_wolfe"}, [4, 3]],
  ["waves", [1.0, 2.0], {"lr": 0.2, "tolerance_change": 0.1, "line_search_fn": "strong_wolfe"}, [4, 2]],
  ["waves", [-2.0, 0.5], {"tolerance_change": 0.3}, [3, 2]],
  ["waves", [-2.0, 0.5], {"tolerance_change": 0.3, "line_search_fn": "strong_wolfe"}, [4, 2]],
  ["waves", [-2.0, 0.5], {"tolerance_change": 0.05}, [4, 4]],
  ["waves", [-2.0, 0.5], {"tolerance_change": 0.05, "line_search_fn": "strong_wolfe"}, [4, 3]],
  ["waves", [-2.0, 0.5], {"tolerance_grad": 0.5}, [4, 3]],
  ["waves", [-2.0, 0.5], {"tolerance_grad": 0.5, "line_search_fn": "strong_wolfe"}, [5, 3]],
  ["waves", [-2.0, 0.5], {"lr": 0.2, "tolerance_change": 0.1}, [6, 5]],
  ["waves", [-2.0, 0.5], {"lr": 0.2, "tolerance_change": 0.1, "line_search_fn": "strong_wolfe"}, [4, 2]],
  ["waves", [0.3, -1.0], {"tolerance_change": 0.3}, [3, 2]],
  ["waves", [0.3, -1.0], {"tolerance_change": 0.3, "line_search_fn": "strong_wolfe"}, [8, 3]],
  ["waves", [0.3, -1.0], {"tolerance_change": 0.05}, [7, 7]],
  ["waves", [0.3, -1.0], {"tolerance_change": 0.05, "line_search_fn": "strong_wolfe"}, [10, 5]],
  ["waves", [0.3, -1.0], {"tolerance_grad": 0.5}, [7, 6]],
  ["waves", [0.3, -1.0], {"tolerance_grad": 0.5, "line_search_fn": "strong_wolfe"}, [10, 4]],
  ["waves", [0.3, -1.0], {"lr": 0.2, "tolerance_change": 0.1}, [5, 4]],
  ["waves", [0.3, -1.0], {"lr": 0.2, "tolerance_change": 0.1, "line_search_fn": "strong_wolfe"}, [7, 4]],
  ["steep", [3.0, 2.0], {"tolerance_change": 0.3}, [5, 5]],
  ["steep", [3.0, 2.0], {"tolerance_change": 0.3, "line_search_fn": "strong_wolfe"}, [5, 5]],
  ["steep", [3.0, 2.0], {"tolerance_change": 0.05}, [6, 5]],
  ["steep", [3.0, 2.0], {"tolerance_change": 0.05, "line_search_fn": "strong_wolfe"}, [6, 5]],
  ["steep", [3.0, 2.0], {"tolerance_grad": 0.5}, [5, 4]],
  ["steep", [3.0, 2.0], {"tolerance_grad": 0.5, "line_search_fn": "strong_wolfe"}, [5, 4]],
  ["steep", [3.0, 2.0], {"lr": 0.2, "tolerance_change": 0.1}, [16, 15]],
  ["steep", [3.0, 2.0], {"lr": 0.2, "tolerance_change": 0.1, "line_search_fn": "strong_wolfe"}, [16, 15]],
  ["steep", [-2.0, -3.0], {"tolerance_change": 0.3}, [3, 2]],
  ["steep", [-2.0, -3.0], {"tolerance_change": 0.3, "line_search_fn": "strong_wolfe"}, [3, 2]],
  ["steep", [-2.0, -3.0], {"tolerance_change": 0.05}, [8, 8]],
  ["steep", [-2.0, -3.0], {"tolerance_change": 0.05, "line_search_fn": "strong_wolfe"}, [8, 8]],
  ["steep", [-2.0, -3.0], {"tolerance_grad": 0.5}, [7, 6]],
  ["steep", [-2.0, -3.0], {"tolerance_grad": 0.5, "line_search_fn": "strong_wolfe"}, [7, 6]],
  ["steep", [-2.0, -3.0], {"lr": 0.2, "tolerance_change": 0.1}, [3, 2]],
  ["steep", [-2.0, -3.0], {"lr": 0.2, "tolerance_change": 0.1, "line_search_fn": "strong_wolfe"}, [3, 2]],
  ["steep", [0.5, 1.0], {"tolerance_change": 0.05}, [3, 3]],
  ["steep", [0.5, 1.0], {"tolerance_change": 0.05, "line_search_fn": "strong_wolfe"}, [3, 2]],
  ["steep", [0.5, 1.0], {"tolerance_grad": 0.5}, [3, 2]],
  ["steep", [0.5, 1.0], {"lr": 0.2, "tolerance_change": 0.1}, [3, 2]],
  ["steep", [0.5, 1.0], {"lr": 0.2, "tolerance_change": 0.1, "line_search_fn": "strong_wolfe"}, [3, 2]],
];

/** The number of evaluations and of directions after a step on one of FUNCTIONS. */
async function step(optimizer, p, name) {
  await optimizer.step(() => {
    optimizer.zero_grad();
    const loss = FUNCTIONS[name](p.select(0, 0), p.select(0, 1));
    loss.backward();
    return loss;
  });
  const { func_evals, n_iter } = (await optimizer.state_dict()).state[0];
  return [func_evals, n_iter];
}

const exactly = {
  "a step ends where PyTorch's ends": async (t) => {
    const rows = ENDS.filter((_, n) => t.device === "cpu" || n % 4 === 0); // a GPU is waited for at each
    for (const [name, start, options, wanted] of rows) {
      const p = t.torch.nn.Parameter(t.tensor(start)),
        optimizer = t.torch.optim.LBFGS([p], options);
      const made = await step(optimizer, p, name);
      t.equal([name, start, options, made], [name, start, options, wanted]);
    }
  },
  /** x*x/2 - 10x has at 1, a tenth of the first direction, nine tenths of the slope at 0. By torch 2.13. */
  "strong_wolfe: the largest slope that is flat enough": async (t) => {
    const p = t.torch.nn.Parameter(t.tensor([0])),
      optimizer = t.torch.optim.LBFGS([p], { line_search_fn: "strong_wolfe", max_iter: 1, max_eval: 20 });
    await optimizer.step(() => {
      optimizer.zero_grad();
      const loss = p.mul(p).mul(0.5).sub(p.mul(10)).sum();
      loss.backward();
      return loss;
    });
    t.equal([await p.tolist(), (await optimizer.state_dict()).state[0].func_evals], [[1], 2]);
  },
};

export default Object.fromEntries([
  ...Object.entries(exactly),
  ...Object.keys(FUNCTIONS).map((name) => [
    `strong_wolfe: ${name}`,
    async (t) => {
      for (const [, start, options, wanted] of RUNS.filter(([f]) => f === name)) {
        const p = t.torch.nn.Parameter(t.tensor(start)),
          optimizer = t.torch.optim.LBFGS([p], { line_search_fn: "strong_wolfe", ...options });
        for (const [x, y, evaluations, directions] of wanted) {
          const made = await step(optimizer, p, name);
          t.close([...(await p.data())], [x, y], { atol: 2e-4, rtol: 2e-4 });
          t.equal(made, [evaluations, directions]);
        }
      }
    },
  ]),
]);
