// torch.optim.swa_utils: averages of parameters and buffers, whatever they are made of and wherever they are counted, in
// a compiled step as without one. The numbers are PyTorch's.
import { made, all, ok, same } from "./compile.mjs";

const mixed = (t) => {
  const { nn } = t.torch,
    model = nn.Sequential(nn.Linear(2, 1), nn.BatchNorm1d(1));
  model.register_buffer("k", t.tensor([3, 5], { dtype: "int64" }));
  return model.to(t.device);
};
/** Four values go into the average, of parameters and buffers that change in between. */
async function averaged(t, options, move = () => {}) {
  const { torch } = t,
    model = mixed(t),
    average = torch.optim.swa_utils.AveragedModel(model, options),
    [linear, norm] = [model[0], model[1]];
  move(average);
  torch.no_grad(() => {
    linear.weight.fill_(1);
    linear.bias.fill_(2);
  });
  for (let i = 0; i < 4; i++) {
    average.update_parameters(model);
    torch.no_grad(() => {
      linear.weight.add_(1);
      linear.bias.mul_(2);
      model.k.add_(7);
      norm.num_batches_tracked.add_(3);
      norm.running_mean.add_(1);
    });
  }
  const { module } = average;
  return [
    await average.n_averaged.item(),
    await module.k.tolist(),
    await module[0].weight.tolist(),
    await module[0].bias.tolist(),
    await module[1].running_mean.tolist(),
    await module[1].num_batches_tracked.item(),
  ];
}

export default {
  "means and averages that forget, of floats and of whole numbers": async (t) => {
    const { get_ema_avg_fn, get_ema_multi_avg_fn, get_swa_avg_fn, get_swa_multi_avg_fn } = t.torch.optim.swa_utils,
      mean = [4, [12, 14], [[2.5, 2.5]], [7.5], [1.5], 3],
      forgets = [4, [6, 8], [[1.561, 1.561]], [4.102], [0.561], 0];
    for (const [options, wanted] of [
      [{}, [4, [24, 26], [[2.5, 2.5]], [7.5], [3], 9]],
      [{ use_buffers: true }, mean],
      [{ use_buffers: true, avg_fn: get_swa_avg_fn() }, mean],
      [{ use_buffers: true, multi_avg_fn: get_swa_multi_avg_fn() }, mean],
      [{ use_buffers: true, avg_fn: get_ema_avg_fn(0.9) }, forgets],
      [{ use_buffers: true, multi_avg_fn: get_ema_multi_avg_fn(0.9) }, forgets],
    ])
      t.close(await averaged(t, options), wanted);
  },
  "an average of a program's own gets the count as a tensor, where the parameters are": async (t) => {
    const wanted = [4, [24, 26], [[2.5, 2.5]], [7.5], [3], 9],
      ofOne = (average, current, n) => average.add(current.sub(average).div(n.add(1))),
      inPlace = (average, current, n) => {
        average.mul_(n).add_(current).div_(n.add(1));
        return average;
      },
      ofMany = (averages, currents, n) => averages.forEach((x, i) => x.copy_(ofOne(x, currents[i], n)));
    for (const options of [{ avg_fn: ofOne }, { avg_fn: inPlace }, { multi_avg_fn: ofMany }])
      t.close(await averaged(t, options), wanted);
    t.close(await averaged(t, {}, (average) => average.to(t.device)), wanted);
    const { n_averaged } = t.torch.optim.swa_utils.AveragedModel(mixed(t), { device: t.device });
    t.equal([n_averaged.device, n_averaged.shape], [t.device, []]);
  },
  "the first parameters are copied, whatever an average of nothing and them is": async (t) => {
    const { torch } = t,
      model = mixed(t),
      average = torch.optim.swa_utils.AveragedModel(model, { avg_fn: (x, y, n) => x.mul(n).div(n) });
    torch.no_grad(() => average.module[0].weight.fill_(NaN));
    average.update_parameters(model);
    t.equal(await average.module[0].weight.tolist(), await model[0].weight.tolist());
  },
  "a compiled training step averages as an eager one": async (t) => {
    const { torch } = t,
      { nn, optim } = torch,
      { AveragedModel, SWALR, get_ema_multi_avg_fn, update_bn } = optim.swa_utils;
    for (const options of [{}, { multi_avg_fn: get_ema_multi_avg_fn(0.8), use_buffers: true }]) {
      const courses = [];
      for (const compiled of [false, true]) {
        torch.manual_seed(3);
        const model = nn.Sequential(nn.Linear(5, 4), nn.BatchNorm1d(4), nn.Tanh(), nn.Linear(4, 3)),
          average = AveragedModel(model, options),
          optimizer = optim.SGD(model.parameters(), { lr: 0.1, momentum: 0.9 }),
          schedule = SWALR(optimizer, { swa_lr: 0.02, anneal_epochs: 3 }),
          own = (x, y) => {
            optimizer.zero_grad();
            const loss = nn.functional.mse_loss(model(x), y);
            loss.backward();
            void optimizer.step();
            average.update_parameters(model);
            return loss;
          },
          step = compiled ? torch.compile(own, { fullgraph: true }) : own,
          course = [];
        for (let i = 0; i < 6; i++) {
          course.push(...(await all([await step(made(t, [6, 5], 100 * i), made(t, [6, 3], 50 * i))])));
          schedule.step();
        }
        if (compiled) {
          const counts = torch.compiler.counts(step);
          ok(counts.replays >= 3, `${counts.replays} replays`);
          t.equal(counts.eager, 0);
        }
        await update_bn([made(t, [6, 5], 1), [made(t, [6, 5], 2)]], average);
        for (const x of Object.values(average.state_dict())) course.push(...(await x.data()).map(Number));
        course.push(
          optimizer.param_groups[0].lr,
          ...(await average
            .eval()(made(t, [2, 5], 9))
            .data()),
        );
        courses.push(course);
      }
      same(t, courses[1], courses[0]);
    }
  },
};
