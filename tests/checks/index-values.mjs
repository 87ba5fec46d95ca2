// Which elements an index reads and writes, with and without axes: what PyTorch 2.13 answers.

import { I, numbers, answers, slopes } from "./values.mjs";

export default {
  "what an index does not name stays, whatever is written": (c) =>
    answers(c, [
      [
        "scatter, add",
        (t, x) => t.scatter(x([1, 2, NaN]), 0, x([0, 0], { dtype: "int32" }), I, { reduce: "add" }),
        [I, 2, NaN],
      ],
      [
        "scatter, add -0",
        (t, x) => t.scatter(x([1, -0]), 0, x([0], { dtype: "int32" }), NaN, { reduce: "add" }),
        [NaN, -0],
      ],
      [
        "scatter, multiply",
        (t, x) => t.scatter(x([0, I]), 0, x([0], { dtype: "int32" }), I, { reduce: "multiply" }),
        [NaN, I],
      ],
      ["scatter", (t, x) => t.scatter(x([1, 2]), 0, x([0], { dtype: "int32" }), I), [I, 2]],
      ["scatter_add", (t, x) => t.scatter_add(x([1, 2]), 0, x([0], { dtype: "int32" }), x([I])), [I, 2]],
      ["scatter_reduce", (t, x) => t.scatter_reduce(x([1, 2]), 0, x([0], { dtype: "int32" }), x([I]), "mean"), [I, 2]],
      [
        "scatter_reduce without itself",
        (t, x) => t.scatter_reduce(x([I, 2]), 0, x([0], { dtype: "int32" }), x([1]), "sum", { include_self: false }),
        [1, 2],
      ],
      ["index_add", (t, x) => t.index_add(x([1, 2]), 0, x([0], { dtype: "int32" }), x([I])), [I, 2]],
      [
        "index_reduce",
        (t, x) => t.index_reduce(x([I, 2]), 0, x([0], { dtype: "int32" }), x([1]), "prod", { include_self: false }),
        [1, 2],
      ],
      ["index_fill", (t, x) => t.index_fill(x([1, 2]), 0, x([0], { dtype: "int32" }), NaN), [NaN, 2]],
      ["masked_fill", (t, x) => t.masked_fill(x([1, 2]), x([true, false]), I), [I, 2]],
      ["masked sum", (t, x) => t.masked.sum(x([I, 2]), 0, { mask: x([false, true]) }), [2]],
      [
        "embedding_bag",
        (t, x) =>
          t.nn.functional.embedding_bag(x([0, 1], { dtype: "int32" }), x([[NaN], [2]]), x([0], { dtype: "int32" }), {
            padding_idx: 0,
          }),
        [2],
      ],
      [
        "conv_transpose1d",
        (t, x) => t.nn.functional.conv_transpose1d(x([[1, I, 3]]), x([[[1, 0.5]]]), null, 2),
        [1, 0.5, I, I, 3, 1.5],
      ],
      [
        "triu",
        (t, x) =>
          t.triu(
            x([
              [1, 2],
              [NaN, 4],
            ]),
          ),
        [1, 2, 0, 4],
      ],
    ]),
  "an index without axes is one of one element": async (c) => {
    const at = (x, i, options = { dtype: "int32" }) => x(i, options);
    await answers(c, [
      [
        "index_select",
        (t, x) =>
          t.index_select(
            x([
              [1, 2],
              [3, 4],
            ]),
            0,
            at(x, 1),
          ),
        [3, 4],
      ],
      ["index_select of a number", (t, x) => t.index_select(x(5.5), 0, at(x, 0)), [5.5]],
      [
        "index_add",
        (t, x) =>
          t.index_add(
            x([
              [1, 2],
              [3, 4],
            ]),
            0,
            at(x, 1),
            x([[10, 20]]),
          ),
        [1, 2, 13, 24],
      ],
      ["index_add to a number", (t, x) => t.index_add(x(1.5), 0, at(x, 0), x(2)), [3.5]],
      [
        "index_copy",
        (t, x) =>
          t.index_copy(
            x([
              [1, 2],
              [3, 4],
            ]),
            1,
            at(x, 0),
            x([[10], [20]]),
          ),
        [10, 2, 20, 4],
      ],
      ["index_copy to a number", (t, x) => t.index_copy(x(1.5), 0, at(x, 0), x(2.5)), [2.5]],
      ["index_fill", (t, x) => t.index_fill(x([1, 2]), 0, at(x, 1), 9), [1, 9]],
      ["index_fill by a tensor", (t, x) => t.index_fill(x([1, 2]), 0, at(x, 1), x(9)), [1, 9]],
      ["index_reduce", (t, x) => t.index_reduce(x([1, 2]), 0, at(x, 1), x([4]), "prod"), [1, 8]],
    ]);
    await slopes(c, [["index_select", (x, t) => t.index_select(x, 0, at(c.tensor, 1)), [1, 2], [0, 1]]]);
    const { torch: t, tensor: x, throws } = c;
    await throws(() => t.index_select(x([1, 2]), 0, at(x, [[0]])), /'index' must have 1 dimensions/);
    await throws(() => t.index_copy(x([1, 2]), 0, at(x, [0]), x([[3, 4]])), /'source' must have 1 dimensions/);
    await throws(() => t.index_select(x(5), 0, at(x, [0, 0])), /1 value only, not 2/);
    await throws(() => t.index_add(x([1, 2]), 0, at(x, 1), x(3)), /as many dimensions as self \(1\), but has 0/);
  },
  "what an integer tensor picks is a view, or no change of it goes nowhere": async ({
    torch,
    device,
    equal,
    throws,
  }) => {
    const y = torch.arange(6, { device, dtype: "float32" }).reshape(2, 3),
      at = torch.tensor(1, { dtype: torch.long, device }),
      picks = [y.index(at), y.index(":", at), y.index(at, null).select(1, 0)];
    equal(await picks[0].mul(2).tolist(), [6, 8, 10]);
    if (device === "cpu") {
      for (const x of picks) x.zero_();
      equal(await numbers(y), [0, 0, 2, 0, 0, 0]);
    } else for (const x of picks) await throws(() => x.zero_(), /on a GPU is a copy/);
    equal(await numbers(y.index(at).clone().zero_()), [0, 0, 0]);
    equal(await numbers(y.index([1]).fill_(7)), [7, 7, 7]); // a copy in PyTorch, too
    y.set([at], 5);
    equal(await numbers(y), device === "cpu" ? [0, 0, 2, 5, 5, 5] : [0, 1, 2, 5, 5, 5]);
  },
  "integer tensors without axes, and booleans, among indices": async ({ tensor, torch, device, equal }) => {
    const y = torch.arange(6, { device, dtype: "int32" }).reshape(2, 3),
      at = (n) => torch.tensor(n, { dtype: "int32", device: "cpu" });
    const row = y.index(at(1));
    row.fill_(9);
    equal(await numbers(y), [0, 1, 2, 9, 9, 9]);
    equal(await numbers(y.index(":", at(-1))), [2, 9]);
    equal(await numbers(y.index(at(0), [0, 2])), [0, 2]);
    for (const [specs, shape] of [
      [[true], [1, 2, 3]],
      [[false], [0, 2, 3]],
      [
        [true, 1],
        [1, 3],
      ],
      [
        [1, true],
        [1, 3],
      ],
      [
        [":", true],
        [2, 1, 3],
      ],
      [
        [true, true],
        [1, 2, 3],
      ],
      [
        [true, false],
        [0, 2, 3],
      ],
      [
        [[0, 1], true],
        [2, 3],
      ],
      [
        [true, [0, 1]],
        [2, 3],
      ],
      [
        [":", [0, 1], true],
        [2, 2],
      ],
      [
        [true, ":", [0, 1]],
        [2, 2],
      ],
      [
        [true, null],
        [1, 1, 2, 3],
      ],
    ]) {
      equal([specs, y.index(...specs).shape].toString(), [specs, shape].toString());
    }
    y.index(true).fill_(7); // a copy
    equal(await numbers(y), [0, 1, 2, 9, 9, 9]);
    y.set([false], 5);
    equal(await numbers(y), [0, 1, 2, 9, 9, 9]);
    y.set([true, 1], 5);
    equal(await numbers(y), [0, 1, 2, 5, 5, 5]);
    y.set([at(0)], 3);
    equal(await numbers(y), [3, 3, 3, 5, 5, 5]);
    equal(await numbers(y.where(y.gt(3), -1)), [-1, -1, -1, 5, 5, 5]);
    equal(await numbers(y.where(y.gt(3), y.mul(2))), [6, 6, 6, 5, 5, 5]);
    equal(await numbers(await y.narrow(0, at(1), 1)), [5, 5, 5]);
    equal(await numbers(await y.narrow(0, 1, at(1))), [5, 5, 5]);
    if (globalThis.Float16Array) equal(torch.tensor(new Float16Array([0.5, 2]), { device: "cpu" }).dtype, "float16");
  },
};
