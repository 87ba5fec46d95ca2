// torch.profiler.

export type { EventList, FunctionEventAvg, TableOptions } from "./averages.js";
export { type Profile, type ProfileOptions, ProfilerActivity, profile } from "./profile.js";
export { type FunctionEvent, record_function } from "./recorder.js";
export { ProfilerAction, type Schedule, type ScheduleOptions, schedule } from "./schedule.js";
export type { ChromeTrace, TraceEvent } from "./trace.js";
