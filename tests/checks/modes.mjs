// inference_mode, anomaly detection, gradcheck, and autograd.Function.
const leaf = (t, data) => t.tensor(data, { requires_grad: true });
const wait = (ms) => new Promise((done) => setTimeout(done, ms));
/** Whether an async function's mode belongs to its call; in a page nobody can tell. */
const own = typeof globalThis.process?.getBuiltinModule === "function";

export default {
  "what inference mode makes takes no part in later graphs": async (t) => {
    const { inference_mode, is_grad_enabled, is_inference_mode_enabled } = t.torch,
      x = leaf(t, [1, 2]);
    const y = inference_mode(() => {
      t.equal([is_grad_enabled(), is_inference_mode_enabled()], [false, true]);
      return x.mul(2);
    });
    t.equal(
      [y.requires_grad, y.is_inference(), x.is_inference(), is_inference_mode_enabled()],
      [false, true, false, false],
    );
    await t.throws(() => x.mul(y), /Inference tensors cannot be saved for backward/);
    await t.throws(() => y.add_(1), /Inplace update to inference tensor outside InferenceMode is not allowed/);
    await t.throws(() => y.requires_grad_(), /Setting requires_grad=True on inference tensor outside InferenceMode/);
    await t.throws(() => y._version, /Inference tensors do not track version counter/);
    t.equal(await x.add(y).tolist(), [3, 6]);
    t.equal(await x.mul(y.clone()).tolist(), [2, 8]);
    t.equal(await inference_mode(() => y.add_(1)).tolist(), [3, 5]);
    t.equal(
      inference_mode(() => inference_mode(false, () => x.mul(2).requires_grad)),
      true,
    );
  },
  "set_grad_enabled for a body": async (t) => {
    const { is_grad_enabled, set_grad_enabled } = t.torch,
      x = leaf(t, [1]);
    t.equal(
      set_grad_enabled(false, () => x.mul(2).requires_grad),
      false,
    );
    t.equal(is_grad_enabled(), true);
  },
  "async scopes that overlap take back their own, whichever ends first": async (t) => {
    const { enable_grad, inference_mode, is_grad_enabled, is_inference_mode_enabled, no_grad, set_grad_enabled } =
        t.torch,
      x = leaf(t, [1]);
    const scope = (by, ms) =>
      by(async () => {
        const first = x.mul(2).requires_grad;
        await wait(ms);
        return [first, x.mul(2).requires_grad, no_grad(() => x.mul(2).requires_grad), is_grad_enabled()];
      });
    for (const [a, b] of [
      [5, 25],
      [25, 5],
    ]) {
      const both = Promise.all([scope(no_grad, a), scope(no_grad, b)]);
      t.equal(is_grad_enabled(), own); // code outside of them: a page's async scope is everybody's
      await wait(15);
      t.equal(x.mul(2).requires_grad, own);
      t.equal(await both, [
        [false, false, false, false],
        [false, false, false, false],
      ]);
      t.equal([is_grad_enabled(), x.mul(2).requires_grad], [true, true]);
    }
    // One inside of another, from the start.
    t.equal(
      await no_grad(async () => {
        const inner = scope(enable_grad, 5),
          before = is_grad_enabled(),
          found = await inner;
        return [before, found, is_grad_enabled()];
      }),
      [false, [true, true, false, true], false],
    );
    // Of different kinds.
    const open = scope(inference_mode, 10),
      other = () => scope(enable_grad, 20);
    if (own)
      t.equal(await Promise.all([open, other()]), [
        [false, false, false, false],
        [true, true, false, true],
      ]);
    else {
      await t.throws(other, /enable_grad: another async scope is open.*await it first/);
      await open;
      await wait(25);
    }
    await t.throws(
      () =>
        no_grad(async () => {
          await wait(1);
          throw new Error("mine");
        }),
      /mine/,
    );
    if (own) {
      await Promise.all([
        scope(no_grad, 5),
        set_grad_enabled(true, async () => {
          set_grad_enabled(false); // for the rest of this call
          await wait(1);
          t.equal(is_grad_enabled(), false);
          set_grad_enabled(true);
          await wait(8);
          t.equal(is_grad_enabled(), true);
        }),
      ]);
    }
    t.equal([is_grad_enabled(), is_inference_mode_enabled()], [true, false]);
  },
  "async tidy scopes free their own tensors": async (t) => {
    const { memory, tidy } = t.torch,
      make = (n) => t.tensor([n]),
      held = () => memory()[t.device].buffers;
    const scope = (ms) =>
      tidy(async () => {
        const a = make(ms);
        await wait(ms);
        const b = a.add(1);
        await wait(ms);
        return [b.mul(2), a.add(b)];
      });
    const check = async (ms, [a, b]) => {
      t.equal([await a.tolist(), await b.tolist()], [[2 * ms + 2], [2 * ms + 1]]);
      a.dispose();
      b.dispose();
    };
    await check(1, await scope(1));
    const before = held();
    if (own) {
      const first = scope(5),
        second = scope(15),
        mine = make(7);
      await wait(3);
      const later = make(8);
      await check(5, await first);
      const last = make(9);
      await check(15, await second);
      const end = make(10);
      t.equal(await Promise.all([mine, later, last, end].map((x) => x.item())), [7, 8, 9, 10]); // nobody else's
      for (const x of [mine, later, last, end]) x.dispose();
    } else {
      const open = scope(5);
      await t.throws(() => scope(5), /tidy: another async scope is open/);
      await check(5, await open);
      await wait(30);
    }
    t.equal(Math.max(held() - before, 0), 0); // the collector may find what earlier checks left
    // A scope inside of one hands its answers to it.
    const outer = await tidy(async () => {
      const inner = tidy(async () => {
          const a = make(1);
          await wait(2);
          return a.add(1);
        }),
        x = await inner;
      return [x, x.add(1)][1];
    });
    t.equal([await outer.item(), held() - before], [3, 1]);
    outer.dispose();
  },
  "detecting anomalies ends with the last that asked for it": async (t) => {
    const { autograd, is_anomaly_enabled } = t.torch,
      body = (ms) =>
        autograd.detect_anomaly(async () => {
          await wait(ms);
          return is_anomaly_enabled();
        });
    for (const [a, b] of [
      [5, 15],
      [15, 5],
    ]) {
      t.equal(await Promise.all([body(a), body(b)]), [true, true]);
      t.equal(is_anomaly_enabled(), false);
    }
    const x = leaf(t, [0]);
    x.sqrt().mul(0).sum().backward();
    t.equal(await x.grad.tolist(), [NaN]);
  },
  "anomaly detection names the function whose way back made a NaN": async (t) => {
    const { autograd } = t.torch,
      x = leaf(t, [0, 1]);
    const body = async () => {
      x.sqrt().mul(0).sum().backward();
      await x.grad.tolist();
    };
    await body();
    x.grad = null;
    await t.throws(
      () => autograd.detect_anomaly(body),
      /Function 'SqrtBackward0' returned nan values in its 0th output/,
    );
    t.equal(t.torch.is_anomaly_enabled(), false);
  },
  "gradcheck finds a wrong gradient": async (t) => {
    const { autograd } = t.torch,
      x = leaf(t, [0.5, 1.5]),
      rules = { eps: 1e-2, atol: 1e-2, rtol: 1e-2 };
    t.equal(await autograd.gradcheck((y) => y.mul(y), [x], rules), true);
    class Twice extends autograd.Function {
      static forward(ctx, y) {
        return y.mul(2);
      }
      static backward(ctx, g) {
        return g.mul(3);
      }
    }
    await t.throws(
      () => autograd.gradcheck((y) => Twice.apply(y), [x], rules),
      /Jacobian mismatch for output 0 with respect to input 0/,
    );
    t.equal(await autograd.gradcheck((y) => Twice.apply(y), [x], { ...rules, raise_exception: false }), false);
    await t.throws(
      () => autograd.gradcheck((y) => y, [t.tensor([1])]),
      /at least one input tensor to require gradient/,
    );
  },
  "a Function saves tensors, says what needs no gradient, and has gradients of gradients": async (t) => {
    const { autograd } = t.torch,
      x = leaf(t, [2, 3]),
      y = t.tensor([5, 7]);
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
    t.equal(
      [await first.tolist(), await second.tolist()],
      [
        [20, 42],
        [10, 14],
      ],
    );
    const [again] = Product.apply(x, y);
    y.add_(1);
    await t.throws(() => again.sum().backward(), /modified by an inplace operation/);
  },
};
