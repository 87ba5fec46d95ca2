// The types of elements: promotion, casts, arithmetic and limits as PyTorch 2.13 answers them (tests/recorded/dtypes.py).

import { makesWebAssembly } from "./assert.mjs";
import recorded from "../recorded/dtypes.mjs";

const NEW = ["int16", "uint16", "uint32", "bfloat16", "int64", "int64 of 32 bits"];
/** Which zero is kept of several is not said. */
const LEFT_OUT = ["bfloat16 unique", "uint32 sort", "uint32 argsort", "bfloat16 sort", "bfloat16 argsort"];
/** Functions whose last digits are nobody's to say; a bfloat16 has eight bits. */
const ROUNDED = ["exp", "sqrt", "div", "floor_divide", "remainder", "pow", "sum", "prod"];

/** Texts are infinities, NaN and whole numbers that are none of JavaScript's. */
const read = (v) => (/^-?\d+$/.test(v) ? BigInt(v) : Number(String(v).replace("inf", "Infinity")));
const numbers = (list) => list.map((v) => (typeof v === "string" ? read(v) : v));
const flat = async (x) => [await x.tolist()].flat(Infinity).map((v) => (typeof v === "bigint" ? v : Number(v)));
const leaves = (list) => list.some((v) => Math.abs(Number(v)) > 2 ** 31 - 1 && Number(v) !== -(2 ** 31));
/** The values, of a sort. */
const first = (out) => (out.shape ? out : out.values);
/** Whether an error says that doubles, which int64 has without WebAssembly, do not hold a number. */
const isFew = (error) => !makesWebAssembly && /does not fit into 53 bits/.test(error.message);
const has = (t, dtype) => t.device === "cpu" || (dtype !== "float64" && (dtype !== "float16" || t.hasHalf));

export default {
  "types of two": async (t) => {
    const { types, promote } = recorded;
    for (const a of types)
      for (const [n, b] of types.entries()) {
        const wanted = promote[a][n];
        if (wanted) t.equal([a, b, t.torch.promote_types(a, b)], [a, b, wanted]);
        else await t.throws(() => t.torch.promote_types(a, b), /promotion of uint16 and uint32 is not supported/);
      }
  },
  casts: async (t) => {
    for (const [pair, [given, wanted]] of Object.entries(recorded.casts)) {
      const [from, to] = pair.split(" ");
      if (!has(t, from) || !has(t, to)) continue;
      if (
        t.device !== "cpu" &&
        (from === "int64" || to === "int64") &&
        leaves(numbers(to === "int64" ? wanted : given))
      ) {
        await t.throws(() => t.tensor(numbers(given), { dtype: from }).to(to).tolist(), /does not fit into/);
        continue;
      }
      const x = t.tensor(numbers(given), { dtype: from }),
        y = x.to(to);
      t.equal([pair, y.dtype, await flat(x), await flat(y)], [pair, to, numbers(given), numbers(wanted)]);
      // of what lies otherwise, and one element
      t.equal([pair, await flat(x.index(1).to(to))], [pair, numbers(wanted).slice(1, 2)]);
      try {
        t.equal([pair, await flat(x.flip(0).to(to))], [pair, numbers(wanted).reverse()]);
      } catch (error) {
        if (!isFew(error)) throw error;
      }
    }
  },
  arithmetic: async (t) => {
    for (const kind of NEW) {
      if (kind === "int64" && t.device !== "cpu") continue;
      const { x, y, ...ops } = recorded.ops[kind],
        [dtype] = kind.split(" "),
        a = t.tensor(numbers(x), { dtype }),
        b = t.tensor(numbers(y), { dtype });
      t.equal([dtype, await flat(a), a.element_size()], [dtype, numbers(x), { uint32: 4, int64: 8 }[dtype] ?? 2]);
      for (const [name, answer] of Object.entries(ops)) {
        if (answer === null || LEFT_OUT.includes(`${dtype} ${name}`)) continue;
        const { beside, values } = answer,
          wanted = numbers(values),
          given = dtype === "bfloat16" && ["sum", "prod", "max", "min"].includes(name) ? a.narrow(0, 0, 14) : a,
          second = beside === "" ? [] : [beside === "y" ? b : t.torch.full_like(b, beside)];
        try {
          const out = first(await t.torch[name](given, ...second, ...(name.startsWith("cum") ? [0] : []))),
            got = await flat(out);
          t.equal(out.dtype, answer.dtype);
          if (ROUNDED.includes(name)) t.close(got, wanted, { rtol: dtype === "bfloat16" ? 2 ** -7 : 1e-6 });
          else t.equal(got, wanted);
        } catch (error) {
          if (isFew(error)) continue;
          const long = t.device !== "cpu" && (dtype === "uint32" || leaves(wanted));
          if (!(long && answer.dtype === "int64" && /does not fit into int32/.test(error.message)))
            throw new Error(`${name} of ${dtype}: ${error.message}`);
        }
      }
    }
  },
  limits: (t) => {
    for (const [dtype, limits] of Object.entries(recorded.limits)) {
      const { bits, min, max } = t.torch[dtype === "bfloat16" ? "finfo" : "iinfo"](dtype);
      t.equal([dtype, bits, min, max], [dtype, ...limits]);
    }
  },
  "sums of halves within ops are larger than halves": async (t) => {
    const { torch } = t,
      F = torch.nn.functional,
      { device } = t.tensor([0]);
    for (const dtype of ["float16", "bfloat16"]) {
      if (!has(t, dtype)) continue;
      const x = torch.cat([1.5, 0.5].map((v) => torch.full([40000, 2], v, { device }))).to(dtype),
        row = x.reshape([1, 160000]);
      // means of 80,000 or 160,000 numbers
      const answers = {
        batch_norm: [F.batch_norm(x, null, null, { training: true }).max(), 1],
        instance_norm: [F.instance_norm(x.t().reshape([1, 2, 80000])).max(), 1],
        group_norm: [F.group_norm(x.t().reshape([1, 2, 80000]), 1).max(), 1],
        layer_norm: [F.layer_norm(row, [160000]).max(), 1],
        rms_norm: [F.rms_norm(row.mul(0).add(1.5), [160000]).max(), 1],
        var: [torch.var(x, { correction: 0 }), 0.25],
        mse_loss: [F.mse_loss(x, x.mul(0)), 1.25],
        nanmean: [x.nanmean(), 1],
      };
      for (const [name, [answer, wanted]] of Object.entries(answers))
        t.equal([dtype, name, Number(await answer.item())], [dtype, name, wanted]);
      const y = x.clone().requires_grad_();
      F.batch_norm(y, null, null, { training: true }).mul(x).sum().backward();
      t.equal([dtype, await y.grad.isfinite().all().item()], [dtype, true]);
    }
  },
};
