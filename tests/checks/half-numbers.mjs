// Numbers, and tensors without axes, beside floats of 16 bits: PyTorch's kernels compute in float32 and round once.  A
// second factor, a divisor, a weight and the `value` of a sum keep their digits there; a number in the place of another
// operand is one of the 16-bit type first, and so is `alpha`.

/** The nearest number of so many digits to the nearest float32, a tie to the even one. */
function roundTo(digits, least) {
  return (x) => {
    const v = Math.fround(x);
    if (v === 0 || !Number.isFinite(v)) return v;
    const unit = 2 ** (Math.max(Math.floor(Math.log2(Math.abs(v))), least) - digits + 1),
      whole = Math.floor(v / unit),
      rest = v / unit - whole;
    return (whole + (rest > 0.5 || (rest === 0.5 && whole % 2 !== 0) ? 1 : 0)) * unit;
  };
}

const ROUNDED = { float16: roundTo(11, -14), bfloat16: roundTo(8, -126) },
  f = Math.fround,
  numbers = [0.1, 1 / 3, -0.7, 3.3, 100.1],
  // A GPU divides, and the CPU computes what takes several steps, with other last digits than float32's: a tie goes elsewhere.
  INEXACT = /^div|^addc|^lerp/,
  typesOf = (t) => Object.entries(ROUNDED).filter(([name]) => name !== "float16" || t.hasHalf);

// Of elements x, y, z (z not near 0) and a number: the call, and its value in float32.  `n` has all its digits, `r` those of T.
const DIGITS_STAY = {
    "mul, its second factor": [(t, x, y, z, n) => x.mul(n), (x, y, z, n) => x * n],
    "div, its divisor": [(t, x, y, z, n) => x.div(n), (x, y, z, n) => x / n],
    "div cut towards zero": [
      (t, x, y, z, n) => x.div(n, { rounding_mode: "trunc" }),
      (x, y, z, n) => Math.trunc(f(x / n)),
    ],
  },
  DIGITS_STAY_OF_NUMBERS = {
    lerp: [
      (t, x, y, z, n) => x.lerp(y, n),
      (x, y, z, n) => (Math.abs(n) < 0.5 ? x + f(n * f(y - x)) : y - f(f(y - x) * f(1 - n))),
    ],
    "addcmul's value": [(t, x, y, z, value) => x.addcmul(y, z, { value }), (x, y, z, n) => x + f(f(n * y) * z)],
    "addcdiv's value": [(t, x, y, z, value) => x.addcdiv(y, z, { value }), (x, y, z, n) => x + f(f(n * y) / z)],
    leaky_relu: [(t, x, y, z, n) => t.nn.functional.leaky_relu(x, n), (x, y, z, n) => (x > 0 ? x : x * n)],
    softshrink: [
      (t, x, y, z, n) => t.nn.functional.softshrink(x, Math.abs(n)),
      (x, y, z, n) => (x > Math.abs(n) ? x - Math.abs(n) : x < -Math.abs(n) ? x + Math.abs(n) : 0),
    ],
  },
  ROUNDED_FIRST = {
    add: [(t, x, y, z, n) => x.add(n), (x, y, z, n, r) => x + r],
    "sub, from a number": [(t, x, y, z, n) => t.sub(n, x), (x, y, z, n, r) => r - x],
    "div of a number": [(t, x, y, z, n) => t.div(n, z), (x, y, z, n, r) => r / z],
    "mul, its first factor": [(t, x, y, z, n) => t.mul(n, x), (x, y, z, n, r) => r * x],
    fmod: [(t, x, y, z, n) => x.fmod(n), (x, y, z, n, r) => x % r],
    eq: [(t, x, y, z, n) => x.eq(n), (x, y, z, n, r) => x === r],
    lt: [(t, x, y, z, n) => x.lt(n), (x, y, z, n, r) => x < r],
  },
  ROUNDED_OF_NUMBERS = {
    alpha: [(t, x, y, z, alpha) => x.add(y, { alpha }), (x, y, z, n, r) => x + f(r * y)],
    "alpha of a difference": [(t, x, y, z, alpha) => x.sub(y, { alpha }), (x, y, z, n, r) => x - f(r * y)],
    hardshrink: [(t, x, y, z, n) => t.nn.functional.hardshrink(x, n), (x, y, z, n, r) => (x >= -r && x <= r ? 0 : x)],
  };

/** Elements of T, among them the numbers themselves, which comparisons tell apart. */
function elements(round, offset) {
  const drawn = Array.from({ length: 600 }, (_, i) =>
    round(3 * Math.sin(1 + i * 12.9898 + offset) + Math.sin(i + offset)),
  );
  return offset ? drawn : [...numbers.map(round), ...drawn.slice(numbers.length)];
}

/** Calls beside numbers, or beside what `given` makes of them. */
async function compare(t, calls, given) {
  const { torch, device } = t;
  for (const [dtype, round] of typesOf(t)) {
    const [x, y] = [elements(round, 0), elements(round, 0.5)],
      z = x.map((v) => round(Math.abs(v) + 1)),
      tensors = [x, y, z].map((list) => torch.tensor(list, { dtype, device }));
    for (const [name, [call, value]] of Object.entries(calls)) {
      let shown = 0;
      for (const n of numbers) {
        const got = await call(torch, ...tensors, given(n)).tolist(),
          at = (i, full, rounded) => {
            const made = value(x[i], y[i], z[i], full, rounded);
            return typeof made === "boolean" ? made : round(made);
          };
        let wrong = 0;
        for (let i = 0; i < x.length; i++) {
          const wanted = at(i, f(n), round(n));
          shown += wanted !== at(i, round(n), f(n));
          if (got[i] !== wanted && ++wrong > (INEXACT.test(name) ? 5 : 0))
            throw new Error(`${name} of ${dtype} beside ${n}: ${x[i]}, ${y[i]} gives ${got[i]}, wanted ${wanted}`);
        }
      }
      t.equal([name, shown > 0], [name, true]); // the numbers tell one way from the other
    }
  }
}

export default {
  "numbers that keep their digits beside 16 bits": (t) =>
    compare(t, { ...DIGITS_STAY, ...DIGITS_STAY_OF_NUMBERS }, (n) => n),
  "tensors without axes that keep them": (t) => compare(t, DIGITS_STAY, (n) => t.torch.tensor(n, { device: t.device })),
  "numbers that are rounded to 16 bits first": (t) => compare(t, { ...ROUNDED_FIRST, ...ROUNDED_OF_NUMBERS }, (n) => n),
  "tensors without axes that are": (t) => compare(t, ROUNDED_FIRST, (n) => t.torch.tensor(n, { device: t.device })),
  "gradients have the digits that results lack": async (t) => {
    const { torch, device } = t;
    for (const [dtype, round] of typesOf(t)) {
      const from = elements(round, 0.5),
        g = torch.tensor(from, { dtype, device }),
        leaf = () => torch.ones([from.length], { dtype, device }).requires_grad_();
      for (const n of numbers) {
        const [a, b] = [leaf(), leaf()];
        a.mul(n).backward(g);
        leaf().add(b, { alpha: n }).backward(g);
        const wanted = from.map((v) => round(v * f(n)));
        t.equal(await a.grad.tolist(), wanted);
        t.equal(await b.grad.tolist(), wanted);
      }
    }
  },
};
