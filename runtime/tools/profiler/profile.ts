// torch.profiler.profile: what runs on which device, for how long, how often.

import { atMost, isOptions, optionsIn } from "../../base/named-arguments.js";
import { TypeMismatchError, describe } from "../../base/errors.js";
import { refuse, unknownOption } from "../../base/argument-kinds.js";
import { type Target, writeTo } from "../../files/target.js";
import { type EventList, averages } from "./averages.js";
import { type FunctionEvent, Recorder } from "./recorder.js";
import { ProfilerAction, type Schedule } from "./schedule.js";
import { type ChromeTrace, chromeTrace } from "./trace.js";

/**
 * Where ops run that are recorded.  CUDA is another name of the GPU.
 *
 * @example
 * torch.profiler.ProfilerActivity.CPU  // "cpu"
 */
export const ProfilerActivity = { CPU: "cpu", GPU: "webgpu", CUDA: "webgpu" } as const;
export type ProfilerActivity = "cpu" | "webgpu";

export interface ProfileOptions {
  /** The devices whose ops are recorded; null: all, default null. */
  activities?: Iterable<ProfilerActivity>;
  /** When to record, by the number of `step()` calls; see `schedule`, default null. */
  schedule?: Schedule;
  /** Called (and awaited) at the end of each cycle of a schedule, or when a profile without one stops, default null. */
  on_trace_ready?: (prof: Profile) => unknown;
  /** Keep the shapes and types of inputs, default false. */
  record_shapes?: boolean;
  /** Count the bytes that live tensors take, default false. */
  profile_memory?: boolean;
  /** Keep where each op was called, default false. */
  with_stack?: boolean;
}

const NAMES = ["activities", "schedule", "on_trace_ready", "record_shapes", "profile_memory", "with_stack"];

/**
 * What a profiler recorded.
 *
 * @example
 * const profile = await torch.profiler.profile((prof) => torch.ones([4]).exp().sum());
 * profile.events().map((event) => event.name)  // ["exp", "sum"]
 */
export class Profile {
  private readonly options: ProfileOptions;
  private recorder: Recorder | null = null;
  /** What was recorded last. */
  private recorded: readonly FunctionEvent[] = [];
  private note = "";
  private action: ProfilerAction = ProfilerAction.NONE;
  /** How often `step` was called. */
  step_num = 0;

  constructor(options: ProfileOptions) {
    if (!isOptions(options)) refuse("profile", "options", "an object of options", options);
    for (const name of Object.keys(options)) if (!NAMES.includes(name)) throw unknownOption("profile", name, NAMES);
    this.options = options;
  }

  private actionOf(step: number): ProfilerAction {
    return this.options.schedule ? this.options.schedule(step) : ProfilerAction.RECORD;
  }

  /** Begins to record, as the schedule says. */
  start(): this {
    this.enter(this.actionOf(this.step_num));
    return this;
  }

  private enter(action: ProfilerAction): void {
    this.action = action;
    if (action === ProfilerAction.NONE || this.recorder) return;
    const {
      activities = ["cpu", "webgpu"],
      record_shapes = false,
      profile_memory = false,
      with_stack = false,
    } = this.options;
    this.recorder = new Recorder({ devices: [...activities], record_shapes, profile_memory, with_stack });
    this.recorder.start();
  }

  /** Ends the recorder; what it recorded is kept if asked. */
  private async leave(keep: boolean): Promise<void> {
    const { recorder } = this;
    if (!recorder) return;
    this.recorder = null;
    await recorder.stop();
    if (!keep) return;
    this.recorded = recorder.events;
    const gpu = recorder.events.some(({ device_type }) => device_type === "webgpu");
    this.note =
      gpu && !recorder.timed.length
        ? "The GPU's own times were not taken: it lacks the feature timestamp-query. Times are those of queueing the work."
        : "";
  }

  /** Says that a step is over; to be awaited.  Only a profile with a schedule needs it. */
  async step(): Promise<void> {
    const before = this.action,
      next = this.actionOf(++this.step_num);
    if (before === ProfilerAction.RECORD_AND_SAVE) {
      await this.leave(true);
      await this.options.on_trace_ready?.(this);
    } else if (before === ProfilerAction.WARMUP && next >= ProfilerAction.RECORD) await this.leave(false);
    this.enter(next);
  }

  /** Ends recording; the times of a GPU are there when the promise settles. */
  async stop(): Promise<void> {
    const records = this.recorder !== null && this.action >= ProfilerAction.RECORD;
    await this.leave(records);
    this.action = ProfilerAction.NONE;
    if (records) await this.options.on_trace_ready?.(this);
  }

  /** What was recorded, in the order in which it began. */
  events(): readonly FunctionEvent[] {
    return this.recorded;
  }

  /** Sums by name, with a `table()`. */
  key_averages(options: boolean | { group_by_input_shape?: boolean } = false): EventList {
    return averages(
      this.recorded,
      typeof options === "boolean" ? options : (options.group_by_input_shape ?? false),
      this.note,
    );
  }

  /** The trace as an object. */
  chrome_trace(): ChromeTrace {
    return chromeTrace(this.recorded);
  }

  /**
   * Writes the trace, which Perfetto and chrome://tracing open: to a path (Node), a stream, or the handle of a file.
   */
  async export_chrome_trace(target: Target): Promise<void> {
    const text = JSON.stringify(this.chrome_trace());
    await writeTo(
      target,
      (async function* () {
        yield new TextEncoder().encode(text);
      })(),
      "export_chrome_trace",
    );
  }
}

type WithBody = ProfileOptions & { body?: (prof: Profile) => unknown };
const OPTIONS = [
  "activities",
  "schedule",
  "on_trace_ready",
  "record_shapes",
  "profile_memory",
  "with_stack",
  "body",
] as const;

/**
 * Records what runs.  With a body, that is run and a promise of the profile answered; without, `start()` and `await
 * stop()` say from when to when.  Each op's time on the GPU is taken where the device has the feature timestamp-query;
 * every launch then is a pass of its own, which costs time.
 *
 * @param body of the profile; what is recorded
 *
 * @example
 * const profile = await torch.profiler.profile(() => torch.ones([4]).exp());
 * profile.key_averages().map(({ key, count }) => [key, count])  // [["exp", 1]]
 */
export function profile(options?: ProfileOptions): Profile;
export function profile(body: (prof: Profile) => unknown): Promise<Profile>;
export function profile(options: ProfileOptions, body: (prof: Profile) => unknown): Promise<Profile>;
export function profile(
  first: ProfileOptions | ((prof: Profile) => unknown) = {},
  second?: (prof: Profile) => unknown,
): Profile | Promise<Profile> {
  atMost("profile", arguments, 2);
  const { body = second, ...options } =
    typeof first === "function" ? { body: first } : optionsIn<WithBody>("profile", first, OPTIONS);
  const prof = new Profile(options);
  if (body === undefined) return prof;
  if (typeof body !== "function") throw new TypeMismatchError(`profile: expected a function, got ${describe(body)}`);
  return running(prof, body);
}

async function running(prof: Profile, body: (prof: Profile) => unknown): Promise<Profile> {
  prof.start();
  try {
    await body(prof);
  } finally {
    await prof.stop();
  }
  return prof;
}
