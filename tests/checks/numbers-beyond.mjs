// Numbers beside whole numbers of types that cannot hold them: where PyTorch 2.13 wraps them round, an error says so;
// comparisons, which PyTorch makes with the wrapped number, are right.

const RANGES = { uint8: [0, 255], int8: [-128, 127], int16: [-32768, 32767], int32: [-2147483648, 2147483647] },
  NUMBERS = [300, -200, 40000, -40000, 2 ** 31, -(2 ** 31) - 1, 2 ** 40];

export default {
  "arithmetic with a number that does not fit is refused, and never wraps": async ({
    tensor,
    torch,
    equal,
    throws,
  }) => {
    for (const [dtype, [low, high]] of Object.entries(RANGES)) {
      const x = tensor([1, 1], { dtype });
      for (const v of NUMBERS.filter((n) => n > high || (n < low && low < 0))) {
        for (const name of ["add", "sub", "mul", "floor_divide", "remainder", "bitwise_and", "bitwise_or", "maximum"])
          await throws(
            async () => (await torch[name](x, v)).data(),
            /does not fit into (u?int(8|16|32)|int64)|must be a tensor|must fit/,
          );
        for (const call of [
          () => x.clone().add_(v),
          () => x.clone().fill_(v),
          () => torch.full([1], v, { dtype }),
          () => torch.full_like(x, v),
          () => x.new_full([1], v),
          () => torch.tensor([v], { dtype }),
          () => torch.rsub(x, v),
          () => x.masked_fill(tensor([true, false]), v),
        ])
          await throws(async () => (await call()).data(), /does not fit into/);
      }
    }
    equal(await torch.add(tensor([1, 2], { dtype: "uint8" }), -1).tolist(), [0, 1]);
  },
  "comparisons with a number that does not fit are right": async ({ tensor, torch, equal }) => {
    for (const dtype of Object.keys(RANGES)) {
      const x = tensor([1], { dtype });
      for (const v of NUMBERS)
        equal(await Promise.all(["lt", "le", "gt", "ge", "eq", "ne"].map((name) => torch[name](x, v).item())), [
          1 < v,
          1 <= v,
          1 > v,
          1 >= v,
          false,
          true,
        ]);
    }
  },
};
