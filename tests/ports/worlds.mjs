// A model of the world, as DreamerV3 learns it: discrete states that gradients pass straight through, values as two-hot
// codes, returns that look ahead, an optimizer of its own, a slow critic.
import * as torch from "../../dist/in-node/index.js";
import { filled, numbers } from "./given.mjs";

const { nn, optim, distributions: D } = torch,
  F = nn.functional;

const symlog = (x) => torch.sign(x).mul(torch.log1p(torch.abs(x)));
const symexp = (x) => torch.sign(x).mul(torch.expm1(torch.abs(x)));

/** A number as weights of the two buckets beside it. */
class TwoHot {
  constructor(low, high, n) {
    this.buckets = torch.linspace(low, high, n);
  }

  encode(x) {
    x = symlog(x);
    const n = this.buckets.length,
      wide = x.index("...", null);
    const below = this.buckets
      .le(wide)
      .sum(-1)
      .sub(1)
      .clip(0, n - 1);
    const above = this.buckets
      .gt(wide)
      .sum(-1)
      .rsub(n)
      .clip(0, n - 1);
    const equal = below.eq(above);
    const to_below = torch.where(equal, 1, torch.abs(this.buckets.index(below).sub(x))),
      to_above = torch.where(equal, 1, torch.abs(this.buckets.index(above).sub(x)));
    const total = to_below.add(to_above),
      first = F.one_hot(below, n).mul(to_above.div(total).index("...", null));
    return first.add(F.one_hot(above, n).mul(to_below.div(total).index("...", null)));
  }

  decode(logits) {
    return symexp(logits.softmax(-1).mul(this.buckets).sum(-1));
  }

  loss(logits, x) {
    return this.encode(x).detach().mul(F.log_softmax(logits, -1)).sum(-1).neg();
  }
}

class StateSpace extends nn.Module {
  constructor({ stoch = 3, classes = 4, deter = 6, act = 2, embed = 5, unimix = 0.01 } = {}) {
    super();
    Object.assign(this, { stoch, classes, unimix });
    this.inp = nn.Sequential(
      nn.Linear(stoch * classes + act, 6, { bias: false }),
      nn.LayerNorm(6, { eps: 1e-3 }),
      nn.SiLU(),
    );
    this.cell = nn.GRUCell(6, deter);
    this.prior_net = nn.Linear(deter, stoch * classes);
    this.post_net = nn.Linear(deter + embed, stoch * classes);
    this.initial = nn.Parameter(torch.zeros(deter));
  }

  get_dist(logits) {
    logits = logits.reshape(...logits.shape.slice(0, -1), this.stoch, this.classes);
    const probs = logits
      .softmax(-1)
      .mul(1 - this.unimix)
      .add(this.unimix / this.classes);
    return D.Independent(D.OneHotCategoricalStraightThrough({ probs }), 1);
  }

  pick(dist, u) {
    const p = dist.base_dist.probs;
    const index = torch
      .searchsorted(p.detach().cumsum(-1), u.index("...", null))
      .clamp_max(this.classes - 1)
      .squeeze(-1);
    return F.one_hot(index, this.classes).to(p.dtype).add(p).sub(p.detach()).flatten(-2);
  }

  forward(embeds, actions, first, uniform) {
    const [steps, batch] = actions.shape.slice(0, 2);
    let h = torch.tanh(this.initial).expand(batch, -1),
      z = torch.zeros(batch, this.stoch * this.classes);
    const rows = [];
    for (let t = 0; t < steps; t++) {
      const mask = first.index(t).to(h.dtype).rsub(1).unsqueeze(-1);
      h = h.mul(mask).add(torch.tanh(this.initial).mul(mask.rsub(1)));
      h = this.cell(this.inp(torch.cat([z.mul(mask), actions.index(t).mul(mask)], -1)), h);
      const prior = this.prior_net(h),
        post = this.post_net(torch.cat([h, embeds.index(t)], { dim: -1 }));
      z = this.pick(this.get_dist(post), uniform.index(t));
      rows.push([h, z, post, prior]);
    }
    return rows[0].map((_, k) => torch.stack(rows.map((row) => row[k])));
  }

  kl(post, prior, free = 0.2) {
    const dyn = D.kl_divergence(this.get_dist(post.detach()), this.get_dist(prior)),
      rep = D.kl_divergence(this.get_dist(post), this.get_dist(prior.detach()));
    return torch
      .clip(dyn, { min: free })
      .mul(0.5)
      .add(torch.clip(rep, { min: free }).mul(0.1));
  }
}

/** Momentum of what is normalised, after clipping by the size of each parameter; factors stand where they once did. */
class LaProp extends optim.Optimizer {
  constructor(params, { lr = 4e-3, betas = [0.9, 0.99], eps = 1e-15, agc = 0.3, pmin = 1e-3 } = {}) {
    super(params, { lr, betas, eps, agc, pmin });
  }

  step() {
    torch.no_grad(() => {
      for (const group of this.param_groups) {
        const [b1, b2] = group.betas;
        for (const p of group.params) {
          if (p.grad === null) continue;
          const upper = torch.maximum(torch.tensor(group.pmin), p.norm()).mul(group.agc),
            g = p.grad.div(torch.maximum(torch.tensor(1), p.grad.norm().div(upper)));
          let state = this.state.get(p);
          if (!state) this.state.set(p, (state = { step: 0, exp_avg: torch.zeros_like(p), nu: torch.zeros_like(p) }));
          state.step += 1;
          state.nu.mul_(b2).addcmul_(1 - b2, g, g);
          const update = g.div(
            state.nu
              .div(1 - b2 ** state.step)
              .sqrt()
              .add_(group.eps),
          );
          state.exp_avg.mul_(b1).add_(1 - b1, update);
          p.data.add_(-group.lr / (1 - b1 ** state.step), state.exp_avg);
        }
      }
    });
  }
}

export function dreamer() {
  const world = filled(new StateSpace()),
    head = filled(nn.Linear(18, 11));
  const model = nn.ModuleDict({ world, head, slow: head.deepcopy().requires_grad_(false) });
  const code = new TwoHot(-5, 5, 11);
  const embeds = numbers([4, 3, 5]),
    actions = numbers([4, 3, 2], 7),
    rewards = numbers([4, 3], 77).mul(3);
  const uniform = numbers([4, 3, 3], 90).add(1).div(2),
    first = torch.zeros(4, 3, { dtype: torch.bool });
  first.set([0], true);
  first.set([2, 1], true);
  const optimizer = new LaProp([{ params: world.parameters() }, { params: head.parameters(), lr: 1e-2 }]);
  const going = first.to(rewards.dtype).rsub(1),
    spread = torch.zeros(2);

  const step = async () => {
    const [h, z, post, prior] = world(embeds, actions, first, uniform);
    const features = torch.cat([h, z], -1),
      values = code.decode(model.slow(features)).detach();
    let returns = [values.index(-1)];
    for (let t = 2; t >= 0; t--) {
      const ahead = values
        .index(t + 1)
        .mul(0.1)
        .add(returns.at(-1).mul(0.9));
      returns.push(
        rewards.index(t + 1).add(
          going
            .index(t + 1)
            .mul(0.95)
            .mul(ahead),
        ),
      );
    }
    returns = torch.stack(returns.slice(1).reverse());
    spread.lerp_(torch.quantile(returns.flatten(), torch.tensor([0.05, 0.95])), 0.2);
    const weights = torch.cumprod(going.mul(0.97), 0).index(":-1");
    const loss = world
      .kl(post, prior)
      .mean()
      .add(weights.mul(code.loss(head(features).index(":-1"), returns)).mean());
    optimizer.zero_grad({ set_to_none: true });
    loss.backward();
    await optimizer.step();
    torch.no_grad(() => {
      const now = [...head.parameters()];
      for (const [k, s] of [...model.slow.parameters()].entries()) s.data.lerp_(now[k].data, 0.02);
    });
    return [loss, torch.cat([returns.flatten(), spread, world.get_dist(post).entropy().flatten()])];
  };
  return [model, step];
}
