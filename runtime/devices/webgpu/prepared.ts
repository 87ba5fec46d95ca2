// The work of a call on a GPU: what the planner launches, with the pipelines, uniforms and buffers that it needs.

import type { Call, Launch, Schedule } from "../../../host/model.js";
import type { Facts } from "../../../host/writer.js";
import { plan, zeroed } from "../../../host/plan.js";
import type { CompiledOp } from "../../program/compiled-op.js";
import type { DType } from "../../elements/dtype.js";
import { numelOf } from "../../base/shape.js";
import { withFormulas } from "../../program/notation-formulas.js";
import { passes, sameCourse } from "../../program/structure.js";
import type { Prepared } from "../device.js";
import { byteLength } from "./element-layout.js";
import { hasMatrixUnits } from "./matrix-units.js";
import { packedUniforms, renewable, renewed } from "./launch-uniforms.js";
import type { Kernel, Pipelines } from "./pipelines.js";
import type { PoolBuffer } from "./pool.js";
import { type UniformBlock, newUniformBlock } from "./uniform-ring.js";

interface GpuLaunch {
  readonly launch: Launch;
  readonly kernel: Kernel;
  readonly slots: readonly number[];
  readonly uniforms: UniformBlock;
  /** Where the seeds of random numbers are, or -1. */
  readonly seeds: number;
  readonly groups: readonly number[];
  readonly buffers: PoolBuffer[];
}

export interface GpuPrepared extends Prepared {
  readonly wanted: readonly number[];
  readonly launches: readonly GpuLaunch[];
  readonly temps: readonly { slot: number; bytes: number }[];
  /** Slots to be cleared first, and all that are written. */
  readonly zeros: readonly number[];
  readonly writes: readonly number[];
  /** Whether a kernel may note a fault. */
  readonly mayFault: boolean;
}

/** What the planner asks about a GPU. */
export function factsOf(gpu: GPUDevice): Facts {
  const { features, limits } = gpu;
  return {
    f16: features.has("shader-f16"),
    subgroups: features.has("subgroups" as GPUFeatureName),
    max_binding_bytes: limits.maxStorageBufferBindingSize,
    max_bindings: limits.maxStorageBuffersPerShaderStage,
    max_threads: Math.min(limits.maxComputeInvocationsPerWorkgroup, 256),
    max_shared: limits.maxComputeWorkgroupStorageSize,
    software: isSoftware(gpu),
    matrix_units: hasMatrixUnits(gpu),
  };
}

/** Whether a device is a CPU that plays one, as browsers do where they find no GPU. */
function isSoftware(gpu: GPUDevice): boolean {
  const info = (gpu as GPUDevice & { adapterInfo?: { architecture?: string; isFallbackAdapter?: boolean } })
    .adapterInfo;
  return info?.isFallbackAdapter === true || info?.architecture === "swiftshader";
}

/** The work of a program on a GPU of these facts; rules: how its kernels run, the first that holds. */
export function prepared(
  facts: Facts,
  rules: Schedule[],
  pipelines: Pipelines,
  op: CompiledOp,
  program: number,
  call: Call,
  wanted: readonly number[],
): GpuPrepared {
  const temps = new Map<number, { slot: number; bytes: number }>();
  const changes = new Set<number>(),
    writes = new Set<number>();
  const scratch = { slot: -1, bytes: 0 };
  op.op.programs[program]!.kernels.forEach(withFormulas);
  const launches = plan(op.op, program, call, [...wanted], facts, rules).map((launch: Launch): GpuLaunch => {
    launch.slots.forEach((slot, i) => {
      if (!launch.written[i] || slot < 0) return;
      writes.add(slot);
      if (op.op.slots[slot]!.role === "input") changes.add(slot);
    });
    scratch.bytes = Math.max(scratch.bytes, 4 * launch.scratch);
    for (const slot of launch.slots) {
      if (slot < 0) continue;
      const bound = call.slots[slot]!;
      if (passes(op, slot, wanted))
        temps.set(slot, { slot, bytes: byteLength(bound.dtype as DType, numelOf(bound.shape)) });
    }
    return {
      launch,
      kernel: pipelines.kernel(launch.code, launch.written, op.op.name),
      slots: launch.slots,
      uniforms: newUniformBlock(packedUniforms(launch.uniforms, launch.kinds)),
      seeds: launch.seeds,
      groups: launch.groups,
      buffers: new Array<PoolBuffer>(launch.slots.length),
    };
  });
  if (scratch.bytes) temps.set(-1, scratch);
  const zeros = zeroed(op.op, program, call, [...wanted]);
  zeros.forEach((slot) => writes.add(slot));
  const mayFault = launches.some(({ launch }) => launch.fault >= 0);
  return {
    op,
    program,
    call,
    wanted,
    launches,
    temps: [...temps.values()],
    zeros,
    changes: [...changes],
    writes: [...writes],
    mayFault,
    together: launches.some(({ launch }) => launch.together > 1),
  };
}

/** The same work for other numbers; null where those decide what it is. */
export function reworded(before: GpuPrepared, call: Call): GpuPrepared | null {
  const { op } = before.op,
    { kernels } = op.programs[before.program]!;
  if (!sameCourse(op, before.program, before.call, call)) return null;
  const kernelOf = new Map(kernels.map((kernel) => [kernel.number, kernel]));
  const launches: GpuLaunch[] = [];
  for (const old of before.launches) {
    const kernel = kernelOf.get(old.launch.kernel);
    if (!kernel || !renewable(old.launch, kernel, before.call)) return null;
    const launch = renewed(old.launch, kernel, call);
    launches.push({
      ...old,
      launch,
      uniforms: newUniformBlock(packedUniforms(launch.uniforms, launch.kinds)),
      buffers: new Array<PoolBuffer>(old.slots.length),
    });
  }
  return { ...before, call, launches };
}
