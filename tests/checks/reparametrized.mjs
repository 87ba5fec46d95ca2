// nn.utils.parametrize, parametrizations, weight_norm, spectral_norm, prune, and optim.swa_utils.  The numbers are PyTorch
// 2.13's.

export const W = [
  [3, 4],
  [1, -2],
  [0.5, 0.25],
];
export const names = (module) => Object.keys(module.state_dict());
export function linear(t) {
  const layer = t.torch.nn.Linear(2, 3).to(t.device);
  layer.load_state_dict({ weight: W, bias: [0.1, 0.2, 0.3] });
  return layer;
}
const unit = [
  [0.5837931036949158, 0.7783908247947693],
  [0.19459770619869232, -0.38919541239738464],
  [0.09729885309934616, 0.04864942654967308],
];

export default {
  "a parametrization computes a parameter from its original": async (t) => {
    const { nn } = t.torch,
      { parametrize } = nn.utils;
    class Symmetric extends nn.Module {
      forward(x) {
        return x.triu().add(x.triu(1).t());
      }
    }
    const layer = nn.Linear(3, 3).to(t.device),
      same = [
        [0, 1, 2],
        [1, 4, 5],
        [2, 5, 8],
      ];
    layer.load_state_dict({
      weight: [
        [0, 1, 2],
        [3, 4, 5],
        [6, 7, 8],
      ],
      bias: [0, 0, 0],
    });
    t.equal(parametrize.register_parametrization(layer, "weight", new Symmetric()) === layer, true);
    t.equal(await layer.weight.tolist(), same);
    t.equal(names(layer), ["bias", "parametrizations.weight.original"]);
    t.equal(
      [...layer.named_parameters()].map(([n]) => n),
      ["bias", "parametrizations.weight.original"],
    );
    t.equal([parametrize.is_parametrized(layer), parametrize.is_parametrized(layer, "bias")], [true, false]);
    layer.weight.sum().backward();
    t.equal(await layer.parametrizations.weight.original.grad.tolist(), [
      [1, 2, 2],
      [0, 1, 2],
      [0, 0, 1],
    ]);
    const copy = layer.deepcopy();
    copy.parametrizations.weight.original.data.fill_(1);
    t.equal(
      [await copy.weight.tolist(), await layer.weight.tolist()],
      [
        [
          [1, 1, 1],
          [1, 1, 1],
          [1, 1, 1],
        ],
        same,
      ],
    );
    t.equal(
      parametrize.cached(() => layer.weight === layer.weight),
      true,
    );
    t.equal(layer.weight === layer.weight, false);
    await t.throws(() => (layer.weight = t.tensor([1])), /parametrization Symmetric does not implement right_inverse/);
    parametrize.remove_parametrizations(layer, "weight");
    t.equal(
      [await layer.weight.tolist(), layer.weight instanceof nn.Parameter, names(layer)],
      [same, true, ["bias", "weight"]],
    );
    class Cut extends nn.Module {
      forward = (x) => x.index(0);
    }
    await t.throws(
      () => parametrize.register_parametrization(layer, "weight", new Cut()),
      /may not change the shape or the dtype/,
    );
    await t.throws(
      () => parametrize.register_parametrization(layer, "wieght", new Symmetric()),
      /does not have a parameter, a buffer/,
    );
    await t.throws(
      () => parametrize.remove_parametrizations(layer, "weight"),
      /does not have a parametrization on weight/,
    );
    t.equal(names(layer), ["bias", "weight"]);
  },
  "weight_norm, both ways": async (t) => {
    const { nn } = t.torch,
      { parametrizations, weight_norm, remove_weight_norm } = nn.utils,
      x = t.tensor([1, 2]);
    const layer = parametrizations.weight_norm(linear(t)),
      list = layer.parametrizations.weight;
    t.equal(names(layer), ["bias", "parametrizations.weight.original0", "parametrizations.weight.original1"]);
    t.close(await layer.weight.tolist(), W);
    t.close(await list.original0.tolist(), [[5], [2.2360680103302], [0.55901700258255]]);
    t.close(await layer(x).tolist(), [11.1, -2.8, 1.3]);
    layer.weight.sum().backward();
    t.close(await list.original0.grad.tolist(), [[1.4], [-0.4472135901], [1.3416407108]]);
    t.close(
      await list.original1.grad.tolist(),
      [
        [0.16, -0.12],
        [1.2, 0.6],
        [-0.2, 0.4],
      ],
      { atol: 1e-6 },
    );
    layer.weight = t.tensor([
      [6, 8],
      [1, 0],
      [0, 1],
    ]);
    t.close(await list.original0.tolist(), [[10], [1], [1]]);
    const whole = parametrizations.weight_norm(linear(t), { dim: null });
    t.close(await whole.parametrizations.weight.original0.item(), 5.505678653717041);

    const old = weight_norm(linear(t));
    t.equal(names(old), ["bias", "weight_g", "weight_v"]);
    t.close(
      [await old.weight_g.tolist(), await old(x).tolist()],
      [
        [[5], [2.2360680103], [0.5590170026]],
        [11.1, -2.8, 1.3],
      ],
    );
    old(x).sum().backward();
    t.equal(old.weight_g.grad.shape, [3, 1]);
    await t.throws(() => weight_norm(old), /has no parameter 'weight'/);
    remove_weight_norm(old);
    t.equal(names(old), ["bias", "weight"]);
    t.close(await old(x).tolist(), [11.1, -2.8, 1.3]);
    await t.throws(() => remove_weight_norm(old), /weight_norm of 'weight' not found in Linear/);
  },
  "spectral_norm, both ways": async (t) => {
    const { nn } = t.torch,
      { parametrizations, spectral_norm } = nn.utils,
      layer = parametrizations.spectral_norm(linear(t)).eval();
    t.equal(names(layer), [
      "bias",
      "parametrizations.weight.original",
      "parametrizations.weight.0._u",
      "parametrizations.weight.0._v",
    ]);
    t.close(await layer.weight.tolist(), unit, { rtol: 1e-4 });
    layer.weight.sum().backward();
    t.equal(layer.parametrizations.weight.original.grad.shape, [3, 2]);
    const old = spectral_norm(linear(t));
    t.equal(names(old), ["bias", "weight_orig", "weight_u", "weight_v"]);
    for (let i = 0; i < 5; i++) old(t.tensor([1, 2]));
    t.close(await old.weight.tolist(), unit, { rtol: 1e-4 });
    nn.utils.remove_spectral_norm(old);
    t.equal(names(old), ["bias", "weight"]);
    await t.throws(() => spectral_norm(linear(t), "weight", 0), /argument 'n_power_iterations' must be at least 1/);
    const conv = parametrizations.spectral_norm(nn.ConvTranspose1d(2, 3, 2).to(t.device));
    t.equal([conv.parametrizations.weight[0]._u.shape, conv.parametrizations.weight[0]._v.shape], [[3], [4]]);
  },
  "pruning holds elements at zero": async (t) => {
    const { prune } = t.torch.nn.utils,
      layer = prune.l1_unstructured(linear(t), "weight", { amount: 2 });
    t.equal(names(layer), ["bias", "weight_orig", "weight_mask"]);
    t.equal(await layer.weight.tolist(), [
      [3, 4],
      [1, -2],
      [0, 0],
    ]);
    t.equal(
      [await layer.weight_mask.tolist(), prune.is_pruned(layer)],
      [
        [
          [1, 1],
          [1, 1],
          [0, 0],
        ],
        true,
      ],
    );
    prune.l1_unstructured(layer, "weight", 0.5);
    t.equal(await layer.weight_mask.tolist(), [
      [1, 1],
      [0, 0],
      [0, 0],
    ]);
    layer(t.tensor([1, 2]))
      .sum()
      .backward();
    t.equal(await layer.weight_orig.grad.tolist(), [
      [1, 2],
      [0, 0],
      [0, 0],
    ]);
    prune.remove(layer, "weight");
    t.equal(
      [names(layer), await layer.weight.tolist(), prune.is_pruned(layer)],
      [
        ["bias", "weight"],
        [
          [3, 4],
          [0, -0],
          [0, 0],
        ],
        false,
      ],
    );
    t.equal(await prune.ln_structured(linear(t), "weight", { amount: 1, n: 2, dim: 0 }).weight_mask.tolist(), [
      [1, 1],
      [1, 1],
      [0, 0],
    ]);
    t.equal(await prune.random_structured(linear(t), "weight", 1, 1).weight_mask.sum().item(), 3);
    t.equal(await prune.random_unstructured(linear(t), "weight", 4).weight_mask.sum().item(), 2);
    const mask = t.tensor([
      [1, 0],
      [1, 1],
      [0, 1],
    ]);
    t.equal(await prune.custom_from_mask(linear(t), "weight", mask).weight.tolist(), [
      [3, 0],
      [1, -2],
      [0, 0.25],
    ]);
    const [a, b] = [linear(t), linear(t)];
    b.weight.data.mul_(2);
    prune.global_unstructured(
      [
        [a, "weight"],
        [b, "weight"],
      ],
      prune.L1Unstructured,
      { amount: 4 },
    );
    t.equal(
      [await a.weight_mask.tolist(), await b.weight_mask.tolist()],
      [
        [
          [1, 1],
          [0, 1],
          [0, 0],
        ],
        [
          [1, 1],
          [1, 1],
          [1, 0],
        ],
      ],
    );
    await t.throws(
      () => prune.l1_unstructured(linear(t), "weight", 7),
      /amount=7 should be smaller than the number of parameters to prune=6/,
    );
    await t.throws(
      () => prune.l1_unstructured(linear(t), "weight", 1.5),
      /amount=1.5 should either be a float in the range \[0, 1\]/,
    );
    await t.throws(() => prune.remove(linear(t), "weight"), /has to be pruned before pruning can be removed/);
  },
  "averages of a model": async (t) => {
    const { AveragedModel, get_ema_multi_avg_fn, update_bn, SWALR } = t.torch.optim.swa_utils,
      { nn, optim } = t.torch,
      add = (m) => m.weight.data.add_(1);
    let model = linear(t),
      averaged = AveragedModel(model);
    t.equal(names(averaged), ["n_averaged", "module.weight", "module.bias"]);
    averaged.update_parameters(model);
    for (let i = 0; i < 2; i++) {
      add(model);
      averaged.update_parameters(model);
    }
    t.close(
      [await averaged.module.weight.tolist(), await averaged.n_averaged.item()],
      [
        [
          [4, 5],
          [2, -1],
          [1.5, 1.25],
        ],
        3,
      ],
    );
    t.close(await averaged(t.tensor([1, 0])).tolist(), [4.1, 2.2, 1.8]);
    model = linear(t);
    averaged = AveragedModel(model, { multi_avg_fn: get_ema_multi_avg_fn(0.9) });
    averaged.update_parameters(model);
    add(model);
    averaged.update_parameters(model);
    t.close(await averaged.module.weight.tolist(), [
      [3.1, 4.1],
      [1.1, -1.9],
      [0.6, 0.35],
    ]);
    const rates = async (anneal_strategy) => {
      const optimizer = optim.SGD(linear(t).parameters(), { lr: 0.1 }),
        schedule = SWALR(optimizer, { swa_lr: 0.05, anneal_epochs: 3, anneal_strategy }),
        out = [];
      for (let i = 0; i < 5; i++) {
        await optimizer.step();
        schedule.step();
        out.push(optimizer.param_groups[0].lr);
      }
      return out;
    };
    t.close(await rates("cos"), [0.0875, 0.0625, 0.05, 0.05, 0.05], { rtol: 1e-12 });
    t.close(await rates("linear"), [0.25 / 3, 0.2 / 3, 0.05, 0.05, 0.05], { rtol: 1e-12 });
    const bn = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)).to(t.device);
    bn[0].load_state_dict({
      weight: [
        [1, 0],
        [0, 1],
      ],
      bias: [0, 0],
    });
    bn.eval();
    await update_bn(
      [
        t.tensor([
          [1, 2],
          [3, 5],
        ]),
        [
          t.tensor([
            [0, 1],
            [1, 1],
          ]),
        ],
      ],
      bn,
    );
    t.close(
      [await bn[1].running_mean.tolist(), await bn[1].running_var.tolist(), bn[1].momentum, bn.training],
      [[1.25, 2.25], [1.25, 2.25], 0.1, false],
    );
    await t.throws(() => get_ema_multi_avg_fn(2), /Invalid decay value 2 provided/);
  },
  "parametrizations go over to another module": async (t) => {
    const { parametrizations, parametrize } = t.torch.nn.utils,
      from = parametrizations.weight_norm(linear(t)),
      to = parametrize.transfer_parametrizations_and_params(from, linear(t));
    t.equal(names(to), ["bias", "parametrizations.weight.original0", "parametrizations.weight.original1"]);
    from.parametrizations.weight.original0.data.mul_(2);
    t.close(await to.weight.tolist(), await from.weight.tolist());
    await t.throws(
      () => parametrize.transfer_parametrizations_and_params(from, linear(t), "bias"),
      /does not have a parametrization on bias/,
    );
  },
  "a parametrization answers tensors": async (t) => {
    const { nn } = t.torch,
      { parametrize } = nn.utils;
    const answering = (forward, right_inverse) =>
      Object.assign(new nn.Identity(), { forward, ...(right_inverse && { right_inverse }) });
    const layer = linear(t),
      same = (x) => x;
    for (const [part, message] of [
      [answering(() => 3), /A parametrization must return a tensor. Got number 3/],
      [answering(same, () => 5), /what right_inverse answers/],
      [answering(same, () => [5]), /what right_inverse answers/],
    ])
      await t.throws(() => parametrize.register_parametrization(layer, "weight", part), message);
    t.equal(parametrize.is_parametrized(layer), false);
  },
};
