// Threads: workers that compute parts of a kernel, beside the program's own thread, in the linear memory that they share
// with it.  They begin once there was enough to do for them; what a kernel comes to does not depend on them.

import { DeviceError } from "../../base/errors.js";
import { advise } from "../slow-warnings.js";
import type { Block } from "./blocks.js";
import type { LinearMemory } from "./linear-memory.js";

/** Where the words of a job stand; CLAIM holds the job's number and, in its last bits, the next part. */
const JOB = 0,
  CLAIM = 1,
  DONE = 2,
  READY = 3,
  FAILED = 4,
  WORDS = 5;
const BITS = 12,
  CLOSED = (1 << BITS) - 1,
  JOBS = 1 << 18;

/**
 * Instructions, about, that are worth a part; that are worth workers; milliseconds that a part may take longer than all
 * of the program's own; how many kernels were computed in parts.
 * @internal
 */
export const sharing = { part: 1 << 18, worth: 1 << 28, patience: 10_000, kernels: 0 };
const MOST = 64;
/** How many times as long as the program's own parts another may take besides. */
const TIMES = 20;

/**
 * What a worker does: `b` is where the words stand, `t` its number.  Text, since bundlers would take a module of its own
 * apart or leave it out.  It claims nothing that it has not made ready for, and so holds nobody up when it ends.  Words
 * are without a sign: half of the memory lies beyond 2 GiB.
 */
const SCRIPT = `const work=(m,b,t)=>{
const s=new Int32Array(m.buffer,b,32),A=Atomics,made=[];
A.add(s,3,1);
for(;;){
const job=A.load(s,0),[parts,key,code,bytes,size,points,word,block,stride,limit]=Array.from({length:10},(_,i)=>A.load(s,5+i)>>>0);
if(job&&t<limit&&A.load(s,1)>>12===job){
const run=made[key]??=new WebAssembly.Instance(new WebAssembly.Module(new Uint8Array(m.buffer,code,bytes).slice()),{kernels:new Proxy({memory:m},{get:(o,k)=>o[k]??Math[k.split('_')[0]]})}).exports.run,at=block+stride*t,w=new Int32Array(m.buffer,at+word,4);
for(let c;(c=A.load(s,1))>>12===job&&(c&4095)<parts;){
if(A.compareExchange(s,1,c,c+1)!==c)continue;
const p=(c&4095)*size;
w[0]=p;w[2]=Math.min(p+size,points);
try{run(at)}catch{A.store(s,4,1)}
A.add(s,2,1);A.notify(s,2)}}
A.wait(s,0,job)}};
`;
const IN_PAGES = `${SCRIPT}onmessage=({data})=>work(...data)`,
  IN_NODE = `${SCRIPT}work(...process.getBuiltinModule("node:worker_threads").workerData)`;

interface NodeThreads {
  Worker: new (
    url: URL,
    options: object,
  ) => { unref(): void; terminate(): unknown; on(event: "error" | "exit", then: (error: unknown) => void): void };
}
interface Surroundings {
  process?: { getBuiltinModule?(name: string): unknown };
  crossOriginIsolated?: boolean;
}

const { process: node, crossOriginIsolated: isolated } = globalThis as Surroundings;
const builtin = <T>(name: string): T | undefined => node?.getBuiltinModule?.(name) as T | undefined;

/** How many there may be, where somebody said so; 1 where there can be no more. */
let said = 0,
  refused = false;

/** Whether memory can be shared, and there are workers. */
const available = (): boolean =>
  !refused &&
  typeof SharedArrayBuffer === "function" &&
  (isolated === true || builtin("node:worker_threads") !== undefined) &&
  typeof WebAssembly === "object";

/** As many as processors have cores, mostly: each core counts twice. */
function suitable(): number {
  const processors =
    builtin<{ availableParallelism?(): number }>("node:os")?.availableParallelism?.() ??
    globalThis.navigator?.hardwareConcurrency ??
    1;
  return Math.min(Math.ceil(processors / 2), 8);
}

/** How many threads kernels of the CPU may have. */
export const threads = (): number => (available() ? (said ||= suitable()) : 1);

export function setThreads(count: number): void {
  said = Math.min(count, MOST);
  if (count > 1 && !available()) refuse("there is no memory that threads share, for which pages must be isolated");
}

function refuse(why: string): void {
  refused = true;
  advise("threads", `the CPU computes on one thread: ${why}`);
}

/** A kernel as workers make it: the place and the length of its bytes, and a number for it. */
export interface SharedCode {
  readonly key: number;
  readonly at: number;
  readonly bytes: number;
}

/** A kernel that parts are to be computed of: `points` of them, in multiples of `grain`; see wasm/kernel_plan. */
export interface Shareable {
  readonly begin: number;
  readonly points: number;
  readonly grain: number;
  readonly work: number;
  readonly shares: number;
  readonly scratch: number;
}

let pool: Threads | null = null,
  work = 0,
  codes = 0;

/** In how many parts a kernel is to be computed now; 1: as a whole. */
export function partsOf({ begin, points, grain, work: own, shares }: Shareable, memory: LinearMemory): number {
  if (begin < 0 || own < 2 * sharing.part || threads() === 1) return 1;
  if (!pool) {
    if ((work += own) < sharing.worth) return 1;
    if (memory.share()) pool = new Threads(memory);
    else refuse("the engine has no memory to share");
    return 1;
  }
  if (!pool.ready(threads())) return 1;
  const size = sizeOf(points, grain, Math.min(shares * threads(), Math.floor(own / sharing.part)));
  return Math.ceil(points / size);
}

const sizeOf = (points: number, grain: number, parts: number): number =>
  Math.ceil(points / Math.max(parts, 1) / grain) * grain;

/** Whether workers have a function of this name, too. */
export const isEverywhere = (name: string, f: unknown): boolean =>
  f === (Math as unknown as Record<string, unknown>)[name.split("_")[0]!];

/** Puts the bytes of a kernel where workers see them; null where there is no room. */
export function sharedCode(memory: LinearMemory, code: Uint8Array): SharedCode | null {
  const block = memory.take(code.length, true);
  if (!block) return null;
  const at = memory.address(block);
  new Uint8Array(memory.memory.buffer, at, code.length).set(code);
  return { key: codes++, at, bytes: code.length };
}

/**
 * Computes a kernel in parts.  `words`: what each thread is told, which differs in its scratch, the word `scratch`
 * or none (-1), and in the points.  False where it is to be computed as a whole: there is no room, or a thread ended amid
 * its part and `again` says that it may be computed once more.
 */
export function inParts(
  memory: LinearMemory,
  code: SharedCode,
  run: (block: number) => number,
  words: Int32Array,
  launch: Shareable,
  parts: number,
  first: number,
  scratch: number,
  again: () => boolean,
): boolean {
  return pool!.run(memory, code, run, words, launch, parts, first, scratch, again);
}

class Threads {
  private readonly state: Int32Array;
  private readonly at: number;
  /** Whether this thread may stand still; in pages it looks again and again. */
  private readonly rests: boolean;
  private readonly ends: (() => void)[] = [];
  private parameters: Block | null = null;

  constructor(private readonly memory: LinearMemory) {
    this.at = memory.address(memory.take(128, true)!);
    this.state = new Int32Array(memory.memory.buffer, this.at, 32).fill(0);
    let rests = true;
    try {
      Atomics.wait(this.state, DONE, 1, 0);
    } catch {
      rests = false;
    }
    this.rests = rests;
  }

  /** Whether any worker is there; makes those that lack. */
  ready(count: number): boolean {
    while (this.ends.length + 1 < count && !refused) this.begin(this.ends.length + 1);
    return !refused && Atomics.load(this.state, READY) > 0;
  }

  private begin(number: number): void {
    const given = [this.memory.memory, this.at, number],
      ended = (): void => this.stop("a worker was refused or ended");
    try {
      const worker = builtin<NodeThreads>("node:worker_threads");
      if (worker) {
        const made = new worker.Worker(new URL(`data:text/javascript,${encodeURIComponent(IN_NODE)}`), {
          workerData: given,
        });
        made.unref();
        made.on("error", ended);
        made.on("exit", ended);
        this.ends.push(() => void made.terminate());
        return;
      }
      const url = URL.createObjectURL(new Blob([IN_PAGES], { type: "text/javascript" })),
        made = new Worker(url, { type: "module" });
      made.onerror = ended;
      made.postMessage(given);
      this.ends.push(() => made.terminate());
    } catch {
      ended();
    }
  }

  private stop(why: string): void {
    if (refused) return;
    refuse(why);
    for (const end of this.ends.splice(0)) end();
  }

  run(
    memory: LinearMemory,
    { key, at: code, bytes }: SharedCode,
    run: (block: number) => number,
    words: Int32Array,
    { begin, points, grain, scratch }: Shareable,
    parts: number,
    first: number,
    place: number,
    again: () => boolean,
  ): boolean {
    const { state } = this,
      threads = Math.min(this.ends.length + 1, said, parts),
      stride = (words.byteLength + 63) & ~63,
      own = (scratch + 63) & ~63,
      room = place < 0 ? null : memory.take(own * threads, true);
    if (place >= 0 && !room) return false;
    if ((this.parameters?.size ?? 0) * 16 < stride * threads) {
      if (this.parameters) memory.give(this.parameters);
      this.parameters = memory.take(stride * threads, true);
    }
    if (!this.parameters) {
      if (room) memory.give(room);
      return false;
    }
    const block = memory.address(this.parameters),
      size = sizeOf(points, grain, parts),
      word = 4 * (first + 2 * begin);
    for (let t = 0; t < threads; t++) {
      if (room) words[place] = memory.address(room) + own * t;
      new Int32Array(memory.memory.buffer, block + stride * t, words.length).set(words);
    }
    // Nobody claims a part of another job: this one's number comes last.
    const job = (state[JOB]! % JOBS) + 1;
    Atomics.store(state, CLAIM, (job << BITS) | CLOSED);
    [parts, key, code, bytes, size, points, word, block, stride, threads].forEach((value, i) =>
      Atomics.store(state, WORDS + i, value),
    );
    Atomics.store(state, DONE, 0);
    Atomics.store(state, CLAIM, job << BITS);
    Atomics.store(state, JOB, job);
    Atomics.notify(state, JOB);
    const started = performance.now(),
      part = new Int32Array(memory.memory.buffer, block + word, 4);
    for (let claim = 0; ((claim = Atomics.add(state, CLAIM, 1)) & CLOSED) < parts; ) {
      part[0] = (claim & CLOSED) * size;
      part[2] = Math.min(part[0]! + size, points);
      run(block);
      Atomics.add(state, DONE, 1);
    }
    const now = performance.now(),
      last = now + sharing.patience + TIMES * (now - started);
    for (let done = 0; (done = Atomics.load(state, DONE)) < parts; ) {
      if (this.rests) Atomics.wait(state, DONE, done, sharing.patience);
      if (performance.now() > last) {
        Atomics.store(state, FAILED, 1);
        break; // one that is only slow may still write: its scratch is given to nobody
      }
    }
    if (Atomics.load(state, FAILED)) {
      this.stop("one of several ended amid its part");
      if (again()) return false;
      throw new DeviceError("a thread of the CPU ended amid its part of a kernel in place, whose result is lost");
    }
    if (room) memory.give(room);
    sharing.kernels++;
    return true;
  }
}
