// Which tiles of products are the fastest on this device.  In the background, each new program with products runs on
// memory of its own in all tiles that are worth a trial; the schedule of the fastest then goes before those for all
// devices (ops/schedule.op).  No tile changes a result beyond rounding: tests/test_tile_candidates.py.

import type { Schedule } from "../../../host/model.js";
import { plan } from "../../../host/plan.js";
import { candidates } from "../../../host/tile_candidates.js";
import { extent } from "../../base/shape.js";
import type { DType } from "../../elements/dtype.js";
import type { Storage } from "../../tensor/storage.js";
import { byteLength } from "./element-layout.js";
import { WebGpuDevice } from "./gpu-device.js";
import { type GpuPrepared, prepared } from "./prepared.js";

type Numbers = Record<string, number>;

const EXACT = "exact_tile"; // the strategy
/** What a product of an op is to schedules. */
export const TILE_FACTS = ["M", "N", "K", "batch", "left_deep", "right_deep"] as const;
export const TILE_SETTINGS = ["rows", "columns", "depth", "thread_rows", "thread_columns", "slices", "parts"] as const;
const LEAST_WORK = 1 << 22; // products of two numbers: what is smaller takes no longer than its launch,
const LEAST_TIME = 0.03; // nor what takes fewer milliseconds, of which most is chance
const MOST_BYTES = 1 << 28; // of the memory that a trial takes
const AT_ONCE = 8; // pipelines being made, beside those of the program itself
const ENOUGH = 8; // milliseconds of runs that one time is taken of
const TO_TRY = 8; // runs, to see how long one takes
const MOST_RUNS = 64;
const ROUNDS = 3; // of which the shortest time counts: other work of the program may be under way
const HOPEFUL = 1.25; // times the shortest so far: what is slower has no further round
const WORTH = 0.95; // of the time that the table's tile takes: what saves less may be chance

/**
 * A tile that was the fastest for products of an op: `facts` of the product, `tile` the settings of `exact_tile`
 * (ops/schedule.op), `before` and `after` the milliseconds that the program took with the table's tile and with this.
 */
export interface TunedTile {
  readonly op: string;
  readonly facts: Readonly<Numbers>;
  readonly tile: Readonly<Numbers>;
  readonly before: number;
  readonly after: number;
}

interface Way {
  readonly rule: Schedule | null;
  readonly prepared: GpuPrepared;
  time: number;
}

export class Benchmark {
  readonly found: TunedTile[] = [];
  private readonly met = new Set<string>();
  private work: Promise<void> = Promise.resolve();
  private on = false;

  constructor(private readonly device: WebGpuDevice) {}

  start(): void {
    this.on = true;
    this.device.onPrepared = (work) => this.look(work);
  }

  /** No further trial begins. */
  stop(): void {
    this.on = false;
    this.device.onPrepared = null;
  }

  /** Resolves when all trials so far are over. */
  finished(): Promise<void> {
    return this.work;
  }

  /** Uses what was found before, on a device like this one. */
  use(tiles: readonly TunedTile[]): void {
    for (const tile of tiles) {
      this.met.add(keyOf(tile.op, tile.facts));
      this.found.push(tile);
    }
    this.device.rules = [...tiles.map(({ op, facts, tile }) => ruleOf(op, facts, tile)), ...this.device.rules];
  }

  private look(work: GpuPrepared): void {
    const { op, program, call, wanted, mayFault } = work,
      { name } = op.op;
    if (mayFault) return; // its runs would be reported as the program's
    // The planner tells its facts to a schedule that never holds.
    const seen: Numbers[] = [];
    const asking: Schedule = {
      kernel: name,
      when: (facts) => (seen.push({ ...facts }), 0),
      strategy: EXACT,
      numbers: {},
    };
    plan(op.op, program, call, [...wanted], this.device.facts, [asking, ...this.device.rules]);
    for (const facts of seen) {
      const key = keyOf(name, facts);
      if (facts.M! * facts.N! * facts.K! * facts.batch! < LEAST_WORK || this.met.has(key)) continue;
      this.met.add(key);
      // What fails here (memory, a lost device) fails for the program, too, which says so.
      this.work = this.work.then(() => this.trial(work, facts)).catch(() => undefined);
    }
  }

  private async trial(work: GpuPrepared, facts: Numbers): Promise<void> {
    const { device } = this;
    if (!this.on || device.lost !== null) return;
    const ways = await this.ways(work, facts),
      [first] = ways;
    if (!first || first.rule || ways.length < 2) return; // nothing to compare, or with nothing
    const storages = this.memory(ways);
    if (!storages) return;
    try {
      await this.time(first, storages, 1);
      const usual = await this.time(first, storages, TO_TRY),
        runs = Math.min(Math.ceil(ENOUGH / usual), MOST_RUNS);
      if (usual < LEAST_TIME) return;
      for (const way of ways) await this.time(way, storages, 1); // what is done once is not counted
      let shortest = Infinity;
      for (let round = 0; round < ROUNDS; round++) {
        for (const way of ways) {
          if (way !== first && way.time > HOPEFUL * shortest && way.time < Infinity) continue;
          way.time = Math.min(way.time, await this.time(way, storages, runs));
          shortest = Math.min(shortest, way.time);
        }
      }
      const best = ways.reduce((a, b) => (b.time < a.time ? b : a));
      if (!best.rule || best.time > WORTH * first.time) return;
      const { name } = work.op.op;
      this.found.push({
        op: name,
        facts: tileFacts(facts),
        tile: best.rule.numbers,
        before: first.time,
        after: best.time,
      });
      device.rules = [best.rule, ...device.rules];
      Object.assign(work, best.prepared);
    } finally {
      for (const storage of storages) if (storage) device.free(storage);
    }
  }

  /** The program as it is, then with each other tile that makes another kernel of it and that the device takes. */
  private async ways(usual: GpuPrepared, facts: Numbers): Promise<Way[]> {
    const { op, program, call, wanted } = usual,
      { device } = this,
      texts = new Set([textsOf(usual)]),
      ways: Way[] = [{ rule: null, prepared: usual, time: Infinity }];
    let making: GpuPrepared[] = [];
    for (const numbers of candidates(facts, device.facts)) {
      const rule = ruleOf(op.op.name, facts, numbers),
        rules = [rule, ...device.rules],
        other = prepared(device.facts, rules, device.pipelines, op, program, call, wanted);
      if (texts.has(textsOf(other))) continue;
      texts.add(textsOf(other));
      ways.push({ rule, prepared: other, time: Infinity });
      if (making.push(other) < AT_ONCE) continue;
      await device.compile(making);
      making = [];
    }
    await device.compile([usual, ...making]);
    return ways.filter((way) => way.prepared.launches.every(({ kernel }) => kernel.pipeline));
  }

  /** Memory for all that these ways read and write; null where that is too much. */
  private memory(ways: readonly Way[]): (Storage | null)[] | null {
    const { slots } = ways[0]!.prepared.call,
      used = new Set<number>();
    for (const { prepared } of ways) {
      const own = new Set(prepared.temps.map(({ slot }) => slot));
      for (const launch of prepared.launches) for (const s of launch.slots) if (s >= 0 && !own.has(s)) used.add(s);
    }
    const lengths = [...used].map((s) => [s, slots[s]!.offset + extent(slots[s]!.shape, slots[s]!.strides)] as const);
    const bytes = lengths.reduce((sum, [s, length]) => sum + byteLength(slots[s]!.dtype as DType, length), 0);
    if (bytes > MOST_BYTES) return null;
    const storages: (Storage | null)[] = slots.map(() => null);
    for (const [s, length] of lengths) {
      if (slots[s]!.given || slots[s]!.fresh)
        storages[s] = this.device.allocate(slots[s]!.dtype as DType, length, "benchmark");
    }
    return storages;
  }

  /** The milliseconds of a run on the GPU: all are recorded before the first is submitted. */
  private async time({ prepared }: Way, storages: readonly (Storage | null)[], runs: number): Promise<number> {
    const { device } = this;
    await device.synchronize();
    // Not `device.execute`, which tells those who look on while programs run.
    for (let n = 0; n < runs; n++) WebGpuDevice.prototype.execute.call(device, prepared, storages, null);
    const begin = performance.now();
    await device.queue.submitted();
    await device.gpu.queue.onSubmittedWorkDone();
    return (performance.now() - begin) / runs;
  }
}

function ruleOf(op: string, facts: Readonly<Numbers>, numbers: Readonly<Numbers>): Schedule {
  const when = (known: Numbers): number => Number(TILE_FACTS.every((name) => known[name] === facts[name]));
  return { kernel: op, when, strategy: EXACT, numbers: { ...numbers } };
}

const tileFacts = (facts: Readonly<Numbers>): Numbers =>
  Object.fromEntries(TILE_FACTS.map((name) => [name, facts[name]!]));
const keyOf = (op: string, facts: Readonly<Numbers>): string => JSON.stringify([op, tileFacts(facts)]);
const textsOf = ({ launches }: GpuPrepared): string =>
  JSON.stringify(launches.map(({ kernel, groups }) => [kernel.code, groups]));
