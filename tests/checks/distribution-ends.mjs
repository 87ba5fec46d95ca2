// torch.distributions at the ends of what their types hold; transforms that remember.

export default {
  "what would round to 0 or 1 stays between, as far as in PyTorch": async (t) => {
    const { distributions: D } = t.torch;
    for (const dtype of t.device === "cpu" ? ["float32", "float64"] : ["float32"]) {
      const { tiny, eps } = t.torch.finfo(dtype),
        one = (x) => t.tensor(x, { dtype }),
        ends = async (d, n = 40) => {
          const x = await d.sample([n]).flatten().tolist();
          return [Math.min(...x), Math.max(...x)];
        };
      t.torch.manual_seed(8);
      t.equal((await ends(D.Beta(one(1e6), one(1e-6))))[1], 1 - eps / 2);
      t.equal((await ends(D.Beta(one(1e-6), one(1e6))))[0], tiny);
      t.equal(await ends(D.Beta(one(1e-4), one(1e-4))), [tiny, 1 - eps / 2]);
      t.equal(await ends(D.Dirichlet(one([1e6, 1e-6]))), [tiny, 1 - eps / 2]);
      t.equal(await ends(D.RelaxedBernoulli(one(0.001), one(0.5))), [tiny, 1 - eps]);
      t.equal((await ends(D.Gamma(one(1e-6), one(1))))[0], tiny);
      t.equal(await D.SigmoidTransform()(one([800, -800])).tolist(), [1 - eps, tiny]);
      t.equal(await D.StickBreakingTransform()(one([50, 0])).tolist(), [1 - eps, eps / 2, eps / 2]);
      t.equal(await D.StickBreakingTransform()(one([-800, 0])).tolist(), [tiny, 0.5, 0.5]);
    }
  },
  "a transform that remembers is the transform that it was": async (t) => {
    const { ExpTransform, AffineTransform, ComposeTransform } = t.torch.distributions.transforms;
    for (const [made, there] of [
      [ExpTransform(), [1, Math.E]],
      [AffineTransform(1, 2), [1, 3]],
      [ComposeTransform([AffineTransform(1, 2), ExpTransform()]), [Math.E, Math.E ** 3]],
    ]) {
      const remembering = made.with_cache(1),
        x = t.tensor([0, 1]),
        y = remembering(x);
      t.equal(remembering.constructor, made.constructor);
      t.close(await y.tolist(), there);
      t.equal([remembering(x) === y, remembering.inv(y) === x, made(x) === made(x)], [true, true, false]);
    }
  },
  "what is listed by a number of trials is listed on any device": async (t) => {
    const { Binomial, kl_divergence } = t.torch.distributions,
      logits = t.tensor([0, 1]),
      five = Binomial(5, { logits });
    t.equal(
      [await five.enumerate_support({ expand: false }).flatten().tolist(), five.enumerate_support().shape],
      [
        [0, 1, 2, 3, 4, 5],
        [6, 2],
      ],
    );
    t.close(await five.entropy().tolist(), [1.523671, 1.371972], { rtol: 1e-4 });
    t.close(await five.expand([3, 2]).entropy().index(2).tolist(), [1.523671, 1.371972], { rtol: 1e-4 });
    t.close(await kl_divergence(five, Binomial(5, { logits: logits.neg() })).tolist(), [0, 2.310586], { rtol: 1e-4 });
    t.equal(five.expand([3, 2]).param_shape, [3, 2]);
    // A number that was changed since is that of the tensor.
    five.total_count.fill_(2);
    if (t.device === "cpu") t.equal(five.enumerate_support().shape, [3, 2]);
    else await t.throws(() => five.enumerate_support(), /total_count must be a number, or on the CPU/);
  },
  "a transform says how many axes its events have, where in and out are alike": async (t) => {
    const { ExpTransform, IndependentTransform, StickBreakingTransform, CorrCholeskyTransform } =
      t.torch.distributions.transforms;
    t.equal(
      [ExpTransform(), IndependentTransform(ExpTransform(), 2), StickBreakingTransform()].map((x) => x.event_dim),
      [0, 2, 1],
    );
    await t.throws(
      () => CorrCholeskyTransform().event_dim,
      /Please use either .domain.event_dim or .codomain.event_dim/,
    );
  },
};
