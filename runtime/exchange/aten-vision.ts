// Operators of torchvision, as programs of its detectors carry them.

import { tensor } from "../creation/create.js";
import { OpError } from "../base/errors.js";
import { numbers } from "../onnx/values.js";
import type { Tensor } from "../tensor/tensor.js";
import { to } from "../views/transfer.js";
import * as views from "../views/views.js";
import { largestOfCells } from "../vision/largest-of-cells.js";
import { deformedConvolution, pooledRegions } from "../vision/regions.js";
import { fromBest, suppress } from "../vision/suppress.js";
import type { Operator } from "./operators.js";

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

/** Of rows (image, x1, y1, x2, y2). */
const roiAlign: Operator = ({ args, target }) => {
  const [input, rois, scale, rows, columns, ratio, aligned] = args as [
    Tensor,
    Tensor,
    number,
    number,
    number,
    number,
    boolean,
  ];
  if (rois.ndim !== 2 || rois.shape[1] !== 5)
    throw new OpError(`roi_align: rois must have the shape [K, 5], got [${rois.shape.join(", ")}]`);
  return pooledRegions(
    input,
    views.narrow(rois, 1, 1, 4),
    to(views.select(rois, 1, 0), ["int64"]) as Tensor,
    { rows, columns, scale, ratio, aligned, mode: "avg" },
    () => numbers(rois, target).filter((_, i) => i % 5 > 0),
  );
};

/** The same rows; largest pixels, and where in their image they are. */
const roiPool: Operator = ({ args, target }) => {
  const [input, rois, scale, rows, columns] = args as [Tensor, Tensor, number, number, number];
  if (rois.ndim !== 2 || rois.shape[1] !== 5)
    throw new OpError(`roi_pool: rois must have the shape [K, 5], got [${rois.shape.join(", ")}]`);
  const [values, places] = largestOfCells(input, numbers(rois, target), { rows, columns, scale });
  return [values, to(places, ["int32"])];
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
  "torchvision::roi_align": roiAlign,
  "torchvision::roi_pool": roiPool,
  "torchvision::deform_conv2d": deformConv,
};
