// A profile as a trace in Chrome's format, which Perfetto and chrome://tracing show.

import type { FunctionEvent } from "./recorder.js";

/** One line of a trace; see Chrome's "Trace Event Format".  Times are microseconds. */
export interface TraceEvent {
  ph: "X" | "M" | "C" | "s" | "f";
  name: string;
  pid: number;
  tid: number;
  ts: number;
  cat?: string;
  dur?: number;
  id?: number;
  bp?: "e";
  args?: Record<string, unknown>;
}

export interface ChromeTrace {
  schemaVersion: 1;
  displayTimeUnit: "ms";
  traceEvents: TraceEvent[];
}

const HOST = 0,
  GPU = 1;

export function chromeTrace(events: readonly FunctionEvent[]): ChromeTrace {
  const origin = events.length ? events[0]!.begin : 0,
    out: TraceEvent[] = [];
  const named = (pid: number, name: string, thread: string): void => {
    out.push(
      { ph: "M", name: "process_name", pid, tid: 0, ts: 0, args: { name } },
      { ph: "M", name: "process_sort_index", pid, tid: 0, ts: 0, args: { sort_index: pid } },
      { ph: "M", name: "thread_name", pid, tid: 0, ts: 0, args: { name: thread } },
    );
  };
  named(HOST, "JavaScript", "main");
  if (events.some(({ kernels }) => kernels)) named(GPU, "GPU", "launches");
  let flow = 0;
  for (const event of events) {
    const ts = event.begin - origin;
    out.push({
      ph: "X",
      cat: { op: "cpu_op", read: "cuda_runtime", user: "user_annotation" }[event.kind],
      name: event.name,
      pid: HOST,
      tid: 0,
      ts,
      dur: event.end - event.begin,
      args: {
        Device: event.device_type,
        ...(event.input_shapes ? { "Input Dims": event.input_shapes, "Input type": event.input_types } : {}),
        ...(event.stack ? { "Call stack": event.stack } : {}),
      },
    });
    for (const kernel of event.kernels ?? []) {
      const id = ++flow;
      out.push(
        { ph: "s", cat: "ac2g", name: "launch", id, pid: HOST, tid: 0, ts },
        {
          ph: "X",
          cat: "kernel",
          name: event.name,
          pid: GPU,
          tid: 0,
          ts: kernel.begin - origin,
          dur: kernel.end - kernel.begin,
        },
        { ph: "f", bp: "e", cat: "ac2g", name: "launch", id, pid: GPU, tid: 0, ts: kernel.begin - origin },
      );
    }
    if (event.bytes !== null)
      out.push({
        ph: "C",
        name: "live tensors",
        pid: HOST,
        tid: 0,
        ts: event.end - origin,
        args: { bytes: event.bytes },
      });
  }
  return { schemaVersion: 1, displayTimeUnit: "ms", traceEvents: out };
}
