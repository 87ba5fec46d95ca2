// Buffers of WebGPU as tensors and tensors as buffers, so that a program's own shaders, three.js or another library
// compute on the same memory.  Both must be of one GPUDevice: initWebGPUAsync({ device }) takes the program's.

import { count, flag, refuse } from "../base/argument-kinds.js";
import { DeviceError, IndexError, OpError } from "../base/errors.js";
import { taken } from "../base/named-arguments.js";
import { checkShape, contiguousStrides, frozen, integers, numelOf, showShape } from "../base/shape.js";
import { toDevice } from "../devices/device.js";
import { COPY_SRC, STORAGE } from "../devices/webgpu/flags.js";
import { WebGpuDevice } from "../devices/webgpu/gpu-device.js";
import type { PoolBuffer } from "../devices/webgpu/pool.js";
import { type DType, type DTypeName, deviceBytes, toDType } from "../elements/dtype.js";
import { Storage } from "../tensor/storage.js";
import { check } from "../tensor/tensor-arguments.js";
import { Tensor } from "../tensor/tensor.js";

/** The types whose elements lie in a buffer as a shader reads them; the others take a word each there. */
const PLAIN: readonly DType[] = ["float32", "float16", "int32", "uint32"];

export interface GpuBufferOptions {
  /** float32, float16, int32 or uint32. */
  dtype?: DTypeName | null;
  /** Bytes before the first element. */
  offset?: number;
  requires_grad?: boolean;
}

/** The memory of each buffer by type, so that tensors on one buffer know that they share it. */
const storages = new WeakMap<GPUBuffer, Map<DType, Storage>>();

/**
 * A tensor on the memory of a GPUBuffer of the tensors' own GPUDevice, which is not copied: what a shader writes there
 * is what the tensor has, and the other way round.  The buffer needs the usages STORAGE and COPY_SRC, for changes in
 * place COPY_DST too; it stays the program's, which destroys it when no tensor on it is used any more.
 *
 * @param buffer of the device that `torch.webgpu` uses
 * @param shape the sizes
 * @param requires_grad whether it requires a gradient; false unless given
 */
export function from_gpu_buffer(buffer: GPUBuffer, shape: readonly number[], options?: GpuBufferOptions): Tensor;
export function from_gpu_buffer(...args: unknown[]): Tensor {
  const op = "from_gpu_buffer",
    [buffer, sizes, type, offset = 0, requires_grad] = taken(
      `${op} buffer shape * dtype? offset? requires_grad?`,
      args,
    ),
    shape = integers([sizes], op),
    dtype = type == null ? "float32" : toDType(type, op),
    device = gpu(op);
  checkShape(shape, op);
  if (typeof buffer !== "object" || buffer === null || typeof (buffer as GPUBuffer).mapAsync !== "function")
    refuse(op, "buffer", "a GPUBuffer", buffer);
  const { size, usage, mapState } = buffer as GPUBuffer;
  if (!PLAIN.includes(dtype)) throw new OpError(`${op}: a buffer holds ${PLAIN.join(", ")}, not ${dtype}`);
  if ((usage & STORAGE) === 0 || (usage & COPY_SRC) === 0)
    throw new OpError(`${op}: the buffer must have been made with the usages STORAGE and COPY_SRC`);
  if (mapState && mapState !== "unmapped") throw new OpError(`${op}: the buffer is mapped; unmap() it first`);
  const each = deviceBytes(dtype),
    from = count(offset, op, "offset"),
    needed = from + each * numelOf(shape);
  if (from % each) throw new OpError(`${op}: offset ${from} must be a multiple of the ${each} bytes of a ${dtype}`);
  if (needed > size)
    throw new IndexError(
      `${op}: ${showShape(shape)} of ${dtype} from byte ${from} on ends at ${needed}, the buffer at ${size}`,
    );
  if (size > device.largest)
    throw new DeviceError(
      `${op}: the buffer has ${size} bytes, more than the ${device.largest} that this GPU can bind`,
    );
  if (requires_grad != null) flag(requires_grad, op, "requires_grad");
  const memory = storageOf(device, buffer as GPUBuffer, dtype, op),
    made = new Tensor(memory, dtype, frozen(shape), contiguousStrides(shape), from / each);
  return requires_grad ? made.requires_grad_() : made;
}

function storageOf(device: WebGpuDevice, buffer: GPUBuffer, dtype: DType, op: string): Storage {
  let byType = storages.get(buffer);
  if (!byType) storages.set(buffer, (byType = new Map<DType, Storage>()));
  const before = byType.get(dtype);
  if (before && !before.disposed) return before;
  const length = Math.floor(buffer.size / deviceBytes(dtype)),
    own: PoolBuffer = {
      buffer,
      id: device.pool.nextId++,
      offset: 0,
      size: buffer.size,
      batch: -1,
      since: 0,
      faultOrigin: null,
      dead: null,
      leave: () => undefined, // it is the program's
    },
    made = new Storage(device, dtype, length, null, own, 0, op);
  byType.set(dtype, made);
  return made;
}

/** Where a tensor lies: as it is bound to a shader, or given to another library. */
export interface GpuBufferRange {
  readonly buffer: GPUBuffer;
  /** Bytes before the first element, and bytes of all elements. */
  readonly offset: number;
  readonly size: number;
}

/**
 * The memory of a tensor on a GPU, for reading; all work on it so far is submitted.  It is the tensor's as long as the
 * tensor lives: keep that, and call `torch.webgpu.flush()` before reading what later calls write.  `write`: the program
 * is going to change the elements, which autograd then knows.  Elements lie in rows without gaps, float16 two in a word,
 * bools and whole numbers one in a word.
 *
 * @param input contiguous tensor on a GPU
 * @param write whether the program changes the elements
 */
export function gpu_buffer(input: Tensor, options?: { write?: boolean }): GpuBufferRange;
export function gpu_buffer(...args: unknown[]): GpuBufferRange {
  const op = "gpu_buffer",
    [input, write = false] = taken(`${op} input * write?`, args);
  check(input, op, "input");
  const { storage, dtype, shape, offset } = input,
    { device } = storage;
  if (!(device instanceof WebGpuDevice)) throw new DeviceError(`${op}: the tensor is on ${device.type}, not on webgpu`);
  if (!input.is_contiguous()) throw new OpError(`${op}: the tensor must be contiguous; x.contiguous() is`);
  if (flag(write, op, "write")) storage.change();
  device.queue.flush();
  const { buffer, offset: start } = storage.cell.buffer as PoolBuffer,
    each = dtype === "complex64" ? 8 : deviceBytes(dtype);
  return { buffer, offset: start + offset * each, size: numelOf(shape) * each };
}

/** The GPU of tensors; throws where there is none. */
export function gpu(op: string): WebGpuDevice {
  const device = toDevice("webgpu", op);
  if (!(device instanceof WebGpuDevice)) throw new DeviceError(`${op}: there is no GPU`);
  device.alive(op);
  return device;
}
