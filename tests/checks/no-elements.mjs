// Results without elements: their ways back reach inputs that have some, and read nothing where nothing is.

const F = (t) => t.torch.nn.functional;

/** Calls whose results are empty though `x`, of the shape given, is not; enough elements for kernels of four at once. */
const CALLS = {
  "pad, of one axis": [[9], (x, t) => F(t).pad(x, [-4, -5])],
  "pad, behind": [[3, 8], (x, t) => F(t).pad(x, [0, -8], { value: 2 })],
  "pad, one axis cropped and one wider": [[2, 6], (x, t) => F(t).pad(x, [-3, -3, 1, 2])],
  "pad of three axes": [[2, 4, 8], (x, t) => F(t).pad(x, [1, 1, -2, -2, 0, 3])],
  narrow: [[8], (x) => x.narrow(0, 3, 0)],
  "narrow of columns": [[3, 8], (x) => x.narrow(1, 8, 0)],
  "index with a step": [[3, 8], (x, t) => x.index("3:3:2")],
  index_select: [[8, 2], (x, t) => x.index_select(0, t.torch.zeros([0], { dtype: "int64", device: t.device }))],
  gather: [[8, 2], (x, t) => x.gather(0, t.torch.zeros([0, 2], { dtype: "int64", device: t.device }))],
  masked_select: [[8], (x) => x.masked_select(x.gt(1e9))],
  diff: [[1, 8], (x, t) => t.torch.diff(x, { dim: 0 })],
  roll: [[1, 8], (x) => x.expand([1, 8]).narrow(0, 1, 0).roll(1, 1)],
  flip: [[4, 8], (x) => x.narrow(0, 0, 0).flip([0, 1])],
  tril: [[4, 8], (x) => x.narrow(1, 0, 0).tril()],
  repeat: [[8], (x) => x.repeat([0, 2])],
  repeat_interleave: [[8], (x) => x.repeat_interleave(0)],
  where: [[1, 8], (x, t) => t.torch.where(x.narrow(0, 0, 0).gt(0), x, x.neg())],
  "slice_scatter of nothing": [[8], (x, t) => t.torch.slice_scatter(x.narrow(0, 0, 0), x.narrow(0, 2, 0))],
  matmul: [[4, 8], (x) => x.narrow(0, 0, 0).matmul(x.t())],
  conv1d: [[1, 2, 8], (x, t) => F(t).conv1d(x.narrow(0, 0, 0), x.narrow(2, 0, 3))],
  topk: [[4, 8], (x) => x.topk(0).values],
  sort: [[4, 8], (x) => x.narrow(1, 0, 0).sort().values],
  cumsum: [[4, 8], (x) => x.narrow(1, 2, 0).cumsum(1)],
  softmax: [[4, 8], (x) => x.narrow(1, 2, 0).softmax(1)],
  unfold: [[8], (x) => x.unfold(0, 3, 1).narrow(0, 0, 0)],
  interpolate: [[2, 2, 8], (x, t) => F(t).interpolate(x.narrow(0, 0, 0), { scale_factor: 2, mode: "linear" })],
};

export default {
  "what reaches nothing has a gradient of zeros": async (t) => {
    for (const [name, [shape, call]] of Object.entries(CALLS)) {
      const x = t.torch.ones(shape, { device: t.device, requires_grad: true }),
        y = await call(x, t);
      t.equal([name, y.numel()], [name, 0]);
      const gradient = t.torch.autograd.grad(y.sum(), [x], { create_graph: true, materialize_grads: true })[0];
      t.equal([name, gradient.shape, await gradient.count_nonzero().item()], [name, shape, 0]);
    }
  },
};
