// Bags of rows whose norms are limited, in place.

export default {
  "bags limit the norms of the rows that they look up, in place": async (t) => {
    const F = t.torch.nn.functional,
      long = { dtype: "int64" },
      rows = [
        [3, 4],
        [9, 9],
        [0.1, 0.1],
      ],
      // PyTorch 2.13: a gradient does not see that a row was made shorter.
      limited = [
        [0.6, 0.8],
        [9, 9],
        [0.1, 0.1],
      ];
    for (const [mode, out, slope] of [
      ["mean", [0.35, 0.45, 0.6, 0.8], [1.5, 1.5, 0, 0, 0.5, 0.5]],
      ["sum", [0.7, 0.9, 0.6, 0.8], [2, 2, 0, 0, 1, 1]],
      ["max", [0.6, 0.8, 0.6, 0.8], [2, 2, 0, 0, 0, 0]],
    ]) {
      const weight = t.tensor(rows, { requires_grad: true }),
        bags = F.embedding_bag(t.tensor([0, 2, 0], long), weight, t.tensor([0, 2], long), { max_norm: 1, mode });
      t.close((await bags.tolist()).flat(), out);
      t.close((await weight.tolist()).flat(), limited.flat());
      bags.sum().backward();
      t.close((await weight.grad.tolist()).flat(), slope);
    }
    const module = t.torch.nn.EmbeddingBag(3, 2, {
      max_norm: 1,
      norm_type: Infinity,
      mode: "sum",
      _weight: t.tensor(rows),
    });
    t.close((await module(t.tensor([[0, 0]], long)).tolist()).flat(), [1.5, 2]);
    t.close((await module.weight.tolist())[0], [0.75, 1]);
  },

  "a call that is refused names the function and makes no row shorter": async (t) => {
    const F = t.torch.nn.functional,
      weight = t.tensor([[3, 4]]),
      places = t.tensor([[0]], { dtype: "int64" });
    t.throws(
      () => F.embedding_bag(t.tensor([[0.5]]), weight, { max_norm: 1 }),
      /embedding_bag: 'input' must be an integer tensor/,
    );
    t.throws(
      () => F.embedding_bag(places, weight, { max_norm: 1, scale_grad_by_freq: true }),
      /^embedding_bag: scale_grad_by_freq is not supported$/,
    );
    t.close((await weight.tolist()).flat(), [3, 4]);
    t.throws(
      () => F.embedding(places, t.tensor([[3, 4]], { dtype: "int64" }), { max_norm: 1 }),
      /embedding: max_norm asks for a weight of floats/,
    );
  },
};
