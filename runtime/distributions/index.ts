// torch.distributions: distributions, what their values are, and how far they are apart.

export * as constraints from "./constraints/constraints.js";
export * as kl from "./kl.js";
export * as transforms from "./transforms.js";
export * from "./transforms.js";
export { Distribution, type DistributionOptions } from "./distribution.js";
export { Cauchy, GeneralizedPareto, Gumbel, Laplace, Normal, Uniform, VonMises } from "./real.js";
export { Beta, Chi2, FisherSnedecor, Gamma, InverseGamma, StudentT } from "./gamma.js";
export { Binomial, NegativeBinomial, Poisson } from "./counts.js";
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
export { Dirichlet } from "./simplex.js";
export { MultivariateNormal } from "./multivariate.js";
export { LowRankMultivariateNormal } from "./low-rank.js";
export { LKJCholesky, Wishart } from "./matrices.js";
export { ExponentialFamily, LogisticNormal, TransformedDistribution } from "./transformed.js";
export { biject_to, transform_to } from "./constraints/constraint-registry.js";
export { kl_divergence, register_kl } from "./kl.js";
