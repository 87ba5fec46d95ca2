// Whole numbers that do not fit: every answer is the one that PyTorch gives for int64 (for uint8 and int8, for those), or
// an error that says what does not fit; never another number.  On a GPU the error comes with the next reading.
//
// The answers are PyTorch's (2.13); MISFIT stands where its int64 result does not fit into int32, or where it refuses as
// well, `long(answer)` for what int64 holds on the CPU and 32 bits do not on a GPU.

import { makesWebAssembly } from "./assert.mjs";

export const MISFIT = /does not fit into (int32|int8|uint8|bool|the 32 bits)/;
const NO_ROOM = /fill: value cannot be converted to the type of input without overflow/;
/** Without WebAssembly int64 has 53 bits on the CPU, and what leaves them is an error. */
export const FEW = /does not fit into 53 bits/;
export const hasFew = !makesWebAssembly;
const long = (answer) => ({ answer });
const LONG = 2 ** 40;

async function table(t, calls) {
  for (const [name, call, given] of calls) {
    const wanted = given.answer === undefined ? given : t.device === "cpu" ? given.answer : MISFIT;
    let got;
    try {
      got = await call();
      if (got instanceof t.torch.Tensor) got = await got.tolist();
    } catch (error) {
      if (hasFew && FEW.test(error.message)) continue;
      if (!(wanted instanceof RegExp) || !wanted.test(error.message)) throw new Error(`${name}: ${error.stack}`);
      if (error.name !== "OpError") throw new Error(`${name}: the error is a ${error.name}`);
      continue;
    }
    if (wanted instanceof RegExp) throw new Error(`${name}: no error, but ${JSON.stringify(got)}`);
    try {
      t.equal(got, wanted);
    } catch (error) {
      throw new Error(`${name}: ${error.message}`);
    }
  }
}

export default {
  "a number that a type has no room for is refused where it enters": async (t) => {
    const { torch, device } = t,
      F = torch.nn.functional,
      yes = t.tensor([true]),
      put = (x, value, at = 0) => {
        x.set([at], value);
        return x;
      },
      one = (value) => torch.tensor([value], { device: "cpu" });
    const i = (values) => t.tensor(values, { dtype: "int32" }),
      u = (values) => t.tensor(values, { dtype: "uint8" }),
      at = () => t.tensor([0], { dtype: "int32" });
    await table(t, [
      ["tensor int64", () => t.tensor([LONG], { dtype: torch.long }), long([LONG])],
      ["tensor int64 above", () => t.tensor([2 ** 63], { dtype: torch.long }), /does not fit into int64/],
      ["tensor bigint", () => t.tensor([2n ** 40n]), long([LONG])],
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
      ["full", () => torch.full([1], LONG, { dtype: torch.long, device }), long([LONG])],
      ["full infinity", () => torch.full([1], Infinity, { dtype: "int32", device }), MISFIT],
      ["full_like", () => torch.full_like(u([1]), 300), MISFIT],
      ["full uint8", () => torch.full([1], -1, { dtype: "uint8", device }), [255]],
      ["fill_", () => u([1]).fill_(300), MISFIT],
      ["fill_ NaN", () => i([1]).fill_(NaN), MISFIT],
      ["set", () => put(i([1, 2]), LONG), MISFIT],
      ["set cut", () => put(i([1, 2]), 2.7), [2, 2]],
      ["set at a mask", () => put(u([1]), one(300), yes), MISFIT],
      ["set at a mask, NaN", () => put(i([1]), one(NaN), yes), MISFIT],
      ["set at a mask from its end", () => put(u([1]), one(-1), yes), [255]],
      ["set at a slice", () => put(u([1]), one(300), ":"), [44]],
      ["masked_fill", () => i([1]).masked_fill(yes, LONG), MISFIT],
      ["masked_fill infinity", () => i([1]).masked_fill(yes, -Infinity), MISFIT],
      ["masked_fill uint8", () => u([1]).masked_fill(yes, 300), MISFIT],
      ["masked_fill uint8 from its end", () => u([1]).masked_fill(yes, -1), [255]],
      ["masked_fill with a tensor", () => u([1]).masked_fill(yes, t.tensor(300)), NO_ROOM],
      ["masked_fill_ with a tensor", () => t.tensor([1], { dtype: "int8" }).masked_fill_(yes, t.tensor(-129)), NO_ROOM],
      ["masked_fill with a tensor of the largest", () => u([1]).masked_fill(yes, t.tensor(255)), [255]],
      ["index_fill", () => u([1]).index_fill(0, at(), 300), MISFIT],
      ["masked_fill with 2^31", () => i([1]).masked_fill(yes, t.tensor(2 ** 31)), NO_ROOM],
      ["masked_fill with -2^31", () => i([1]).masked_fill(yes, t.tensor(-(2 ** 31))), [-(2 ** 31)]],
      ["masked_fill with the most", () => i([1]).masked_fill(yes, i(2 ** 31 - 1)), [2 ** 31 - 1]],
      ["masked_fill with a float below 0", () => u([1]).masked_fill(yes, t.tensor(-1)), NO_ROOM],
      ["masked_fill with a whole number below 0", () => u([1]).masked_fill(yes, i(-1)), [255]],
      ["index_fill with 2^31", () => i([1]).index_fill(0, at(), t.tensor(2 ** 31)), NO_ROOM],
      ["index_fill with a float below 0", () => u([1]).index_fill(0, at(), t.tensor(-1)), NO_ROOM],
      ["index_fill with a whole number below 0", () => u([1]).index_fill(0, at(), i(-1)), [255]],
      ["index_fill with a tensor", () => u([1]).index_fill(0, at(), t.tensor(300)), NO_ROOM],
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
      ["arange", () => torch.arange(2 ** 31 - 1, 2 ** 31 + 1, { device }), long([2 ** 31 - 1, 2 ** 31])],
      ["arange of all", () => torch.arange(2 ** 31 - 2, 2 ** 31, { device }), [2147483646, 2147483647]],
      ["arange uint8", () => torch.arange(254, 258, { dtype: "uint8", device }), [254, 255, 0, 1]],
      ["linspace", () => torch.linspace(0, 3e9, 3, { dtype: "int32", device }), MISFIT],
      ["linspace uint8", () => torch.linspace(0, 300, 3, { dtype: "uint8", device }), MISFIT],
      ["logspace", () => torch.logspace(0, 10, 3, { dtype: "int32", device }), MISFIT],
      ["randint", () => torch.randint(LONG, LONG + 1, [1], { device }), long([LONG])],
      ["randint uint8", () => torch.randint(0, 300, [1], { dtype: "uint8", device }), MISFIT],
      ["random_", () => i([1]).random_(0, LONG), MISFIT],
      ["randint_like", () => torch.randint_like(i([1]), LONG), MISFIT],
      ["random_ uint8", () => u([1]).random_(0, 300), MISFIT],
      ["random_ uint8 below", () => u([1]).random_(-1, 5), MISFIT],
      ["random_ int8", () => t.tensor([1], { dtype: "int8" }).random_(-129, 5), MISFIT],
      ["random_ bool", () => yes.random_(0, 3), MISFIT],
      ["random_ to the ends", () => u([1]).random_(255, 256), [255]],
      ["random_ int8 to the ends", () => t.tensor([1], { dtype: "int8" }).random_(-128, -127), [-128]],
    ]);
  },
  "random numbers go up to the end of their type": async (t) => {
    const x = await t.torch.randint(0, 2 ** 31, [1000], { device: t.device }).tolist(),
      y = await t.torch.randint(-(2 ** 31), 2 ** 31, [1000], { device: t.device }).tolist();
    t.equal(
      [x.every((v) => v >= 0), x.some((v) => v > 2 ** 30), y.some((v) => v < -(2 ** 30)), y.some((v) => v > 2 ** 30)],
      [true, true, true, true],
    );
  },
  "a number beyond 32 bits is compared as what it is": async (t) => {
    const x = t.tensor([5, 2147483647, -2147483648], { dtype: "int32" }),
      all = [true, true, true],
      none = [false, false, false],
      end = 2 ** 31;
    await table(t, [
      ["lt", () => x.lt(end), all],
      ["le", () => x.le(LONG), all],
      ["gt", () => x.gt(end), none],
      ["ge", () => x.ge(LONG), none],
      ["eq", () => x.eq(end), none],
      ["ne", () => x.ne(LONG), all],
      ["lt below", () => x.lt(-end - 1), none],
      ["gt below", () => x.gt(-end - 1), all],
      ["ge the least", () => x.ge(-end), all],
      ["eq the least", () => x.eq(-end), [false, false, true]],
      ["lt uint8", () => t.tensor([5], { dtype: "uint8" }).lt(300), [true]],
    ]);
  },
  "casts are PyTorch's": async (t) => {
    const x = t.tensor([300, -1, -129, 2.7, -2.7, 3e9, -3e9, 1e20, NaN, Infinity, -Infinity, 2147483520, -2147483648]),
      least = -2147483648;
    await table(t, [
      [
        "int32",
        () => x.to("int32"),
        [300, -1, -129, 2, -2, least, least, least, least, least, least, 2147483520, least],
      ],
      ["uint8", () => x.to("uint8"), [44, 255, 127, 2, 254, 0, 0, 0, 0, 0, 0, 128, 0]],
      ["int8", () => x.to("int8"), [44, -1, 127, 2, -2, 0, 0, 0, 0, 0, 0, -128, 0]],
      [
        "bool",
        () => x.mul(0).to("bool"),
        [false, false, false, false, false, false, false, false, true, true, true, false, false],
      ],
      // where there are 64 bits, the least number of those
      [
        "int64",
        () =>
          t
            .tensor([7.9, NaN, Infinity, -Infinity])
            .to("int64")
            .lt(8 - 2 ** 31),
        [false, true, true, true],
      ],
      ["int32 to uint8", () => t.tensor([300, -1, 2147483647], { dtype: "int32" }).to("uint8"), [44, 255, 255]],
      ["copy_", () => t.tensor([1, 2], { dtype: "uint8" }).copy_(t.tensor([300, -1])), [44, 255]],
    ]);
  },
  "what has no axes becomes the type of 8-bit tensors beside it": async (t) => {
    const u = t.tensor([3, 0, 255], { dtype: "uint8" }),
      b = t.tensor([3, 0, -7], { dtype: "int8" });
    for (const minus of [-1, t.tensor([5, -1], { dtype: "int32" }).select(0, 1), t.tensor(-1, { dtype: "int8" })]) {
      await table(t, [
        ...["remainder", "fmod"].flatMap((name) => [
          [name, () => u[name](minus), [3, 0, 0]],
          [`${name}_`, () => u.clone()[`${name}_`](minus), [3, 0, 0]],
        ]),
        ["floor_divide", () => u.floor_divide(minus), [0, 0, 1]],
        ["clamp", () => u.clamp(minus), [255, 255, 255]],
        ["add", () => u.add(minus), [2, 255, 254]],
        ["mul", () => u.mul(minus), [253, 0, 1]],
        ["xor", () => u.bitwise_xor(minus), [252, 255, 0]],
        ["int8", () => b.mul(minus), [-3, 0, 7]],
        ["float", () => u.div(minus), [-3, -0, -255]],
        ["true", () => u.add(t.tensor(true)), [4, 1, 0]],
      ]);
    }
    const wide = t.tensor(300, { dtype: "int32" });
    await table(t, [
      ["maximum", () => u.maximum(wide), [44, 44, 255]],
      ["fmin", () => u.fmin(wide), [3, 0, 44]],
      ["wide", () => wide.add(t.tensor(1, { dtype: "uint8" })), 301],
    ]);
  },
  "what arithmetic makes fits or is told": async (t) => {
    const { torch, device } = t,
      most = 2147483647,
      least = -2147483648,
      F = torch.nn.functional;
    const i = (values) => t.tensor(values, { dtype: "int32" }),
      u = (values) => t.tensor(values, { dtype: "uint8" }),
      b = (values) => t.tensor(values, { dtype: "int8" });
    await table(t, [
      ["add", () => i([most, 1]).add(i([1, 2])), MISFIT],
      ["add to the end", () => i([most - 1, least]).add(i([1, most])), [most, -1]],
      ["add alpha", () => i([0]).add(i([1 << 30]), { alpha: 2 }), MISFIT],
      ["sub", () => i([least]).sub(1), MISFIT],
      ["rsub", () => torch.rsub(i([least]), 0), MISFIT],
      ["mul", () => i([65536]).mul(65536), MISFIT],
      ["mul to the end", () => i([-65536, 46340]).mul(i([32768, 46340])), [least, 2147395600]],
      ["mul past the end", () => i([65536]).mul(32768), MISFIT],
      ["square", () => i([46341]).square(), MISFIT],
      ["neg", () => i([least]).neg(), MISFIT],
      ["abs", () => i([least]).abs(), MISFIT],
      ["abs of the rest", () => i([least + 1, -1, 0, most]).abs(), [most, 1, 0, most]],
      ["pow", () => i([2]).pow(31), MISFIT],
      ["pow far", () => i([10]).pow(100), MISFIT],
      ["pow to the end", () => i([-2, 3, 0, -1, 1]).pow(i([31, 19, 5, most, most])), [least, 1162261467, 0, -1, 1]],
      ["shift", () => i([1]).bitwise_left_shift(31), MISFIT],
      ["shift far", () => i([1]).bitwise_left_shift(32), MISFIT],
      ["shift to the end", () => i([-1, 1, 0]).bitwise_left_shift(i([31, 30, 99])), [least, 1 << 30, 0]],
      ["floor_divide", () => i([least]).floor_divide(-1), MISFIT],
      ["div floor", () => i([least]).div(i([-1]), { rounding_mode: "floor" }), MISFIT],
      ["div trunc", () => i([least]).div(i([-1]), { rounding_mode: "trunc" }), MISFIT],
      [
        "div trunc exactly",
        () => i([16777217, most, -most, least]).div(i([1, 2, 2, 1]), { rounding_mode: "trunc" }),
        [16777217, 1073741823, -1073741823, least],
      ],
      ["lcm", () => torch.lcm(i([100000]), i([99999])), MISFIT],
      ["addcmul", () => torch.addcmul(i([1]), i([65536]), i([65536])), MISFIT],
      ["outer", () => torch.outer(i([65536]), i([65536])), MISFIT],
      ["addcmul that comes back", () => torch.addcmul(i([least, 5]), i([65536, most]), i([32768, 0])), [0, 5]],
      [
        "addcmul of numbers that come back",
        () => torch.addcmul(i([-(2 ** 31), 7]), i([65536, most]), i([1, 0]), { value: 65535 }),
        [2147418112, 7],
      ],
      ["add alpha that comes back", () => i([most]).sub(i([1 << 30]), { alpha: 3 }), [-1073741825]],
      [
        "cross that comes back",
        () => torch.linalg.cross(i([most, most, least]), i([most, most - 1, least])),
        [least, 0, -most],
      ],
      ["cross", () => torch.linalg.cross(i([65536, 1, 1]), i([1, 65536, 1])), MISFIT],
      ["diff", () => torch.diff(i([least, most])), MISFIT],
      ["add_", () => i([most]).add_(1), MISFIT],
      ["sum", () => torch.arange(100000, { device }).sum(), long(4999950000)],
      ["sum that comes back", () => torch.arange(-100000, 100001, { device }).sum(), 0],
      ["sum of few that come back", () => i([most, most, least, least]).sum(), -2],
      [
        "sum that comes back from beyond a double's whole numbers",
        () =>
          i([[most], [-most], [5]])
            .expand([3, 4300001])
            .sum(),
        21500005,
      ],
      [
        "sum of rows",
        () => torch.full([3, 2], 1 << 30, { dtype: "int32", device }).sum(0),
        long([3 * 2 ** 30, 3 * 2 ** 30]),
      ],
      ["sum to the end", () => torch.full([2, 2], -(1 << 30), { dtype: "int32", device }).sum(0), [least, least]],
      ["sum of many rows", () => torch.full([300, 1000], 7, { dtype: "int32", device }).sum(1).sum(), 2100000],
      ["sum in parts", () => torch.full([200000], 10737, { dtype: "int32", device }).sum(), 2147400000],
      [
        "sum in parts past the end",
        () => torch.full([200000], -10738, { dtype: "int32", device }).sum(),
        long(-2147600000),
      ],
      ["sum of uint8", () => torch.full([1000], 255, { dtype: "uint8", device }).sum(), 255000],
      ["prod", () => i([65536, 65536]).prod(), long(2 ** 32)],
      ["prod with a zero", () => i([65536, 65536, 65536, 0]).prod(), 0],
      ["prod of 64 bits", () => torch.full([64], 2, { dtype: "int32", device }).prod(), long(0)],
      ["prod to the end", () => torch.full([31], -2, { dtype: "int32", device }).prod(), least],
      ["prod of uint8", () => u([200, 200, 200, 200]).prod(), 1600000000],
      ["cumsum", () => i([most, -1, 2]).cumsum(0), long([most, most - 1, most + 1])],
      ["cumsum below", () => i([most, -1, 1, least, least]).cumsum(0), long([most, most - 1, most, -1, least - 1])],
      ["cumsum that stays", () => i([most, -1, 1, least]).cumsum(0), [most, most - 1, most, -1]],
      ["cumsum of runs", () => torch.full([3000], 700000, { dtype: "int32", device }).cumsum(0).max(), 2100000000],
      [
        "cumsum of runs past the end",
        () => torch.full([3100], 700000, { dtype: "int32", device }).cumsum(0).max(),
        long(2170000000),
      ],
      ["cumprod", () => i([65536, 65536]).cumprod(0), long([65536, 2 ** 32])],
      [
        "trace",
        () =>
          i([
            [most, 0],
            [0, 1],
          ]).trace(),
        long(most + 1),
      ],
      ["matmul", () => i([[65536, 1]]).matmul(i([[65536], [1]])), MISFIT],
      ["matmul that comes back", () => i([[65536, 65536]]).matmul(i([[65536], [-65536]])), [[0]]],
      [
        "matmul of 64 bits",
        () => i([[least, least, least, least]]).matmul(i([[least], [least], [least], [least]])),
        MISFIT,
      ],
      [
        "matmul of many",
        () =>
          torch
            .full([40, 70], 1000, { dtype: "int32", device })
            .matmul(torch.full([70, 50], -3, { dtype: "int32", device }))
            .unique(),
        [-210000],
      ],
      ["mv", () => i([[most, 1]]).mv(i([1, 1])), MISFIT],
      ["dot", () => i([most, 3]).dot(i([most, 3])), MISFIT],
      ["bmm", () => i([[[65536]]]).bmm(i([[[65536]]])), MISFIT],
      ["addmm", () => torch.addmm(i([[1]]), i([[most]]), i([[1]])), MISFIT],
      ["linear", () => F.linear(i([[most]]), i([[1]]), i([1])), MISFIT],
      ["einsum", () => torch.einsum("i,i->", i([65536, 1]), i([65536, 1])), MISFIT],
      ["tensordot", () => torch.tensordot(i([[65536]]), i([[65536]]), 1), MISFIT],
      ["kron", () => torch.kron(i([65536]), i([65536])), MISFIT],
      // Of small whole numbers it is int64, which has 32 bits on a GPU.
      ["vander", () => torch.linalg.vander(i([2000]), { N: 4 }), device === "cpu" ? [[1, 2000, 4e6, 8e9]] : MISFIT],
      ["scatter_add", () => i([most, 0]).scatter_add(0, i([0]), i([1])), MISFIT],
      ["scatter multiply", () => i([65536, 2]).scatter(0, i([0]), i([65536]), { reduce: "multiply" }), MISFIT],
      ["scatter_reduce", () => i([65536, 2]).scatter_reduce(0, i([0]), i([65536]), "prod"), MISFIT],
      ["index_add", () => i([most, 0]).index_add(0, i([0]), i([1])), MISFIT],
      ["index_add alpha", () => i([0]).index_add(0, i([0]), i([65536]), { alpha: 65536 }), MISFIT],
      ["uint8 wraps", () => u([200, 1, 3]).mul(u([200, 255, 100])), [64, 255, 44]],
      ["uint8 addcmul", () => torch.addcmul(u([200]), u([255]), u([255]), { value: 255 }), [199]],
      ["uint8 minus", () => u([1]).sub(2), [255]],
      ["uint8 pow", () => u([2, 3, 200]).pow(u([9, 9, 5])), [0, 227, 0]],
      ["uint8 shift", () => u([3, 1]).bitwise_left_shift(u([7, 9])), [128, 0]],
      ["int8 wraps", () => b([-128]).neg(), [-128]],
      ["int8 abs", () => b([-128]).abs(), [-128]],
      ["int8 floor_divide", () => b([-128]).floor_divide(-1), [-128]],
      ["uint8 dot", () => u([200, 200]).dot(u([2, 2])), 32],
      ["uint8 matmul", () => u([[200, 200]]).matmul(u([[2], [2]])), [[32]]],
      ["uint8 index_add", () => u([0, 0]).index_add(0, i([0, 0]), u([200, 200])), [144, 0]],
      ["uint8 scatter_add", () => u([0, 0]).scatter_add(0, i([0, 0]), u([200, 200])), [144, 0]],
    ]);
  },
};
