// Derivatives along a direction, of gradients too: torch.func.jvp and linearize, torch.autograd.forward_ad, gradcheck.

export default {
  "how gradients change along a direction, of every kind of function": async (t) => {
    const { torch } = t,
      { grad, hessian, jvp, linearize } = torch.func,
      { forward_ad, functional } = torch.autograd;
    const y = t.tensor([0.3, 0.8, 0.6]),
      functions = {
        pow: (x) => x.pow(3),
        "pow of a tensor": (x) => x.pow(y),
        "power of x": (x) => torch.pow(2, x),
        float_power: (x) => x.float_power(2.5).to(x.dtype),
        div: (x) => x.div(y.add(x)),
        differences: (x) =>
          x
            .narrow(0, 1, 2)
            .sub(x.narrow(0, 0, 2))
            .div(2),
        slopes: (x) => torch.gradient(x)[0],
        log: (x) => x.log(),
        exp: (x) => x.exp(),
        xlogy: (x) => torch.xlogy(x, y),
        hypot: (x) => torch.hypot(x, y),
        softmax: (x) => x.softmax(0),
        log_softmax: (x) => x.log_softmax(0),
        logsumexp: (x) => x.logsumexp(0),
        norm: (x) => x.norm(),
        std: (x) => x.std(),
        prod: (x) => x.prod(),
        cumsum: (x) => x.cumsum(0),
        matmul: (x) => x.outer(x).matmul(x),
        sort: (x) => x.mul(x).narrow(0, 1, 2),
        gelu: (x) => torch.nn.functional.gelu(x),
        tanh: (x) => x.tanh(),
        layer_norm: (x) => torch.nn.functional.layer_norm(x, [3]),
        mse_loss: (x) => torch.nn.functional.mse_loss(x.pow(2), y),
      };
    const x = t.tensor([0.4, 0.7, 0.9]),
      v = t.tensor([1, -0.5, 0]);
    for (const [name, f] of Object.entries(functions)) {
      const loss = (at) => f(at).pow(2).sum(),
        wanted = await hessian(loss)(x).matmul(v).tolist(),
        tolerance = { rtol: 1e-3, atol: 1e-3 };
      const dual = forward_ad.dual_level(() => forward_ad.unpack_dual(grad(loss)(forward_ad.make_dual(x, v))).tangent);
      for (const got of [jvp(grad(loss), [x], [v])[1], linearize(grad(loss), x)[1](v), dual]) {
        try {
          t.close(await got.tolist(), wanted, tolerance);
        } catch (error) {
          throw new Error(`${name}: ${error.message}`);
        }
      }
      t.close(await functional.hvp(loss, x, v)[1].tolist(), wanted, tolerance);
    }
  },
  "gradcheck of a function that takes gradients": async (t) => {
    const { autograd } = t.torch,
      x = t.tensor([0.5, 2]).requires_grad_();
    const step = (at) => at.sub(autograd.grad(at.pow(3).sum(), at, { create_graph: true })[0].mul(0.1));
    t.equal(await autograd.gradcheck(step, x, { eps: 1e-2, atol: 1e-2 }), true);
  },
};
