// The tape, memory, modules and random numbers where they are easy to get wrong.
export default {
  "gradients of gradients need no value that the first way back did not": async (t) => {
    const a = t.tensor([1, 2, 3], { requires_grad: true });
    const [g] = t.torch.autograd.grad(a.pow(3).sum(), a, { create_graph: true });
    const [h] = t.torch.autograd.grad(g.sum(), a);
    t.equal(await h.tolist(), [6, 12, 18]);
  },
  "an in-place change of a view reaches the gradient of its base": async (t) => {
    const a = t.tensor(
      [
        [1, 2],
        [3, 4],
      ],
      { requires_grad: true },
    );
    const b = a.clone();
    b.select(0, 0).mul_(10);
    b.sum().backward();
    t.equal(await a.grad.tolist(), [
      [10, 10],
      [1, 1],
    ]);
  },
  "an in-place op keeps what its gradient needs": async (t) => {
    const a = t.tensor([1, 2], { requires_grad: true });
    const b = a.mul(1);
    b.pow_(2);
    b.sum().backward();
    t.equal(await a.grad.tolist(), [2, 4]);
  },
  "a saved tensor that was changed is an error": async (t) => {
    const a = t.tensor([1, 2], { requires_grad: true });
    const b = a.exp();
    b.add_(1);
    await t.throws(() => b.sum().backward(), /modified by an inplace operation.*version 1; expected version 0/s);
  },
  "a second way back without retain_graph is an error": async (t) => {
    const a = t.tensor([1, 2], { requires_grad: true });
    const b = a.mul(a).sum();
    b.backward();
    await t.throws(() => b.backward(), /second time/);
  },
  "views that look twice add up": async (t) => {
    const a = t.tensor([1, 2, 3, 4], { requires_grad: true });
    a.unfold(0, 2, 1).sum().backward();
    t.equal(await a.grad.tolist(), [1, 2, 2, 1]);
    const b = t.tensor([1, 2, 3], { requires_grad: true });
    b.index(t.tensor([0, 0, -1], { dtype: t.torch.long }))
      .sum()
      .backward();
    t.equal(await b.grad.tolist(), [2, 0, 1]);
  },
  "deep and shared graphs": async (t) => {
    const a = t.tensor([1], { requires_grad: true });
    let b = a;
    for (let i = 0; i < 5000; i++) b = b.view(1);
    for (let i = 0; i < 40; i++) b = b.add(b).mul(0.5);
    b.backward();
    t.equal(await a.grad.tolist(), [1]);
  },
  "an autograd.Function of one's own": async (t) => {
    class Square extends t.torch.autograd.Function {
      static forward(ctx, x) {
        ctx.save_for_backward(x);
        return x.mul(x);
      }
      static backward(ctx, grad) {
        const [x] = ctx.saved_tensors;
        return grad.mul(x).mul(2);
      }
    }
    const a = t.tensor([3], { requires_grad: true });
    Square.apply(a).backward();
    t.equal(await a.grad.tolist(), [6]);
  },
  "hooks change gradients, retain_grad keeps them": async (t) => {
    const a = t.tensor([3], { requires_grad: true }),
      b = a.mul(2);
    b.retain_grad();
    a.register_hook((grad) => grad.mul(10));
    b.mul(5).backward();
    t.equal(await b.grad.tolist(), [5]);
    t.equal(await a.grad.tolist(), [100]);
  },
  "what is changed in place keeps the gradient of what it is now": async (t) => {
    const changes = {
        mul_: [(y) => y.mul_(2), [[12], [24], [36]], [72, 144, 216]],
        add_: [(y) => y.add_(1), [[8], [14], [20]], [24, 42, 60]],
        zero_: [(y) => y.zero_(), [[0], [0], [0]], [0, 0, 0]],
        set: [(y) => y.set([0], 5), [[10], [12], [18]], [0, 36, 54]],
        part: [(y) => y.select(0, 1).mul_(2), [[6], [24], [18]], [18, 144, 54]],
        unsqueeze_: [(y) => y.unsqueeze_(0), [[[6], [12], [18]]], [18, 36, 54]],
        t_: [(y) => y.t_(), [[6, 12, 18]], [18, 36, 54]],
        both: [(y) => y.squeeze_(1).mul_(2), [12, 24, 36], [72, 144, 216]],
      },
      kinds = { whole: (y) => y, view: (y) => y.view([3, 1]), part: (y) => t.torch.cat([y, y]).narrow(0, 3, 3) };
    for (const [change, [f, kept, slope]] of Object.entries(changes))
      for (const [kind, of] of Object.entries(kinds)) {
        const x = t.tensor([[1], [2], [3]], { requires_grad: true }),
          y = of(x.mul(3));
        y.retain_grad();
        f(y);
        y.mul(y).sum().backward();
        t.equal([change, kind, await y.grad.tolist(), y.retains_grad], [change, kind, kept, true]);
        t.equal([change, kind, await x.grad.flatten().tolist()], [change, kind, slope]);
      }
  },
  "tidy frees all but what it answers": async (t) => {
    const count = () => t.torch.memory()[t.device]?.buffers ?? 0;
    t.tensor([1]).mul(2);
    const before = count();
    const kept = t.torch.tidy(() => t.tensor([1, 2]).mul(2).add(2).sum());
    t.equal(await kept.item(), 10);
    t.equal(count() <= before + 1, true);
  },
  "index assignment with arrays and masks": async (t) => {
    const x = t.torch.zeros([3, 4], { device: t.device });
    x.set(
      [
        [0, 1],
        [2, 3],
      ],
      5,
    );
    x.set([":", [true, false, false, false]], t.tensor([[7], [8], [9]]));
    t.equal(await x.tolist(), [
      [7, 0, 5, 0],
      [8, 0, 0, 5],
      [9, 0, 0, 0],
    ]);
  },
  "the same seed gives the same numbers, and dropout the same mask on the way back": async (t) => {
    t.torch.manual_seed(5);
    const a = await t.torch.rand([3], { device: t.device }).tolist();
    t.torch.manual_seed(5);
    t.equal(await t.torch.rand([3], { device: t.device }).tolist(), a);
    const x = t.torch.ones([64], { device: t.device, requires_grad: true });
    const y = t.torch.nn.functional.dropout(x, 0.5, true);
    y.sum().backward();
    t.equal(await x.grad.tolist(), await y.tolist());
  },
  "batch normalisation keeps running statistics; a state can be loaded again": async (t) => {
    const { nn } = t.torch;
    const m = nn.BatchNorm1d(2),
      other = new nn.BatchNorm1d(2);
    await m.to(t.device);
    await other.to(t.device);
    m(
      t.tensor([
        [1, 2],
        [3, 6],
      ]),
    );
    t.close(await m.running_mean.tolist(), [0.2, 0.4]);
    t.equal(await m.num_batches_tracked.item(), 1);
    other.load_state_dict(m.state_dict());
    t.close(
      await other
        .eval()(t.tensor([[0.2, 0.4]]))
        .tolist(),
      [[0, 0]],
    );
    await t.throws(() => other.load_state_dict({ weight: t.tensor([1, 2]) }), /Missing key.*running_mean/s);
  },
};
