// Programs of a seed without PyTorch: recorded ones with other numbers, without some steps, and with what one makes in
// the place of another's tensors.  Both devices run them, each answer against the other: node vary.mjs FILE SEED COUNT.
// FILE holds a program a line.  Prints {"programs": n, "answers": n, "found": [...]} as JSON.
import { readFileSync } from "node:fs";
import { Player, numbers } from "./player.mjs";

/** A sequence of numbers from 0 up to 1 that a seed decides (mulberry32). */
function randomOf(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const shift = (v, by) =>
  v === null || typeof v !== "object"
    ? v
    : Array.isArray(v)
      ? v.map((x) => shift(x, by))
      : "t" in v
        ? { ...v, t: v.t + by }
        : Object.fromEntries(Object.entries(v).map(([k, x]) => [k, k === "w" ? x : shift(x, by)]));

/**
 * Other numbers of the same kind: quarters stay quarters, and what was positive, perhaps a variance, stays positive.
 */
function redrawn(w, random) {
  if (w.dtype !== "float32") return w;
  const old = numbers(w),
    positive = old.every((v) => v > 0);
  const data = Float32Array.from(old, (v) =>
    Number.isFinite(v) ? (positive ? (1 + Math.floor(random() * 8)) / 4 : Math.floor(random() * 25 - 12) / 4) : v,
  );
  return { ...w, b64: Buffer.from(data.buffer).toString("base64") };
}

/** Two programs one after the other, varied; a tensor of the second is now and then one that the first made. */
function crossed(first, second, random) {
  const steps = first.steps.filter((s) => s.f === "const" || random() > 0.08),
    by = 10000,
    like = new Map();
  for (const s of steps)
    (s.w ?? []).forEach?.((w, j) => {
      if (w?.shape && s.o?.t >= 0 && j === 0) like.set(`${w.dtype} ${w.shape}`, s.o.t);
    });
  for (const s of second.steps) {
    const other = s.f === "const" && random() < 0.5 ? like.get(`${s.w.dtype} ${s.w.shape}`) : undefined;
    if (other !== undefined)
      steps.push({ f: "torch.Tensor.view_as", a: [{ t: other }, { t: other }], o: { t: s.o + by } });
    else if (s.f === "const") steps.push({ ...s, o: s.o + by });
    else if (random() > 0.08) steps.push({ ...s, a: shift(s.a, by), k: shift(s.k, by), o: shift(s.o, by) });
  }
  return steps.map((s) => (s.f === "const" ? { ...s, w: redrawn(s.w, random) } : s));
}

/**
 * What a step gives: an error, of the call or (`late`) of the reading, when a GPU tells it; or what can be seen of each
 * tensor.
 */
async function seen(player, step, torch) {
  const out = [];
  let late = false;
  try {
    const { found, out: answer } = await player.run(step);
    late = true;
    if (step.err) await answer?.data?.(); // names no result, and a GPU tells of an error with one
    if (step.f.endsWith("_")) found.push([step.a[0]?.t, player.decode(step.a[0])]); // what was changed in place
    for (const [n, x] of found) {
      if (!(x instanceof torch.Tensor)) continue;
      out.push({
        n,
        shape: x.shape.join(),
        dtype: x.dtype,
        rg: x.requires_grad,
        data: Array.from(await x.data(), Number),
      });
    }
  } catch (error) {
    return Object.assign(error, { late });
  }
  return out;
}

/**
 * What is different of two tensors, or "". Numbers far from each other on the scale of the whole tensor; what rounding
 * decides is not asked.
 */
function unlike(a, b) {
  if (a.shape !== b.shape || a.dtype !== b.dtype || a.rg !== b.rg)
    return `${a.dtype} [${a.shape}] ${a.rg} on the CPU, ${b.dtype} [${b.shape}] ${b.rg} on the GPU`;
  const scale = Math.max(1, ...a.data.filter(Number.isFinite).map(Math.abs));
  const i = a.data.findIndex(
    (v, at) => Number.isFinite(v) && Number.isFinite(b.data[at]) && Math.abs(v - b.data[at]) > 1e-2 * scale,
  );
  return i < 0 ? "" : `${a.data[i]} on the CPU, ${b.data[i]} on the GPU, at ${i}`;
}

/** Whether an answer jumps where rounding decides: the next steps of either device do not follow from the same. */
const settled = (list) => list.every(({ data }) => data.every((v) => Number.isFinite(v) && Math.abs(v) < 1e4));

const tensors = (v) =>
  v === null || typeof v !== "object" ? [] : "t" in v ? [v.t] : Object.values(v).flatMap(tensors);

/** Whether x[i] is read where a tensor without axes holds i: a view on the CPU, a copy on a GPU (docs/porting.md). */
const readsAtTensor = ({ f, a }, player) =>
  f.endsWith("__getitem__") &&
  tensors(a[1])
    .map((n) => player.tensors.get(n))
    .some((i) => i?.ndim === 0 && i.dtype.startsWith("int"));

const [file, seed, count] = process.argv.slice(2),
  torch = await import("../../dist/in-node/index.js");
if (!(await torch.initWebGPUAsync())) throw new Error("no WebGPU in Node");
console.warn = () => {};
const programs = readFileSync(file, "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line))
  .filter((p) => !JSON.stringify(p).includes("float64"));
const random = randomOf(+seed),
  any = () => programs[Math.floor(random() * programs.length)],
  total = { programs: 0, answers: 0, found: [] };
for (let n = 0; n < +count; n++) {
  const [first, second] = [any(), any()],
    players = ["cpu", "webgpu"].map((device) => new Player(torch, device));
  for (const step of crossed(first, second, random)) {
    if (readsAtTensor(step, players[0])) continue;
    const [a, b] = [await seen(players[0], step, torch), await seen(players[1], step, torch)];
    if (a instanceof Error || b instanceof Error) {
      if (a instanceof Error && b instanceof Error) {
        if (b.late) break; // the CPU has left its tensors as they were
        continue;
      }
      const error = a instanceof Error ? a : b;
      total.found.push({
        id: `${first.id} + ${second.id}, ${seed}`,
        f: step.f,
        kind: "error",
        got: `on one device only: ${error.message}`.slice(0, 200),
      });
      break;
    }
    const bad = a.map((x, j) => unlike(x, b[j])).find(Boolean);
    total.answers += a.length;
    if (bad) total.found.push({ id: `${first.id} + ${second.id}, ${seed}`, f: step.f, kind: "value", got: bad });
    if (bad || !settled(a)) break;
  }
  total.programs++;
}
console.log(JSON.stringify(total));
await torch.defaultDevice().synchronize();
process.exit(0);
