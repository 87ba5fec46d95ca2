// Measures whole models, as they are and compiled: node bench/programs.mjs [cpu|webgpu] [--only=REGEX] [--skip=REGEX]
// [--mode=eager|compiled] [--budget=MS].  One JSON line each: {lib, backend, workload, first_ms, median_ms (waiting after each
// call), pipelined_ms (waiting at the end), host_ms (until the call returns), launches}.  `lib` is tensorloom or
// tensorloom-compiled; ready_ms: how long it takes until calls are replayed.  Decoders say besides how many tokens a second
// that is, pipelined, and what their weights and caches take.  --profile: where the time goes, after each.  --benchmark:
// with the tiles of products that are the fastest on this device, which are looked for first.
import * as torch from "../dist/in-node/index.js";
import * as llama from "./llama.mjs";
import { measure } from "./measure.mjs";
import { programs } from "./models.mjs";

const words = process.argv.slice(2);
const option = (name) => words.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3);
const device = words.find((word) => !word.startsWith("--")) ?? "webgpu";
if (device === "webgpu" && !(await torch.initWebGPUAsync())) throw new Error("no WebGPU here");
const only = new RegExp(option("only") ?? "."),
  skip = new RegExp(option("skip") ?? "^$"),
  modes = option("mode")?.split(",") ?? ["eager", "compiled"];
const budget = Number(option("budget") ?? 1500);
torch.backends.tensorloom.benchmark = words.includes("--benchmark");
const synchronize = async () => {
  if (device === "webgpu") await torch.defaultDevice().synchronize();
};

/** What is timed: a call that gives up its results. */
function runOf({ f, inputs }, compiled) {
  const g = compiled ? torch.compile(f, { fullgraph: true }) : f;
  const run = () => {
    const result = compiled || f.constructor.name === "AsyncFunction" ? g(...inputs) : torch.tidy(() => g(...inputs));
    if (result instanceof Promise) return result;
    result.dispose();
  };
  return { run, replays: () => (compiled ? torch.compiler.counts(g).replays : 1) };
}

/** The launches of one call. */
async function launches(run) {
  if (device !== "webgpu") return undefined;
  const { queue } = torch.defaultDevice(),
    { dispatch } = queue;
  let count = 0;
  queue.dispatch = (...args) => {
    count++;
    return dispatch.apply(queue, args);
  };
  await run();
  queue.dispatch = dispatch;
  await synchronize();
  return count;
}

/** Looks for the fastest tiles of all products of a program. */
async function tuned(made, compiled) {
  const { run } = runOf(made, compiled);
  for (let n = 0; n < 4; n++) {
    await run();
    await torch.backends.tensorloom.benchmark_finished();
  }
  torch.compiler.reset();
}

async function measured(made, compiled, line) {
  if (torch.backends.tensorloom.benchmark) await tuned(made, compiled);
  const { run, replays } = runOf(made, compiled),
    began = performance.now();
  for (let n = 0; n < 6 && (n < 1 || replays() < 2); n++) {
    await run();
    await synchronize();
    line.first_ms ??= performance.now() - began;
  }
  if (compiled) line.ready_ms = performance.now() - began;
  if (replays() < 1) throw new Error("it is not replayed");
  const { median_ms, pipelined_ms } = await measure(run, synchronize, { budget });
  Object.assign(line, { median_ms, pipelined_ms });
  const times = [];
  for (let n = 0; n < 9; n++) {
    const start = performance.now();
    const over = run();
    times.push(performance.now() - start);
    await over;
    await synchronize();
  }
  line.host_ms = times.sort((a, b) => a - b)[4];
  line.launches = await launches(run);
  return run;
}

async function profiled(run) {
  const profile = await torch.profiler.profile({}, async () => {
    await run();
    await synchronize();
  });
  console.log(profile.key_averages().table({ row_limit: 16 }).replace(/^/gm, "# "));
}

for (const [workload, make] of Object.entries({ ...programs(torch, device), ...llama.programs(torch, device) })) {
  if (!only.test(workload) || skip.test(workload)) continue;
  for (const mode of modes) {
    const compiled = mode === "compiled",
      line = { lib: compiled ? "tensorloom-compiled" : "tensorloom", backend: device, workload };
    let run = null;
    try {
      const made = await make();
      run = await measured(made, compiled, line);
      if (made.tokens) {
        line.tokens_per_s = Math.round((1000 * made.tokens) / line.pipelined_ms);
        Object.assign(line, { state_bytes: made.state_bytes, cache_bytes: made.cache_bytes });
      }
      for (const [name, value] of Object.entries(line))
        if (name.endsWith("_ms")) line[name] = Number(value.toPrecision(4));
    } catch (error) {
      line.error = String(error?.message ?? error).slice(0, 300);
    }
    console.log(JSON.stringify(line));
    if (run && words.includes("--profile")) await profiled(run);
    torch.compiler.reset();
  }
}
process.exit(0);
