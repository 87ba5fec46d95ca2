// Sizes that no memory holds: refused before work begins, in the name of the function that was called.

export default {
  "an absurd size": async (t) => {
    await t.throws(
      () =>
        t.torch
          .ones([1 << 20, 1 << 20], { device: t.device })
          .add(1)
          .sum()
          .item(),
      /size|large|memory|limit|bytes/i,
    );
    await t.throws(() => t.torch.ones([-1], { device: t.device }), /-1|negative/);
    let twice = [1, 2];
    for (let n = 0; n < 40; n++) twice = [twice, twice];
    await t.throws(
      () => t.tensor(twice),
      /tensor: a tensor of size \[2, 2, .* is too large: at most 2147483647 elements/,
    );
    // What is made of other functions says it in its own name.
    const { torch } = t,
      F = torch.nn.functional,
      long = t.tensor([1]).expand([1e6]),
      size = 2 ** 40;
    for (const [name, call] of Object.entries({
      kron: () => torch.kron(long, long),
      cartesian_prod: () => torch.cartesian_prod(long, long),
      meshgrid: () => torch.meshgrid(long, long),
      repeat: () => t.tensor([1, 2]).repeat(size),
      fft: () => torch.fft.fft(t.tensor([1]), size),
      rfft2: () => torch.fft.rfft2(t.tensor([[1]]), [size, 2]),
      irfft: () => torch.fft.irfft(t.tensor([1]), size),
      Parameter: () => new torch.nn.Linear(1e8, 1e8),
      outer: () => torch.outer(long, long),
      cdist: () => torch.cdist(long.reshape([-1, 1]), long.reshape([-1, 1])),
      interpolate: () => F.interpolate(t.tensor([[[[1]]]]), { size: [1e6, 1e6] }),
      diag_embed: () => torch.diag_embed(long),
      combinations: () => torch.combinations(long),
    }))
      await t.throws(call, new RegExp(`^(OpError: )?${name}: .*(too large|too many elements)`));
  },
};
