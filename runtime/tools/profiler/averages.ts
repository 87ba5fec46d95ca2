// Sums over the events of a profile by name, and the table of them that PyTorch prints.

import { OpError } from "../../base/errors.js";
import type { FunctionEvent } from "./recorder.js";

/**
 * All events of one name.  Times are microseconds.
 *
 * @param key the events' name
 * @param input_shapes the shapes of what they were given, where these are told apart
 *
 * @example
 * const profile = await torch.profiler.profile(() => [torch.ones([4]).exp(), torch.ones([2]).exp()]);
 * const average = profile.key_averages().find(({ key }) => key === "exp");
 * average?.count  // 2
 */
export class FunctionEventAvg {
  readonly key: string;
  readonly input_shapes: string;
  count = 0;
  /** Time on the host, with what it called and without. */
  cpu_time_total = 0;
  self_cpu_time_total = 0;
  /** Time of the launches on the GPU, with those of what it called and without; 0 where none was taken. */
  device_time_total = 0;
  self_device_time_total = 0;
  /** By how many bytes live tensors grew. */
  memory_usage = 0;

  constructor(key: string, input_shapes: string) {
    this.key = key;
    this.input_shapes = input_shapes;
  }

  get cpu_time(): number {
    return this.count ? this.cpu_time_total / this.count : 0;
  }
  get device_time(): number {
    return this.count ? this.device_time_total / this.count : 0;
  }
}

export interface TableOptions {
  /** A column: `cpu_time_total` (the default) and the other fields of an average. */
  sort_by?:
    | "count"
    | "cpu_time"
    | "cpu_time_total"
    | "self_cpu_time_total"
    | "device_time"
    | "device_time_total"
    | "self_device_time_total"
    | "memory_usage";
  row_limit?: number;
  max_name_column_width?: number;
}

const COLUMNS = [
  "count",
  "cpu_time",
  "cpu_time_total",
  "self_cpu_time_total",
  "device_time",
  "device_time_total",
  "self_device_time_total",
  "memory_usage",
];

/**
 * The averages of a profile, and what is said about its times.
 *
 * @example
 * const profile = await torch.profiler.profile(() => torch.ones([4]).exp());
 * profile.key_averages().table({ sort_by: "count" }).split("\n").some((line) => /exp .* 1 *$/.test(line))  // true
 */
export class EventList extends Array<FunctionEventAvg> {
  readonly shows!: { readonly memory: boolean; readonly note: string };

  /** Text like that of PyTorch's `key_averages().table()`. */
  table(options: TableOptions = {}): string {
    const { sort_by = "cpu_time_total", row_limit = 100, max_name_column_width = 55 } = options;
    if (!COLUMNS.includes(sort_by))
      throw new OpError(`table: sort_by must be one of ${COLUMNS.join(", ")}, got '${sort_by}'`);
    const rows = [...this].sort((a, b) => b[sort_by] - a[sort_by]).slice(0, row_limit < 0 ? undefined : row_limit);
    const cpu = sum(this, "self_cpu_time_total"),
      device = sum(this, "self_device_time_total");
    const timed = device > 0,
      { memory, note } = this.shows,
      shapes = this.some((row) => row.input_shapes);
    const head = [
      "Name",
      "Self CPU %",
      "Self CPU",
      "CPU total %",
      "CPU total",
      "CPU time avg",
      ...(timed ? ["Self GPU", "Self GPU %", "GPU total", "GPU time avg"] : []),
      ...(memory ? ["Memory"] : []),
      "# of Calls",
      ...(shapes ? ["Input Shapes"] : []),
    ];
    const cells = rows.map((row) => [
      shortened(row.key, max_name_column_width),
      percent(row.self_cpu_time_total, cpu),
      time(row.self_cpu_time_total),
      percent(row.cpu_time_total, cpu),
      time(row.cpu_time_total),
      time(row.cpu_time),
      ...(timed
        ? [
            time(row.self_device_time_total),
            percent(row.self_device_time_total, device),
            time(row.device_time_total),
            time(row.device_time),
          ]
        : []),
      ...(memory ? [size(row.memory_usage)] : []),
      String(row.count),
      ...(shapes ? [row.input_shapes] : []),
    ]);
    const widths = head.map((text, i) => Math.max(text.length, ...cells.map((row) => row[i]!.length)) + 2);
    const line = (row: readonly string[]): string => row.map((text, i) => text.padStart(widths[i]!)).join("  ");
    const rule = widths.map((width) => "-".repeat(width)).join("  ");
    return (
      [
        rule,
        line(head),
        rule,
        ...cells.map(line),
        rule,
        `Self CPU time total: ${time(cpu)}`,
        ...(timed ? [`Self GPU time total: ${time(device)}`] : []),
        ...(note ? [note] : []),
      ].join("\n") + "\n"
    );
  }

  /** One average over all. */
  total_average(): FunctionEventAvg {
    const total = new FunctionEventAvg("Total", "");
    for (const row of this) {
      total.count += row.count;
      for (const field of ["self_cpu_time_total", "self_device_time_total", "memory_usage"] as const)
        total[field] += row[field];
    }
    total.cpu_time_total = total.self_cpu_time_total;
    total.device_time_total = total.self_device_time_total;
    return total;
  }

  override toString(): string {
    return this.table();
  }
  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return this.table();
  }

  // What `filter` and the like answer is an ordinary array.
  static override get [Symbol.species](): ArrayConstructor {
    return Array;
  }
}

/** Groups events by name, and by the shapes of their inputs if asked. */
export function averages(events: readonly FunctionEvent[], byShape: boolean, note: string): EventList {
  const found = new Map<string, FunctionEventAvg>(),
    within = new Map<FunctionEvent, { host: number; device: number }>();
  const device = (event: FunctionEvent): number =>
    (event.kernels ?? []).reduce((all, { begin, end }) => all + end - begin, 0);
  for (let i = events.length - 1; i >= 0; i--) {
    // parts come after what they are part of
    const event = events[i]!,
      inside = within.get(event) ?? { host: 0, device: 0 },
      host = event.end - event.begin,
      mine = device(event);
    const shapes = byShape && event.input_shapes ? JSON.stringify(event.input_shapes) : "",
      key = `${event.name} ${shapes}`;
    const row = found.get(key) ?? new FunctionEventAvg(event.name, shapes);
    found.set(key, row);
    row.count++;
    row.cpu_time_total += host;
    row.self_cpu_time_total += Math.max(0, host - inside.host);
    row.device_time_total += mine + inside.device;
    row.self_device_time_total += mine;
    row.memory_usage += event.memory;
    if (!event.parent) continue;
    const outer = within.get(event.parent) ?? { host: 0, device: 0 };
    within.set(event.parent, { host: outer.host + host, device: outer.device + mine + inside.device });
  }
  const list = new EventList(...[...found.values()].reverse());
  Object.defineProperty(list, "shows", { value: { memory: events.some(({ bytes }) => bytes !== null), note } });
  return list;
}

const sum = (rows: readonly FunctionEventAvg[], field: "self_cpu_time_total" | "self_device_time_total"): number =>
  rows.reduce((all, row) => all + row[field], 0);
const percent = (part: number, whole: number): string => (whole > 0 ? `${((100 * part) / whole).toFixed(2)}%` : "-");
const time = (us: number): string =>
  us >= 1e6 ? `${(us / 1e6).toFixed(3)}s` : us >= 1e3 ? `${(us / 1e3).toFixed(3)}ms` : `${us.toFixed(3)}us`;
const shortened = (text: string, width: number): string =>
  width > 0 && text.length > width ? `${text.slice(0, width - 3)}...` : text;

function size(bytes: number): string {
  const amount = Math.abs(bytes),
    [unit, name] =
      amount >= 2 ** 30
        ? [2 ** 30, "Gb"]
        : amount >= 2 ** 20
          ? [2 ** 20, "Mb"]
          : amount >= 2 ** 10
            ? [2 ** 10, "Kb"]
            : [1, "b"];
  return `${unit === 1 ? bytes : (bytes / (unit as number)).toFixed(2)} ${name}`;
}
