// Whole numbers that do not fit.  int64 is a name of int32 here: every answer is the one that PyTorch gives for int64 (for uint8 and
// int8, for those), or an error that says what does not fit; never another number.  On a GPU the error comes with the next reading.
//
// The answers are PyTorch's (2.13); MISFIT stands where its int64 result does not fit into 32 bits, or where it refuses as well.
const MISFIT = /does not fit into (int32|int8|uint8)/;
const LONG = 2 ** 40;

async function table(t, calls) {
  for (const [name, call, wanted] of calls) {
    let got;
    try {
      got = await call();
      if (got instanceof t.torch.Tensor) got = await got.tolist();
    } catch (error) {
      if (wanted !== MISFIT || !MISFIT.test(error.message)) throw new Error(`${name}: ${error.stack}`);
      if (error.name !== "OpError") throw new Error(`${name}: the error is a ${error.name}`);
      continue;
    }
    if (wanted === MISFIT) throw new Error(`${name}: no error, but ${JSON.stringify(got)}`);
    try {
      t.equal(got, wanted);
    } catch (error) {
      throw new Error(`${name}: ${error.message}`);
    }
  }
}

export default {
  "a number that a type has no room for is refused where it enters": async (t) => {
    const { torch, device } = t, F = torch.nn.functional, yes = t.tensor([true]), put = (x, value) => { x.set([0], value); return x; };
    const i = (values) => t.tensor(values, { dtype: "int32" }), u = (values) => t.tensor(values, { dtype: "uint8" }), at = () => t.tensor([0], { dtype: "int32" });
    await table(t, [
      ["tensor int64", () => t.tensor([LONG], { dtype: torch.long }), MISFIT],
      ["tensor bigint", () => t.tensor([2n ** 40n]), MISFIT],
      ["tensor float64 array", () => t.tensor(new Float64Array([2147483648]), { dtype: "int32" }), MISFIT],
      ["tensor NaN", () => t.tensor([NaN], { dtype: "int32" }), MISFIT],
      ["tensor cut", () => i([2147483647, -2147483648, 2.7, -2.7]), [2147483647, -2147483648, 2, -2]],
      ["tensor uint8 above", () => u([300]), MISFIT],
      ["tensor uint8 fraction above", () => u([255.5]), MISFIT],
      ["tensor uint8 below", () => u([-256]), MISFIT],
      ["tensor uint8 fraction below", () => u([-1.5]), MISFIT],
      ["tensor uint8 from its end", () => u([-1, -255, 255]), [255, 1, 255]],
      ["tensor int8", () => t.tensor([128], { dtype: "int8" }), MISFIT],
      ["scalar_tensor", () => torch.scalar_tensor(300, { dtype: "uint8", device }), MISFIT],
      ["full", () => torch.full([1], LONG, { dtype: torch.long, device }), MISFIT],
      ["full infinity", () => torch.full([1], Infinity, { dtype: "int32", device }), MISFIT],
      ["full_like", () => torch.full_like(u([1]), 300), MISFIT],
      ["full uint8", () => torch.full([1], -1, { dtype: "uint8", device }), [255]],
      ["fill_", () => u([1]).fill_(300), MISFIT],
      ["fill_ NaN", () => i([1]).fill_(NaN), MISFIT],
      ["set", () => put(i([1, 2]), LONG), MISFIT],
      ["set cut", () => put(i([1, 2]), 2.7), [2, 2]],
      ["masked_fill", () => i([1]).masked_fill(yes, LONG), MISFIT],
      ["masked_fill infinity", () => i([1]).masked_fill(yes, -Infinity), MISFIT],
      ["masked_fill uint8", () => u([1]).masked_fill(yes, 300), MISFIT],
      ["masked_fill uint8 from its end", () => u([1]).masked_fill(yes, -1), [255]],
      ["index_fill", () => u([1]).index_fill(0, at(), 300), MISFIT],
      ["scatter", () => i([1]).scatter(0, at(), LONG), MISFIT],
      ["pad", () => F.pad(i([1]), [1, 1], "constant", LONG), MISFIT],
      ["where", () => torch.where(yes, LONG, i([1])), MISFIT],
      ["where uint8", () => torch.where(yes, 300, u([1])), MISFIT],
      ["add", () => i([1]).add(LONG), MISFIT],
      ["add a float", () => i([1]).add(1e19), [Math.fround(1e19)]],
      ["add to floats", () => t.tensor([1]).add(LONG), [LONG]],
      ["add the least", () => i([1]).add(-(2 ** 31)), [-2147483647]],
      ["alpha", () => i([1]).add(i([1]), { alpha: LONG }), MISFIT],
      ["add_", () => i([1]).add_(LONG), MISFIT],
      ["div", () => i([1]).div(LONG), [2 ** -40]],
      ["clamp", () => i([1]).clamp(0, LONG), MISFIT],
      ["arange", () => torch.arange(2 ** 31 - 1, 2 ** 31 + 1, { device }), MISFIT],
      ["arange of all", () => torch.arange(2 ** 31 - 2, 2 ** 31, { device }), [2147483646, 2147483647]],
      ["arange uint8", () => torch.arange(254, 258, { dtype: "uint8", device }), [254, 255, 0, 1]],
      ["linspace", () => torch.linspace(0, 3e9, 3, { dtype: "int32", device }), MISFIT],
      ["linspace uint8", () => torch.linspace(0, 300, 3, { dtype: "uint8", device }), MISFIT],
      ["logspace", () => torch.logspace(0, 10, 3, { dtype: "int32", device }), MISFIT],
      ["randint", () => torch.randint(0, LONG, [1], { device }), MISFIT],
      ["randint uint8", () => torch.randint(0, 300, [1], { dtype: "uint8", device }), MISFIT],
      ["randint_like", () => torch.randint_like(i([1]), LONG), MISFIT],
    ]);
  },
  "random numbers go up to the end of their type": async (t) => {
    const x = await t.torch.randint(0, 2 ** 31, [1000], { device: t.device }).tolist(), y = await t.torch.randint(-(2 ** 31), 2 ** 31, [1000], { device: t.device }).tolist();
    t.equal([x.every((v) => v >= 0), x.some((v) => v > 2 ** 30), y.some((v) => v < -(2 ** 30)), y.some((v) => v > 2 ** 30)], [true, true, true, true]);
  },
  "a number beyond 32 bits is compared as what it is": async (t) => {
    const x = t.tensor([5, 2147483647, -2147483648], { dtype: "int32" }), all = [true, true, true], none = [false, false, false], end = 2 ** 31;
    await table(t, [
      ["lt", () => x.lt(end), all], ["le", () => x.le(LONG), all], ["gt", () => x.gt(end), none], ["ge", () => x.ge(LONG), none],
      ["eq", () => x.eq(end), none], ["ne", () => x.ne(LONG), all], ["lt below", () => x.lt(-end - 1), none], ["gt below", () => x.gt(-end - 1), all],
      ["ge the least", () => x.ge(-end), all], ["eq the least", () => x.eq(-end), [false, false, true]],
      ["lt uint8", () => t.tensor([5], { dtype: "uint8" }).lt(300), [true]],
    ]);
  },
  "casts are PyTorch's": async (t) => {
    const x = t.tensor([300, -1, -129, 2.7, -2.7, 3e9, -3e9, 1e20, NaN, Infinity, -Infinity, 2147483520, -2147483648]), least = -2147483648;
    await table(t, [
      ["int32", () => x.to("int32"), [300, -1, -129, 2, -2, least, least, least, least, least, least, 2147483520, least]],
      ["uint8", () => x.to("uint8"), [44, 255, 127, 2, 254, 0, 0, 0, 0, 0, 0, 128, 0]],
      ["int8", () => x.to("int8"), [44, -1, 127, 2, -2, 0, 0, 0, 0, 0, 0, -128, 0]],
      ["bool", () => x.mul(0).to("bool"), [false, false, false, false, false, false, false, false, true, true, true, false, false]],
      ["int32 to uint8", () => t.tensor([300, -1, 2147483647], { dtype: "int32" }).to("uint8"), [44, 255, 255]],
      ["copy_", () => t.tensor([1, 2], { dtype: "uint8" }).copy_(t.tensor([300, -1])), [44, 255]],
    ]);
  },
};
