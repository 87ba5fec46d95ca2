// Bad input is refused with the operator, what was given and what is expected; nothing changes.
export default {
  "wrong shapes": async (t) => {
    const a = t.torch.ones([2, 3], { device: t.device });
    await t.throws(() => a.matmul(a), /matmul.*(2x3 and 2x3|\[2, 3\])/);
    await t.throws(() => a.add(t.torch.ones([2, 2], { device: t.device })), /add.*(3.*2|broadcast)/);
    await t.throws(() => a.reshape(4, 2), /reshape.*\[4, 2\]/);
    await t.throws(() => t.torch.cat([a, t.torch.ones([2], { device: t.device })]), /cat/);
  },
  "a dimension out of range": async (t) => {
    const a = t.torch.ones([2, 3], { device: t.device });
    await t.throws(() => a.sum(2), /\[-2, 1\].*2/);
    await t.throws(() => a.softmax(-3), /\[-2, 1\].*-3/);
  },
  "wrong types": async (t) => {
    const i = t.tensor([1, 2], { dtype: t.torch.int32 });
    await t.throws(() => t.torch.nn.functional.gelu(i), /gelu/);
    await t.throws(() => t.tensor([1, 2]).bitwise_and(t.tensor([1, 2])), /bitwise_and/);
    await t.throws(() => i.requires_grad_(true), /float/i);
    await t.throws(() => t.torch.matmul(t.tensor([1]), "two"), /matmul/);
  },
  "wrong options": async (t) => {
    const a = t.torch.ones([2, 3], { device: t.device });
    await t.throws(() => a.sum({ dims: 1 }), /sum.*dims/);
    await t.throws(() => t.torch.nn.functional.mse_loss(a, a, { reduction: "average" }), /mse_loss.*average/);
    await t.throws(() => a.sum(0, true, 7, 8), /sum/);
  },
  "a wrong device": async (t) => {
    await t.throws(() => t.torch.ones([1], { device: "tpu" }), /tpu/);
    if (t.device === "webgpu") {
      await t.throws(() => t.tensor([1]).add(t.torch.ones([1], { device: "cpu" })), /cpu.*webgpu|webgpu.*cpu/);
      await t.throws(() => t.tensor([1], { dtype: t.torch.float64 }), /float64/);
    }
  },
  "a disposed tensor": async (t) => {
    const a = t.tensor([1, 2]);
    a.dispose();
    await t.throws(() => a.add(1), /disposed/);
    await t.throws(() => a.tolist(), /disposed/);
  },
  "an absurd size": async (t) => {
    await t.throws(() => t.torch.ones([1 << 20, 1 << 20], { device: t.device }).add(1).sum().item(), /size|large|memory|limit|bytes/i);
    await t.throws(() => t.torch.ones([-1], { device: t.device }), /-1|negative/);
  },
  "an index out of range": async (t) => {
    const x = t.tensor([1, 2, 3]);
    await t.throws(() => x.index(3), /3/);
    if (t.device === "cpu") {
      await t.throws(() => t.torch.gather(x, 0, t.tensor([5], { dtype: t.torch.long })).tolist(), /range|bounds/);
    }
  },
  "elements that are not allowed": async (t) => {
    const { torch } = t, probabilities = t.tensor([0.5, -0.5]);
    if (t.device === "cpu") {
      await t.throws(() => torch.multinomial(probabilities, 1), /multinomial.*element < 0/);
      await t.throws(() => torch.bernoulli(probabilities), /bernoulli.*from 0 to 1/);
      await t.throws(() => torch.cov(t.tensor([[1, 2]]), { aweights: probabilities }), /cov.*aweights cannot be negative/);
    }
    t.equal((await torch.multinomial(t.tensor([0, 1]), 1).tolist()), [1]);
    t.equal(await torch.bernoulli(t.tensor([0, 1])).tolist(), [0, 1]);
  },
  "a failed call leaves its tensors as they were": async (t) => {
    const a = t.tensor([1, 2, 3]);
    await t.throws(() => a.add_(t.tensor([1, 2])), /add_?/);
    t.equal(await a.tolist(), [1, 2, 3]);
  },
};
