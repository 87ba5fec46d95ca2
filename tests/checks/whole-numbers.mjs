// Values of whole numbers: small types, division by zero, negative powers, types taken before sums: what PyTorch 2.13
// answers.

import { I, numbers, answers } from "./values.mjs";

export default {
  "a whole type is taken before anything is added": (c) =>
    answers(c, [
      ...["sum", "nansum"].map((n) => [n, (t, x) => t[n](x([1.7, 2.7, -1.7]), { dtype: "int32" }), [2], "int32"]),
      ["cumsum", (t, x) => t.cumsum(x([1.7, 2.7, -1.7]), 0, { dtype: "int32" }), [1, 3, 2], "int32"],
      ["prod", (t, x) => t.prod(x([1.7, 2.7, -1.7]), { dtype: "int32" }), [-2], "int32"],
      ["prod of an axis", (t, x) => t.prod(x([[1.7, 2.7]]), 1, { dtype: "int32" }), [2], "int32"],
      ["cumprod", (t, x) => t.cumprod(x([1.7, 2.7, -1.7]), 0, { dtype: "int32" }), [1, 2, -2], "int32"],
      [
        "masked.sum",
        (t, x) => t.masked.sum(x([1.7, 2.7, 9]), { dtype: "int32", mask: x([true, true, false]) }),
        [3],
        "int32",
      ],
      ["sum as bool", (t, x) => t.sum(x([0.5, 2.7]), { dtype: "bool" }), [1], "bool"],
      [
        "mean of whole numbers",
        (t, x) => t.mean(x([1, 2], { dtype: "int32" }), { dtype: "float32" }),
        [1.5],
        "float32",
      ],
    ]),
  "a number beside whole numbers is itself": (c) =>
    answers(
      c,
      ["int8", "uint8", "int16", "int32", "int64"].flatMap((dtype) => {
        const some = (x) => x([1, 2, 4], { dtype });
        return [
          ["add", (t, x) => t.add(some(x), some(x), { alpha: 2 }), [3, 6, 12], dtype],
          ["addcmul", (t, x) => t.addcmul(some(x), some(x), some(x), { value: 2 }), [3, 10, 36], dtype],
          ["masked_fill", (t, x) => some(x).masked_fill(x([false, true, false]), 6), [1, 6, 4], dtype],
          ["index_fill", (t, x) => some(x).index_fill(0, x([2], { dtype: "int32" }), 6), [1, 2, 6], dtype],
          ["pad", (t, x) => t.nn.functional.pad(some(x), [1, 0], "constant", 6), [6, 1, 2, 4], dtype],
          ["scatter", (t, x) => some(x).scatter(0, x([0], { dtype: "int64" }), 6), [6, 2, 4], dtype],
        ].map(([name, ...rest]) => [`${name}, ${dtype}`, ...rest]);
      }),
    ),
  "small integers": (c) => {
    const some = (x, dtype) => [
      x([100, 3, 7], { dtype }),
      0,
      x([0, 0, 1], { dtype: "int32" }),
      x([100, 101, 4], { dtype }),
      "mean",
    ];
    return answers(c, [
      ["cumprod", (t, x) => t.cumprod(x([200, 2], { dtype: "uint8" }), 0), [200, 400], "int64"],
      ["cumprod of bools", (t, x) => t.cumprod(x([true, true, false]), 0), [1, 1, 0], "int64"],
      [
        "trace",
        (t, x) =>
          t.trace(
            x(
              [
                [100, 1],
                [1, 100],
              ],
              { dtype: "int8" },
            ),
          ),
        [200],
        "int64",
      ],
      ["any of bytes", (t, x) => t.any(x([0, 3], { dtype: "uint8" })), [1], "uint8"],
      ["all of bytes", (t, x) => t.all(x([0, 3], { dtype: "uint8" }), 0, true), [0], "uint8"],
      ["any", (t, x) => t.any(x([0, 3], { dtype: "int8" })), [1], "bool"],
      ...["scatter_reduce", "index_reduce"].flatMap((n) => [
        [`${n} of int8`, (t, x) => t[n](...some(x, "int8")), [15, 3, 7], "int8"], // 100 + 100 + 101 is 45 there
        [`${n} of uint8`, (t, x) => t[n](...some(x, "uint8")), [15, 3, 7], "uint8"],
        [`${n} of int32`, (t, x) => t[n](...some(x, "int32")), [100, 3, 7], "int32"],
        [`${n} without itself`, (t, x) => t[n](...some(x, "uint8"), { include_self: false }), [100, 4, 7], "uint8"],
      ]),
    ]);
  },
  "whole numbers are not divided by zero, nor raised to a negative number": async ({
    tensor,
    torch,
    equal,
    throws,
  }) => {
    const a = tensor([2, 1, -1], { dtype: "int32" }),
      z = tensor([1, 0, 2], { dtype: "int32" }),
      read = async (x) => numbers(x);
    for (const call of [
      () => a.floor_divide(z),
      () => a.remainder(z),
      () => a.fmod(z),
      () => torch.div(a, z, { rounding_mode: "floor" }),
      () => torch.div(a, z, { rounding_mode: "trunc" }),
      () => a.remainder(0),
      () => a.clone().floor_divide_(0),
      () => torch.floor_divide(5, z),
    ]) {
      await throws(async () => read(call()), /ZeroDivisionError/);
    }
    equal(await read(a.floor_divide(2)), [1, 0, -1]);
    equal(await read(a.floor_divide(2)), [1, 0, -1]);
    equal(await read(a.remainder(tensor([0, 1, 2], { dtype: "float32" }))), [NaN, 0, 1]);
    equal(await read(tensor([1, -1]).floor_divide(0)), [I, -I]);
    equal(await read(torch.div(a, z)), [2, I, -0.5]);
    await throws(async () => read(a.pow(-1)), /Integers to negative integer powers are not allowed/);
    equal(await read(a.pow(tensor([-1, -2, -3], { dtype: "int32" }))), [0, 1, -1]);
    equal(await read(torch.pow(2, tensor([-1, 0, 3], { dtype: "int32" }))), [0, 1, 8]);
    equal(await read(a.to("float32").pow(-1)), [0.5, 1, -1]);
  },
  "counts of weights are float64 where the device has it": async ({ torch, tensor, device, equal }) => {
    const x = tensor([0, 2, 2], { dtype: "int32" }),
      wide = device === "cpu" ? "float64" : "float32";
    for (const [dtype, wanted] of [
      ["int32", wide],
      ["uint8", wide],
      ["bool", wide],
      ["float32", "float32"],
      ...(device === "cpu" ? [["float64", wide]] : []),
    ]) {
      const got = await torch.bincount(x, tensor([1, 1, 1], { dtype }));
      equal([got.dtype, ...(await numbers(got))], [wanted, 1, 0, 2]);
    }
    equal((await torch.bincount(x)).dtype, "int64");
  },
};
