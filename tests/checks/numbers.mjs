// What other libraries get wrong: extreme values, whole numbers, large sums, types.
const list = async (x) => x.tolist();

export default {
  "NaN and infinities go through comparisons, choices and reductions": async (t) => {
    const x = t.tensor([NaN, Infinity, -Infinity, 1]);
    t.equal(await list(x.relu()), [NaN, Infinity, 0, 1]);
    t.equal(await list(x.isnan()), [true, false, false, false]);
    t.equal(await list(x.ne(x)), [true, false, false, false]);
    t.equal(await list(x.clamp(0, 2)), [NaN, 2, 0, 1]);
    t.equal(await list(x.mul(0)), [NaN, NaN, NaN, 0]);
    t.equal(await x.max().item(), NaN);
    t.equal(await x.argmax().item(), 0);
    t.equal(await list(t.torch.maximum(x, t.tensor(0))), [NaN, Infinity, 0, 1]);
  },
  "softmax of nothing but -Infinity is NaN": async (t) => {
    t.equal(await list(t.tensor([-Infinity, -Infinity]).softmax(0)), [NaN, NaN]);
    t.close(await list(t.tensor([1000, 1000, -Infinity]).softmax(0)), [0.5, 0.5, 0]);
  },
  "logarithms and exponentials at their ends": async (t) => {
    t.equal(await list(t.tensor([0, -1, Infinity]).log()), [-Infinity, NaN, Infinity]);
    t.equal(await list(t.tensor([-Infinity, 89, -200]).exp()), [0, Infinity, 0]);
    t.close(await list(t.tensor([1e-8, -1e-8]).expm1()), [1e-8, -1e-8], { rtol: 1e-6, atol: 0 });
    t.close(await list(t.tensor([1e-8]).log1p()), [1e-8], { rtol: 1e-6, atol: 0 });
    t.close(await list(t.torch.logaddexp(t.tensor([1000]), t.tensor([1000]))), [1000.6931], { rtol: 1e-6 });
    t.close(await list(t.torch.nn.functional.softplus(t.tensor([89, -100]))), [89, 0]);
    t.close(await list(t.torch.nn.functional.logsigmoid(t.tensor([-100]))), [-100]);
  },
  "tanh and sine far out and close to zero": async (t) => {
    t.close(await list(t.tensor([1e-8, 50, -1e4]).tanh()), [1e-8, 1, -1], { rtol: 1e-6, atol: 0 });
    t.close(await list(t.tensor([1e6]).sin()), [-0.34999350217129294], { rtol: 0, atol: 1e-5 });
  },
  powers: async (t) => {
    t.equal(await list(t.tensor([-2, -2, 0, 0]).pow(t.tensor([3, 2, 2, 0]))), [-8, 4, 0, 1]);
    t.equal(await list(t.tensor([-2]).pow(0.5)), [NaN]);
    t.equal(await list(t.tensor([3, -3]).pow(2)), [9, 9]);
  },
  "division is division": async (t) => t.equal(await list(t.tensor([91]).div(13)), [7]),
  "remainders and whole division follow Python": async (t) => {
    const a = t.tensor([7, -7, 7, -7], { dtype: t.torch.int32 }),
      b = t.tensor([3, 3, -3, -3], { dtype: t.torch.int32 });
    t.equal(await list(a.remainder(b)), [1, 2, -2, -1]);
    t.equal(await list(a.floor_divide(b)), [2, -3, -3, 2]);
    if (t.device !== "cpu") return; // quotients that float64 rounds to just under a whole number
    const x = t.tensor([-8397.732376757678, -134013.87050851693], { dtype: t.torch.float64 });
    t.equal(
      await list(x.floor_divide(t.tensor([-0.03394596765734881, -39.6190959205382], { dtype: t.torch.float64 }))),
      [247385, 3382],
    );
  },
  "whole numbers stay whole": async (t) => {
    const x = t.tensor([16777217], { dtype: t.torch.int32 });
    t.equal(await list(x.mul(3)), [50331651]);
    t.equal(await t.torch.full([1000], 2000003, { dtype: t.torch.int32, device: t.device }).sum().item(), 2000003000);
  },
  "a sum of many ones is exact": async (t) => {
    t.equal(
      await t.torch
        .ones([1 << 25], { device: t.device })
        .sum()
        .item(),
      1 << 25,
    );
  },
  "types are promoted as PyTorch promotes them": async (t) => {
    const { torch } = t,
      i = t.tensor([1, 2], { dtype: torch.int32 }),
      f = t.tensor([0.5, 1.5]),
      b = t.tensor([true, false]);
    const type = (x) => String(x.dtype).replace("torch.", "");
    t.equal(
      [
        i.add(f),
        i.add(1),
        i.add(1.5),
        i.div(i),
        b.add(b),
        b.sum(),
        i.sqrt(),
        f.gt(i),
        i.mean === undefined ? f : f.mean(),
      ].map(type),
      ["float32", "int32", "float32", "float32", "bool", "int64", "float32", "bool", "float32"],
    );
  },
  "half precision rounds": async (t) => {
    if (t.device === "webgpu") return; // a software GPU has no f16
    const x = t.tensor([2049, 0.1], { dtype: t.torch.float16 });
    t.equal(await list(x), [2048, 0.0999755859375]);
    t.equal(
      await list(x.add(1)),
      [2049, 1.099609375].map((v) => (v === 2049 ? 2048 : v)),
    );
  },
  "random numbers are the same on every device": async (t) => {
    t.torch.manual_seed(7);
    const here = await list(t.torch.rand([5], { device: t.device }));
    t.torch.manual_seed(7);
    t.equal(here, await list(t.torch.rand([5], { device: "cpu" })));
  },
  "gradients at NaN, infinities and edges are PyTorch's": async (t) => {
    const { torch } = t,
      F = torch.nn.functional,
      { special } = torch;
    const slopes = async (f, ...lists) => {
      const xs = lists.map((list) => t.tensor(list, { requires_grad: true }));
      return Promise.all(torch.autograd.grad(f(...xs).sum(), xs).map(list));
    };
    for (const f of [F.relu, F.relu6, F.hardtanh, (x) => F.threshold(x, 0, 5), (x) => F.rrelu(x, { training: true })]) {
      t.equal((await slopes(f, [NaN, 0.5]))[0], [1, 1]);
    }
    t.equal((await slopes(F.softshrink, [NaN, 0.5]))[0], [1, 0]);
    t.close((await slopes(F.selu, [NaN, 1]))[0], [1.0507, 1.0507], { rtol: 1e-4 });
    t.equal((await slopes(special.i1, [NaN, 0]))[0], [0.5, 0.5]);
    t.equal((await slopes(special.i1e, [NaN, 0]))[0], [0.5, 0.5]);
    t.equal((await slopes(torch.logit, [-1, 0.5, 2, NaN]))[0], [NaN, 4, NaN, NaN]);
    t.equal((await slopes((x) => torch.logit(x, 0.25), [-1, 0.5, 2]))[0], [0, 4, 0]);
    t.equal((await slopes(torch.atan2, [0, 1], [0, 0])).flat(), [0, 0, -0, -1]);
    t.close((await slopes(torch.hypot, [0, 3], [0, 4]))[0], [NaN, 0.6]);
    t.equal((await slopes(torch.copysign, [Infinity, -2], [1, 1]))[0], [NaN, -1]);
    t.equal((await slopes(torch.logaddexp, [1e20, Infinity], [1e20, 1])).flat(), [0.5, 1, 0.5, 0]);
    t.equal((await slopes(torch.logaddexp2, [1e20, Infinity], [1e20, 1])).flat(), [0.5, 1, 0.5, 0]);
  },
  "what does not depend on an argument has a slope of 0, also times infinity and NaN": async (t) => {
    const { torch } = t,
      F = torch.nn.functional,
      weights = t.tensor([Infinity, NaN, 1]);
    for (const [name, f] of Object.entries({
      "copysign's sign": (x) => torch.copysign(t.tensor([1, 2, 3]), x),
      "nextafter's direction": (x) => torch.nextafter(t.tensor([5, 6, 7]), x),
      bernoulli: (x) => torch.bernoulli(x.clamp(0, 1)),
      fill: (x) => torch.fill(x, 3),
      "how many are not 0": (x) => torch.linalg.vector_norm(x.reshape([3, 1]), 0, { dim: 1 }),
    })) {
      const x = t.tensor([-1, 0.5, 3], { requires_grad: true });
      f(x).backward(weights);
      t.equal([name, await list(x.grad)], [name, [0, 0, 0]]);
    }
    const grid = t.tensor([[[[Infinity, 0]]]], { requires_grad: true });
    F.grid_sample(t.tensor([[[[1, 2]]]]), grid, { mode: "nearest", align_corners: false })
      .sum()
      .backward();
    t.equal(await grid.grad.tolist(), [[[[0, 0]]]]);
    // Of one factor there are no others, however large it is.
    for (const shape of [[], [1], [2, 1]]) {
      const x = t.torch.full(shape, Infinity, { device: t.device, requires_grad: true });
      torch.cumprod(x, -1).sum().backward();
      t.equal(await x.grad.tolist(), await torch.ones(shape).tolist());
    }
  },
  "a border around five axes and six": async (t) => {
    const x = t.torch.arange(4, { device: t.device }).reshape([2, 1, 1, 1, 1, 2]);
    for (const widths of [
      [1, 0, 0, 1, 0, 0, 0, 0, 2, 1],
      [0, -1, 1, 0, 0, 0, 0, 0, -1, 2],
      [1, 0, 0, 1, 0, 0, 0, 0, 2, 1, -1, 1],
    ]) {
      const out = t.torch.nn.functional.pad(x, widths, { value: 7 }),
        wanted = t.torch.constant_pad_nd(x, widths, 7);
      t.equal([out.shape, await out.tolist()], [wanted.shape, await wanted.tolist()]);
    }
  },
  "arange of whole types counts between the bounds as given, of int64 between whole ones": async (t) => {
    const many = (...args) => ["int8", "int32", "int64"].map((dtype) => t.torch.arange(...args, { dtype }).numel());
    t.equal(
      [many(0, -8.000001, -4), many(0.5, 3.7, 1), many(0, 5, 1.5), many(0, 2.5, 1)],
      [
        [3, 3, 2],
        [4, 4, 3],
        [4, 4, 5],
        [3, 3, 2],
      ],
    );
  },
  "bools as bounds, and as sums to no axis": async (t) => {
    const { torch } = t;
    t.equal(await list(torch.arange(false, true, true, { dtype: "float32", device: t.device })), [0]);
    t.equal(t.tensor(true).sum_to_size([]).dtype.toString(), t.tensor([true]).sum_to_size([]).dtype.toString());
  },
  "a histogram between edges that fall has nothing to divide": async (t) => {
    const x = t.tensor([[1], [2]]),
      [hist] = t.torch.histogramdd(x, [t.tensor([3, 0, 1])], { density: true });
    t.equal(await list(hist), [NaN, NaN]);
  },
};
