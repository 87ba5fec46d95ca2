// view(dtype): the bits of elements seen as elements of another type, on the same memory.

export default {
  "bits as another type": async (t) => {
    const { torch } = t,
      x = t.tensor([
        [1, -2.5, 0],
        [-0, Infinity, 3],
      ]),
      bits = x.view(torch.int32);
    t.equal(await bits.tolist(), [
      [1065353216, -1071644672, 0],
      [-(2 ** 31), 2139095040, 1077936128],
    ]);
    t.equal([bits.dtype, bits.storage === x.storage, bits.requires_grad], ["int32", true, false]);
    t.equal(await bits.view({ dtype: "float32" }).tolist(), await x.tolist());
    t.equal((await x.t().view({ dtype: torch.uint32 }).tolist())[1], [3223322624, 2139095040]);
    t.equal(String(await bits.select(0, 1).add(0).tolist()), String([-(2 ** 31), 2139095040, 1077936128]));
    // the same memory: written through either, of any place and by any way of writing
    bits.bitwise_and_(2 ** 31 - 1);
    t.equal(await x.tolist(), [
      [1, 2.5, 0],
      [0, Infinity, 3],
    ]);
    bits.index(0).copy_(t.tensor([2, 0, 1], { dtype: "float32" }).view("int32"));
    bits.set([1, "1:"], 0x40490fdb);
    t.equal(await x.tolist(), [
      [2, 0, 1],
      [0, Math.fround(Math.PI), Math.fround(Math.PI)],
    ]);
    x.fill_(1);
    t.equal(await bits.amax().item(), 1065353216);
    // the trick of the inverse square root, as it is written, and compiled
    const rough = (v) => v.view(torch.int32).bitwise_right_shift(1).neg().add(0x5f3759df).view(torch.float32),
      given = t.tensor([1, 4, 0.25, 100]),
      wanted = [0.966215, 0.4831075, 1.93243, 0.1031988];
    t.close(await rough(given).tolist(), wanted, { rtol: 1e-5 });
    const fast = torch.compile((v) => rough(v.mul(4)).mul(2).sin());
    for (let n = 0; n < 3; n++)
      t.close(
        await fast(given.div(4)).tolist(),
        wanted.map((v) => Math.sin(2 * v)),
        { rtol: 1e-5 },
      );
    // what PyTorch says of gradients, and what has other bits here
    const leaf = t.tensor([1, 2]).requires_grad_(),
      y = leaf.mul(1);
    t.equal([leaf.view("int32").requires_grad, y.view("float32").requires_grad], [false, true]);
    const saved = leaf.mul(leaf);
    leaf.view("int32").add_(0);
    await t.throws(() => saved.sum().backward(), /modified by an inplace operation/);
    await t.throws(
      () => x.view("int16"),
      /view: cannot view float32 as int16.*(4 and of 2 bytes|takes 4 bytes and not 2)/,
    );
    await t.throws(() => x.view(torch.complex64), /view: cannot view float32 as complex64.*view_as_complex/);
    await t.throws(() => x.view([6], { dtype: "int32" }), /view: takes at most 0 positional/);
    await t.throws(() => x.view("int33"), /view: argument .dtype. must be a dtype/);
    if (t.device === "cpu") {
      t.equal(await t.tensor([1.5], { dtype: "float64" }).view("int64").tolist(), [4609434218613702656n]);
      t.equal(await t.tensor([true, false]).view(torch.uint8).add(1).tolist(), [2, 1]);
      await t.throws(
        () => x.to("float16").view("int16"),
        /cannot view float16 as int16 on cpu, where .* takes 4 bytes/,
      );
    } else
      await t.throws(() => x.to("int64").view("int32"), /int64 as int32 on webgpu, where .* takes 4 bytes and not 8/);
  },
};
