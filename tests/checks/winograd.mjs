// Convolutions of 3 by 3 with many channels, which WebGPU computes by fewer products (conv2d_winograd of ops/conv.op).

function ok(value, message) {
  if (!value) throw new Error(message);
}

/** A convolution over parts of the channels, added up: each is too small for anything but the formula. */
const inParts = (torch, x, weight, bias, padding) =>
  torch
    .chunk(x, 2, 1)
    .map((part, n) => torch.nn.functional.conv2d(part, torch.chunk(weight, 2, 1)[n], n ? null : bias, { padding }))
    .reduce((a, b) => a.add(b));

export default {
  "values and gradients are those of the formula, with other padding on each axis": async (t) => {
    const { torch, device } = t,
      drawn = torch.Generator().manual_seed(1),
      [input, weight, bias] = [[1, 128, 89, 93], [130, 128, 3, 3], [130]].map((shape) =>
        torch.rand(shape, { generator: drawn, device: "cpu" }).sub(0.5),
      ),
      padding = [0, 2];
    const results = async (on, f) => {
      const given = (await Promise.all([input, weight, bias].map((x) => x.to(on)))).map((x) =>
          x.detach().clone().requires_grad_(),
        ),
        out = f(...given);
      out.mul(out.detach().cos()).sum().backward();
      return Promise.all([out.detach(), ...given.map((x) => x.grad)].map((x) => x.to("cpu")));
    };
    const conv = torch.compile((...x) => torch.nn.functional.conv2d(...x, { padding })),
      made = await results(device, conv),
      told = await results("cpu", (...x) => inParts(torch, ...x, padding));
    for (const [n, name] of ["out", "input", "weight", "bias"].entries()) {
      const most = await told[n].abs().max().item(),
        apart = (await made[n].sub(told[n]).abs().max().item()) / most;
      ok(apart < 1e-5, `${name} is ${apart} apart`);
    }
    const again = await Promise.all([input, weight, bias].map((x) => x.to(device)));
    for (let i = 0; i < 3; i++) conv(...again);
    const text = torch.compiler.explain(conv),
      launches = Number(/(\d+) launches/.exec(text)?.[1]);
    ok(launches > 3 === (device === "webgpu"), text);
  },
};
