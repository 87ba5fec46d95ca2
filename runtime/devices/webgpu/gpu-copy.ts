// Strided copies and conversions on a GPU: one launch of the generated `copy`, with the target's layout put in place of
// the fresh tensor it would make.

import { bind_with } from "../../../host/binding.js";
import type { Call } from "../../../host/model.js";
import type { Prepared, Strided } from "../device.js";
import { dtypeNumber, isFloat } from "../../elements/dtype.js";
import type { CompiledOp } from "../../program/compiled-op.js";
import type { Storage } from "../../tensor/storage.js";

const plans = new Map<string, Prepared>();
const MOST_PLANS = 512;

/** Writes the elements of `source` to those of `target`: same shape, same device.  copyOp: the op `copy`. */
export function copyOnGpu(copyOp: CompiledOp, target: Strided, source: Strided): void {
  const { op } = copyOp,
    input = op.programs[0]!.inputs[0]!,
    output = op.outputs[0]!;
  const device = target.storage.device;
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
    const slot = call.slots[output]!;
    slot.dtype = target.dtype;
    slot.strides = [...target.strides];
    slot.offset = target.offset;
    slot.fresh = false;
    slot.axes = [{ sizes: [...target.shape], strides: [...target.strides] }];
    prepared = device.prepare(copyOp, 0, call, [output]);
    plans.set(key, prepared);
  }
  const storages: (Storage | null)[] = op.slots.map(() => null);
  storages[input] = source.storage;
  storages[output] = target.storage;
  device.execute(prepared, storages, null);
}
