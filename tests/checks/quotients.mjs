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
  "of 16 bits the quotient by a tensor is rounded before it is cut, by one number it is not": async (t) => {
    const { torch, device } = t,
      quotients = {
        bfloat16: [6.96875, -0.99609375, -7],
        float16: [-20.578125, 1.5830078125, -13],
      };
    for (const [dtype, [a, b, rounded]] of Object.entries(quotients)) {
      if (dtype === "float16" && !t.hasHalf) continue;
      const given = (data) => torch.tensor(data, { dtype, device }),
        cut = async (x, y) => x.div(y, { rounding_mode: "trunc" }).tolist(),
        full = Math.trunc(a / b);
      t.equal(Math.abs(rounded) - Math.abs(full), 1);
      t.equal(await cut(given([a, 2 * a]), given([b, 2 * b])), [rounded, rounded]);
      for (const one of [given(b), given([b]), b]) t.equal(await cut(given([a, a]), one), [full, full]);
    }
    t.equal(
      await torch
        .tensor([7, -7], { device })
        .div(torch.tensor([2, 2], { device }), { rounding_mode: "trunc" })
        .tolist(),
      [3, -3],
    );
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
