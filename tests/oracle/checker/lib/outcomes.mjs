// How a replayed call ends: its inputs made, the call within its time, its results compared leaf by leaf.
import { arrayOf, decode, decodeKwargs, gather, isContiguous, numel } from "./corpus.mjs";
import { compareValues, dtypeName } from "./compare.mjs";
import { NotImplemented } from "./adapter_default.mjs";

export class TimeOut extends Error {}

export const within = (ms, f) =>
  new Promise((ok, no) => {
    const t = setTimeout(() => no(new TimeOut(`no answer in ${ms} ms`)), ms);
    Promise.resolve()
      .then(f)
      .then(
        (v) => {
          clearTimeout(t);
          ok(v);
        },
        (e) => {
          clearTimeout(t);
          no(e);
        },
      );
  });

export const NOT = /not (yet )?implemented|unimplemented|not (yet )?supported|unsupported (op|dtype|operation)/i;

export const oneLine = (e) =>
  String(e?.message ?? e)
    .replace(/\s+/g, " ")
    .slice(0, 240);

/** a failure to make the inputs is told apart from a failure of the op */
class Input extends Error {
  constructor(e) {
    super(`making the inputs: ${oneLine(e)}`);
  }
}

export const thrown = (e) =>
  e instanceof Input
    ? { ok: false, reason: "input not accepted", detail: oneLine(e) }
    : {
        ok: false,
        reason:
          e instanceof TimeOut
            ? "timeout"
            : e instanceof NotImplemented || NOT.test(oneLine(e))
              ? "not implemented"
              : "threw",
        detail: `${e?.name && e.name !== "Error" ? `${e.name}: ` : ""}${oneLine(e)}`,
      };

const making = (f) => {
  try {
    return f();
  } catch (e) {
    throw e instanceof NotImplemented ? e : new Input(e);
  }
};

// ------------------------------------------------------------------ building a call
export function builder(A, caps, sample, arrays, { requiresGrad }) {
  const notes = new Set(),
    made = [];
  const typed = (values, dtype) => {
    if (dtype === "int64" && !caps.int64) return [Int32Array.from(values, Number), "int32"];
    if (dtype === "float32" && values instanceof Float64Array) return [Float32Array.from(values), dtype];
    return [values, dtype];
  };
  const tensor = (i) => {
    if (made[i]) return made[i].t;
    const m = sample.tensors[i];
    const [storage, dtype] = typed(arrayOf(arrays, m.storage, m.dtype), m.dtype);
    const rg = requiresGrad && m.requires_grad;
    const wanted = gather(storage, numel(m.shape) === 0 ? { ...m, offset: 0 } : m);
    let t = null;
    if (!isContiguous(m, m.dtype === "complex64" ? storage.length / 2 : storage.length)) {
      t = A.strided(storage, { shape: m.shape, stride: m.stride, offset: m.offset, dtype, requiresGrad: rg });
      if (!t) notes.add(rg ? "strided input given as a contiguous leaf" : "strided input given as contiguous");
    }
    t ??= A.make(wanted.slice(), { shape: m.shape, dtype, requiresGrad: rg });
    made[i] = { t, values: wanted, meta: m };
    return t;
  };
  const c = {
    tensor,
    device: () => A.device,
    constant: (n) => A.constant(n),
    complex: (re, im) => A.complex(re, im),
    dtype: (n) => A.dtype(n === "int64" && !caps.int64 && A.torch?.int64 === undefined ? "int32" : n),
  };
  return { c, tensor, made, notes, typed };
}

const indexSpec = (spec, A, c) => {
  const one = (x) => (Array.isArray(x) ? A.indexList(x) : decode(x, c));
  return spec && typeof spec === "object" && !Array.isArray(spec) && "$tuple" in spec
    ? spec.$tuple.map(one)
    : [one(spec)];
};

/** the call: {result (awaited), via, made, notes} */
export async function perform(A, caps, op, sample, arrays, opts) {
  const b = builder(A, caps, sample, arrays, opts);
  const [args, kwargs] = making(() => [
    op === "__getitem__"
      ? [decode(sample.args[0], b.c), indexSpec(sample.args[1], A, b.c)]
      : sample.args.map((x) => (op === "to" && x === "cpu" ? A.device : decode(x, b.c))),
    decodeKwargs(sample.kwargs, b.c),
  ]);
  const f = A.find(op, opts.replay ?? sample.replay, args);
  if (!f) throw new NotImplemented(`no ${op}`);
  const result = await f.run(args, kwargs);
  return { result, via: f.via, made: b.made, notes: b.notes, tensor: b.tensor };
}

// ------------------------------------------------------------------ matching the tree of outputs
export class Mismatch extends Error {
  constructor(reason, detail) {
    super(detail);
    this.reason = reason;
  }
}

export async function leavesOf(A, tree, got, leaves, tolScalar) {
  const wrongKind = (want) => new Mismatch("structure", `${describe(A, got)} where ${want} is expected`);
  if (tree !== null && typeof tree === "object" && !Array.isArray(tree) && "$out" in tree) {
    if (!A.isTensor(got)) throw wrongKind("a tensor");
    leaves[tree.$out] = got;
    return;
  }
  const list = Array.isArray(tree) ? tree : tree !== null && typeof tree === "object" ? tree.$tuple : null;
  if (list) {
    if (
      got === null ||
      got === undefined ||
      A.isTensor(got) ||
      typeof got === "string" ||
      typeof got[Symbol.iterator] !== "function"
    )
      throw wrongKind(`a sequence of ${list.length}`);
    const items = [...got];
    if (items.length !== list.length)
      throw new Mismatch("structure", `a sequence of ${items.length}, ${list.length} expected`);
    for (let i = 0; i < list.length; i++) await leavesOf(A, list[i], await items[i], leaves, tolScalar);
    return;
  }
  let want = tree,
    isFloat = false;
  if (want !== null && typeof want === "object" && "$float" in want) {
    want = Number(want.$float.replace("inf", "Infinity"));
    isFloat = true;
  }
  if (want !== null && typeof want === "object" && "$dtype" in want) {
    if (dtypeName(got) !== want.$dtype) throw new Mismatch("value", `${dtypeName(got)}, expected ${want.$dtype}`);
    return;
  }
  if (want === null) {
    if (got !== null && got !== undefined) throw wrongKind("null");
    return;
  }
  if (typeof want === "boolean" || typeof want === "string") {
    if (got !== want)
      throw typeof got === typeof want
        ? new Mismatch("value", `${got}, expected ${want}`)
        : wrongKind(`the ${typeof want} ${want}`);
    return;
  }
  const g = typeof got === "bigint" ? Number(got) : got;
  if (typeof g !== "number") throw wrongKind(`the number ${want}`);
  const r =
    isFloat || !Number.isInteger(want)
      ? compareValues([want], [g], "float32", tolScalar)
      : { ok: g === want, detail: `${g}, expected ${want}` };
  if (!r.ok) throw new Mismatch("value", r.detail);
}

const describe = (A, x) =>
  A.isTensor(x)
    ? `a tensor [${x.shape}]`
    : Array.isArray(x)
      ? `an array of ${x.length}`
      : x === null
        ? "null"
        : typeof x;
