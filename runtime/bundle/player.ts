// What runs a bundled model, in a page, a worker or Node: it stands in the model's own module, and knows nothing of the
// package.  Everything is planned; it loads weights, makes kernels once, and launches them.

import type { CpuPlan, GpuPlan, ModelPlan, TensorSpec } from "./plan.js";

type Numbers = Float32Array | Float64Array | BigInt64Array | Int32Array | Int16Array | Int8Array | Uint8Array;

export interface LoadOptions {
  /** "webgpu" or "cpu"; without it WebGPU where there is one. */
  device?: "webgpu" | "cpu";
  /** The file of weights: its address, or its bytes.  Without it, `weights.safetensors` beside the module. */
  weights?: string | URL | ArrayBuffer | Uint8Array;
  /** A device of the caller's own. */
  gpu?: GPUDevice;
}

export interface LoadedModel {
  readonly device: "webgpu" | "cpu";
  /** The outputs for these inputs: by name, or in order. */
  run(
    inputs: Readonly<Record<string, ArrayLike<number | bigint>>> | readonly ArrayLike<number | bigint>[],
  ): Promise<Record<string, Numbers>>;
  /** Gives memory back. */
  dispose(): void;
}

const ARRAYS = {
  float32: Float32Array,
  float64: Float64Array,
  int64: BigInt64Array,
  int32: Int32Array,
  int16: Int16Array,
  int8: Int8Array,
  uint8: Uint8Array,
  bool: Uint8Array,
} as const;
const FILE_TYPES: Readonly<Record<string, keyof typeof ARRAYS>> = {
  F32: "float32",
  F64: "float64",
  I64: "int64",
  I32: "int32",
  I16: "int16",
  I8: "int8",
  U8: "uint8",
  BOOL: "bool",
};
const arrayOf = (dtype: string) => ARRAYS[dtype as keyof typeof ARRAYS] as Float32ArrayConstructor;
const sizeOf = ({ shape }: TensorSpec): number => shape.reduce((n, size) => n * size, 1);

/** A model's plan as something to load: what its module exports. */
export function modelOf(
  plan: ModelPlan,
  address: string,
  functions: Readonly<Record<string, (...x: number[]) => number>> = {},
) {
  async function load(options: LoadOptions = {}): Promise<LoadedModel> {
    const weights = new Weights(await bytesOf(options.weights ?? new URL("weights.safetensors", address))),
      gpu = plan.gpu && options.device !== "cpu" ? (options.gpu ?? (await gpuDevice())) : null;
    if (options.device === "webgpu" && !gpu)
      throw new Error(plan.gpu ? "there is no WebGPU here" : "this model has types that WebGPU has not");
    const device = gpu ? new OnGpu(plan, gpu, weights) : await OnCpu.made(plan, weights, functions);
    return {
      device: gpu ? "webgpu" : "cpu",
      run: async (given) => {
        const inputs = plan.inputs.map((spec, i) => taken(spec, given, i)),
          outputs = await device.run(inputs);
        return Object.fromEntries(plan.outputs.map(({ name }, i) => [name, outputs[i]!]));
      },
      dispose: () => device.dispose(),
    };
  }
  return { load, inputs: plan.inputs, outputs: plan.outputs };
}

/** An input as the elements of its type. */
function taken(spec: TensorSpec, given: Parameters<LoadedModel["run"]>[0], place: number): Numbers {
  const { name, dtype } = spec,
    value = Array.isArray(given)
      ? (given as ArrayLike<number>[])[place]
      : Object.hasOwn(given, name)
        ? (given as Record<string, ArrayLike<number>>)[name]
        : undefined,
    wanted = sizeOf(spec);
  if (value?.length !== wanted)
    throw new Error(
      `input "${name}" takes ${wanted} numbers, [${spec.shape.join(", ")}] of ${dtype}; got ${value === undefined ? "nothing" : `${value.length}`}`,
    );
  const array = arrayOf(dtype);
  if ((value as unknown) instanceof array) return value as unknown as Numbers;
  return dtype === "int64"
    ? BigInt64Array.from(Array.from(value, (x) => BigInt(x)))
    : array.from(Array.from(value, Number), dtype === "bool" ? (x) => Number(x !== 0) : undefined);
}

async function bytesOf(source: NonNullable<LoadOptions["weights"]>): Promise<Uint8Array> {
  if (source instanceof ArrayBuffer) return new Uint8Array(source);
  if (source instanceof Uint8Array) return source;
  const text = String(source),
    process = (globalThis as { process?: { versions?: { node?: string } } }).process;
  if (process?.versions?.node && !/^(https?|data|blob):/.test(text)) {
    const name = "node:fs/promises",
      { readFile } = (await import(/* @vite-ignore */ /* webpackIgnore: true */ name)) as {
        readFile(file: string | URL): Promise<Uint8Array>;
      };
    // a Buffer's slices are no copies
    const { buffer, byteOffset, byteLength } = await readFile(text.startsWith("file:") ? new URL(text) : text);
    return new Uint8Array(buffer, byteOffset, byteLength);
  }
  const response = await fetch(source as string | URL);
  if (!response.ok) throw new Error(`${text}: ${response.status} ${response.statusText}`);
  return new Uint8Array(await response.arrayBuffer());
}

/** A safetensors file. */
class Weights {
  private readonly start: number;
  private readonly header: Record<string, { dtype: string; data_offsets: [number, number] }>;

  constructor(private readonly bytes: Uint8Array) {
    const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
    this.start = 8 + length;
    this.header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, this.start))) as typeof this.header;
  }

  read(name: string): { dtype: string; elements: Numbers } {
    if (!Object.hasOwn(this.header, name)) throw new Error(`the file of weights has no ${name}; it is another model's`);
    const { dtype, data_offsets } = this.header[name]!,
      [from, to] = data_offsets,
      type = FILE_TYPES[dtype]!;
    return { dtype: type, elements: new (arrayOf(type))(this.bytes.slice(this.start + from, this.start + to).buffer) };
  }
}

// --- WebGPU -------------------------------------------------------------------------------------------

const MAP_READ = 1,
  COPY_SRC = 4,
  COPY_DST = 8,
  UNIFORM = 64,
  STORAGE = 128,
  COMPUTE = 4;

async function gpuDevice(): Promise<GPUDevice | null> {
  const holder = globalThis as { navigator?: { gpu?: GPU }; process?: { versions?: { node?: string } } };
  let gpu = holder.navigator?.gpu;
  if (!gpu && holder.process?.versions?.node) {
    try {
      const name = "webgpu";
      gpu = ((await import(/* @vite-ignore */ /* webpackIgnore: true */ name)) as { create(o: string[]): GPU }).create(
        [],
      );
      kept.push(gpu);
    } catch {
      return null;
    }
  }
  const adapter = await gpu?.requestAdapter({ powerPreference: "high-performance" });
  if (!adapter) return null;
  const { maxBufferSize, maxStorageBufferBindingSize, maxStorageBuffersPerShaderStage } = adapter.limits;
  return adapter.requestDevice({
    requiredLimits: { maxBufferSize, maxStorageBufferBindingSize, maxStorageBuffersPerShaderStage },
  });
}
// a GPU must live as long as its devices
const kept: unknown[] = [];

/** Elements as they lie in a buffer: words, of int64 the lower ones. */
function encoded(dtype: string, elements: Numbers): Numbers {
  if (dtype === "float32" || dtype === "int32") return elements;
  return Int32Array.from(elements as ArrayLike<number>, Number);
}

class OnGpu {
  private readonly buffers: GPUBuffer[];
  private readonly uniforms: GPUBuffer;
  private readonly groups: (GPUBindGroup | null)[];
  private readonly pipelines: Promise<GPUComputePipeline>[];
  private readonly reading: GPUBuffer;
  /** Where each output lies in what is read, and the words of a fault behind them. */
  private readonly places: number[] = [];
  private readonly plan: GpuPlan;
  private last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly model: ModelPlan,
    private readonly device: GPUDevice,
    weights: Weights,
  ) {
    const plan = (this.plan = model.gpu!),
      usage = STORAGE | COPY_SRC | COPY_DST;
    this.buffers = plan.buffers.map((size) => device.createBuffer({ size, usage }));
    for (const [buffer, name] of plan.weights) {
      const { dtype, elements } = weights.read(name);
      this.write(buffer, encoded(dtype, elements));
    }
    const layouts = new Map<string, GPUBindGroupLayout>(),
      layoutOf = (writes: string): GPUBindGroupLayout => {
        let found = layouts.get(writes);
        if (!found) {
          found = device.createBindGroupLayout({
            entries: [
              { binding: 0, visibility: COMPUTE, buffer: { type: "uniform" } },
              ...Array.from(
                writes,
                (w, i): GPUBindGroupLayoutEntry => ({
                  binding: i + 1,
                  visibility: COMPUTE,
                  buffer: { type: w === "w" ? "storage" : "read-only-storage" },
                }),
              ),
            ],
          });
          layouts.set(writes, found);
        }
        return found;
      };
    this.pipelines = plan.kernels.map(([lines, writes]) => {
      const text: string[] = [];
      for (let i = 0; i < lines.length; i += 2) text.push(...plan.lines.slice(lines[i], lines[i]! + lines[i + 1]!));
      return device.createComputePipelineAsync({
        layout: device.createPipelineLayout({ bindGroupLayouts: [layoutOf(writes)] }),
        compute: { module: device.createShaderModule({ code: text.join("\n") }), entryPoint: "main" },
      });
    });
    // as many bytes for each launch as a uniform's place must be a multiple of, or more
    const sizes = plan.steps.map((step) => (step.length === 1 ? 0 : Math.max(1, Math.ceil(step[2].length / 64)) * 256)),
      words = new Uint32Array(Math.max(64, sizes.reduce((sum, n) => sum + n, 0) / 4));
    this.uniforms = device.createBuffer({ size: words.byteLength, usage: UNIFORM | COPY_DST });
    let at = 0;
    this.groups = plan.steps.map((step, i) => {
      if (step.length === 1) return null;
      const [kernel, buffers, uniforms] = step,
        size = sizes[i]!;
      words.set(uniforms, at / 4);
      const group = device.createBindGroup({
        layout: layoutOf(plan.kernels[kernel]![1]),
        entries: [
          { binding: 0, resource: { buffer: this.uniforms, offset: at, size } },
          ...buffers.map((b, n) => ({ binding: n + 1, resource: { buffer: this.buffers[b]! } })),
        ],
      });
      at += size;
      return group;
    });
    device.queue.writeBuffer(this.uniforms, 0, words);
    let end = 0;
    for (const spec of model.outputs) {
      this.places.push(end);
      end += Math.max(1, sizeOf(spec)) * 4;
    }
    this.places.push(end);
    this.reading = device.createBuffer({ size: end + 16, usage: MAP_READ | COPY_DST });
  }

  private write(buffer: number, words: Numbers): void {
    if (words.length > 0)
      this.device.queue.writeBuffer(
        this.buffers[buffer]!,
        0,
        words.buffer as ArrayBuffer,
        words.byteOffset,
        words.byteLength,
      );
  }

  /** One call after the other: they share memory. */
  run(inputs: readonly Numbers[]): Promise<Numbers[]> {
    const next = this.last.then(() => this.once(inputs));
    this.last = next.catch(() => undefined);
    return next;
  }

  private async once(inputs: readonly Numbers[]): Promise<Numbers[]> {
    const { device, plan, model, buffers, reading } = this,
      pipelines = await Promise.all(this.pipelines);
    inputs.forEach((x, i) => {
      if (plan.inputs[i]! >= 0) this.write(plan.inputs[i]!, encoded(model.inputs[i]!.dtype, x));
    });
    const encoder = device.createCommandEncoder();
    let pass: GPUComputePassEncoder | null = null;
    if (plan.fault >= 0) encoder.clearBuffer(buffers[plan.fault]!);
    plan.steps.forEach((step, i) => {
      if (step.length === 1) {
        pass?.end();
        pass = null;
        encoder.clearBuffer(buffers[step[0]]!);
        return;
      }
      pass ??= encoder.beginComputePass();
      const [kernel, , , groups] = step;
      pass.setPipeline(pipelines[kernel]!);
      pass.setBindGroup(0, this.groups[i]!);
      pass.dispatchWorkgroups(groups[0]!, groups[1], groups[2]);
    });
    (pass as GPUComputePassEncoder | null)?.end();
    model.outputs.forEach((spec, i) => {
      if (sizeOf(spec) > 0)
        encoder.copyBufferToBuffer(buffers[plan.outputs[i]!]!, 0, reading, this.places[i]!, 4 * sizeOf(spec));
    });
    if (plan.fault >= 0) encoder.copyBufferToBuffer(buffers[plan.fault]!, 0, reading, this.places.at(-1)!, 16);
    device.queue.submit([encoder.finish()]);
    await reading.mapAsync(1);
    const bytes = reading.getMappedRange().slice(0);
    reading.unmap();
    if (plan.fault >= 0 && new Int32Array(bytes, this.places.at(-1))[0] !== 0)
      throw new RangeError("an index is out of bounds, or a whole number does not fit");
    return model.outputs.map((spec, i) => {
      const count = sizeOf(spec),
        { dtype } = spec;
      if (dtype === "float32") return new Float32Array(bytes, this.places[i], count);
      const words = new Int32Array(bytes, this.places[i], count);
      return dtype === "int32"
        ? words
        : dtype === "int64"
          ? BigInt64Array.from(Array.from(words, BigInt))
          : arrayOf(dtype).from(words);
    });
  }

  dispose(): void {
    for (const buffer of [...this.buffers, this.uniforms, this.reading]) buffer.destroy();
  }
}

// --- The CPU ------------------------------------------------------------------------------------------

const PAGE = 65536,
  FAULT = 4;

class OnCpu {
  private constructor(
    private readonly model: ModelPlan,
    private readonly plan: CpuPlan,
    private readonly memory: WebAssembly.Memory,
    private readonly kernels: readonly ((block: number) => number)[],
    private readonly words: readonly (Int32Array | null)[],
  ) {}

  static async made(
    model: ModelPlan,
    weights: Weights,
    functions: Readonly<Record<string, (...x: number[]) => number>>,
  ): Promise<OnCpu> {
    const { cpu: plan } = model,
      memory = new WebAssembly.Memory({ initial: Math.ceil(plan.bytes / PAGE) }),
      packed = Uint8Array.from(atob(plan.code), (c) => c.charCodeAt(0)),
      code = new Uint8Array(
        await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"))).arrayBuffer(),
      );
    let end = 0;
    const kernels = await Promise.all(
      plan.modules.map(async ([length, given]) => {
        const bytes = code.slice(end, (end += length)),
          imports = { memory, ...Object.fromEntries(given.map((name) => [name, functions[name]!])) },
          { instance } = await WebAssembly.instantiate(bytes, { kernels: imports });
        return instance.exports["run"] as (block: number) => number;
      }),
    );
    for (const [at, name] of plan.weights) {
      const { dtype, elements } = weights.read(name);
      new (arrayOf(dtype))(memory.buffer, at, elements.length).set(elements as Float32Array);
    }
    const words = plan.steps.map((step) => (step.length === 3 ? null : Int32Array.from(step[1])));
    return new OnCpu(model, plan, memory, kernels, words);
  }

  async run(inputs: readonly Numbers[]): Promise<Numbers[]> {
    const { model, plan, memory, kernels, words } = this,
      { buffer } = memory,
      block = new Int32Array(buffer, plan.block);
    inputs.forEach((x, i) => {
      const at = plan.inputs[i]!;
      if (at >= 0) new (arrayOf(model.inputs[i]!.dtype))(buffer, at, x.length).set(x as Float32Array);
    });
    plan.steps.forEach((step, i) => {
      if (step.length === 3) return void new Uint8Array(buffer, step[0], step[1]).fill(0);
      block.fill(0, 0, FAULT);
      block.set(words[i]!, FAULT);
      if (kernels[step[0]]!(plan.block) !== 0)
        throw new RangeError("an index is out of bounds, or a whole number does not fit");
    });
    return model.outputs.map((spec, i) => {
      const array = arrayOf(spec.dtype),
        count = sizeOf(spec);
      return new array(buffer, plan.outputs[i], count).slice();
    });
  }

  dispose(): void {
    // memory goes with the object
  }
}
