// What an optimizer's groups hold, as PyTorch 2.13 has it, and copies of optimizers: copy.deepcopy.

const KERNELS = { foreach: null, capturable: false, differentiable: false, fused: null };
/** Of PyTorch's options by which it chooses kernels those that each optimizer has. */
const HELD = {
  SGD: ["foreach", "differentiable", "fused"],
  Adam: ["foreach", "capturable", "differentiable", "fused"],
  AdamW: ["foreach", "capturable", "differentiable", "fused"],
  RMSprop: ["foreach", "capturable", "differentiable"],
  Adagrad: ["foreach", "differentiable", "fused"],
  Adadelta: ["foreach", "capturable", "differentiable"],
  Adamax: ["foreach", "capturable", "differentiable"],
  NAdam: ["foreach", "capturable", "differentiable"],
  RAdam: ["foreach", "capturable", "differentiable"],
  ASGD: ["foreach", "capturable", "differentiable"],
  Rprop: ["foreach", "capturable", "differentiable"],
  Adafactor: ["foreach"],
  LBFGS: [],
  Muon: [],
};

/** A parameter whose gradient is `by` times itself, and one step. */
async function moved(optimizer, params, by = 1) {
  for (const p of params) p.grad = p.detach().mul(by);
  await optimizer.step(() => params[0].detach().sum());
}

export default {
  "groups hold what PyTorch chooses kernels by, and refuse what it refuses": async ({
    torch,
    tensor,
    equal,
    throws,
  }) => {
    const { nn, optim } = torch,
      p = () => [nn.Parameter(tensor([[1, 2]]))];
    for (const [name, held] of Object.entries(HELD)) {
      const [group] = optim[name](p()).param_groups;
      for (const [key, value] of Object.entries(KERNELS)) {
        equal([name, key, key in group], [name, key, held.includes(key)]);
        if (held.includes(key)) equal([name, key, group[key]], [name, key, value]);
        else await throws(() => optim[name](p(), { [key]: true }), new RegExp(`unexpected keyword argument '${key}'`));
      }
      if (held.includes("foreach")) {
        const given = optim[name](p(), { foreach: true });
        equal([given.param_groups[0].foreach, given.state_dict().param_groups[0].foreach], [true, true]);
      }
    }
    await throws(() => optim.Adam(p(), { fused: true, foreach: true }), /`fused` and `foreach` cannot be/);
    await throws(() => optim.SGD(p(), { fused: true, differentiable: true }), /`fused` does not support `diff/);
    await throws(() => optim.SGD(p(), { differentiable: true }), /differentiable steps are not supported/);
    await throws(() => optim.Adam(p(), 0.1, [0.9, 0.999], 1e-8, 0, false, true), /at most 6 positional/);
  },
  "a copy has its own state and moves its own parameters as the original would": async ({ torch, tensor, equal }) => {
    const { nn, optim } = torch;
    for (const name of Object.keys(HELD)) {
      const values = [[0.5, -1]],
        p = nn.Parameter(tensor(values)),
        optimizer = optim[name]([p], { lr: 0.1 });
      await moved(optimizer, [p]);
      const copy = optimizer.deepcopy(),
        [own] = copy.param_groups[0].params,
        before = await p.tolist();
      equal([own === p, own instanceof nn.Parameter, copy instanceof optim[name]], [false, true, true]);
      equal([name, await own.tolist()], [name, before]);
      await moved(copy, [own], 2);
      equal([name, await p.tolist()], [name, before]);
      await moved(optimizer, [p], 2);
      equal([name, await p.tolist()], [name, await own.tolist()]);
      copy.param_groups[0].lr = 7;
      equal(optimizer.param_groups[0].lr, 0.1);
    }
  },
  "copied after its model with one memo it moves the copy's parameters": async ({ torch, tensor, equal }) => {
    const { nn, optim } = torch,
      model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1));
    model.to(tensor([0]).device);
    const optimizer = optim.Adam(model.parameters(), { lr: torch.tensor(0.1, { device: "cpu" }) }),
      memo = new Map(),
      [other, copy] = [model.deepcopy(memo), optimizer.deepcopy(memo)];
    equal(
      [...other.parameters()].map((p, i) => p === copy.param_groups[0].params[i]),
      [true, true, true, true],
    );
    equal(copy.param_groups[0].lr === optimizer.param_groups[0].lr, false);
    other(tensor([[1, 2]]))
      .sum()
      .backward();
    await copy.step();
    equal(
      [...model.parameters()].some((p) => p.grad),
      false,
    );
    equal(String(await other[1].bias.tolist()) === String(await model[1].bias.tolist()), false);
  },
  "a copy of an optimizer of one's own steps by itself, and its hooks are its own": async ({
    torch,
    tensor,
    equal,
  }) => {
    const { nn, optim, no_grad } = torch;
    class Own extends optim.Optimizer {
      scale = [2];
      constructor(params) {
        super(params, {});
      }
      step() {
        for (const { params } of this.param_groups)
          no_grad(() => params.forEach((p) => p.sub_(p.grad, { alpha: this.scale[0] })));
      }
    }
    const p = nn.Parameter(tensor([1])),
      optimizer = new Own([p]),
      copy = optimizer.deepcopy(),
      [own] = copy.param_groups[0].params,
      seen = [];
    copy.register_step_post_hook((o) => void seen.push(o === copy));
    copy.scale[0] = 3;
    own.grad = tensor([1]);
    copy.step();
    p.grad = tensor([1]);
    optimizer.step();
    equal([await own.tolist(), await p.tolist(), seen, copy.stepCount], [[-2], [-1], [true], 1]);
  },
};
