// Random programs of whole numbers against bigints: every number fits or is told.

import { MISFIT, FEW, hasFew } from "./overflow.mjs";

/** Results in int64 wrap on the CPU, as PyTorch's do; elsewhere what leaves 32 bits is told. */
async function programs(t, dtype) {
  const { torch, device } = t,
    wraps = device === "cpu" && dtype === "int64";
  let state = 12345;
  const next = (n) => (state = (Math.imul(state, 1103515245) + 12345) >>> 0) % n;
  // Near the ends, near zero, near what a product of two takes to the ends, or anywhere.
  const draw = () => {
    if (wraps && next(3))
      return ((BigInt(next(2 ** 32)) << 32n) + BigInt(next(2 ** 32)) - 2n ** 63n) >> BigInt(next(64));
    const centre = [0, 0, 2147483647, -2147483648, 46341, -46341, 65536, 1290][next(8)],
      near = next(3) ? centre + next(7) - 3 : (state | 0) >> next(31);
    return Math.max(-2147483648, Math.min(2147483647, near));
  };
  const list = (n) => Array.from({ length: n }, draw),
    big = (values) => values.map(BigInt),
    sum = (values) => values.reduce((a, b) => a + b, 0n);
  const pow = (x, n) =>
    n > 64n && x !== 0n && x !== 1n && x !== -1n ? 2n ** 64n : x ** (n > 64n ? (n % 2n) + 64n : n);
  const floor = (a, b) => (a - (((a % b) + b) % b)) / b,
    zip = (f) => (a, b) => a.map((x, k) => f(x, b[k]));
  const running = (f) => (a) => a.map((_, k) => f(a.slice(0, k + 1)));
  const calls = {
    add: [(a, b) => a.add(b), zip((x, y) => x + y)],
    sub: [(a, b) => a.sub(b), zip((x, y) => x - y)],
    mul: [(a, b) => a.mul(b), zip((x, y) => x * y)],
    neg: [(a) => a.neg(), (a) => a.map((x) => -x)],
    abs: [(a) => a.abs(), (a) => a.map((x) => (x < 0n ? -x : x))],
    addcmul: [(a, b) => torch.addcmul(a, b, b, { value: 3 }), zip((x, y) => x + 3n * y * y)],
    alpha: [(a, b) => a.sub(b, { alpha: 3 }), zip((x, y) => x - 3n * y)],
    "addcmul with zeros": [
      (a, b) => torch.addcmul(a, b, b.bitwise_and(2), { value: 65537 }),
      zip((x, y) => x + 65537n * y * (y & 2n)),
    ],
    cross: [
      (a, b) => torch.linalg.cross(torch.stack([a, b, b]), torch.stack([b, a, a]), { dim: 0 }),
      (a, b) =>
        [
          [b, a, b, a],
          [b, b, a, a],
          [a, a, b, b],
        ].flatMap(([p, q, r, s]) => p.map((x, k) => x * q[k] - r[k] * s[k])),
    ],
    floor_divide: [(a, b) => a.floor_divide(b.bitwise_or(1)), zip((x, y) => floor(x, y | 1n))],
    remainder: [(a, b) => a.remainder(b.bitwise_or(1)), zip((x, y) => x - floor(x, y | 1n) * (y | 1n))],
    trunc: [(a, b) => a.div(b.bitwise_or(1), { rounding_mode: "trunc" }), zip((x, y) => x / (y | 1n))],
    pow: [(a, b) => a.pow(b.bitwise_and(31)), zip((x, y) => pow(x, y & 31n))],
    shift: [(a, b) => a.bitwise_left_shift(b.bitwise_and(63)), zip((x, y) => x << (y & 63n))],
    sum: [(a) => a.sum(), (a) => [sum(a)]],
    prod: [(a) => a.prod(), (a) => [a.reduce((x, y) => x * y, 1n)]],
    dot: [(a, b) => a.dot(b), (a, b) => [sum(zip((x, y) => x * y)(a, b))]],
    cumsum: [(a) => a.cumsum(0), running(sum)],
    cumprod: [(a) => a.cumprod(0), running((xs) => xs.reduce((x, y) => x * y, 1n))],
    matmul: [
      (a, b) => a.view([2, -1]).matmul(b.view([-1, 2])),
      (a, b) => {
        const n = a.length / 2;
        return [0, 1].flatMap((r) =>
          [0, 1].map((c) => sum(Array.from({ length: n }, (_, k) => a[r * n + k] * b[2 * k + c]))),
        );
      },
    ],
    lt: [(a, b) => a.lt(b), zip((x, y) => BigInt(x < y))],
  };
  const seen = { fit: 0, told: 0 },
    names = Object.keys(calls);
  for (let round = 0; round < 400; round++) {
    const name = names[round % names.length],
      [call, meaning] = calls[name],
      n = 2 * (1 + next(4)),
      a = list(n),
      b = list(n);
    const exact = meaning(big(a), big(b));
    let got = null,
      bits = wraps ? 64 : 32;
    try {
      const out = call(t.tensor(a, { dtype }), t.tensor(b, { dtype }));
      if (device === "cpu" && String(out.dtype) === "int64") bits = 64;
      got = await out.view([-1]).tolist();
    } catch (error) {
      if (hasFew && FEW.test(error.message)) continue;
      if (!MISFIT.test(error.message)) throw error;
    }
    const wanted = bits === 64 ? exact.map((v) => (typeof v === "bigint" ? BigInt.asIntN(64, v) : v)) : exact,
      fits = exact.every((v) => v >= -(2n ** 31n) && v < 2n ** 31n);
    // What is computed on the way to a result may leave 32 bits, if the result does not.
    if (
      got === null ? fits || bits === 64 : (!fits && bits === 32) || got.some((v, k) => BigInt(v) !== BigInt(wanted[k]))
    )
      throw new Error(`${name} of [${a}] and [${b}]: ${got}, wanted ${wanted}`);
    seen[got === null ? "told" : "fit"]++;
  }
  if (seen.fit < (hasFew ? 40 : 100) || (!wraps && seen.told < 100))
    throw new Error(`the numbers are drawn badly: ${JSON.stringify(seen)}`);
}

export default {
  "random programs of whole numbers against bigints": (t) => programs(t, "int32"),
  "random programs of whole numbers of 64 bits": (t) => programs(t, "int64"),
};
