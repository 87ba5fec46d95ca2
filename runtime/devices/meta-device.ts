// The device "meta": tensors with shapes and types, and no elements.  Ops there work out what their results look like,
// and a model is built without its weights being drawn.

import type { Call } from "../../host/model.js";
import { DeviceError } from "../base/errors.js";
import type { DType } from "../elements/dtype.js";
import type { CompiledOp, Elements } from "../program/compiled-op.js";
import { unwatch } from "../tensor/memory.js";
import { Storage } from "../tensor/storage.js";
import type { Device, Fault, Prepared } from "./device.js";

class MetaDevice implements Device {
  readonly type = "meta";
  readonly number = -1;

  allocate(dtype: DType, length: number, op: string): Storage {
    return new Storage(this, dtype, length, null, null, 0, op);
  }
  upload({ length }: Elements, dtype: DType, op: string): Storage {
    return this.allocate(dtype, length, op);
  }
  view(): Elements {
    throw new DeviceError("Cannot copy out of meta tensor; no data!");
  }
  async download(): Promise<Elements> {
    return this.view();
  }
  prepare(op: CompiledOp, program: number, call: Call): Prepared {
    return { op, program, call, changes: [] };
  }
  reword(prepared: Prepared, call: Call): Prepared {
    return { ...prepared, call };
  }
  /** What an op requires of elements holds of none. */
  faultOf(): Fault | null {
    return null;
  }
  blame(): void {}
  alive(): void {}
  free({ cell }: Storage): void {
    unwatch(cell);
  }
  fill(): void {}
  copy(): void {}
  execute(): void {}
  relax(): null {
    return null;
  }
  async synchronize(): Promise<void> {}
}

/** The device without elements. */
export const meta: Device = /* @__PURE__ */ new MetaDevice();
