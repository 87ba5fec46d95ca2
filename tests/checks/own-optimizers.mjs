// Optimizers that programs write themselves: steps of their own, hooks, schedulers.
export default {
  "an optimizer with a step of its own is one like the others": async (t) => {
    const { nn, optim, no_grad } = t.torch,
      seen = [],
      { warn } = console;
    class Own extends optim.Optimizer {
      constructor(params, lr) {
        super(params, { lr });
      }
      step(closure) {
        const loss = closure?.();
        for (const { params, lr } of this.param_groups)
          no_grad(() => params.forEach((p) => p.grad && p.sub_(p.grad, { alpha: lr })));
        return loss ?? null;
      }
    }
    class Slower extends optim.SGD {
      async step(closure = null) {
        seen.push("own");
        return await super.step(closure);
      }
    }
    const makers = {
      Own: (p) => new Own([p], 0.5),
      "a step around SGD's": (p) => new Slower([p], { lr: 0.5 }),
      SGD: (p) => optim.SGD([p], { lr: 0.5 }),
      LBFGS: (p) => optim.LBFGS([p], { lr: 0.5, max_iter: 1 }),
    };
    console.warn = (text) => seen.push(text);
    try {
      for (const [name, make] of Object.entries(makers)) {
        const p = nn.Parameter(t.tensor([2])),
          optimizer = make(p),
          scheduler = optim.lr_scheduler.StepLR(optimizer, { step_size: 1, gamma: 0.1 }),
          closure = () => {
            optimizer.zero_grad();
            const loss = p.pow(2).sum().div(4);
            loss.backward();
            return loss;
          };
        seen.length = 0;
        optimizer.register_step_pre_hook((who) => void seen.push(who === optimizer && "before"));
        optimizer.register_step_post_hook((who) => void seen.push(who === optimizer && "after"));
        t.close(await (await optimizer.step(closure)).item(), 1, name);
        scheduler.step();
        t.close(await p.tolist(), [1.5], name);
        t.equal(
          seen.filter((x) => x !== "own" && !String(x).startsWith("slow: ")), // which counts what other checks read, too
          ["before", "after"],
          name,
        );
        t.close(optimizer.param_groups[0].lr, 0.05, name);
      }
      class Nothing extends optim.Optimizer {}
      const idle = new Nothing([nn.Parameter(t.tensor([2]))], {});
      await t.throws(() => idle.step(), /Nothing: neither step\(\) nor update\(\) is there/);
    } finally {
      console.warn = warn;
    }
  },
};
