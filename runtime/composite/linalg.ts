// torch.linalg beyond ops: what is told apart by the number of axes or by a word, chains of products, tensors seen as
// matrices.

export { cond, matrix_norm, norm } from "./matrix-norms.js";
export { matrix_power, multi_dot } from "./matrix-chains.js";
export {
  diagonal,
  lstsq,
  solve,
  solve_ex,
  tensorinv,
  tensorsolve,
  type LeastSquares,
  type LstsqOptions,
  type SolveExOptions,
  type SolveOptions,
} from "./matrix-solving.js";
export { LinAlgError } from "../base/errors.js";
export { matmul } from "../../names/torch.js";
export { cross } from "./products.js";
