// Recorded programs as functions of their constants, compiled: replays give what the program gives as it is, and leave
// its arguments so, also where these are others in one respect (ways.mjs).  node compiled.mjs FILE cpu|webgpu [FIRST
// COUNT].  FILE holds a program a line; what PyTorch answered is not asked.  Prints {"programs": n, "replays": n, "refused": {why: n}, "found": [...]} as JSON.
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { Player } from "./player.mjs";
import { ways } from "./ways.mjs";

const TIMES = 2; // each way is called: a call is recorded, and the next one like it
const RESULTS = 4, // whose gradients are asked for
  GONE = "gone";
/** What reads values, so that nothing is captured, where the index is a tensor; and what changes how arguments lie. */
const READS = /__[gs]etitem__$|masked_select|nonzero|unique|bincount|repeat_interleave|one_hot|equal$|allclose/,
  TURNS = /\.(detach_|t_|transpose_|squeeze_|unsqueeze_|swapaxes_|swapdims_|movedim_|retain_grad)$/;

/** Plays steps over tensors that are given for the constants; what waits is refused. */
class Given extends Player {
  constructor(torch, device, constants) {
    super(torch, device);
    this.constants = constants[Symbol.iterator]();
  }
  constant() {
    return this.constants.next().value;
  }
  play(step) {
    const out = step.ng ? this.torch.no_grad(() => this.call(step)) : this.call(step);
    if (out instanceof Promise) {
      out.catch(() => {});
      throw new Error("is waited for");
    }
    if (step.f === "const") this.tensors.set(step.o, out);
    else this.bind(step.o, out, []);
    return out;
  }
}

function tensorsOf(torch, value) {
  if (value instanceof torch.Tensor) return [value];
  return Object(value)[Symbol.iterator] && typeof value !== "string"
    ? [...value].flatMap((x) => tensorsOf(torch, x))
    : [];
}

/** Type, shape, whether it requires a gradient, and the elements. */
async function seen(x) {
  if (!x) return ["nothing"];
  if (x === GONE) return [GONE];
  return [`${x.dtype} [${x.shape}] ${x.requires_grad}`, Array.from(await x.detach().data(), Number)];
}

function near([a, x = []], [b, y = []]) {
  if (b === GONE) return true; // as it is, the function went that way back itself
  if (a !== b || x.length !== y.length) return false;
  return x.every((v, i) => Object.is(v, y[i]) || v === y[i] || Math.abs(v - y[i]) <= 1e-4 * (1 + Math.abs(y[i])));
}

/** A program's steps that run, as a function of its constants, whose numbers in `copied` it works on copies of. */
function functionOf(torch, device, steps, copied) {
  return (...constants) => {
    const own = constants.map((x, i) => (copied.has(i) ? x.clone() : x)),
      player = new Given(torch, device, own),
      made = new Set(steps.flatMap((step) => tensorsOf(torch, player.play(step))));
    return [...made].filter((x) => !own.includes(x) && !(x.is_leaf && x.requires_grad)).map((x) => x.clone());
  };
}

/** Of some steps, those that run without the others. */
function runnable(torch, device, steps, constants) {
  const player = new Given(torch, device, constants);
  return steps.filter((step) => {
    try {
      player.play(step);
      return true;
    } catch {
      return false;
    }
  });
}

/** What can be captured of a program, as a function; text says why nothing can. */
async function capturable(torch, device, program, constants) {
  const copied = new Set();
  let steps = program.steps.filter(({ f, err }) => !err && f !== "check" && !TURNS.test(f));
  steps = runnable(torch, device, steps, constants());
  for (;;) {
    const f = functionOf(torch, device, steps, copied),
      compiled = torch.compile(f, { fullgraph: true });
    try {
      for (let n = 0; n < 2; n++) await compiled(...constants());
      return f;
    } catch ({ message }) {
      const changed = /tensor (\d+) of the arguments is changed in place/.exec(message)?.[1],
        rest = steps.filter(({ f, a }) => !READS.test(f) || (/__$/.test(f) && !JSON.stringify(a[1]).includes('"t"')));
      if (changed !== undefined && !copied.has(+changed)) copied.add(+changed);
      else if (/a value is read/.test(message) && rest.length < steps.length)
        steps = runnable(torch, device, rest, constants());
      else return message.replace(/ at .*/s, "");
    } finally {
      torch.compiler.reset();
    }
  }
}

/** Leaves NaN in memory that is given out next, so that what is read before it is written shows. */
function spoilMemory(torch, device) {
  const sizes = [1, 4, 16, 64, 256].flatMap((n) => Array(6).fill(n));
  for (const x of sizes.map((n) => torch.full([n], NaN, { device }))) x.dispose();
}

/** The gradients of each result by itself, at the arguments: of the last ones, as what is asked later stands on more. */
function slopes(torch, results, given) {
  const leaves = given.filter((x) => x.requires_grad);
  return results
    .filter((x) => x.requires_grad && x.is_floating_point() && x.numel())
    .slice(-RESULTS)
    .flatMap((x) => {
      const grad_outputs = [torch.full(x.shape, 0.5, { device: x.device, dtype: x.dtype })];
      try {
        return torch.autograd.grad([x], leaves, { grad_outputs, retain_graph: true, allow_unused: true });
      } catch {
        return leaves.map(() => GONE);
      }
    });
}

/** What a call answers and leaves of its arguments, or how it is refused. */
async function answered(torch, f, { arguments: made, call }) {
  const given = made();
  try {
    const results = await call(f, given),
      all = [...results, ...given, ...slopes(torch, results, given)];
    return await Promise.all([...all, ...given.map((x) => x.grad)].map(seen));
  } catch ({ name, message }) {
    return `${name}: ${message}`;
  }
}

/** Where two answers differ; null: nowhere.  A refusal may name what the function is made of. */
function difference(got, wanted) {
  if (typeof got === "string" || typeof wanted === "string")
    return typeof got === typeof wanted ? null : { got: `${got}`.slice(0, 200), want: `${wanted}`.slice(0, 200) };
  const at = got.length === wanted.length ? got.findIndex((x, i) => !near(x, wanted[i])) : got.length;
  return at < 0 ? null : { at, got: got[at], want: wanted[at] };
}

/** Compares calls of a program, compiled, with what it is; the first difference of each call is found. */
export async function compare(torch, device, program, found) {
  const maker = new Player(torch, device),
    constants = () => program.steps.filter(({ f }) => f === "const").map(({ w }) => maker.constant(w)),
    f = await capturable(torch, device, program, constants);
  if (typeof f === "string") return f;
  const compiled = torch.compile(f, { fullgraph: true });
  // Each way twice, and then all once more, by when a program may stand for any of them.
  const all = [...ways(torch, constants)],
    calls = [...all.flatMap((way) => Array(TIMES).fill(way)), ...all];
  for (const [n, way] of calls.entries()) {
    const wanted = await answered(torch, f, way);
    spoilMemory(torch, device);
    const got = await answered(torch, compiled, way);
    if (/cannot be captured/.test(got)) continue; // with these arguments it is refused, which is no wrong answer
    const other = difference(got, wanted);
    if (other) found.push({ id: program.id, way: way.name, call: n, ...other });
  }
  const { replays } = torch.compiler.counts(compiled);
  torch.compiler.reset();
  return replays;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [file, device, first = 0, count = Infinity] = process.argv.slice(2),
    torch = await import("../../dist/in-node/index.js");
  if (device === "webgpu" && !(await torch.initWebGPUAsync())) throw new Error("no WebGPU in Node");
  console.warn = () => {};
  const total = { programs: 0, replays: 0, refused: {}, found: [] };
  let n = -1;
  for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
    if (++n < +first || n >= +first + +count) continue;
    const answer = await compare(torch, device, JSON.parse(line), total.found);
    total.programs++;
    if (typeof answer === "string") total.refused[answer] = (total.refused[answer] ?? 0) + 1;
    else total.replays += answer;
  }
  console.log(JSON.stringify(total));
  if (device === "webgpu") await torch.defaultDevice().synchronize(); // Dawn may crash on its way out while it works
  process.exit(0);
}
