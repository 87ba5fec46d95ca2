// Runs the steps of a program on a device: Python's names and arguments, as they were recorded, to calls of the
// package. What a step looks like: README.md.

/** PyTorch's types that the package has under another name. */
export const TYPES = { long: "int64" };

const TYPED = {
  float32: Float32Array,
  float64: Float64Array,
  int32: Int32Array,
  int64: BigInt64Array,
  int16: Int16Array,
  uint8: Uint8Array,
  int8: Int8Array,
  bool: Uint8Array,
};

/** The numbers that a recorded tensor holds; float16 is recorded as float32. */
export function numbers({ b64, dtype }) {
  const bytes = Buffer.from(b64, "base64"),
    own = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
  return new (TYPED[dtype] ?? Float32Array)(own);
}

/** What makes tensors of none. */
const MAKERS = ["arange", "linspace", "eye", "tril_indices"];

export class Player {
  /** The tensors of the program by their numbers. */
  tensors = new Map();

  constructor(torch, device) {
    this.torch = torch;
    this.device = device;
  }

  /** Runs a step; answers its result, and what it says is kept in `tensors`. */
  async run(step) {
    const out = await (step.ng ? this.torch.no_grad(() => this.call(step)) : this.call(step));
    const found = [];
    if (step.f === "const") this.tensors.set(step.o, out);
    else if (step.f !== "check") this.bind(step.o, out, found);
    else found.push([step.a[0].t, out]);
    return { out, found };
  }

  bind(names, value, found) {
    if (names === null || names === undefined) return;
    if (Array.isArray(names)) {
      const list = value instanceof this.torch.Tensor || value === null || value === undefined ? [] : [...value];
      names.forEach((name, i) => this.bind(name, list[i], found));
    } else {
      this.tensors.set(names.t, value);
      found.push([names.t, value]);
    }
  }

  constant(w) {
    const data = numbers(w),
      plain = w.dtype === "bool" || w.dtype === "float16";
    const t = this.torch.tensor(plain ? Float32Array.from(data) : data, {
      shape: w.shape,
      dtype: TYPES[w.dtype] ?? w.dtype,
      device: this.device,
    });
    return w.rg ? t.requires_grad_() : t;
  }

  decode(v) {
    if (v === null || typeof v !== "object") return v;
    if (Array.isArray(v)) return v.map((x) => this.decode(x));
    if ("t" in v) return this.tensors.get(v.t);
    if ("x" in v) return { inf: Infinity, "-inf": -Infinity, nan: NaN }[v.x] ?? Number(v.x);
    if ("d" in v) return TYPES[v.d] ?? v.d;
    if ("u" in v) return v.u.map((x) => this.decode(x));
    return v;
  }

  /** What stands in the brackets of `x[...]`. */
  index(v) {
    if (v === null || typeof v !== "object") return v;
    if (Array.isArray(v)) return v.map((x) => this.index(x));
    if ("s" in v)
      return v.s
        .map((x) => x ?? "")
        .join(":")
        .replace(/:$/, "");
    return "e" in v ? "..." : this.decode(v);
  }

  call(step) {
    const { torch } = this,
      path = step.f.split("."),
      name = path.at(-1);
    if (step.f === "const") return this.constant(step.w);
    const [x, ...rest] = step.a.map((v) => this.decode(v));
    if (step.f === "check") return x;
    if (name === "__get__") return x[path.at(-2)];
    const at = (v) => (v !== null && typeof v === "object" && "u" in v ? v.u : [v]).map((i) => this.index(i));
    if (name === "__getitem__") return x.index(...at(step.a[1]));
    if (name === "__setitem__") {
      const places = at(step.a[1]);
      // `x[False] = y` changes nothing, which is `x.set([false], y)`; `x[False,] = y` is an assignment of no elements.
      if ("u" in Object(step.a[1]) && places.length === 1 && places[0] === false) places.push("...");
      return x.set(places, rest[1]);
    }
    const options = Object.fromEntries(Object.entries(step.k ?? {}).map(([k, v]) => [k, this.decode(v)]));
    if (MAKERS.includes(name)) options.device = this.device;
    const last = Object.keys(options).length ? [options] : [];
    if (path[1] === "Tensor") return x[name](...rest, ...last);
    return path
      .slice(1, -1)
      .reduce((owner, part) => owner[part], torch)
      [name](...(step.a.length ? [x, ...rest] : []), ...last);
  }
}
