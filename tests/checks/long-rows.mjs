// Few long rows: a GPU reduces them in parts, in several launches.  Values and gradients are those of float64 on the CPU.

/** name -> [shapes, function of tensors] */
const CASES = {
  "batch norm": [
    [[8, 4, 48, 48], [4], [4]],
    (F, x, weight, bias) => F.batch_norm(x, null, null, { weight, bias, training: true }),
  ],
  "group norm": [[[1, 8, 96, 96], [8], [8]], (F, x, weight, bias) => F.group_norm(x, 4, weight, bias)],
  "instance norm": [[[2, 3, 136, 136]], (F, x) => F.instance_norm(x)],
  "layer norm of few": [[[3, 20000], [20000], [20000]], (F, x, weight, bias) => F.layer_norm(x, [20000], weight, bias)],
  "layer norm of many": [[[3000, 384], [384], [384]], (F, x, weight, bias) => F.layer_norm(x, [384], weight, bias)],
  softmax: [[[3, 20001]], (F, x) => F.softmax(x, 1)],
  "softmax of columns": [[[20000, 20]], (F, x) => F.softmax(x, 0)],
  "log softmax": [[[2, 20000]], (F, x) => F.log_softmax(x, 1)],
  normalize: [[[2, 20001]], (F, x) => F.normalize(x, { dim: 1 })],
  variance: [[[3, 20001]], (F, x) => x.var(1)],
  logsumexp: [[[3, 20000]], (F, x) => x.logsumexp(1)],
};

/** The result and the gradients, as flat lists of numbers. */
async function answers(t, f, inputs, dtype, device) {
  const own = inputs.map((x) => x.to(device).to(dtype).requires_grad_()),
    out = f(t.torch.nn.functional, ...own),
    cotangent = t.torch.arange(out.numel(), { device }).remainder(7).sub(3).reshape(out.shape).to(dtype);
  out.mul(cotangent).sum().backward();
  return Promise.all([out, ...own.map((x) => x.grad)].map(async (x) => (await x.tolist()).flat(Infinity)));
}

export default Object.fromEntries(
  Object.entries(CASES).map(([name, [shapes, f]]) => [
    name,
    async (t) => {
      t.torch.manual_seed(5);
      const inputs = shapes.map((shape) => t.torch.randn(shape, { device: "cpu" })),
        wanted = await answers(t, f, inputs, "float64", "cpu"),
        got = await answers(t, f, inputs, "float32", t.device);
      wanted.forEach((list, i) => {
        const largest = list.reduce((a, v) => Math.max(a, Math.abs(v)), 0),
          worst = list.reduce((a, v, j) => Math.max(a, Math.abs(v - got[i][j])), 0);
        t.equal([i, got[i].length, worst <= 2e-6 * largest], [i, list.length, true]);
      });
    },
  ]),
);
