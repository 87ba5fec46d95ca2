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
// Where PyTorch's answer is no answer: a power of a negative number, 0 times the logarithm of 0, no closed form, and a
// polynomial of seven digits where Bessel's functions are (asked below).
const ELSEWHERE = [
  "VonMises variance",
  "VonMises stddev",
  "Weibull mode",
  "Kumaraswamy mode",
  "Kumaraswamy Kumaraswamy",
  "ContinuousBernoulli Pareto",
];
// PyTorch's divergence of Wishart's distributions is another one for a batch than for each of it: those are asked below.
const WHOLE = ["total_count", "dim"];
/** Whole numbers that name places are such. */
const value = (t, name, x) => (name === "Categorical" ? t.tensor(x, { dtype: "int64" }) : real(t, x));

function made(t, { name, arguments: given }) {
  const args = Object.entries(given).map(([k, v]) => [k, Number.isInteger(v) && WHOLE.includes(k) ? v : real(t, v)]);
  return t.torch.distributions[name](Object.fromEntries(args));
}
/** A transform as tests/recorded/distributions.py writes it. */
function transform(t, name, given) {
  const read = (x) => {
    if (!Array.isArray(x)) return x;
    if (typeof x[0] === "string") return transform(t, ...x);
    if (typeof x[0]?.[0] === "string") return x.map((one) => transform(t, ...one));
    return name === "AffineTransform" ? real(t, x) : x;
  };
  return t.torch.distributions[name](...given.map(read));
}
const asked = (f) => {
  try {
    return f();
  } catch (error) {
    if (/does not implement|must be a number, or on the CPU|Inhomogeneous total count/.test(error.message)) return null;
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
      if (cases[p].name === "Wishart" && all[p].batch_shape.length + all[q].batch_shape.length > 0) continue;
      try {
        t.close(await t.torch.distributions.kl_divergence(all[p], all[q]).tolist(), number(wanted), near(t));
      } catch (error) {
        wrong.push(`${cases[p].name} ${cases[q].name}: ${error.message}`);
      }
    }
    t.equal(wrong.join("\n"), "");
    const [one, other, batch] = [4.5, 2.5, [4.5, 2.5]].map((df) =>
      t.torch.distributions.Wishart(
        real(t, df),
        null,
        null,
        real(t, [
          [1, 0],
          [0.5, 2],
        ]),
      ),
    );
    const apart = await t.torch.distributions.kl_divergence(one, batch).tolist();
    t.close(apart, [0, await t.torch.distributions.kl_divergence(one, other).item()], near(t));
    const round = t.torch.distributions.VonMises(real(t, 0), real(t, [2, 50])).variance; // 1 - I1(c) / I0(c)
    t.close(await round.tolist(), [0.302225342035992, 0.010051032621501528], near(t));
    const { Kumaraswamy, Weibull } = t.torch.distributions; // the highest places of their densities
    // Where there is none, PyTorch's formula says what it says.
    t.close(await Weibull(t.tensor([0.5, 1, 2]), t.tensor([0.25, 1, 2])).mode.tolist(), [40.5, 0, 2 ** 0.5], near(t));
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
  "transforms go there, back and stretch as PyTorch's": async (t) => {
    const { transforms } = await recorded(),
      wrong = [];
    for (const { name, arguments: given, value: x, ...wanted } of transforms) {
      const f = transform(t, name, given),
        from = real(t, x),
        y = f(from);
      try {
        t.close(await y.tolist(), number(wanted.y), near(t));
        t.close(await f.inv(y).tolist(), number(wanted.x), { rtol: 1e-4, atol: 1e-4 });
        const stretch = asked(() => f.log_abs_det_jacobian(from, y));
        t.equal(stretch === null, wanted.stretch === null);
        if (stretch) t.close(await stretch.tolist(), number(wanted.stretch), near(t));
        t.equal([...f.forward_shape(from.shape)], wanted.shape);
        t.equal([...f.inverse_shape(wanted.shape)], [...f.inv.forward_shape(wanted.shape)]);
        t.equal([f.domain.event_dim, f.codomain.event_dim], wanted.dims);
        t.equal(f.bijective, wanted.bijective);
      } catch (error) {
        wrong.push(`${name}(${JSON.stringify(given)}): ${error.message}`);
      }
    }
    t.equal(wrong.join("\n"), "");
    const { ExpTransform, AffineTransform, ComposeTransform, CumulativeDistributionTransform, Normal, Transform } =
      t.torch.distributions;
    const kept = ExpTransform({ cache_size: 1 }),
      x = real(t, [0.5]);
    t.equal(kept.inv(kept(x)) === x, true); // what is remembered is the value itself
    t.equal(
      ComposeTransform([ExpTransform(), AffineTransform(1, 2)]).equals(
        ComposeTransform([ExpTransform(), AffineTransform(1, 2)]),
      ),
      true,
    );
    t.equal(AffineTransform(1, 2).equals(AffineTransform(1, 3)), false);
    const share = CumulativeDistributionTransform(Normal(0, 1));
    t.close(await share.inv(share(x)).tolist(), [0.5], { atol: 1e-4 });
    class Cube extends Transform {
      _call(v) {
        return v.pow(3);
      }
    }
    t.close(await new Cube()(x).tolist(), [0.125]);
    await t.throws(() => new Cube().inv(x), /Cube does not implement _inverse/);
    await t.throws(() => ExpTransform()(1), /ExpTransform: argument 'x' must be a tensor, got number 1/);
    await t.throws(() => ComposeTransform([1]), /ComposeTransform: argument 'parts' must be a transform/);
  },
  "biject_to and transform_to lead where PyTorch's lead": async (t) => {
    const { registered } = await recorded(),
      { constraints, biject_to, transform_to } = t.torch.distributions;
    for (const [which, x, bijection, way] of registered) {
      const constraint = typeof which === "string" ? constraints[which] : constraints[which[0]](...which[1]);
      if (bijection) t.close(await biject_to(constraint)(real(t, x)).tolist(), number(bijection), near(t));
      else await t.throws(() => biject_to(constraint), /biject_to: Cannot transform/);
      t.close(await transform_to(constraint)(real(t, x)).tolist(), number(way), near(t));
      t.equal(
        await constraint
          .check(transform_to(constraint)(real(t, x)))
          .all()
          .item(),
        true,
      );
    }
    await t.throws(() => biject_to(constraints.boolean), /biject_to: Cannot transform Boolean constraints/);
  },
  "matrices that are not square hold no constraint of square ones": async (t) => {
    const { constraints } = t.torch.distributions,
      square = ["square", "symmetric", "positive_definite", "positive_semidefinite"];
    for (const name of square) {
      const holds = async (x) => constraints[name].check(x).tolist();
      t.equal(await holds(t.torch.ones([2, 3])), false, name);
      t.equal(await holds(t.torch.ones([4, 2, 3])), [false, false, false, false], name);
      t.equal(await holds(t.torch.eye(2).expand([3, 2, 2])), [true, true, true], name);
    }
    t.equal(await constraints.square.check(t.torch.full([2, 2], NaN)).tolist(), true);
  },
  "transformed distributions are PyTorch's": async (t) => {
    const { transformed } = await recorded(),
      { TransformedDistribution } = t.torch.distributions;
    for (const { base, transforms, value: x, answers } of transformed) {
      const [name, given] = base,
        d = TransformedDistribution(
          made(t, { name, arguments: given }),
          transforms.map((one) => transform(t, ...one)),
        ),
        { batch_shape, event_shape, ...asks } = answers;
      t.equal([[...d.batch_shape], [...d.event_shape]], [batch_shape, event_shape]);
      for (const [what, wanted] of Object.entries(asks)) {
        const got = asked(() => d[what](real(t, what === "icdf" ? [0.1, 0.5, 0.8] : x)));
        if (wanted === null || got === null) continue;
        t.close(await got.tolist(), number(wanted), near(t));
      }
      t.equal([...d.sample([4]).shape], [4, ...batch_shape, ...event_shape]);
      t.equal([...d.expand([2, ...batch_shape]).rsample().shape], [2, ...batch_shape, ...event_shape]);
    }
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
      D.Gamma(one(2.5), one(2)),
      D.Gamma(one(0.3), one(1)),
      D.Chi2(one(3)),
      D.InverseGamma(one(8), one(2)),
      D.Beta(one(2), one(3)),
      D.Beta(one(0.4), one(0.7)),
      D.StudentT(one(9), one(1), one(2)),
      D.FisherSnedecor(one(8), one(30)),
      D.Poisson(one(3)),
      D.Poisson(one(70)),
      D.Binomial(10, one(0.3)),
      D.Binomial(400, one(0.8)),
      D.NegativeBinomial(4, one(0.6)),
      D.GeneralizedPareto(one(1), one(2), one(-0.2)),
      D.TransformedDistribution(D.Uniform(one(0), one(1)), []),
    ];
    for (const d of all) {
      const x = d.sample([n]),
        of = d.base_dist ?? d,
        [mean, variance, wanted, spread] = await Promise.all(
          [x.mean(), x.var(), of.mean, of.variance].map((v) => v.item()),
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
    const angles = D.VonMises(one(3), one(2)).sample([n]),
      [most, cosine] = await Promise.all([angles.abs().max().item(), angles.sub(3).cos().mean().item()]);
    t.equal([most <= 3.1416, Math.abs(cosine - 0.69777) < 0.02 || cosine], [true, true]); // I1(2) / I0(2)
  },
  "samples of vectors and matrices have the means and spreads of their distributions": async (t) => {
    const { distributions: D } = t.torch,
      n = 8000,
      one = (x) => t.tensor(x);
    t.torch.manual_seed(6);
    const few = D.LowRankMultivariateNormal(one([1, -1]), one([[1], [0.5]]), one([0.5, 1])),
      shares = D.Dirichlet(one([0.5, 2, 3])),
      spreads = D.Wishart(
        5,
        one([
          [2, 0.5],
          [0.5, 1],
        ]),
      ),
      broken = D.LogisticNormal(one([0.5, -1]), one([0.7, 1.5])),
      factors = D.LKJCholesky(3, one(2));
    for (const d of [few, shares, spreads]) {
      const x = d.sample([n]),
        off = x.mean(0).sub(d.mean).abs().div(d.variance.div(n).sqrt()).max();
      t.equal([String(d), (await off.item()) < 5 || (await off.item())], [String(d), true]);
      t.close(await x.var(0).div(d.variance).tolist(), await d.variance.mul(0).add(1).tolist(), { atol: 0.25 });
    }
    t.close(await t.torch.cov(few.sample([n]).T).tolist(), await few.covariance_matrix.tolist(), { atol: 0.15 });
    t.close(await broken.sample([9]).sum(-1).tolist(), Array(9).fill(1), { atol: 1e-5 });
    const x = factors.sample([n]),
      matrices = x.matmul(x.transpose(-2, -1)),
      below = matrices.index("...", [1, 2, 2], [0, 0, 1]);
    t.close(await matrices.diagonal(0, -2, -1).sub(1).abs().max().item(), 0, { atol: 1e-5 });
    // an entry is a beta number of the shapes concentration - 1 + dim / 2, from -1 to 1
    t.close(await below.mean(0).tolist(), [0, 0, 0], { atol: 0.03 });
    t.close(await below.square().mean(0).tolist(), [1 / 6, 1 / 6, 1 / 6], { atol: 0.02 });
    t.equal(D.LKJCholesky(4, one([1, 2])).sample([3]).shape, [3, 2, 4, 4]);
    const weights = t.tensor([1.5, 2, 3]).requires_grad_(), // the slope of a share's mean by its weight: (6.5 - 1.5) / 6.5²
      [slope] = t.torch.autograd.grad(D.Dirichlet(weights).rsample([n]).mean(0).select(0, 0), weights);
    t.close((await slope.tolist())[0], 5 / 6.5 ** 2, { atol: 0.01 });
  },
  "gradients flow through rsample": async (t) => {
    const { distributions: D } = t.torch,
      cases = [
        // the slope of the mean by each parameter
        [(a, b) => D.Normal(a, b), [1, 2], [1, 0]],
        [(a, b) => D.Uniform(a, b), [0, 2], [0.5, 0.5]],
        [(a, b) => D.Gumbel(a, b), [0, 2], [1, 0.5772]],
        [(a, b) => D.Gamma(a, b), [3, 2], [0.5, -0.75]],
        [(a, b) => D.Gamma(a, b), [0.4, 2], [0.5, -0.1]],
        [(a, b) => D.Beta(a, b), [2, 3], [0.12, -0.08]],
        [(a, b) => D.StudentT(8, a, b), [1, 2], [1, 0]],
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
    for (const given of [D.Bernoulli(t.tensor([0.5])), D.Categorical({ logits: t.tensor([0.5, 1]) })])
      t.equal(given.expand([3, ...given.batch_shape]).sample().shape, [3, ...given.batch_shape]);
    const single = D.OneHotCategorical(t.tensor([0.5, 0.5]));
    const through = D.OneHotCategoricalStraightThrough(t.tensor([0.5, 0.5]));
    t.close(await D.kl_divergence(single, through).item(), 0);
    await t.throws(() => D.RelaxedBernoulli(1, t.tensor([0.5])).mean, /does not implement mean/);
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
    await t.throws(() => D.Normal("a", 1), /must be a number or a tensor/);
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
