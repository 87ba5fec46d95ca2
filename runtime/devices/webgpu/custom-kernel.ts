// Kernels of a user's own: a body in WGSL with named inputs, outputs and parameters, run on tensors of a GPU.  They are
// described as in webgpu-torch.  They leave no trace on the tape: autograd.Function or AutoFunction gives them a
// gradient.

import type { DType } from "../../elements/dtype.js";
import { DeviceError, OpError, TypeMismatchError, describe } from "../../base/errors.js";
import { emptyOn } from "../../tensor/allocate.js";
import { defaultDevice } from "../device.js";
import { numelOf, showShape } from "../../base/shape.js";
import { Tensor } from "../../tensor/tensor.js";
import { titled } from "../../base/class-name.js";
import { type Quantity, quantity } from "./quantity.js";
import { WebGpuDevice } from "./gpu-device.js";
import { packedUniforms } from "./launch-uniforms.js";

export type ShaderType = "array<f32>" | "array<i32>" | "array<u32>" | "array<f16>";

export interface KernelSpec {
  readonly name: string;
  /** What is fixed when the kernel is made: `$$name$$` in the shader is replaced by it, and quantities may use it. */
  readonly config?: readonly { readonly name: string }[];
  /** Numbers given with each run: `parameters.name` in the shader, and names in quantities. */
  readonly parameters?: readonly { readonly name: string; readonly shaderType: "u32" | "i32" | "f32" }[];
  readonly inputs: readonly { readonly name: string; readonly shaderType: ShaderType }[];
  /** `size`: how many elements. */
  readonly outputs: readonly { readonly name: string; readonly shaderType: ShaderType; readonly size: Quantity }[];
  /** Threads of a workgroup, and workgroups of a run; up to three axes. */
  readonly workgroupSize?: readonly Quantity[];
  readonly workgroupCount: readonly Quantity[];
  /** The body of the entry, with `global_id`, `local_id` and `group_id`. */
  readonly shader: string;
}

/** The element types that a shader type can be bound to.  Types of fewer bits take a word on a GPU. */
const TYPES: Readonly<Record<string, readonly [DType, ...DType[]]>> = {
  "array<f32>": ["float32"],
  "array<i32>": ["int32", "int64"],
  "array<u32>": ["int32", "int64", "bool", "uint8", "uint32"],
  "array<f16>": ["float16"],
};
const WORDS: Readonly<Record<string, string>> = { u32: "i", i32: "i", f32: "f" };
const NAME = /^[A-Za-z][A-Za-z0-9_]*$/;

export class Kernel {
  readonly spec: KernelSpec;
  readonly config: Readonly<Record<string, number | string>>;
  /** The whole text in WGSL. */
  readonly code: string;

  /**
   * A kernel's whole text, of its spec and a value for each of the spec's config names.
   *
   * @param config these values by name, default {}
   */
  constructor(spec: KernelSpec, config: Readonly<Record<string, number | string>> = {}) {
    const { name, inputs, outputs } = spec;
    const named = [...inputs, ...outputs, ...(spec.parameters ?? []), ...(spec.config ?? [])];
    for (const part of named)
      if (!NAME.test(part.name)) throw new OpError(`Kernel ${name}: ${describe(part.name)} is no name`);
    for (const { name: part, shaderType } of [...inputs, ...outputs]) {
      if (!(shaderType in TYPES))
        throw new TypeMismatchError(
          `Kernel ${name}: ${part} is of type ${describe(shaderType)}; there are ${Object.keys(TYPES).join(", ")}`,
        );
    }
    for (const { name: part, shaderType } of spec.parameters ?? []) {
      if (!(shaderType in WORDS))
        throw new TypeMismatchError(
          `Kernel ${name}: parameter ${part} is of type ${describe(shaderType)}; there are ${Object.keys(WORDS).join(", ")}`,
        );
    }
    for (const { name: part } of spec.config ?? [])
      if (config[part] === undefined) throw new OpError(`Kernel ${name}: there is no value for ${part} of its config`);
    if (!outputs.length) throw new OpError(`Kernel ${name}: a kernel has an output`);
    this.spec = spec;
    this.config = config;
    this.code = text(spec, config);
  }

  /**
   * Runs it once on `inputs`, in the order of the spec; answers the outputs, flat.  `outputs` are written where they
   * are given.  What the device says against the text comes with the next reading of values.
   */
  run(
    inputs: readonly Tensor[],
    parameters: Readonly<Record<string, number>> = {},
    outputs?: readonly Tensor[],
  ): Tensor[] {
    const { spec } = this,
      { name } = spec,
      what = `Kernel ${name}`;
    if (inputs.length !== spec.inputs.length)
      throw new OpError(`${what}: takes ${spec.inputs.length} inputs, got ${inputs.length}`);
    if (outputs && outputs.length !== spec.outputs.length)
      throw new OpError(`${what}: has ${spec.outputs.length} outputs, got ${outputs.length}`);
    const device = inputs.length ? inputs[0]!.storage?.device : defaultDevice();
    if (!(device instanceof WebGpuDevice))
      throw new DeviceError(
        `${what}: runs on webgpu; ${inputs.length ? "its first input" : "the default device"} is ${device?.type ?? describe(inputs[0])}`,
      );
    const numbers = { ...this.config, ...parameters },
      values = (spec.parameters ?? []).map((parameter) => {
        const value = parameters[parameter.name];
        if (typeof value !== "number")
          throw new TypeMismatchError(`${what}: parameter ${parameter.name} must be a number, got ${describe(value)}`);
        return value;
      });
    const read = spec.inputs.map((input, i) => bindable(inputs[i], input, what, device));
    const sizes = spec.outputs.map((output) => quantity(output.size, numbers, `${what}, size of ${output.name}`));
    const written = spec.outputs.map((output, i) => {
      if (!outputs) return emptyOn(device, [sizes[i]!], TYPES[output.shaderType]![0], what);
      const given = bindable(outputs[i], output, what, device);
      if (given !== outputs[i]) throw new OpError(`${what}: output ${output.name} must be contiguous`);
      if (numelOf(given.shape) !== sizes[i])
        throw new OpError(
          `${what}: output ${output.name} has ${sizes[i]} elements, got the shape ${showShape(given.shape)}`,
        );
      return given;
    });
    const storages = [...read, ...written].map((tensor) => tensor.storage);
    written.forEach((tensor, i) => {
      if (storages.indexOf(tensor.storage) !== read.length + i)
        throw new OpError(`${what}: output ${spec.outputs[i]!.name} shares its memory with another tensor of the run`);
    });
    const groups = axes(spec.workgroupCount).map((count) => quantity(count, numbers, `${what}, workgroupCount`)) as [
      number,
      number,
      number,
    ];
    const kinds = (spec.parameters ?? []).map(({ shaderType }) => WORDS[shaderType]!);
    for (const tensor of written) tensor.storage.change();
    if (Math.min(...groups) > 0)
      device.launch(
        this.code,
        storages,
        storages.map((_, i) => i >= read.length),
        packedUniforms(values, kinds),
        groups,
        name,
      );
    return written;
  }
}
titled(Kernel, "Kernel");

const axes = (given: readonly Quantity[]): Quantity[] => [given[0] ?? 1, given[1] ?? 1, given[2] ?? 1];

/** A tensor as it can be bound: of the right type, from the first element of its memory, without gaps. */
function bindable(
  tensor: unknown,
  { name, shaderType }: { name: string; shaderType: string },
  what: string,
  device: WebGpuDevice,
): Tensor {
  if (!(tensor instanceof Tensor))
    throw new TypeMismatchError(`${what}: ${name} must be a tensor, got ${describe(tensor)}`);
  tensor.check(what);
  if (tensor.storage.device !== device)
    throw new DeviceError(`${what}: ${name} is on ${tensor.device}, the first tensor is on ${device.type}`);
  if (!TYPES[shaderType]!.includes(tensor.dtype))
    throw new TypeMismatchError(`${what}: ${name} is an ${shaderType}, got a tensor of ${tensor.dtype}`);
  return tensor.is_contiguous() && tensor.offset === 0 && numelOf(tensor.shape) === tensor.storage.length
    ? tensor
    : tensor.detach().clone().contiguous();
}

function text(spec: KernelSpec, config: Readonly<Record<string, number | string>>): string {
  const members = (spec.parameters ?? []).map((p) => `${p.name}: ${p.shaderType}`);
  const bindings = [
    ...spec.inputs.map(({ name, shaderType }) => `<storage, read> ${name}: ${shaderType}`),
    ...spec.outputs.map(({ name, shaderType }) => `<storage, read_write> ${name}: ${shaderType}`),
  ];
  const threads = axes(spec.workgroupSize ?? [64]).map((size) =>
    quantity(size, config, `Kernel ${spec.name}, workgroupSize`),
  );
  const body = (spec.config ?? []).reduce(
    (shader, { name }) => shader.split(`$$${name}$$`).join(String(config[name])),
    spec.shader,
  );
  return [
    ...(bindings.some((binding) => binding.endsWith("<f16>")) ? ["enable f16;"] : []),
    `struct Parameters { ${(members.length ? members : ["unused: u32"]).join(", ")} }`,
    "@group(0) @binding(0) var<uniform> parameters: Parameters;",
    ...bindings.map((binding, i) => `@group(0) @binding(${i + 1}) var${binding};`),
    `@compute @workgroup_size(${threads.join(", ")})`,
    "fn main(@builtin(global_invocation_id) global_id: vec3u, @builtin(local_invocation_id) local_id: vec3u, @builtin(workgroup_id) group_id: vec3u) {",
    body.trim(),
    "}",
    "",
  ].join("\n");
}
