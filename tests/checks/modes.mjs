// inference_mode, anomaly detection, gradcheck, and autograd.Function.
const leaf = (t, data) => t.tensor(data, { requires_grad: true });

export default {
  "what inference mode makes takes no part in later graphs": async (t) => {
    const { inference_mode, is_grad_enabled, is_inference_mode_enabled } = t.torch, x = leaf(t, [1, 2]);
    const y = inference_mode(() => {
      t.equal([is_grad_enabled(), is_inference_mode_enabled()], [false, true]);
      return x.mul(2);
    });
    t.equal([y.requires_grad, y.is_inference(), x.is_inference(), is_inference_mode_enabled()], [false, true, false, false]);
    await t.throws(() => x.mul(y), /Inference tensors cannot be saved for backward/);
    await t.throws(() => y.add_(1), /Inplace update to inference tensor outside InferenceMode is not allowed/);
    await t.throws(() => y.requires_grad_(), /Setting requires_grad=True on inference tensor outside InferenceMode/);
    await t.throws(() => y._version, /Inference tensors do not track version counter/);
    t.equal(await x.add(y).tolist(), [3, 6]);
    t.equal(await x.mul(y.clone()).tolist(), [2, 8]);
    t.equal(await inference_mode(() => y.add_(1)).tolist(), [3, 5]);
    t.equal(inference_mode(() => inference_mode(false, () => x.mul(2).requires_grad)), true);
  },
  "set_grad_enabled for a body": async (t) => {
    const { is_grad_enabled, set_grad_enabled } = t.torch, x = leaf(t, [1]);
    t.equal(set_grad_enabled(false, () => x.mul(2).requires_grad), false);
    t.equal(is_grad_enabled(), true);
  },
  "anomaly detection names the function whose way back made a NaN": async (t) => {
    const { autograd } = t.torch, x = leaf(t, [0, 1]);
    const body = async () => {
      x.sqrt().mul(0).sum().backward();
      await x.grad.tolist();
    };
    await body();
    x.grad = null;
    await t.throws(() => autograd.detect_anomaly(body), /Function 'SqrtBackward0' returned nan values in its 0th output/);
    t.equal(t.torch.is_anomaly_enabled(), false);
  },
  "gradcheck finds a wrong gradient": async (t) => {
    const { autograd } = t.torch, x = leaf(t, [0.5, 1.5]), rules = { eps: 1e-2, atol: 1e-2, rtol: 1e-2 };
    t.equal(await autograd.gradcheck((y) => y.mul(y), [x], rules), true);
    class Twice extends autograd.Function {
      static forward(ctx, y) { return y.mul(2); }
      static backward(ctx, g) { return g.mul(3); }
    }
    await t.throws(() => autograd.gradcheck((y) => Twice.apply(y), [x], rules), /Jacobian mismatch for output 0 with respect to input 0/);
    t.equal(await autograd.gradcheck((y) => Twice.apply(y), [x], { ...rules, raise_exception: false }), false);
    await t.throws(() => autograd.gradcheck((y) => y, [t.tensor([1])]), /at least one input tensor to require gradient/);
  },
  "a Function saves tensors, says what needs no gradient, and has gradients of gradients": async (t) => {
    const { autograd } = t.torch, x = leaf(t, [2, 3]), y = t.tensor([5, 7]);
    let needs;
    class Product extends autograd.Function {
      static forward(ctx, a, b) {
        const larger = a.gt(b).to("float32");
        ctx.save_for_backward(a, b);
        ctx.mark_non_differentiable(larger);
        needs = ctx.needs_input_grad;
        return [a.mul(b).mul(a), larger];
      }
      static backward(ctx, g) {
        const [a, b] = ctx.saved_tensors;
        return [g.mul(a).mul(b).mul(2), null];
      }
    }
    const [out, larger] = Product.apply(x, y);
    t.equal([needs, out.requires_grad, larger.requires_grad], [[true, false], true, false]);
    const [first] = autograd.grad(out.sum(), [x], { create_graph: true });
    const [second] = autograd.grad(first.sum(), [x]);
    t.equal([await first.tolist(), await second.tolist()], [[20, 42], [10, 14]]);
    const [again] = Product.apply(x, y);
    y.add_(1);
    await t.throws(() => again.sum().backward(), /modified by an inplace operation/);
  },
};
