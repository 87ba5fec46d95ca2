// ATen's operators of matrices that are called otherwise here, those of linalg, which give what their gradients read
// beside it, among them; sums and histograms.

import { empty } from "../../creation/create.js";
import { histogramdd } from "../../composite/histogram.js";
import { multi_dot } from "../../composite/matrix-chains.js";
import { solve_ex } from "../../composite/matrix-solving.js";
import * as linalg from "../../../names/linalg.js";
import * as torch from "../../../names/torch.js";
import type { Tensor } from "../../tensor/tensor.js";
import * as views from "../../views/views.js";
import type { Operator } from "../operators.js";

/** The product of three tensors, of which each lacks some axes that others have, summed over some. */
const trilinear: Operator = ({ args }) => {
  const [a, b, c, ...expanded] = args as [Tensor, Tensor, Tensor, number[], number[], number[], number[]],
    [first, second, third] = [a, b, c].map((x, i) =>
      [...expanded[i]!].sort((p, q) => p - q).reduce((y, axis) => views.unsqueeze(y, axis), x),
    ) as [Tensor, Tensor, Tensor],
    product = torch.mul(torch.mul(first, second), third) as Tensor,
    summed = expanded[3]!;
  return summed.length > 0 ? torch.sum(product, summed) : product;
};

/** A function whose first argument is added to a product, and broadcasts to its shape. */
const added =
  (name: "baddbmm" | "addbmm", shape: (a: Tensor, b: Tensor) => readonly number[]): Operator =>
  ({ args: [input, a, b], options }) =>
    (torch[name] as (...args: unknown[]) => Tensor)(
      views.expand(input as Tensor, [shape(a as Tensor, b as Tensor)]),
      a,
      b,
      options,
    );

/** A sum with a number, whose factor has a place instead of a name. */
const sum =
  (name: "add" | "sub" | "rsub"): Operator =>
  ({ args: [x, other, alpha = 1] }) =>
    (torch[name] as (...args: unknown[]) => Tensor)(x, other, alpha === 1 ? {} : { alpha });

/** Of the counts in boxes and the boxes' edges the one or the other. */
const histogram =
  (part: 0 | 1): Operator =>
  ({ args: [x, bins], options }) =>
    histogramdd(x as Tensor, bins as number[] | Tensor[], options)[part];

export const LINALG: Readonly<Record<string, Operator>> = {
  _histogramdd_bin_edges: histogram(1),
  _histogramdd_from_bin_cts: histogram(0),
  _histogramdd_from_bin_tensors: histogram(0),
  _linalg_check_errors: () => null,
  // with LU factors and pivots, which nothing but gradients reads
  _linalg_det: ({ args: [a] }) => [torch.det(a as Tensor), null, null],
  _linalg_slogdet: ({ args: [a] }) => [...(linalg.slogdet(a as Tensor) as Iterable<Tensor>), null, null],
  _linalg_solve_ex: ({ args: [a, b], options: { left = true } }) => {
    const { result, info } = solve_ex(a as Tensor, b as Tensor, { left: left as boolean });
    return [result, null, null, info];
  },
  _lu_with_info: ({ args: [a, pivot = true] }) => linalg.lu_factor_ex(a as Tensor, { pivot: pivot as boolean }),
  _linalg_eigh: ({ args: [a, UPLO = "L", vectors = true] }) =>
    vectors ? linalg.eigh(a as Tensor, UPLO as never) : [linalg.eigvalsh(a as Tensor, UPLO as never), null],
  _linalg_svd: ({ args: [a, full = false, vectors = true] }) =>
    vectors ? linalg.svd(a as Tensor, full as boolean) : [empty([0]), linalg.svdvals(a as Tensor), empty([0])],
  _trilinear: trilinear,
  chain_matmul: ({ args: [matrices] }) => multi_dot(matrices as Tensor[]),
  "add.Scalar": sum("add"),
  "sub.Scalar": sum("sub"),
  "rsub.Scalar": sum("rsub"),
  baddbmm: added("baddbmm", (a, b) => [a.shape[0]!, a.shape[1]!, b.shape[2]!]),
  addbmm: added("addbmm", (a, b) => [a.shape[1]!, b.shape[2]!]),
};
