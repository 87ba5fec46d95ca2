// Shader modules, pipelines, layouts and bind groups, each made once.  Layouts are explicit: binding 0 is the uniforms
// with a dynamic offset, then the tensors.

import { advise } from "../slow-warnings.js";
import { COMPUTE } from "./flags.js";
import { bindingSize } from "./uniform-ring.js";
import { type PoolBuffer, track } from "./pool.js";

export interface Layout {
  readonly group: GPUBindGroupLayout;
  readonly pipeline: GPUPipelineLayout;
  readonly cache: Map<number, Entry[]>;
}

interface Entry {
  readonly ids: readonly number[];
  readonly size: number;
  readonly group: GPUBindGroup;
}

export interface Kernel {
  /** Null until it is made. */
  pipeline: GPUComputePipeline | null;
  /** While it is being made: resolves when it is, or could not be. */
  making: Promise<void> | null;
  readonly layout: Layout;
  readonly code: string;
  readonly op: string;
}

const MOST_GROUPS = 8192;
const MANY_KERNELS = 2000;

export class Pipelines {
  private readonly device: GPUDevice;
  private readonly uniforms: GPUBuffer;
  private readonly layouts = new Map<number, Layout>();
  private readonly kernels = new Map<string, Kernel>();
  private readonly onError: (error: GPUError, what: string) => void;
  private readonly checks: Set<Promise<unknown>>;
  private groups = 0;
  private postponed = 0;

  constructor(
    device: GPUDevice,
    uniforms: GPUBuffer,
    onError: (error: GPUError, what: string) => void,
    checks: Set<Promise<unknown>>,
  ) {
    this.checks = checks;
    this.device = device;
    this.uniforms = uniforms;
    this.onError = onError;
  }

  /** `written`: for each tensor whether the kernel writes it. */
  private layout(written: readonly boolean[]): Layout {
    let key = 1;
    for (const w of written) key = key * 2 + (w ? 1 : 0);
    let layout = this.layouts.get(key);
    if (!layout) {
      const group = this.device.createBindGroupLayout({
        entries: [
          { binding: 0, visibility: COMPUTE, buffer: { type: "uniform", hasDynamicOffset: true } },
          ...written.map(
            (w, i): GPUBindGroupLayoutEntry => ({
              binding: i + 1,
              visibility: COMPUTE,
              buffer: { type: w ? "storage" : "read-only-storage" },
            }),
          ),
        ],
      });
      layout = {
        group,
        pipeline: this.device.createPipelineLayout({ bindGroupLayouts: [group] }),
        cache: new Map<number, Entry[]>(),
      };
      this.layouts.set(key, layout);
    }
    return layout;
  }

  /** The pipeline of a kernel's text.  A text that does not compile is reported through `onError`. */
  kernel(code: string, written: readonly boolean[], op: string): Kernel {
    return this.kernels.get(code) ?? this.added(code, written, op);
  }

  private added(code: string, written: readonly boolean[], op: string): Kernel {
    const kernel: Kernel = { pipeline: null, making: null, layout: this.layout(written), code, op };
    if (!this.postponed) void this.begun(kernel);
    this.kernels.set(code, kernel);
    if (this.kernels.size === MANY_KERNELS) {
      advise(
        "kernels",
        `${MANY_KERNELS} kernels were compiled for the GPU, the last for ${op}; types, numbers of axes and options that change from call to call make new ones`,
      );
    }
    return kernel;
  }

  /** The pipeline of a kernel that could not be made before: the device says why. */
  made(kernel: Kernel): GPUComputePipeline {
    const { op } = kernel;
    this.device.pushErrorScope("validation");
    kernel.pipeline = this.device.createComputePipeline(this.description(kernel));
    track(this.checks, this.device.popErrorScope(), (error) => {
      if (error) this.onError(error, `${op}: its kernel was refused by the device`);
    });
    return kernel.pipeline;
  }

  private description({ code, layout, op }: Kernel): GPUComputePipelineDescriptor {
    const module = this.device.createShaderModule({ label: op, code });
    return { label: op, layout: layout.pipeline, compute: { module, entryPoint: "main" } };
  }

  postpone(): () => void {
    this.postponed++;
    return () => void this.postponed--;
  }

  /** Begins to make a kernel's pipeline where there is none. */
  begun(kernel: Kernel): Promise<void> {
    return (kernel.making ??= kernel.pipeline ? Promise.resolve() : this.making(kernel));
  }

  /** Where that fails, so will the launch that needs it, which says why. */
  private async making(kernel: Kernel): Promise<void> {
    this.device.pushErrorScope("validation");
    const made = this.device.createComputePipelineAsync(this.description(kernel)).catch(() => null);
    await this.device.popErrorScope().catch(() => null);
    kernel.pipeline ??= await made;
  }

  /** Makes the pipelines of those that have none, all at a time. */
  compile(kernels: readonly Kernel[]): Promise<unknown> {
    return Promise.all(kernels.map((kernel) => this.begun(kernel)));
  }

  /** The bind group of these buffers; `uniforms`: how many the kernel reads at the dynamic offset. */
  group(layout: Layout, buffers: readonly PoolBuffer[], uniforms: number): GPUBindGroup {
    const size = bindingSize(uniforms),
      n = buffers.length;
    let key = size;
    for (let i = 0; i < n; i++) key = (Math.imul(key, 0x01000193) ^ buffers[i]!.id) | 0;
    let entries = layout.cache.get(key);
    if (entries) {
      for (const entry of entries) {
        if (entry.size !== size || entry.ids.length !== n) continue;
        let i = 0;
        while (i < n && entry.ids[i] === buffers[i]!.id) i++;
        if (i === n) return entry.group;
      }
    } else {
      if (this.groups >= MOST_GROUPS) this.forget();
      layout.cache.set(key, (entries = []));
    }
    const group = this.device.createBindGroup({
      layout: layout.group,
      entries: [
        { binding: 0, resource: { buffer: this.uniforms, size } },
        ...buffers.map((resource, i): GPUBindGroupEntry => ({ binding: i + 1, resource })),
      ],
    });
    entries.push({ ids: buffers.map((b) => b.id), size, group });
    this.groups++;
    return group;
  }

  /** Drops all bind groups: buffers were destroyed. */
  forget(): void {
    for (const layout of this.layouts.values()) layout.cache.clear();
    this.groups = 0;
  }
}
