// Distributions in compiled programs: what they ask of elements is asked in replays, too.

export default {
  "compiled on the CPU, what parameters and values must hold is asked in each replay": async (t) => {
    if (t.device !== "cpu") return; // a GPU is not waited for
    const { distributions: D, compile, compiler } = t.torch;
    const made = [
      ["Categorical", (a) => D.Categorical(a), 1, -1],
      ["Uniform", (a) => D.Uniform(0, a), 0.4, -1],
      ["Pareto", (a) => D.Pareto(1, a), 2, -1],
      ["Binomial", (a) => D.Binomial(3, a), 2, 2],
      ["Independent", (a) => D.Independent(D.Uniform(0, a), 1), 0.25, -1],
      ["Wishart", (a) => D.Wishart(a.sum().add(2), t.torch.eye(2)), null, -9],
    ];
    for (const [name, make, value, wrong] of made) {
      const f = compile((a) => (value === null ? make(a).mean : make(a).log_prob(t.torch.full_like(a, value))), {
        fullgraph: true,
      });
      for (const x of [0.5, 0.6, 0.7, 0.8]) {
        const given = t.tensor([x, x]);
        const d = make(given);
        t.close(
          await f(given).tolist(),
          await (value === null ? d.mean : d.log_prob(t.torch.full_like(given, value))).tolist(),
        );
      }
      t.equal([name, compiler.counts(f).replays > 0], [name, true]);
      await t.throws(() => f(t.tensor([0.5, wrong])), /Expected|expected to be greater/);
    }
    const inside = compile((a, x) => D.Uniform(0, a).log_prob(x), { fullgraph: true });
    for (let n = 0; n < 3; n++) inside(t.tensor(2), t.tensor(1));
    await t.throws(
      () => inside(t.tensor(2), t.tensor(3)),
      /within the support \(Interval\) of the distribution Uniform/,
    );
    t.equal(String(D.Uniform(0, 2).support), "Interval(lower_bound=0.0, upper_bound=2.0)");
    t.equal(
      String(D.Independent(D.Uniform(0, t.torch.ones([1])), 1).support),
      "IndependentConstraint(Interval(lower_bound=tensor([0.]), upper_bound=tensor([1.])), 1)",
    );
  },
};
