// What views show, in memory of its own: PyTorch's functions that end in `_copy`.  Gradients are those of the views.

import { clone } from "../tensor/copy.js";
import type { Tensor } from "../tensor/tensor.js";
import * as views from "./views.js";
import * as splitting from "./splitting.js";

const copied =
  <A extends unknown[]>(look: (x: Tensor, ...rest: A) => Tensor) =>
  (x: Tensor, ...rest: A): Tensor =>
    clone(look(x, ...rest));
const copiedAll =
  <A extends unknown[]>(look: (x: Tensor, ...rest: A) => Tensor[]) =>
  (x: Tensor, ...rest: A): Tensor[] =>
    look(x, ...rest).map((t) => clone(t));

type Size = number | readonly number[];

export const alias_copy = /* @__PURE__ */ copied((x) => x);
export const as_strided_copy = /* @__PURE__ */ copied(views.as_strided);
export const diagonal_copy = /* @__PURE__ */ copied((x, offset?: number, dim1?: number, dim2?: number) =>
  views.diagonal(x, offset, dim1, dim2),
);
export const expand_copy = /* @__PURE__ */ copied((x, ...size: Size[]) => views.expand(x, size, "expand_copy"));
export const narrow_copy = /* @__PURE__ */ copied((x, dim: number, start: number, length: number) =>
  views.narrow(x, dim, start, length, "narrow_copy"),
);
export const permute_copy = /* @__PURE__ */ copied((x, ...dims: Size[]) => views.permute(x, dims, "permute_copy"));
export const squeeze_copy = /* @__PURE__ */ copied(views.squeeze);
export const t_copy = /* @__PURE__ */ copied(views.t);
export const transpose_copy = /* @__PURE__ */ copied((x, dim0: number, dim1: number) =>
  views.transpose(x, dim0, dim1, "transpose_copy"),
);
export const unfold_copy = /* @__PURE__ */ copied(views.unfold);
export const unsqueeze_copy = /* @__PURE__ */ copied(views.unsqueeze);
export const view_copy = /* @__PURE__ */ copied((x, ...size: Size[]) => views.view(x, size, "view_copy"));
export const split_copy = /* @__PURE__ */ copiedAll((x, size: Size, dim?: number) =>
  splitting.split(x, size, dim, "split_copy"),
);
export const split_with_sizes_copy = /* @__PURE__ */ copiedAll((x, sizes: readonly number[], dim?: number) =>
  splitting.split(x, sizes, dim, "split_with_sizes_copy"),
);
export const unbind_copy = /* @__PURE__ */ copiedAll((x, dim?: number) => splitting.unbind(x, dim, "unbind_copy"));
