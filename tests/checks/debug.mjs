// torch.set_debug: ops that make NaN and infinities are named, gradients' too, and what is right passes.

/** Runs `body` with set_debug on, and turns it off whatever happens. */
async function debugging(torch, options, body) {
  torch.set_debug(true, options);
  try {
    return await body();
  } finally {
    torch.set_debug(false);
  }
}

export default {
  async "an op that makes NaN is named, with its inputs"({ torch, tensor, throws }) {
    const x = tensor([
      [1, 2],
      [3, -4],
    ]);
    await debugging(torch, { replay: false }, () =>
      throws(
        async () => await x.log().tolist(),
        /^set_debug: log made (-?NaN) of finite numbers: 'out' at \[1, 1\]\. Its inputs:\n {2}input: float32 \[2, 2\], from -4 to 3$/,
      ),
    );
  },
  async "an op that makes an infinity is named; one that is given it is not"({ torch, tensor, throws, equal }) {
    await debugging(torch, { replay: false }, async () => {
      await throws(
        async () => await tensor([1, 0]).reciprocal().tolist(),
        /set_debug: reciprocal made Infinity of finite numbers: 'out' at \[1\]/,
      );
      equal(
        await tensor([1, 2])
          .masked_fill(tensor([true, false]), -Infinity)
          .add(1)
          .tolist(),
        [-Infinity, 3],
      );
    });
  },
  async "gradients are checked"({ torch, tensor, throws }) {
    const x = tensor([4, 0], { requires_grad: true });
    await debugging(torch, { replay: false }, () =>
      throws(async () => {
        x.sqrt().sum().backward();
        await x.grad.tolist();
      }, /set_debug: SqrtBackward0 made Infinity of finite numbers: the gradient of 'input' at \[1\]/),
    );
  },
  async "what is right passes with a replay: views, gradients, steps in place, random numbers"({
    torch,
    device,
    tensor,
    equal,
  }) {
    const { nn, optim } = torch;
    await debugging(torch, {}, async () => {
      equal(torch.is_debug_enabled(), true);
      const model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Dropout(0.5), nn.Linear(4, 2)).to(device),
        optimizer = optim.SGD(model.parameters(), { lr: 0.1, momentum: 0.9 });
      for (let step = 0; step < 2; step++) {
        optimizer.zero_grad();
        const out = model(
          tensor([
            [1, 2, 3],
            [4, 5, 6],
          ]).index(":", "::1"),
        );
        torch.nn.functional.cross_entropy(out.T.contiguous().T, tensor([0, 1], { dtype: torch.long })).backward();
        await optimizer.step();
      }
      const x = tensor([
        [1, 2],
        [3, 4],
      ]);
      x.T.add_(torch.randn([2, 2], { device }));
      equal((await x.tolist()).length, 2);
    });
    equal(torch.is_debug_enabled(), false);
  },
  async "a kernel that computes something else is named, with the largest difference"({
    torch,
    device,
    tensor,
    throws,
    equal,
  }) {
    if (device !== "webgpu") return equal(device, "cpu"); // there is nothing to compare with
    const gpu = torch.gpuDevice(),
      { createShaderModule } = gpu;
    gpu.createShaderModule = (descriptor) =>
      createShaderModule.call(
        gpu,
        descriptor.label === "cosh"
          ? { ...descriptor, code: descriptor.code.replaceAll("= cosh_of(r0)", "= cosh_of(r0) * (1.0 + r0)") }
          : descriptor,
      );
    try {
      await debugging(torch, {}, () =>
        throws(
          async () =>
            await tensor([
              [0, 0],
              [0.5, 0],
            ])
              .cosh()
              .tolist(),
          /^set_debug: cosh differs between webgpu and the cpu: 'out' at \[1, 0\] is 1\.69\d+ on webgpu and 1\.12\d+ on the cpu; the largest difference is 0\.56/,
        ),
      );
    } finally {
      gpu.createShaderModule = createShaderModule;
    }
  },
  async "options are checked"({ torch, throws }) {
    await throws(() => torch.set_debug(true, { nan: true }), /set_debug: got an unexpected keyword argument 'nan'/);
  },
};
