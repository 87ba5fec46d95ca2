// The types of elements: promotion, casts, arithmetic and limits as PyTorch 2.13 answers them (tests/recorded/dtypes.py).

import recorded from "../recorded/dtypes.mjs";

const NEW = ["int16", "uint16", "uint32", "bfloat16"];
/** Which zero is kept of several is not said. */
const LEFT_OUT = ["bfloat16 unique"];
/** Functions whose last digits are nobody's to say; a bfloat16 has eight bits. */
const ROUNDED = ["exp", "sqrt", "div", "floor_divide", "remainder", "pow", "sum", "prod"];

const numbers = (list) => list.map((v) => (typeof v === "string" ? Number(v.replace("inf", "Infinity")) : v));
const flat = async (x) => [await x.tolist()].flat(Infinity).map(Number);
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
      const x = t.tensor(numbers(given), { dtype: from }),
        y = x.to(to);
      t.equal([pair, y.dtype, await flat(x), await flat(y)], [pair, to, numbers(given), numbers(wanted)]);
      // of what lies otherwise, and one element
      t.equal([pair, await flat(x.flip(0).to(to))], [pair, numbers(wanted).reverse()]);
      t.equal([pair, await flat(x.index(1).to(to))], [pair, numbers(wanted).slice(1, 2)]);
    }
  },
  arithmetic: async (t) => {
    for (const dtype of NEW) {
      const { x, y, ...ops } = recorded.ops[dtype],
        a = t.tensor(numbers(x), { dtype }),
        b = t.tensor(numbers(y), { dtype });
      t.equal([dtype, await flat(a), a.element_size()], [dtype, numbers(x), dtype === "uint32" ? 4 : 2]);
      for (const [name, answer] of Object.entries(ops)) {
        if (answer === null || LEFT_OUT.includes(`${dtype} ${name}`)) continue;
        const { beside, values } = answer,
          wanted = numbers(values),
          given = dtype === "bfloat16" && ["sum", "prod", "max", "min"].includes(name) ? a.narrow(0, 0, 14) : a,
          second = beside === "" ? [] : [beside === "y" ? b : t.torch.full_like(b, beside)];
        try {
          const out = await t.torch[name](given, ...second),
            got = await flat(out);
          t.equal(out.dtype, answer.dtype === "int64" ? "int32" : answer.dtype);
          if (ROUNDED.includes(name)) t.close(got, wanted, { rtol: dtype === "bfloat16" ? 2 ** -7 : 1e-6 });
          else t.equal(got, wanted);
        } catch (error) {
          // PyTorch keeps sums in 64 bits, of what is in uint32, too.
          const long = dtype === "uint32" || wanted.some((v) => Math.abs(v) > 2 ** 31 - 1);
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
};
