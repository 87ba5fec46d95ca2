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
};
