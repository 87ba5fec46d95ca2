// Operators of torchvision, as programs of its detectors carry them.

import { tensor } from "../../creation/create.js";
import { OpError } from "../../base/errors.js";
import { numbers } from "../../onnx/values.js";
import type { Tensor } from "../../tensor/tensor.js";
import { type Pooling, deformedConvolution, pooledCells, pooledRegions, regionsOf } from "../../vision/regions.js";
import { fromBest, suppress } from "../../vision/suppress.js";
import type { Operator } from "../operators.js";

const nms: Operator = ({ args, target }) => {
  const [boxes, scores, threshold] = args as [Tensor, Tensor, number];
  if (boxes.ndim !== 2 || boxes.shape[1] !== 4)
    throw new OpError(`nms: boxes must have the shape [N, 4], got [${boxes.shape.join(", ")}]`);
  if (scores.ndim !== 1 || scores.shape[0] !== boxes.shape[0])
    throw new OpError(`nms: ${boxes.shape[0]} boxes need as many scores, got the shape [${scores.shape.join(", ")}]`);
  const kept = suppress(numbers(boxes, target), fromBest(numbers(scores, target)), threshold, {
    round: boxes.dtype === "float64" ? (x) => x : Math.fround,
  });
  return tensor(kept, { dtype: "int64", device: boxes.device } as never);
};

/** Boxes, images, and the numbers of the boxes. */
function regions(rois: Tensor, target: string): readonly [Tensor, Tensor, () => number[]] {
  const found = regionsOf(rois, target.split(".")[3] ?? target);
  return [...found, () => numbers(rois, target).filter((_, i) => i % 5 > 0)];
}

/** Places between pixels, evenly in each part of a region. */
const aligned =
  (mode: "avg" | "position"): Operator =>
  ({ args, target }) => {
    const [input, rois, scale, rows, columns, ratio, middle] = args as [Tensor, Tensor, ...number[], boolean],
      [boxes, images, corners] = regions(rois, target),
      how = { rows, columns, scale, ratio, mode, aligned: mode === "position" || middle } as Pooling;
    return pooledRegions(input, boxes, images, how, corners);
  };

/** Cells of whole pixels. */
const cells =
  (position: boolean): Operator =>
  ({ args, target }) => {
    const [input, rois, scale, rows, columns] = args as [Tensor, Tensor, number, number, number],
      [boxes, images, corners] = regions(rois, target);
    return pooledCells(input, boxes, images, { rows, columns, scale, position }, corners);
  };

const deformConv: Operator = ({ args }) => {
  const [input, weight, offset, mask, bias] = args as [Tensor, Tensor, Tensor, Tensor, Tensor],
    [sh, sw, ph, pw, dh, dw, groups, parts, masked] = args.slice(5) as [...number[], boolean] as unknown as [
      ...[number, number, number, number, number, number, number, number],
      boolean,
    ];
  return deformedConvolution(input, weight, offset, {
    bias,
    mask: masked ? mask : null,
    stride: [sh, sw],
    padding: [ph, pw],
    dilation: [dh, dw],
    groups,
    parts,
  });
};

export const VISION: Readonly<Record<string, Operator>> = {
  "torchvision::nms": nms,
  "torchvision::roi_align": aligned("avg"),
  "torchvision::roi_pool": cells(false),
  "torchvision::ps_roi_align": aligned("position"),
  "torchvision::ps_roi_pool": cells(true),
  "torchvision::deform_conv2d": deformConv,
};
