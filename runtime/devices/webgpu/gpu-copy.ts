// Strided copies and conversions on a GPU: one launch of the generated `copy`, with the target's layout put in place of
// the fresh tensor it would make.

import { bind_with } from "../../../host/binding.js";
import type { Call } from "../../../host/model.js";
import type { Device, Layout, Prepared } from "../device.js";
import { dtypeNumber, isFloat } from "../../elements/dtype.js";
import type { CompiledOp } from "../../program/compiled-op.js";

const plans = new Map<string, Prepared>();
const MOST_PLANS = 512;

/** The call of `copy` that writes elements laid out as `source` to where `target` says, of the same shape. */
export function copyCall({ op }: CompiledOp, target: Layout, source: Layout): Call {
  const call: Call = bind_with(
    op,
    [
      {
        dtype: source.dtype,
        shape: [...source.shape],
        strides: [...source.strides],
        offset: source.offset,
        weak: false,
      },
    ],
    null,
  );
  if (source.dtype === "uint32" && isFloat(target.dtype)) call.dtype = "float32"; // numbers, not their bits
  if (source.dtype === "uint32" && target.dtype === "int64") call.dtype = "int64";
  const slot = call.slots[op.outputs[0]!]!;
  slot.dtype = target.dtype;
  slot.strides = [...target.strides];
  slot.offset = target.offset;
  slot.fresh = false;
  slot.axes = [{ sizes: [...target.shape], strides: [...target.strides] }];
  return call;
}

/** What writes elements laid out as `source` to where `target` says: same shape, same device.  copyOp: the op `copy`. */
export function preparedCopy(device: Device, copyOp: CompiledOp, target: Layout, source: Layout): Prepared {
  const { op } = copyOp,
    output = op.outputs[0]!;
  const key = [
    device.number,
    dtypeNumber(source.dtype),
    dtypeNumber(target.dtype),
    source.shape,
    source.strides,
    source.offset,
    target.strides,
    target.offset,
  ].join();
  let prepared = plans.get(key);
  if (!prepared) {
    if (plans.size >= MOST_PLANS) plans.clear();
    const call = copyCall(copyOp, target, source);
    prepared = device.prepare(copyOp, 0, call, [output]);
    plans.set(key, prepared);
  }
  return prepared;
}
