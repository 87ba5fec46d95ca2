// What is filled with one number everywhere, and the names under which changes in place refuse.

/** Calls of methods that change a tensor in place, with the arguments that each needs. */
const CHANGES = {
  add_: [1],
  mul_: [2],
  clamp_: [0],
  exp_: [],
  uniform_: [],
  normal_: [],
  log_normal_: [],
  exponential_: [],
  cauchy_: [],
  geometric_: [0.5],
  bernoulli_: [0.5],
  random_: [],
  relu_: [],
  copy_: [1],
};

export default {
  "one number fills elements that share memory, and nothing else changes them": async (t) => {
    const one = t.torch.zeros([1], { device: t.device }),
      x = one.expand(4);
    t.equal(x.fill_(2), x);
    t.equal(await one.tolist(), [2]);
    x.fill_(t.tensor(3));
    t.equal(await x.tolist(), [3, 3, 3, 3]);
    x.zero_();
    t.equal(await one.tolist(), [0]);
    const windows = t.tensor([1, 2, 3, 4, 5]).unfold(0, 3, 1);
    t.equal(await windows.fill_(7).tolist(), Array(3).fill([7, 7, 7]));
    for (const [name, given] of Object.entries(CHANGES))
      await t.throws(() => x[name](...given), new RegExp(`^${name}: unsupported operation: more than one element`));
    t.equal(await one.tolist(), [0]);
  },
  "bernoulli_ takes a probability for each element, of whatever type it fills": async (t) => {
    for (const dtype of ["float32", "int64", "bool", "uint8"]) {
      const x = t.torch.zeros([2, 3], { device: t.device, dtype });
      t.equal(x.bernoulli_(t.tensor([0, 1, 1])), x);
      t.equal(await x.to(t.torch.float32).tolist(), Array(2).fill([0, 1, 1]));
    }
    const x = t.torch.zeros([3], { device: t.device });
    await t.throws(() => x.bernoulli_(t.torch.ones([2, 3], { device: t.device })), /bernoulli_.*\[3\].*\[2, 3\]/);
    await t.throws(async () => x.bernoulli_(t.tensor([0, 1, 2])).tolist(), /probabilities are from 0 to 1/);
  },
  "sums and products of small whole numbers are int64, powers of a vector among them": (t) => {
    const { torch } = t;
    for (const dtype of ["uint8", "int8", "int16", "int32", "int64"]) {
      const x = torch.tensor([1, 2, 3], { dtype, device: t.device });
      const found = [x.sum(), x.prod(), x.cumsum(0), x.cumprod(0), torch.diag(x).trace(), torch.vander(x)];
      found.push(torch.linalg.vander(x), torch.linalg.vander(x.select(0, 1), { N: 3 }));
      t.equal(
        found.map((y) => y.dtype),
        found.map(() => "int64"),
      );
    }
    t.equal(torch.vander(torch.tensor([true, false], { device: t.device })).dtype, "int64");
    t.equal(torch.vander(torch.ones([2], { device: t.device })).dtype, "float32");
  },
  "the edges of a histogram of nothing are those of the range that is asked for": async (t) => {
    const none = t.torch.zeros([0], { device: t.device }),
      edges = async (...more) => (await t.torch.histogram(none, 2, ...more).bin_edges.tolist()).join();
    t.equal(await edges({ range: [1, 3] }), "1,2,3");
    t.equal(await edges({ range: [2, 2] }), "1.5,2,2.5");
    t.equal(await edges(), "0,0.5,1");
  },
};
