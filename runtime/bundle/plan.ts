// What a bundled model's module holds, as data: launches for each device, with all that a planner decides decided.  The
// player (player.ts) runs it; it knows nothing else of the package.

/** A tensor that goes in or comes out. */
export interface TensorSpec {
  readonly name: string;
  readonly dtype: string;
  readonly shape: readonly number[];
}

/** WebGPU: buffers by number, and what is launched on them. */
export interface GpuPlan {
  /** Bytes of each buffer. */
  readonly buffers: readonly number[];
  /** What buffers hold before: a tensor of the file of weights. */
  readonly weights: readonly (readonly [buffer: number, name: string])[];
  readonly inputs: readonly number[];
  readonly outputs: readonly number[];
  /** The lines of all kernels, each once, and which of them a kernel is: first, count, first, count, ...; of its tensors
   *  which it writes: "w" or "r" for each. */
  readonly lines: readonly string[];
  readonly kernels: readonly (readonly [lines: readonly number[], writes: string])[];
  readonly steps: readonly (GpuLaunch | GpuClear)[];
  /** The buffer in which kernels note what is wrong; -1: none does. */
  readonly fault: number;
}
/** `uniforms`: 32-bit words. */
export type GpuLaunch = readonly [
  kernel: number,
  buffers: readonly number[],
  uniforms: readonly number[],
  groups: readonly number[],
];
export type GpuClear = readonly [buffer: number];

/** The CPU: one memory, in which everything has its address. */
export interface CpuPlan {
  readonly bytes: number;
  readonly weights: readonly (readonly [address: number, name: string])[];
  readonly inputs: readonly number[];
  readonly outputs: readonly number[];
  /** Kernels as WebAssembly, one behind the other, deflated and in base64: how long each is, and the functions that it
   *  is given. */
  readonly code: string;
  readonly modules: readonly (readonly [bytes: number, given: readonly string[]])[];
  readonly steps: readonly (CpuLaunch | CpuClear)[];
  /** Where a launch finds what it is told. */
  readonly block: number;
}
export type CpuLaunch = readonly [module: number, words: readonly number[]];
/** Bytes of zeros. */
export type CpuClear = readonly [at: number, bytes: number, clear: true];

export interface ModelPlan {
  readonly inputs: readonly TensorSpec[];
  readonly outputs: readonly TensorSpec[];
  readonly gpu: GpuPlan | null;
  readonly cpu: CpuPlan;
}
