// What JavaScript does to a value that it does not know: operators, conversions, copies, classes in the place of objects.
const refused = async (t, f, wanted) => {
  let error = null;
  try {
    await f();
  } catch (e) {
    error = e;
  }
  if (!(error instanceof t.torch.TypeMismatchError)) throw new Error(`${f}: ${error ? error.stack : "answers"}`);
  if (!wanted.test(error.message)) throw new Error(`${f}: "${error.message}" lacks ${wanted}`);
};

export default {
  "operators and numbers are refused with the method to use, text stays text": async (t) => {
    const x = t.tensor([1, 2]),
      one = t.tensor(3);
    for (const [f, method] of [
      [() => x + 1, "add"],
      [() => x + x, "add"],
      [() => 2 * x, "mul"],
      [() => x - x, "sub"],
      [() => x / 2, "div"],
      [() => -x, "neg"],
      [() => x > 0, "gt"],
      [() => x < x, "lt"],
      // biome-ignore lint/suspicious/noDoubleEquals: what is looked at here
      [() => x == 1, "eq"],
      [() => Number(one), "item"],
      [() => Math.exp(one), "item"],
      [() => [5, 6, 7, 8][+one], "item"],
    ])
      await refused(t, f, new RegExp(`x\\.${method}\\(`));
    const text = String(x);
    t.equal([`${x}`, [x].join(), text.startsWith("tensor(")], [text, text, true]);
    if (x == null || x === 1 || !x) throw new Error("a tensor is something");
  },
  "a place in brackets is refused with the method to use": async (t) => {
    const x = t.tensor([[1, 2]]);
    for (const f of [() => x[0], () => x[0][1], () => x[3], () => x[-1], () => x.add(1)[0]])
      await refused(t, f, /x\.index\(-?\d\)/);
    await refused(t, () => void (x[0] = 5), /x\.set\(\[0\], v\)/);
    t.equal([await x.tolist(), Object.keys(x).includes("0")], [[[1, 2]], false]);
  },
  "what has a len() in Python has a length": async (t) => {
    const { torch } = t,
      { nn } = torch,
      { data } = torch.utils,
      x = torch.ones([3, 2], { device: t.device }),
      three = data.TensorDataset(x),
      members = [nn.ReLU(), nn.ReLU(), nn.ReLU()];
    for (const counted of [
      x,
      x.T.T,
      nn.Parameter(x),
      x.shape.concat(1),
      three,
      data.Subset(data.ConcatDataset([three, three]), [0, 4, 5]),
      data.DataLoader(three),
      data.SequentialSampler(three),
      data.BatchSampler(data.SequentialSampler(three), 1, false),
      nn.Sequential(...members),
      nn.ModuleList(members),
      nn.ModuleDict({ a: members[0], b: members[1], c: members[2] }),
      nn.ParameterList([x, x, x].map((p) => nn.Parameter(p))),
      nn.ParameterDict({ a: nn.Parameter(x), b: nn.Parameter(x), c: nn.Parameter(x) }),
    ])
      t.equal([counted.constructor.name, counted.length], [counted.constructor.name, 3]);
    t.equal([torch.ones([0, 2]).length, [...x].length], [0, 3]);
    const one = x.sum();
    for (const f of [() => one.length, () => one.size(0), () => one.size(-1), () => one.stride(0), () => x.size(2)])
      await t.throws(f, /(size|stride): Dimension out of range/);
  },
  "a class in the place of a module is told from one": async (t) => {
    const { nn } = t.torch;
    class Net extends nn.Module {}
    await refused(t, () => nn.Sequential(Net), /^Sequential: Net is a class, not a module: Net\(\.\.\.\) makes one$/);
    await refused(t, () => nn.Sequential(nn.ReLU(), nn.Linear), /Linear is a class, not a module: Linear\(/);
    await refused(t, () => nn.ModuleList([Net]), /Net is a class/);
    await refused(t, () => nn.ModuleDict({ a: Net }), /Net is a class/);
    await refused(t, () => nn.Sequential(() => 1), /Module/);
  },
  "a promise in the place of a tensor is to be awaited": async (t) => {
    const { torch } = t,
      x = t.tensor([1, 2]),
      later = Promise.resolve(x);
    for (const f of [
      () => torch.add(later, 1),
      () => torch.relu(later),
      () => x.mul(later),
      () => torch.cat([x, later]),
      () => torch.nn.Linear(2, 2, { device: t.device })(later),
      () => torch.nn.functional.mse_loss(x, later),
      () => x.copy_(later),
    ])
      await refused(t, f, /a Promise: await it first/);
  },
  "a number that is not read yet is to be awaited before it is used": async (t) => {
    const x = t.tensor(3);
    let total = 0;
    for (const f of [
      () => (total += x.item()),
      () => x.item() > 2,
      () => -x.item(),
      () => Math.sqrt(x.item()),
      () => "loss " + x.item(),
    ])
      await refused(t, f, /^item: .*await x\.item\(\)/);
    t.equal([total, `${x.item()}`, await x.item(), Object.keys(x.item())], [0, "[object Promise]", 3, []]);
    let error = null;
    await t
      .tensor([1, 2])
      .item()
      .catch((e) => (error = e));
    t.equal(error.message, "item: a Tensor with 2 elements cannot be converted to Scalar");
  },
  "JSON and copies of a tensor show nothing from within": async (t) => {
    const x = t.tensor([1, 2]);
    t.equal(JSON.stringify({ x, list: [x] }), JSON.stringify({ x: String(x), list: [String(x)] }));
    const y = x.float().requires_grad_(true).sum();
    t.equal(JSON.stringify([y.grad_fn, x.storage]), `["<SumBackward0>","Storage(${x.dtype}, 2, ${t.device})"]`);
    let error = null;
    try {
      structuredClone(x);
    } catch (e) {
      error = e;
    }
    t.equal(error?.name, "DataCloneError");
  },
};
