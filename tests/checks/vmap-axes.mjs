// torch.func: axes of arguments and results of vmap, modules stacked for it.

export default {
  "vmap's axes fit arguments and results": async (t) => {
    const { torch } = t,
      { vmap } = torch.func,
      x = t.tensor([
        [3, 1, 2],
        [4, 6, 5],
      ]);
    const [values, indices] = vmap((row) => row.sort())(x);
    t.equal(await values.tolist(), [
      [1, 2, 3],
      [4, 5, 6],
    ]);
    t.equal(
      (await indices.tolist()).map((row) => row.map(Number)),
      [
        [1, 2, 0],
        [0, 2, 1],
      ],
    );
    t.equal(await vmap((row) => row, { out_dims: [1] })(x).tolist(), await x.t().tolist());
    const [rows, text] = vmap((row) => [row, "text"], { out_dims: [0, null] })(x);
    t.equal([await rows.tolist(), text], [await x.tolist(), "text"]);
    for (const in_dims of [[0], [0, 0, 0]])
      await t.throws(
        () => vmap(torch.mul, in_dims)(x, x),
        /in_dims is not compatible with the structure of the arguments/,
      );
    for (const [out_dims, f] of [
      [[0, 0], (row) => row],
      [[0], (row) => [row, row]],
    ])
      await t.throws(() => vmap(f, { out_dims })(x), /out_dims is not compatible with the structure of the result/);
    await t.throws(() => vmap((row) => row, { out_dims: "0" })(x), /argument 'out_dims' must be/);
  },
  "modules to be stacked train alike": async (t) => {
    const { nn, func } = t.torch,
      models = [new nn.Linear(1, 1), new nn.Linear(1, 1).eval()];
    await t.throws(() => func.stack_module_state(models), /same training\/eval mode/);
  },
};
