// What losses were told before there was `reduction`: size_average and reduce, by name, functions and modules alike.

const SIGNS = /^(hinge_embedding|soft_margin)_loss$/;
/** Every loss of two tensors by PyTorch's name of the function, and its module. */
const PAIRS = {
  mse_loss: "MSELoss",
  l1_loss: "L1Loss",
  smooth_l1_loss: "SmoothL1Loss",
  kl_div: "KLDivLoss",
  poisson_nll_loss: "PoissonNLLLoss",
  binary_cross_entropy: "BCELoss",
  binary_cross_entropy_with_logits: "BCEWithLogitsLoss",
  hinge_embedding_loss: "HingeEmbeddingLoss",
  soft_margin_loss: "SoftMarginLoss",
  multilabel_soft_margin_loss: "MultiLabelSoftMarginLoss",
  cross_entropy: "CrossEntropyLoss",
  nll_loss: "NLLLoss",
  multi_margin_loss: "MultiMarginLoss",
};
const OLD = [
  [{ size_average: false }, "sum"],
  [{ size_average: true }, "mean"],
  [{ size_average: null, reduce: null }, "mean"],
  [{ reduce: false }, "none"],
  [{ sizeAverage: false, reduce: false }, "none"],
  [{ size_average: false, reduce: true }, "sum"],
  // The old ones win, as in PyTorch.
  [{ size_average: false, reduction: "mean" }, "sum"],
];

export default {
  "size_average and reduce are reductions, of every loss": async ({ torch, tensor, equal, throws }) => {
    const { nn } = torch,
      F = nn.functional,
      { warn } = console,
      said = [];
    console.warn = (text) => said.push(String(text));
    try {
      const input = tensor([
        [0.2, 0.7],
        [0.4, 0.1],
      ]);
      for (const [name, module] of Object.entries(PAIRS)) {
        const classes = /^(cross_entropy|nll_loss|multi_margin_loss)$/.test(name),
          target = classes
            ? tensor([1, 0], { dtype: "int64" })
            : SIGNS.test(name)
              ? tensor([
                  [1, -1],
                  [-1, 1],
                ])
              : tensor([
                  [1, 0],
                  [0, 1],
                ]);
        for (const [old, reduction] of OLD) {
          const wanted = await F[name](input, target, { reduction }).tolist();
          equal(await F[name](input, target, old).tolist(), wanted);
          equal(await nn[module](old)(input, target).tolist(), wanted);
        }
        await throws(() => F[name](input, target, { size_average: "no" }), /size_average.*true or false/);
      }
      for (const [old, reduction] of OLD) {
        const [a, b] = [tensor([[1, 2]]), tensor([[3, 5]])],
          three = [a, b, a];
        equal(
          await F.triplet_margin_loss(...three, old).tolist(),
          await F.triplet_margin_loss(...three, { reduction }).tolist(),
        );
        const y = tensor([1]);
        for (const loss of ["cosine_embedding_loss", "margin_ranking_loss"]) {
          const x = loss.startsWith("cos") ? [a, b, y] : [y, y, y];
          equal(await F[loss](...x, old).tolist(), await F[loss](...x, { reduction }).tolist());
        }
      }
      // Where there is no `reduction` they are no options.
      await throws(() => torch.relu(input, { size_average: true }), /unexpected keyword argument 'size_average'/);
    } finally {
      console.warn = warn;
    }
    // Once for each reduction, whichever losses; a GPU has other things to say.
    const told = said.filter((text) => /size_average/.test(text));
    equal(new Set(told).size === told.length && told.length <= 3, true);
  },
  "the two by position, where PyTorch has them": async ({ torch, tensor, equal, throws }) => {
    const { nn } = torch,
      F = nn.functional,
      { warn } = console,
      [x, y] = [tensor([[1, 2]]), tensor([[3, 5]])],
      classes = tensor([1], { dtype: "int64" }),
      same = async (got, wanted) => equal(await got.tolist(), await wanted.tolist());
    console.warn = () => undefined;
    try {
      // What each loss has before size_average, and how that is followed.
      const modules = {
        MSELoss: [],
        L1Loss: [],
        KLDivLoss: [],
        BCELoss: [null],
        BCEWithLogitsLoss: [null],
        MultiLabelSoftMarginLoss: [null],
      };
      for (const [name, before] of Object.entries(modules)) {
        const [a, b] = name === "BCELoss" ? [x.mul(0.3), y.mul(0.2)] : [x, y];
        for (const [given, reduction] of [
          [[null, null, "sum"], "sum"],
          [[false], "sum"],
          [[null, false], "none"],
          [[true, null, "none"], "mean"],
        ])
          await same(nn[name](...before, ...given)(a, b), nn[name]({ reduction })(a, b));
      }
      for (const [given, reduction] of [
        [[null, null, -100, null, "sum"], "sum"],
        [[null, false, -100], "sum"],
        [[null, null, -100, false], "none"],
        [[null, -100, "sum"], "sum"],
      ]) {
        await same(nn.CrossEntropyLoss(...given)(x, classes), nn.CrossEntropyLoss({ reduction })(x, classes));
        if (given[1] === -100) continue;
        await same(F.cross_entropy(x, classes, ...given), F.cross_entropy(x, classes, { reduction }));
        await same(F.nll_loss(x, classes, ...given), F.nll_loss(x, classes, { reduction }));
      }
      await same(
        F.cross_entropy(x, classes, null, null, -100, null, "sum", 0.1),
        F.cross_entropy(x, classes, { reduction: "sum", label_smoothing: 0.1 }),
      );
      await same(F.mse_loss(x, y, null, null, "sum"), F.mse_loss(x, y, { reduction: "sum" }));
      await same(F.smooth_l1_loss(x, y, null, null, "sum", 2), F.smooth_l1_loss(x, y, { reduction: "sum", beta: 2 }));
      await same(
        F.poisson_nll_loss(x, y, true, false, null, 1e-8, null, "sum"),
        F.poisson_nll_loss(x, y, { reduction: "sum" }),
      );
      await same(
        nn.TripletMarginLoss(1, 2, 1e-6, false, null, null, "sum")(x, y, x),
        nn.TripletMarginLoss({ reduction: "sum" })(x, y, x),
      );
      // Losses that came later have never had them.
      for (const later of ["HuberLoss", "GaussianNLLLoss", "CTCLoss", "TripletMarginWithDistanceLoss"])
        await throws(() => nn[later]({ size_average: true }), /unexpected keyword argument 'size_average'/);
      await throws(() => F.huber_loss(x, y, { size_average: true }), /unexpected keyword argument 'size_average'/);
      await throws(() => nn.HuberLoss(null, null, "sum"), /at most 2 positional arguments|must be/);
    } finally {
      console.warn = warn;
    }
  },
};
