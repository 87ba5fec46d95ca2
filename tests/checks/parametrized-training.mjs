// Parametrizations and what there was before them: optimizers that have a parameter, states of nn.utils.weight_norm, steps of
// spectral_norm.

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
  "spectral_norm makes its steps in PyTorch's order, in calls in training alone": async (t) => {
    const { nn } = t.torch,
      x = t.tensor([1, 2]),
      made = (norm, parts) => {
        const layer = linear(t),
          { weight } = layer;
        norm(layer);
        const [u, v, original] = parts.map((part) => layer.state_dict({ keep_vars: true })[part]);
        t.torch.no_grad(() => {
          u.copy_(t.tensor([0.6, 0.8, 0]));
          v.copy_(t.tensor([0.8, -0.6]));
        });
        t.equal(original === weight, true);
        return { layer, u, v, weight };
      };
    const old = made(nn.utils.spectral_norm, ["weight_u", "weight_v", "weight_orig"]);
    t.close(await old.layer.weight.tolist(), W);
    const out = old.layer(x);
    out.sum().backward();
    t.close(await out.tolist(), [2.784481, -0.532131, 0.544044]);
    t.close(await old.weight.grad.tolist(), [
      [-0.261525, 0.332528],
      [0.198083, 0.473946],
      [0.175103, 0.466875],
    ]);
    old.layer.eval()(x);
    old.layer.train();
    nn.utils.remove_spectral_norm(old.layer);
    t.close(await old.u.tolist(), [0.986835, 0.089712, 0.134568]);
    t.close(await old.v.tolist(), [0.955779, 0.294086]);
    t.close((await old.layer.weight.tolist())[0], [0.732131, 0.976175]);

    const parts = ["0._u", "0._v", "original"].map((part) => `parametrizations.weight.${part}`),
      { layer, u, v } = made(nn.utils.parametrizations.spectral_norm, parts);
    t.close(await layer(x).tolist(), [5.055214, -1.151422, 0.750474]);
    t.close(await u.tolist(), [0, 0.992278, 0.124035]);
    t.close(await v.tolist(), [0.474933, -0.880022]);
  },
};
