// Rows of modules whose members have names of their own: by place, replaced, copied; and lists made of other lists.

const names = (row) => [...row.named_children()].map(([name]) => name);
const kinds = (row) => [...row].map((module) => module.constructor.name);

export default {
  "members of a row with names are found and replaced by their place": async ({ torch, tensor, equal, close }) => {
    const { nn } = torch,
      row = nn.Sequential({ a: nn.Linear(1, 1), b: nn.ReLU(), c: nn.Linear(1, 1) }),
      { a } = row;
    equal([row[0] === a, row[1] === row.b, row[3] === undefined, row.at(-1) === row[2]], [true, true, true, true]);
    row[1] = nn.Tanh();
    row.extend([nn.Sigmoid()]);
    equal(
      [names(row), kinds(row)],
      [
        ["a", "b", "c", "3"],
        ["Linear", "Tanh", "Linear", "Sigmoid"],
      ],
    );
    equal([row.b === row[1], Object.keys(row.state_dict())], [true, ["a.weight", "a.bias", "c.weight", "c.bias"]]);
    row.b = nn.GELU();
    equal([row[1].constructor.name, row.length, row.parameters().length], ["GELU", 4, 4]);
    const x = tensor([[0.5]]);
    close(await row(x).tolist(), await row[3](row[2](row[1](row[0](x)))).tolist());

    const copy = row.deepcopy();
    copy[0] = nn.ELU();
    equal([kinds(copy), kinds(row)[0]], [["ELU", "GELU", "Linear", "Sigmoid"], "Linear"]);
    const part = row.slice(1, 3);
    equal([names(part), part[0] === row.b, part[1] === row.c], [["b", "c"], true, true]);

    row.insert(0, nn.Mish()); // all are numbered then, as in PyTorch
    equal([names(row), row[1] === a, row.a], [["0", "1", "2", "3", "4"], true, undefined]);
    row[0] = nn.SELU();
    equal([kinds(row)[0], row.length], ["SELU", 5]);
  },

  "members that are added by name have places, too": async ({ torch, equal }) => {
    const { nn } = torch,
      row = nn.Sequential();
    row.add_module("conv", nn.Conv1d(1, 2, 1));
    row.add_module("norm", nn.BatchNorm1d(2));
    row.add_module("0", nn.ReLU());
    // The name of a member is no other one's place.
    equal([names(row), kinds(row), row.length], [["conv", "norm", "0"], ["Conv1d", "BatchNorm1d", "ReLU"], 3]);
    equal([row[0] === row.at(2), row[1] === row.norm, row[2] === row.at(2)], [true, true, true]);
    row.pop(0);
    equal([names(row), kinds(row), row[0].constructor.name], [["0", "1"], ["BatchNorm1d", "ReLU"], "BatchNorm1d"]);
  },

  "lists are made of, and longer by, other lists": async ({ torch, equal, throws }) => {
    const { nn } = torch,
      row = nn.Sequential(nn.ReLU(), nn.Tanh()),
      list = nn.ModuleList(row);
    equal(kinds(list), ["ReLU", "Tanh"]);
    list.extend(nn.ModuleList([nn.ELU()])).extend(row.slice(1));
    equal([kinds(list), list[3] === row[1]], [["ReLU", "Tanh", "ELU", "Tanh"], true]);
    equal(kinds(nn.Sequential(nn.Identity()).extend(row)), ["Identity", "ReLU", "Tanh"]);
    const weights = nn.ParameterList(nn.ParameterList([torch.ones([2]), torch.zeros([1])]));
    weights.extend(weights);
    equal(
      [...weights].map((p) => p.shape),
      [[2], [1], [2], [1]],
    );
    const { SGD } = torch.optim;
    equal(SGD(weights.slice(2), 0.1).param_groups[0].params.length, 2);
    equal(SGD([{ params: weights.slice(2) }], 0.1).param_groups[0].params.length, 2);
    await throws(() => SGD(list, 0.1), /optimizer can only optimize Tensors, but one of the params is/);
    const sum = torch.cat([...weights]).sum();
    for (const inputs of [weights, [...weights], weights[Symbol.iterator]()])
      equal(torch.autograd.grad(sum, inputs, { retain_graph: true }).length, 4);
    torch
      .cat([...weights])
      .sum()
      .backward();
    nn.utils.clip_grad_norm_(weights, 1);
    equal(nn.utils.parameters_to_vector(weights).shape, [6]);
    const named = nn.ParameterDict({ a: torch.ones([2]) });
    equal([named.get("a").shape, named.get("b", null), named.get("b", 3), named.get("b")], [[2], null, 3, null]);
    for (const wrong of [nn.ReLU(), () => [], "text", 3])
      await throws(() => list.extend(wrong), /argument 'modules' must be a list of modules/);
  },

  "members are found and replaced from the end": async ({ torch, tensor, equal, throws }) => {
    const { nn } = torch,
      row = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1)),
      named = nn.Sequential({ body: nn.Linear(2, 2), head: nn.Linear(2, 1) }),
      list = nn.ModuleList([nn.ReLU(), nn.Tanh()]),
      numbers = nn.ParameterList([tensor([1]), tensor([2])]);
    equal(
      [row[-1] === row[2], row[-3] === row[0], named[-1] === named.head, list[-2] === list[0]],
      Array(4).fill(true),
    );
    equal(await numbers[-1].tolist(), [2]);
    row[-1] = nn.Linear(2, 5);
    named[-1] = nn.Linear(2, 3);
    list[-1] = nn.GELU();
    numbers[-2] = nn.Parameter(tensor([7]));
    equal([names(row), row[2].out_features, row(tensor([[1, 2]])).shape], [["0", "1", "2"], 5, [1, 5]]);
    equal([names(named), named.head.out_features, kinds(list)], [["body", "head"], 3, ["ReLU", "GELU"]]);
    equal(await torch.cat([...numbers]).tolist(), [7, 2]);
    await throws(() => list[-3], /index -3 is out of range/);
    await throws(() => (row[-4] = nn.ReLU()), /index -4 is out of range/);
    equal([row.length, Object.keys(row.deepcopy().state_dict()).length], [3, 4]);
  },
};
