// Quotients that are cut towards zero, which PyTorch rounds to their type first, and the sign of a remainder of 0.

const tenths = Array.from({ length: 401 }, (_, i) => (i - 200) / 10),
  divisors = [0.1, 0.2, 0.3, 0.7, -0.1, -1.1];

export default {
  "a quotient is rounded to its type, and then cut": async (t) => {
    const { torch } = t,
      types = t.device === "cpu" ? [torch.float32, torch.float64] : [torch.float32];
    for (const dtype of types) {
      const round = dtype === torch.float32 ? Math.fround : (x) => x,
        x = torch.tensor(tenths, { dtype, device: t.device });
      let cut = 0;
      for (const divisor of divisors)
        for (const given of [divisor, torch.full([tenths.length], divisor, { dtype, device: t.device })]) {
          const found = await x.div(given, { rounding_mode: "trunc" }).tolist();
          tenths.forEach((a, i) => {
            const quotient = round(a) / round(divisor),
              wanted = Math.trunc(round(quotient));
            cut += wanted !== Math.trunc(quotient);
            // A GPU's own division may be off by the last bit, and then also beside a whole number.
            const near = t.device !== "cpu" && Math.abs(quotient - Math.round(quotient)) < 1e-4;
            if (found[i] !== wanted && !(near && Math.abs(found[i] - wanted) <= 1))
              throw new Error(`${a} / ${divisor}: got ${found[i]}, wanted ${wanted} (${dtype.name ?? dtype})`);
          });
        }
      t.equal(cut > 50, dtype === torch.float32); // the numbers show which it was
    }
  },
  "a remainder of 0 has the sign of the dividend": async (t) => {
    const a = [6, -6, -0, 0, -7, 7.5],
      b = [-3, 3, 0.5, -2, -7, 2.5],
      given = (list) => t.torch.tensor(list, { device: t.device });
    t.equal(
      (await given(a).remainder(given(b)).tolist()).map((x) => [x === 0, Object.is(x, -0)]),
      a.map((x) => [true, x < 0 || Object.is(x, -0)]),
    );
  },
};
