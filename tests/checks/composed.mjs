// Functions made of several ops: Einstein's sum, attention with several heads, bounds that a tensor holds.
export default {
  "einsum multiplies, sums, transposes and takes diagonals": async (t) => {
    const { einsum } = t.torch, a = t.tensor([[1, 2], [3, 4]]), b = t.tensor([[1, 0, 2], [0, 1, 1]]);
    t.equal(await einsum("ij,jk->ik", a, b).tolist(), [[1, 2, 4], [3, 4, 10]]);
    t.equal(await einsum("ij,jk", [a, b]).tolist(), [[1, 2, 4], [3, 4, 10]]);
    t.equal(await einsum("ji", a).tolist(), [[1, 3], [2, 4]]);
    t.equal(await einsum("ii->i", a).tolist(), [1, 4]);
    t.equal(await einsum("ii", a).item(), 5);
    t.equal(await einsum("i,j,k->kji", a.index(0), a.index(1), t.tensor([1, -1])).tolist(), [[[3, 6], [4, 8]], [[-3, -6], [-4, -8]]]);
    t.equal(await einsum("...j,...j->...", a, t.tensor([10, 1])).tolist(), [12, 34]);
  },
  "einsum has gradients and says what is wrong": async (t) => {
    const { einsum } = t.torch, a = t.tensor([[1, 2], [3, 4]], { requires_grad: true }), v = t.tensor([5, 7]);
    einsum("ij,j->", a, v).backward();
    t.equal(await a.grad.tolist(), [[5, 7], [5, 7]]);
    await t.throws(() => einsum("i,j", a, v), /number of subscripts in the equation \(1\) does not match the number of dimensions \(2\)/);
    await t.throws(() => einsum("ij->k", a), /output subscript k does not appear/);
    await t.throws(() => einsum("ij,ik->j", a, t.tensor([[1], [2], [3]])), /does not broadcast with previously seen size 2/);
  },
  "attention of two heads attends to each half of the features": async (t) => {
    const { torch } = t, F = torch.nn.functional, eye = torch.eye(2, { device: t.device }), none = torch.zeros([2], { device: t.device });
    const q = t.tensor([[0, 0]]), kv = t.tensor([[1, 2], [3, 6]]), all = torch.cat([eye, eye, eye]);
    const [out, weights] = F.multi_head_attention_forward(q, kv, kv, 2, 2, all, null, null, null, false, 0, eye, none);
    t.close(await out.tolist(), [[2, 4]]);
    t.close(await weights.tolist(), [[0.5, 0.5]]);
    const mask = t.tensor([[false, true]]);
    const [masked, absent] = F.multi_head_attention_forward(q, kv, kv, 2, 2, all, null, null, null, false, 0, eye, none, { attn_mask: mask, need_weights: false });
    t.close(await masked.tolist(), [[1, 2]]);
    t.equal(absent, null);
  },
  "linspace takes its bounds from tensors": async (t) => {
    t.close(await (await t.torch.linspace(t.tensor(0), t.tensor(1), 3)).tolist(), [0, 0.5, 1]);
  },
};
