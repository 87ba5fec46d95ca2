// torch.distributions: PyTorch's recorded answers (tests/recorded/distributions.py), and samples by their moments.

const at = (name) => new URL(`../recorded/${name}`, import.meta.url);
async function recorded() {
  if (at("distributions.json").protocol !== "file:") return (await fetch(at("distributions.json"))).json();
  return JSON.parse(await (await import("node:fs/promises")).readFile(at("distributions.json"), "utf8"));
}
const number = (x) =>
  Array.isArray(x) ? x.map(number) : typeof x === "string" ? Number(x.replace("inf", "Infinity")) : x;
/** A GPU computes in 32 bits. */
const near = (t) => (t.device === "cpu" ? { rtol: 2e-6, atol: 1e-7 } : { rtol: 2e-4, atol: 2e-5 });
const real = (t, x) => t.tensor(x, t.device === "cpu" ? { dtype: "float64" } : {});
// Where PyTorch's answer is no answer: a power of a negative number, 0 times the logarithm of 0, and no closed form.
const ELSEWHERE = ["Weibull mode", "Kumaraswamy mode", "Kumaraswamy Kumaraswamy", "ContinuousBernoulli Pareto"];
/** Whole numbers that name places are such. */
const value = (t, name, x) => (name === "Categorical" ? t.tensor(x, { dtype: "int64" }) : real(t, x));

function made(t, { name, arguments: given }) {
  const args = Object.entries(given).map(([k, v]) => [k, k === "total_count" && !Array.isArray(v) ? v : real(t, v)]);
  return t.torch.distributions[name](Object.fromEntries(args));
}
const asked = (f) => {
  try {
    return f();
  } catch (error) {
    if (/does not implement|must be on the CPU/.test(error.message)) return null;
    throw error;
  }
};

export default {
  "log_prob, cdf, icdf, entropy, moments and supports are PyTorch's": async (t) => {
    const { cases } = await recorded(),
      wrong = [];
    for (const entry of cases) {
      const d = made(t, entry),
        x = value(t, entry.name, entry.value),
        got = {
          ...Object.fromEntries(["mean", "mode", "variance", "stddev"].map((k) => [k, asked(() => d[k])])),
          log_prob: asked(() => d.log_prob(x)),
          cdf: asked(() => d.cdf(x)),
          icdf: asked(() => d.icdf(real(t, [0.1, 0.5, 0.8]))),
          entropy: asked(() => d.entropy()),
          support: d.has_enumerate_support ? asked(() => d.enumerate_support()) : null,
        };
      t.equal([...d.batch_shape], entry.answers.batch_shape);
      t.equal([...d.event_shape], entry.answers.event_shape);
      for (const [what, tensor] of Object.entries(got)) {
        const wanted = number(entry.answers[what]);
        try {
          if (ELSEWHERE.includes(`${entry.name} ${what}`)) continue;
          if (wanted === null || tensor === null) {
            if (tensor === null && wanted !== null && t.device === "cpu") throw new Error("is not there");
            continue;
          }
          t.close(await tensor.tolist(), wanted, near(t));
        } catch (error) {
          wrong.push(`${entry.name}(${JSON.stringify(entry.arguments)}).${what}: ${error.message}`);
        }
      }
    }
    t.equal(wrong.join("\n"), "");
  },
  "kl_divergence of every pair is PyTorch's": async (t) => {
    const { cases, pairs } = await recorded(),
      all = cases.map((entry) => made(t, entry)),
      wrong = [];
    for (const [p, q, wanted] of pairs) {
      if (ELSEWHERE.includes(`${cases[p].name} ${cases[q].name}`)) continue;
      try {
        t.close(await t.torch.distributions.kl_divergence(all[p], all[q]).tolist(), number(wanted), near(t));
      } catch (error) {
        wrong.push(`${cases[p].name} ${cases[q].name}: ${error.message}`);
      }
    }
    t.equal(wrong.join("\n"), "");
    const { Kumaraswamy, Weibull } = t.torch.distributions; // the highest places of their densities
    t.close(await Weibull(t.tensor([0.5, 1]), t.tensor([0.25, 1])).mode.tolist(), [0, 0]);
    t.close(await Kumaraswamy(t.tensor([1, 2]), t.tensor([3, 2])).mode.tolist(), [0, 3 ** -0.5], near(t));
    await t.throws(
      () =>
        t.torch.distributions.kl_divergence(
          all[0],
          made(
            t,
            cases.find(({ name }) => name === "Cauchy"),
          ),
        ),
      /No KL\(p \|\| q\) is implemented for p type Normal and q type Cauchy/,
    );
  },
  "samples have the moments of their distributions": async (t) => {
    const { distributions: D } = t.torch,
      n = 20000;
    t.torch.manual_seed(5);
    const one = (x) => t.tensor(x);
    const all = [
      D.Normal(one(1), one(2)),
      D.Laplace(one(-1), one(0.5)),
      D.Uniform(one(-1), one(3)),
      D.Exponential(one(2)),
      D.Bernoulli(one(0.3)),
      D.Geometric(one(0.3)),
      D.ContinuousBernoulli(one(0.2)),
      D.Gumbel(one(1), one(2)),
      D.Weibull(one(2), one(1.5)),
      D.Kumaraswamy(one(2), one(3)),
      D.HalfNormal(one(2)),
      D.LogNormal(one(0.2), one(0.4)),
      D.Pareto(one(1), one(6)),
      D.MixtureSameFamily(D.Categorical(one([0.25, 0.75])), D.Normal(one([-1, 2]), one([0.5, 1]))),
    ];
    for (const d of all) {
      const x = d.sample([n]),
        [mean, variance, wanted, spread] = await Promise.all(
          [x.mean(), x.var(), d.mean, d.variance].map((v) => v.item()),
        ),
        error = Math.sqrt(spread / n);
      t.equal([String(d), Math.abs(mean - wanted) < 5 * error || [mean, wanted]], [String(d), true]);
      t.equal([String(d), Math.abs(variance / spread - 1) < 0.25 || [variance, spread]], [String(d), true]);
      t.equal([x.requires_grad, x.shape, x.device], [false, [n], t.device]);
    }
    const places = D.Categorical(one([0.2, 0.3, 0.5])).sample([n]);
    t.close(await places.float().mean().item(), 1.3, { atol: 0.03 });
    const counts = D.Multinomial(10, one([0.2, 0.3, 0.5])).sample([4000]);
    t.close(await counts.mean(0).tolist(), [2, 3, 5], { atol: 0.15 });
    const vectors = D.MultivariateNormal(
      one([1, -1]),
      one([
        [2, 0.5],
        [0.5, 1],
      ]),
    ).sample([n]);
    t.close(
      await t.torch.cov(vectors.T).tolist(),
      [
        [2, 0.5],
        [0.5, 1],
      ],
      { atol: 0.1 },
    );
  },
  "gradients flow through rsample": async (t) => {
    const { distributions: D } = t.torch,
      cases = [
        // the slope of the mean by each parameter
        [(a, b) => D.Normal(a, b), [1, 2], [1, 0]],
        [(a, b) => D.Uniform(a, b), [0, 2], [0.5, 0.5]],
        [(a, b) => D.Gumbel(a, b), [0, 2], [1, 0.5772]],
      ];
    t.torch.manual_seed(7);
    for (const [make, values, wanted] of cases) {
      const leaves = values.map((v) => t.tensor(v).requires_grad_()),
        d = make(...leaves),
        slopes = t.torch.autograd.grad(d.rsample([20000]).mean(), leaves);
      t.equal(d.has_rsample, true);
      t.close(await Promise.all(slopes.map((s) => s.item())), wanted, { atol: 0.05 });
    }
  },
  "shapes: expand, Independent, mixtures": async (t) => {
    const { distributions: D } = t.torch,
      normal = D.Normal(t.tensor([0, 1, 2]), 1),
      whole = D.Independent(normal, 1),
      wide = normal.expand([4, 3]);
    t.equal([[...whole.batch_shape], [...whole.event_shape], [...wide.batch_shape]], [[], [3], [4, 3]]);
    t.equal([wide.sample([2]).shape, whole.sample([5]).shape, normal.sample().shape], [[2, 4, 3], [5, 3], [3]]);
    const x = t.tensor([0.5, 1, 1.5]);
    t.close(await whole.log_prob(x).item(), await normal.log_prob(x).sum().item());
    const mix = D.MixtureSameFamily(
      D.Categorical(t.torch.ones([2], { device: t.device })),
      D.Normal(t.tensor([-1, 1]), 1),
    );
    t.close(await mix.log_prob(t.tensor([0])).tolist(), [-1.4189], { atol: 1e-4 });
    t.close([await mix.mean.item(), await mix.variance.item()], [0, 2]);
    t.equal(mix.sample([2, 3]).shape, [2, 3]);
  },
  "parameters and values that do not hold are refused": async (t) => {
    const { distributions: D } = t.torch;
    await t.throws(() => D.Normal(), /missing required argument 'loc'/);
    await t.throws(() => D.Normal(0, 1, { validate: true }), /unexpected keyword argument 'validate'/);
    await t.throws(() => D.Normal("a", 1), /expected numbers or tensors/);
    await t.throws(() => D.Bernoulli(), /Either `probs` or `logits` must be specified, but not both/);
    await t.throws(() => D.Normal(0, 1).entropy(3), /takes/);
    await t.throws(() => D.Normal(0, 1).log_prob(3), /must be a Tensor/);
    await t.throws(() => D.Normal(t.tensor([0, 1]), 1).log_prob(t.tensor([1, 2, 3])), /not broadcastable/);
    await t.throws(() => D.Categorical(t.tensor(0.5)), /must be at least one-dimensional/);
    await t.throws(() => D.Bernoulli(0.5).rsample(), /Bernoulli does not implement rsample/);
    if (t.device !== "cpu") return; // a GPU is not waited for
    await t.throws(
      () => D.Normal(t.tensor([0]), t.tensor([-1])),
      /Normal: Expected parameter scale .* to satisfy the constraint GreaterThan\(lower_bound=0\.0\)/,
    );
    await t.throws(() => D.Uniform(t.tensor([1]), t.tensor([0])), /to satisfy the constraint LessThan/);
    await t.throws(() => D.Kumaraswamy(1, 2).log_prob(t.tensor(1.5)), /to be within the support \(Interval/);
    t.equal(await D.Normal(0, -1, { validate_args: false }).scale.item(), -1);
  },
};
