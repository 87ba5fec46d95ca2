// Other arguments for a function: like those it was compiled with, but for one thing.  What a captured program took for
// fixed shows where that is not as it was.

/** A tensor made anew of one's elements, which requires a gradient where that does. */
function anew(torch, x, make) {
  const y = torch.no_grad(() => make(x.detach()));
  return y.requires_grad_(x.requires_grad);
}

/** Other numbers: integers, which may be indices, in another order. */
function numbers(torch, given, by) {
  return given.map((x) =>
    anew(torch, x, (y) =>
      y.is_floating_point() ? y.mul(by).add(by - 0.75) : y.reshape([-1]).flip(0).reshape(y.shape),
    ),
  );
}

const leaves = (given) => given.filter((x) => x.requires_grad);

/** By name: from fresh arguments to those of a call. */
const WAYS = {
  same: (torch, given) => given,
  numbers: (torch, given) => numbers(torch, given, 0.5),
  "other numbers": (torch, given) => numbers(torch, given, 1.5),
  "every second element": (torch, given) =>
    given.map((x) => (x.dim() ? anew(torch, x, (y) => torch.stack([y, y], -1).select(-1, 1)) : x)),
  "an offset": (torch, given) =>
    given.map((x) =>
      anew(torch, x, (y) => {
        const before = torch.zeros([3], { dtype: y.dtype, device: y.device });
        return torch
          .cat([before, y.reshape([-1])])
          .narrow(0, 3, y.numel())
          .view(y.shape);
      }),
    ),
  "one for all alike": (torch, given) => {
    const like = (x, y) => x.dtype === y.dtype && x.requires_grad === y.requires_grad && `${x.shape}` === `${y.shape}`;
    return given.map((x) => given.find((y) => like(x, y)));
  },
  "without gradients": (torch, given) => given.map((x) => x.detach()),
  "with gradients there": (torch, given) => {
    for (const x of leaves(given)) x.grad = torch.full_like(x.detach(), 0.25);
    return given;
  },
  hooks: (torch, given) => {
    for (const x of leaves(given)) x.register_hook((gradient) => gradient.mul(2));
    return given;
  },
  "results of ops": (torch, given) => given.map((x) => (x.requires_grad ? x.mul(1) : x)),
};

/** Each way to call a function after it was compiled: its name, the arguments, and the call. */
export function* ways(torch, fresh) {
  const plain = (f, given) => f(...given),
    without = (f, given) => torch.no_grad(() => f(...given));
  for (const [name, change] of Object.entries(WAYS)) {
    yield { name, arguments: () => change(torch, fresh()), call: plain };
    if (name === "one for all alike") yield { name: "no_grad", arguments: fresh, call: without };
  }
}
