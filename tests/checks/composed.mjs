// Functions that the runtime makes of several ops.  Wanted values are PyTorch's.
const near = { atol: 1e-5 };

export default {
  "slopes of sampled functions": async (t) => {
    const x = t.tensor([1, 2, 4, 7, 11], { dtype: "float32", requires_grad: true });
    const [slope] = t.torch.gradient(x);
    t.equal(await slope.tolist(), [1, 1.5, 2.5, 3.5, 4]);
    slope.backward(t.tensor([1, 1, 1, 1, 1], { dtype: "float32" }));
    t.equal(await x.grad.tolist(), [-1.5, 0.5, 0, -0.5, 1.5]);
    t.equal(await t.torch.gradient(x.detach(), { spacing: 0.5, edge_order: 2 })[0].tolist(), [1, 3, 5, 7, 9]);
    const places = t.tensor([0, 1, 3, 4, 6], { dtype: "float32" });
    t.close(await t.torch.gradient(places.square(), { spacing: [places], edge_order: 2 })[0].tolist(), [0, 2, 6, 8, 12], near);
    t.equal(t.torch.gradient(t.torch.ones([3, 4], { device: t.device })).map((s) => s.shape), [[3, 4], [3, 4]]);
    await t.throws(() => t.torch.gradient(x, { edge_order: 3 }), /only supports edge_order=1 and edge_order=2/);
    await t.throws(() => t.torch.gradient(t.tensor([1, 2]), { edge_order: 2 }), /at least edge_order\+1/);
    await t.throws(() => t.torch.gradient(x, { spacing: [1, 2] }), /length equal to the number of dimensions/);
  },
  "along an axis under a mask": async (t) => {
    const x = t.tensor([3, 1, 2, 5], { dtype: "float32" }), mask = t.tensor([true, false, true, true]), { masked } = t.torch;
    t.equal(await masked.cumsum(x, 0, { mask }).tolist(), [3, 3, 5, 10]);
    t.equal(await masked.cumprod(x, 0, { mask }).tolist(), [3, 3, 6, 30]);
    t.equal(await masked.median(x, 0, { mask }).item(), 3);
    t.equal(await masked.median(x, 0, { mask: t.tensor([false, false, false, false]) }).item(), NaN);
    t.equal(await masked.cumsum(t.tensor([[1, 2], [3, 4]]), 1, { mask: t.tensor([true, false]) }).tolist(), [[1, 1], [3, 3]]);
    await t.throws(() => masked.cumsum(x, 0, { mask: x }), /'mask' must be a bool tensor/);
  },
  "powers in the widest floats": async (t) => {
    const y = t.torch.float_power(t.tensor([1, 2, 3]), 2);
    t.equal(await y.tolist(), [1, 4, 9]);
    t.equal(y.dtype, t.device === "cpu" ? "float64" : "float32");
    t.equal(await t.torch.float_power(2, t.tensor([3, -1])).tolist(), [8, 0.5]);
    await t.throws(() => t.torch.float_power(2, 3), /must be a tensor/);
  },
  "distance of two tensors": async (t) => {
    const a = t.tensor([1, 2, 4], { dtype: "float32", requires_grad: true }), b = t.tensor(0, { dtype: "float32", requires_grad: true });
    const d = t.torch.dist(a, b, { p: 1 });
    t.equal(await d.item(), 7);
    d.backward();
    t.equal(await b.grad.item(), -3);
    t.close(await a.dist(b).item(), 4.58257569, near);
  },
  "layer norm with its moments": async (t) => {
    const [out, mean, rstd] = t.torch.native_layer_norm(t.tensor([[1, 3], [2, 6]], { dtype: "float32" }), [2], null, null, 0);
    t.equal(await out.tolist(), [[-1, 1], [-1, 1]]);
    t.equal(await mean.tolist(), [[2], [4]]);
    t.equal(await rstd.tolist(), [[1], [0.5]]);
  },
};
