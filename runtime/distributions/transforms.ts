// torch.distributions.transforms.

export { Transform, type TransformOptions } from "./transform.js";
export {
  AbsTransform,
  AffineTransform,
  CumulativeDistributionTransform,
  ExpTransform,
  PowerTransform,
  SigmoidTransform,
  SoftplusTransform,
  TanhTransform,
} from "./elementwise-transforms.js";
export {
  CorrCholeskyTransform,
  LowerCholeskyTransform,
  PositiveDefiniteTransform,
  SoftmaxTransform,
  StickBreakingTransform,
} from "./vector-transforms.js";
export {
  CatTransform,
  ComposeTransform,
  IndependentTransform,
  ReshapeTransform,
  StackTransform,
  identity_transform,
} from "./combined-transforms.js";
