// Batch normalisation over all processes, of which there is one: as BatchNorm, in whose places it comes.

export default {
  "SyncBatchNorm is a BatchNorm of any number of axes": async ({ torch, device, close, equal, throws }) => {
    const { nn } = torch,
      { _BatchNorm } = nn.modules.batchnorm;
    for (const [Plain, shape] of [
      [nn.BatchNorm1d, [5, 3]],
      [nn.BatchNorm2d, [2, 3, 4, 2]],
      [nn.BatchNorm3d, [2, 3, 2, 1, 2]],
    ]) {
      const plain = Plain(3, { eps: 0.01, momentum: 0.3 }).to(device),
        sync = nn.SyncBatchNorm(3, 0.01, 0.3, true, true, null).to(device),
        x = torch.randn(shape, { device });
      equal(
        [plain instanceof _BatchNorm, sync instanceof _BatchNorm, plain instanceof nn.SyncBatchNorm],
        [true, true, false],
      );
      close(await sync(x).tolist(), await plain(x).tolist());
      close(await sync.running_var.tolist(), await plain.running_var.tolist());
      close(await sync.eval()(x).tolist(), await plain.eval()(x).tolist());
    }
    const sync = nn.SyncBatchNorm({ num_features: 3, momentum: null, process_group: null });
    equal(String(sync), "SyncBatchNorm(3, eps=1e-05, momentum=None, affine=True, bias=True, track_running_stats=True)");
    await throws(() => sync(torch.ones([3])), /expected at least 2D input \(got 1D input\)/);
    equal(nn.InstanceNorm1d(3) instanceof _BatchNorm, false);
  },
  "convert_sync_batchnorm puts them in the places of others, with what they hold": async ({ torch, device, equal }) => {
    const { nn } = torch,
      net = nn
        .Sequential(
          nn.Linear(2, 3),
          nn.BatchNorm1d(3, { affine: false, momentum: 0.5 }),
          nn.Sequential(nn.BatchNorm1d(3, { bias: false })),
        )
        .to(device);
    net.eval();
    net[1].running_mean.fill_(4);
    const made = nn.SyncBatchNorm.convert_sync_batchnorm(net),
      [, one, [two]] = [...made].map((part) => (part instanceof nn.Sequential ? [...part] : part));
    equal(made === net, true);
    equal(
      [one, two].map((part) => part instanceof nn.SyncBatchNorm && part.training),
      [false, false],
    );
    equal(
      [one.weight, one.bias, one.momentum, two.bias, await one.running_mean.tolist()],
      [null, null, 0.5, null, [4, 4, 4]],
    );
    const alone = nn.BatchNorm2d(1),
      other = nn.SyncBatchNorm.convert_sync_batchnorm(alone);
    equal(
      [other === alone, other.weight === alone.weight, other.num_batches_tracked === alone.num_batches_tracked],
      [false, true, true],
    );
  },
};
