// What is recorded while a profile runs: a span for each program, reading and named piece of code, and launches on the
// GPU. Not what is made of it: averages.ts, trace.ts.

import type { Device } from "../../devices/device.js";
import { registeredDevices } from "../../devices/device.js";
import { OpError } from "../../base/errors.js";
import { callable, text } from "../../base/argument-kinds.js";
import { memory } from "../../tensor/memory.js";
import { taken } from "../../base/named-arguments.js";
import { type Observer, type Run, inputsOf, nameOf, observe, stopObserving } from "../../devices/observers.js";
import type { WebGpuDevice } from "../../devices/webgpu/gpu-device.js";
import { GpuTimer, type Launched, now } from "./gpu-timer.js";

export interface RecorderOptions {
  /** Keep the shapes and types of inputs. */
  record_shapes: boolean;
  /** Count the bytes that live tensors take. */
  profile_memory: boolean;
  /** Keep where each op was called. */
  with_stack: boolean;
  /** The devices whose ops are recorded. */
  devices: readonly string[];
}

/** Something that took time.  Times are microseconds on the clock of `performance.now`. */
export interface FunctionEvent {
  readonly name: string;
  /** "op", "read" for a wait for values, or "user" for record_function. */
  readonly kind: "op" | "read" | "user";
  /** The device that it ran on. */
  readonly device_type: string;
  readonly begin: number;
  end: number;
  /** The span that it is part of. */
  readonly parent: FunctionEvent | null;
  /** Launches on the GPU with their times; null where they are not taken. */
  readonly kernels: readonly Launched[] | null;
  /** Inputs by name: shapes and types. */
  readonly input_shapes: readonly (readonly number[])[] | null;
  readonly input_types: readonly string[] | null;
  readonly stack: string | null;
  /** Bytes that live tensors held when it ended, and by how much they grew: for an op since the one before it. */
  bytes: number | null;
  memory: number;
}

const held = (): number => Object.values(memory()).reduce((sum, { bytes }) => sum + bytes!, 0);

let recording: Recorder | null = null;

export class Recorder implements Observer {
  readonly events: FunctionEvent[] = [];
  private readonly options: RecorderOptions;
  private readonly timers = new Map<Device, GpuTimer>();
  private readonly open: FunctionEvent[] = [];
  /** Bytes that live tensors held when they were last counted. */
  private bytes = 0;
  private readonly downloads = new Map<Device, Device["download"]>();

  constructor(options: RecorderOptions) {
    this.options = options;
  }

  /** Devices whose launches' times are taken. */
  get timed(): Device[] {
    return [...this.timers.keys()];
  }

  start(): void {
    if (recording) throw new OpError("profiler: another profile is running, and only one can");
    recording = this;
    for (const device of registeredDevices()) {
      if (!this.options.devices.includes(device.type)) continue;
      if (device.type === "webgpu" && GpuTimer.serves(device as WebGpuDevice))
        this.timers.set(device, new GpuTimer(device as WebGpuDevice));
      const download = device.download.bind(device);
      this.downloads.set(device, device.download);
      device.download = (storage, start, end) =>
        this.spanning("read", "read", device.type, () => download(storage, start, end));
    }
    if (this.options.profile_memory) this.bytes = held();
    observe(this);
  }

  /** Stops recording, and waits for the times of launches. */
  async stop(): Promise<void> {
    if (recording !== this) return;
    recording = null;
    stopObserving(this);
    for (const [device, download] of this.downloads) device.download = download;
    for (const [device, timer] of this.timers) {
      await device.synchronize();
      await timer.read();
      timer.close();
    }
    for (const event of this.open.splice(0)) this.close(event);
  }

  around(run: Run, execute: () => void): void {
    const { type } = run.device;
    if (!this.options.devices.includes(type)) return execute();
    const timer = this.timers.get(run.device),
      { call } = run.prepared,
      { record_shapes } = this.options;
    const inputs = record_shapes ? inputsOf(run).map((slot) => call.slots[slot]!) : null;
    const event = this.begin(
      nameOf(run),
      "op",
      type,
      timer ? [] : null,
      inputs && inputs.map(({ shape }) => [...shape]),
      inputs && inputs.map(({ dtype }) => dtype),
    );
    if (timer) timer.owner = event.kernels as Launched[];
    try {
      execute();
    } finally {
      if (timer) timer.owner = null;
      this.close(event);
    }
  }

  /** Records `body` as a span; of an async one until its promise settles. */
  spanning<T>(name: string, kind: "read" | "user", device: string, body: () => T): T {
    const event = this.begin(name, kind, device);
    let settled = true;
    try {
      const result = body();
      if (!(result instanceof Promise)) return result;
      settled = false;
      return result.finally(() => {
        this.close(event);
      }) as T;
    } finally {
      if (settled) this.close(event);
    }
  }

  private begin(
    name: string,
    kind: FunctionEvent["kind"],
    device_type: string,
    kernels: Launched[] | null = null,
    input_shapes: number[][] | null = null,
    input_types: string[] | null = null,
  ): FunctionEvent {
    const { profile_memory, with_stack } = this.options;
    const event: FunctionEvent = {
      name,
      kind,
      device_type,
      kernels,
      input_shapes,
      input_types,
      begin: now(),
      end: 0,
      parent: this.open.at(-1) ?? null,
      stack: with_stack ? (new Error().stack ?? "").split("\n").slice(4).join("\n") : null,
      bytes: null,
      memory: profile_memory ? -(kind === "user" ? held() : this.bytes) : 0,
    };
    this.events.push(event);
    this.open.push(event);
    return event;
  }

  private close(event: FunctionEvent): void {
    const at = this.open.lastIndexOf(event);
    if (at >= 0) this.open.splice(at, 1);
    event.end = now();
    if (!this.options.profile_memory) return;
    event.bytes = this.bytes = held();
    event.memory += event.bytes;
  }
}

/**
 * Runs `body` and shows it as a span of this name in a running profile; of an async function until its promise settles.
 * Without a profile it only runs `body`.
 *
 * @param name how the span is called
 * @param body what runs in it
 *
 * @example
 * const { profile, record_function } = torch.profiler;
 * const recorded = await profile(() => record_function("my part", () => torch.ones([4]).exp()));
 * recorded.events()[0].name  // "my part"
 */
export function record_function<T>(name: string, body: () => T): T {
  [name, body] = taken("record_function name body", arguments);
  text(name, "record_function", "name");
  callable(body, "record_function", "body");
  return recording ? recording.spanning(name, "user", "cpu", body) : body();
}
