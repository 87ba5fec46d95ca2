// Replays modules and optimizers, whose gradients and steps are recorded.
import { arrayOf, decode, decodeKwargs } from "./corpus.mjs";
import { compareTensor, toleranceOf } from "./compare.mjs";
import { Mismatch, builder, leavesOf, thrown, within } from "./outcomes.mjs";
import { gradThrown, judgeGradients } from "./run.mjs";

export async function runModule(A, caps, name, s, arrays, { device, timeout, withGrad, onForward }) {
  const tolOf = (d) => toleranceOf(`nn.${name}`, d, device);
  const stage = async (requiresGrad) => {
    const b = builder(A, caps, s, arrays, { requiresGrad });
    const cargs = s.ctor_args.map((x) => decode(x, b.c)),
      ckw = decodeKwargs(s.ctor_kwargs, b.c);
    let m = await A.module(name, cargs, ckw);
    const state = {};
    for (const [k, v] of Object.entries(s.state)) {
      const [data, dtype] = b.typed(arrayOf(arrays, v.data, v.dtype), v.dtype);
      state[k] = A.make(data, { shape: v.shape, dtype });
    }
    m = await A.prepare(m, state, s.training);
    const result = await A.forward(
      m,
      s.args.map((x) => decode(x, b.c)),
      decodeKwargs(s.kwargs, b.c),
    );
    const leaves = [];
    await leavesOf(A, s.output, result, leaves, tolOf("float32"));
    return { m, leaves, b };
  };
  const forward = await within(timeout, async () => {
    const { m, leaves, b } = await stage(false);
    for (const [j, o] of s.outputs.entries()) {
      const r = compareTensor(
        { ...o, data: o.data ? arrayOf(arrays, o.data, o.dtype) : null },
        await A.read(leaves[j]),
        tolOf(o.dtype),
      );
      if (!r.ok) return { ...r, detail: s.outputs.length > 1 ? `output ${j}: ${r.detail}` : r.detail };
    }
    if (s.state_after) {
      const now = new Map(await A.state(m));
      for (const [k, key] of Object.entries(s.state_after)) {
        const meta = s.state[k];
        if (!now.has(k)) return { ok: false, reason: "state", detail: `no ${k} in state_dict()` };
        const r = compareTensor(
          { ...meta, data: arrayOf(arrays, key, meta.dtype) },
          await A.read(now.get(k)),
          tolOf(meta.dtype),
        );
        if (!r.ok) return { ok: false, reason: "state", detail: `${k} after the call: ${r.detail}` };
      }
    }
    return { ok: true, notes: [...b.notes] };
  }).catch((e) => (e instanceof Mismatch ? { ok: false, reason: e.reason, detail: e.message } : thrown(e)));
  if (s.random) forward.shapeOnly = true;
  onForward?.(forward);
  if (!withGrad || !s.grad) return { forward };
  if (forward.reason === "not implemented")
    return { forward, grad: { ok: false, reason: "forward not implemented", detail: forward.detail } };
  const grad = await within(timeout, async () => {
    const { m, leaves, b } = await stage(true);
    const js = Object.keys(s.grad.cotangents)
        .map(Number)
        .sort((a, c) => a - c),
      is = Object.keys(s.grad.inputs).map(Number);
    const params = new Map(await A.parameters(m)),
      names = Object.keys(s.grad.params);
    for (const n of names)
      if (!params.has(n))
        return { ok: false, reason: "gradient missing", detail: `no parameter ${n} in named_parameters()` };
    const cots = js.map((j) =>
      A.make(arrayOf(arrays, s.grad.cotangents[j], s.outputs[j].dtype), {
        shape: s.outputs[j].shape,
        dtype: s.outputs[j].dtype,
      }),
    );
    const gs = Array.from(
      (await A.grad(
        js.map((j) => leaves[j]),
        [...is.map(b.tensor), ...names.map((n) => params.get(n))],
        cots,
      )) ?? [],
    );
    const want = (label, dtype, shape, key) => ({
      label,
      dtype,
      shape,
      data: key === null ? null : arrayOf(arrays, key, dtype),
    });
    return judgeGradients(
      A,
      gs,
      [
        ...is.map((i) => want(`input ${i}`, s.tensors[i].dtype, s.tensors[i].shape, s.grad.inputs[i])),
        ...names.map((n) => want(n, s.state[n]?.dtype ?? "float32", s.state[n].shape, s.grad.params[n])),
      ],
      tolOf,
      b.notes,
    );
  }).catch((e) => (e instanceof Mismatch ? { ok: false, reason: "forward wrong", detail: e.message } : gradThrown(e)));
  return { forward, grad };
}

/** a trajectory whose start equals its end although gradients were applied says nothing about an optimizer */
export function voidTrajectory(s, arrays) {
  const last = s.steps[s.steps.length - 1];
  return s.params0.every((p, i) => {
    const a = arrays.get(p.data).data,
      b = arrays.get(last.params[i]).data;
    return a.every((v, j) => v === b[j]);
  });
}

export async function runOptim(A, caps, name, s, arrays, { device, timeout }) {
  const tol = toleranceOf(`optim.${name}`, "float32", device);
  const forward = await within(timeout, async () => {
    const b = builder(A, caps, s, arrays, { requiresGrad: false });
    const f32 = (key, shape, requiresGrad = false) =>
      A.make(arrayOf(arrays, key, "float32").slice(), { shape, dtype: "float32", requiresGrad });
    const params = s.params0.map((p) => A.parameter(f32(p.data, p.shape, true)));
    const opt = await A.optimizer(name, params, decodeKwargs(s.kwargs, b.c));
    const targets = s.targets?.map((t, i) => f32(t, s.params0[i].shape));
    const closure = () => {
      A.zeroGrad(opt);
      const l = A.closureLoss(params, targets);
      A.backward(l);
      return l;
    };
    for (const [n, st] of s.steps.entries()) {
      if (st.grads) {
        for (const [i, g] of st.grads.entries()) await A.setGrad(params[i], f32(g, s.params0[i].shape), params);
        await opt.step();
      } else await opt.step(closure);
      for (const [i, key] of st.params.entries()) {
        const r = compareTensor(
          { dtype: "float32", shape: s.params0[i].shape, data: arrayOf(arrays, key, "float32") },
          await A.read(params[i]),
          tol,
        );
        if (!r.ok) return { ...r, detail: `step ${n + 1}, parameter ${i}: ${r.detail}` };
      }
    }
    return { ok: true };
  }).catch((e) => thrown(e));
  return { forward };
}
