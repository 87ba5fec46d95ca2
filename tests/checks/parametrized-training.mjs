// Parametrizations and what there was before them: optimizers that have a parameter, and states of nn.utils.weight_norm.

import { W, linear, names } from "./reparametrized.mjs";

export default {
  "an optimizer goes on moving what is parametrized, and what is so no longer": async ({ torch, tensor, equal }) => {
    const { nn } = torch,
      { parametrize } = nn.utils;
    class Double extends nn.Module {
      forward(x) {
        return x.mul(2);
      }
      right_inverse(x) {
        return x.div(2);
      }
    }
    for (const [right, leave, wanted] of [
      [true, true, [6]],
      [true, false, [3]],
      [false, true, [14]],
      [false, false, [7]],
    ]) {
      const layer = new (class extends nn.Module {
          weight = nn.Parameter(tensor([8]));
        })(),
        { weight } = layer,
        optimizer = torch.optim.SGD([weight], { lr: 0.5 }),
        double = new Double().eval(),
        step = async () => {
          optimizer.zero_grad();
          layer.weight.sum().backward();
          await optimizer.step();
        };
      if (!right) Object.defineProperty(double, "right_inverse", { value: undefined });
      parametrize.register_parametrization(layer, "weight", double);
      equal([layer.parametrizations.weight.original === weight, double.training], [true, true]);
      await step();
      parametrize.remove_parametrizations(layer, "weight", leave);
      equal([layer.weight === weight, await weight.tolist()], [true, wanted]);
      await step();
      equal(await layer.weight.tolist(), [wanted[0] - 0.5]);
    }
  },
  "weight_norm loads states of before there were parametrizations": async (t) => {
    const { nn } = t.torch,
      old = nn.Sequential(nn.utils.weight_norm(linear(t))),
      net = nn.Sequential(nn.utils.parametrizations.weight_norm(linear(t)));
    t.torch.no_grad(() => old[0].weight_g.mul_(3));
    net.load_state_dict(old.state_dict());
    t.close(
      await net[0].weight.tolist(),
      W.map((row) => row.map((x) => 3 * x)),
    );
    t.equal(names(net), ["0.bias", "0.parametrizations.weight.original0", "0.parametrizations.weight.original1"]);
  },
};
