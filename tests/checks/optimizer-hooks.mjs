// What optimizers call besides, with what and when: hooks around steps and states, as PyTorch 2.13 does; and that a state
// that was loaded is the optimizer's own.

const MAKERS = ["Adadelta", "Adafactor", "Adagrad", "Adam", "Adamax", "AdamW", "ASGD", "LBFGS", "Muon", "NAdam"].concat(
  ["RAdam", "RMSprop", "Rprop", "SGD"],
);

export default {
  "states pass through hooks, in their order": async ({ torch, tensor, equal }) => {
    for (const name of MAKERS) {
      const o = torch.optim[name]([torch.nn.Parameter(tensor([[1, 2]]))], { lr: 0.5 }),
        state = o.state_dict(),
        called = [];
      o.register_state_dict_pre_hook((who) => {
        called.push(who === o && "taken");
        o.state.set("mine", 7);
      });
      o.register_state_dict_post_hook((_, dict) => void (dict.after = dict.state.mine));
      const second = o.register_state_dict_post_hook((_, dict) => ({ ...dict, first: dict.after ?? "before" }), {
        prepend: true,
      });
      equal([o.state_dict().after, o.state_dict().first], [7, "before"]);
      second.remove();
      equal("first" in o.state_dict(), false);

      o.register_load_state_dict_pre_hook((_, dict) => void (dict.param_groups[0].lr = 2));
      const first = o.register_load_state_dict_pre_hook(
        (_, dict) => ({ ...dict, param_groups: dict.param_groups.map((group) => ({ ...group, lr: 3 })) }),
        { prepend: true },
      );
      o.register_load_state_dict_post_hook((who) => called.push(who === o && who.param_groups[0].lr));
      await o.load_state_dict(state);
      equal(called.at(-1), 2);
      first.remove();
      o.register_load_state_dict_pre_hook((_, dict) => ({
        ...dict,
        param_groups: [{ ...dict.param_groups[0], lr: 4 }],
      }));
      await o.load_state_dict({ ...state, state: { ...state.state, note: "kept" } });
      equal([called.at(-1), o.state.get("note"), called[0]], [4, "kept", "taken"]);
    }
  },
  "steps call hooks of all optimizers around their own, with the arguments": async ({
    torch,
    tensor,
    equal,
    throws,
  }) => {
    const { register_optimizer_step_pre_hook: before, register_optimizer_step_post_hook: after } =
      torch.optim.optimizer;
    for (const name of MAKERS) {
      const p = torch.nn.Parameter(tensor([[1, 2]])),
        o = torch.optim[name]([p]),
        seen = [],
        closure = () => {
          seen.push("closure");
          o.zero_grad();
          const loss = p.square().sum();
          loss.backward();
          return loss;
        };
      const everywhere = [
        before((who, args, kwargs) => void seen.push([who === o, args.length, Object.keys(kwargs).length])),
        after(() => void seen.push("last")),
      ];
      o.register_step_pre_hook((who, args) => void seen.push(["mine", args[0] === closure]));
      o.register_step_post_hook((who, args) => void seen.push(["done", args.length]));
      try {
        await o.step(closure);
      } finally {
        for (const handle of everywhere) handle.remove();
      }
      const order = seen.filter((x, i) => x !== "closure" || seen.indexOf(x) === i);
      equal(order, [[true, 1, 0], ["mine", true], "closure", ["done", 1], "last"]);
      // What one answers are the arguments of the step.
      const other = () => {
        seen.push("other");
        return closure();
      };
      const hook = o.register_step_pre_hook(() => [[other], {}]);
      await o.step(closure);
      equal(seen.includes("other"), true);
      hook.remove();
      o.register_step_pre_hook(() => 5);
      await throws(
        async () => o.step(closure),
        /pre-hook must return \[new_args, new_kwargs\] or nothing, but got number 5/,
      );
    }
  },
  "a state that was loaded is not the other optimizer's": async ({ torch, tensor, close }) => {
    const made = (p) => {
      const o = torch.optim.LBFGS([p], { lr: 0.01, max_iter: 4, history_size: 3 });
      return [
        o,
        () =>
          o.step(() => {
            o.zero_grad();
            const loss = p.sub(3).pow(4).sum();
            loss.backward();
            return loss;
          }),
      ];
    };
    const p = torch.nn.Parameter(tensor([1, -2])),
      [one, step] = made(p);
    await step();
    await step();
    const copy = torch.nn.Parameter(p.detach().clone()),
      [two, again] = made(copy);
    await two.load_state_dict(one.state_dict());
    for (let n = 0; n < 3; n++) {
      await step();
      await again();
      close(await copy.tolist(), await p.tolist());
    }
  },
};
