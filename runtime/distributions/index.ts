// torch.distributions: distributions, what their values are, and how far they are apart.

export * as constraints from "./constraints.js";
export * as kl from "./kl.js";
export { Distribution, type DistributionOptions } from "./distribution.js";
export { Cauchy, Gumbel, Laplace, Normal, Uniform } from "./real.js";
export { Exponential, HalfCauchy, HalfNormal, Kumaraswamy, LogNormal, Pareto, Weibull } from "./positive.js";
export { Bernoulli, ContinuousBernoulli, Geometric, RelaxedBernoulli } from "./trials.js";
export {
  Categorical,
  Multinomial,
  OneHotCategorical,
  OneHotCategoricalStraightThrough,
  RelaxedOneHotCategorical,
} from "./categories.js";
export { Independent, MixtureSameFamily } from "./combined.js";
export { MultivariateNormal } from "./multivariate.js";
export { kl_divergence, register_kl } from "./kl.js";
