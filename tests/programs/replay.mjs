// Replays recorded programs and compares every step with PyTorch's answer: node replay.mjs FILE cpu|webgpu [FIRST
// COUNT].  FILE holds a program a line.  Prints {"programs": n, "answers": n, "found": [...]} as JSON.
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { difference, liesOtherwise } from "./compare.mjs";
import { Player } from "./player.mjs";

const ids = (v) => (v === null || typeof v !== "object" ? [] : "t" in v ? [v.t] : Object.values(v).flatMap(ids));
const writes = (f) => /[^_]_$|__setitem__$|backward$/.test(f);

/**
 * Runs every step, also after a difference; what follows from one is not compared in that respect.
 * `wrong`: tensors with other values; `loose`: tracked otherwise by autograd; `laid`: laid out otherwise in memory.
 */
export async function replay(torch, device, program) {
  const player = new Player(torch, device),
    found = [],
    wrong = new Set(),
    loose = new Set(),
    laid = new Set(),
    last = new Map();
  const content = (n) => player.tensors.get(n).data().then(String, String);
  let answers = 0,
    lost = false; // lost: gradients of leaves are not what they are in PyTorch
  for (const [index, step] of program.steps.entries()) {
    const used = [...ids(step.a ?? null), ...ids(step.k ?? null)],
      made = ids(step.o ?? null),
      any = (set) => used.some((n) => set.has(n));
    const report = (kind, more) => found.push({ id: program.id, index, f: step.f, kind, ...more }),
      spoil = () => made.forEach((n) => wrong.add(n));
    if (step.f === "const") {
      await player.run(step);
      last.set(step.o, step.w);
      continue;
    }
    if (used.some((n) => !player.tensors.has(n)) || (lost && step.f.endsWith("grad.__get__"))) {
      spoil();
      continue;
    }
    const gradient = /autograd\.grad$|grad\.__get__$/.test(step.f),
      dirty = any(wrong) || (any(loose) && /(backward|autograd\.grad)$/.test(step.f));
    const kept = step.f.endsWith("_") && !step.err ? [] : await Promise.all((step.spoils ?? []).map(content));
    const excused =
      (any(loose) && /(backward|autograd\.grad|retain_grad|_)$/.test(step.f)) ||
      (any(laid) && /\.(view|as_strided|reshape|view_as|flatten|ravel|contiguous|unflatten|\w+_)$/.test(step.f));
    let result,
      error = null,
      late = false;
    try {
      result = await player.run(step);
      late = true; // a GPU tells of elements when they are read
      if (step.err && device === "webgpu") await result.out?.data?.();
    } catch (e) {
      error = e;
    }
    for (const [i, n] of (step.spoils ?? []).entries()) {
      if (device === "cpu" && i in kept && kept[i] !== (await content(n))) report("changed", { got: `tensor ${n}` });
      wrong.add(n);
    }
    lost ||= step.half;
    if (step.unseen) loose.add(used[0]);
    if (step.err) {
      answers++;
      if (!error && !dirty && !excused) report("no error", { want: step.err.join(": ") });
      if (late && writes(step.f)) break; // changed here and not there
      continue;
    }
    if (error) {
      if (!dirty && !excused) report("error", { got: `${error.name}: ${error.message}`.slice(0, 300) });
      spoil();
      lost ||= /backward$|autograd\.grad$/.test(step.f);
      if (writes(step.f)) break;
      continue;
    }
    lost ||= dirty && /backward$|autograd\.grad$/.test(step.f);
    for (let [j, [n, tensor]] of result.found.entries()) {
      let want = step.w[j];
      const origin = used.find((m) => m !== n && player.tensors.get(m) === tensor);
      if (want && origin !== undefined && step.f !== "check" && last.get(origin)?.dtype !== want.dtype)
        player.tensors.set(n, (tensor = tensor.clone()));
      if (want === null && !(tensor instanceof torch.Tensor)) continue;
      if (any(loose)) loose.add(n);
      if (any(laid)) laid.add(n);
      if (dirty || (wrong.has(n) && step.spoils) || (any(laid) && step.f.endsWith("as_strided"))) {
        wrong.add(n);
        continue;
      }
      answers++;
      if (want === null) {
        report("a tensor", { want: "None" });
        continue;
      }
      want = want.as ? { ...last.get(n), rg: want.rg } : want;
      last.set(n, want);
      const bad = await difference(tensor, want, torch, gradient).catch((e) => ({ kind: "error", got: e.message }));
      if (bad) {
        report(bad.kind, bad);
        wrong.add(n);
        continue;
      }
      if (typeof want.rg === "boolean" && step.f !== "check" && !any(loose) && tensor.requires_grad !== want.rg) {
        report("requires_grad", { got: tensor.requires_grad, want: want.rg });
        loose.add(n);
      }
      if (
        typeof step.leaf?.[j] === "boolean" &&
        step.f !== "check" &&
        !loose.has(n) &&
        tensor.is_leaf !== step.leaf[j]
      ) {
        report("is_leaf", { got: tensor.is_leaf, want: step.leaf[j] });
        loose.add(n);
      }
      const strides = step.v?.[j]?.[0];
      if (strides && !laid.has(n) && liesOtherwise(tensor, strides)) {
        laid.add(n);
        if (step.view) report("stride", { got: tensor.stride(), want: strides });
      }
    }
  }
  return { answers, found };
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [file, device, first = 0, count = Infinity] = process.argv.slice(2),
    torch = await import("../../dist/in-node/index.js");
  if (device === "webgpu" && !(await torch.initWebGPUAsync())) throw new Error("no WebGPU in Node");
  console.warn = () => {};
  const total = { programs: 0, answers: 0, found: [] };
  let n = -1;
  for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
    if (++n < +first || n >= +first + +count) continue;
    const { answers, found } = await replay(torch, device, JSON.parse(line));
    total.programs++;
    total.answers += answers;
    total.found.push(...found);
  }
  console.log(JSON.stringify(total));
  if (device === "webgpu") await torch.defaultDevice().synchronize(); // Dawn may crash on its way out while it works
  process.exit(0);
}
