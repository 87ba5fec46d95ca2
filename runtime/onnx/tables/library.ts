// The library's functions as the tables of operators call them: what a file gives has types that nobody knows before.

import * as composites from "../../composite/index.js";
import * as gridding from "../../functions/grids.js";
import * as joining from "../../functions/join.js";
import * as scatterViews from "../../functions/scatter-views.js";
import * as creation from "../../creation/create.js";
import * as alike from "../../creation/like.js";
import * as randomly from "../../creation/random-tensors.js";
import { flip } from "../../functions/tensor-functions.js";
import * as functional from "../../../names/functional.js";
import * as linear from "../../../names/linalg.js";
import * as torch from "../../../names/torch.js";
import type { Tensor } from "../../tensor/tensor.js";
import * as splits from "../../views/splitting.js";
import { to } from "../../views/transfer.js";
import * as viewing from "../../views/views.js";

/** The functions of a module, which take what they are given and check it themselves. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Free<M> = { readonly [K in keyof M]: (...args: any[]) => any };

export const T = torch as unknown as Free<typeof torch>;
export const F = functional as unknown as Free<typeof functional>;
export const linalg = linear as unknown as Free<typeof linear>;
export const grids = gridding as unknown as Free<typeof gridding>;
export const join = joining as unknown as Free<typeof joining>;
export const splitting = splits as unknown as Free<typeof splits>;
export const views = viewing as unknown as Free<typeof viewing>;
export const create = creation as unknown as Free<typeof creation>;
export const random = randomly as unknown as Free<typeof randomly>;
export const likeAnother = alike as unknown as Free<typeof alike>;
export const composite = composites as unknown as Free<typeof composites>;
export const scattering = scatterViews as unknown as Free<typeof scatterViews>;
export const turned = flip as unknown as (x: Tensor, axes: readonly number[]) => Tensor;

/** The same numbers in another type. */
export const cast = (x: Tensor, dtype: string): Tensor => (x.dtype === dtype ? x : (to(x, [dtype]) as Tensor));
/** The functions whose names end by how many axes images have, such as conv2d. */
export const ofAxes = (name: string, axes: number): ((...args: unknown[]) => unknown) => {
  const found = (functional as unknown as Record<string, unknown>)[`${name}${axes}d`];
  if (typeof found !== "function") throw new RangeError(`${name} of images with ${axes} axes is not there`);
  return found as (...args: unknown[]) => unknown;
};
/** A tensor of one number, as `like` is. */
export const scalar = (value: number, like: Tensor, dtype: string = like.dtype): Tensor =>
  create.full([], value, { dtype, device: like.device }) as Tensor;
