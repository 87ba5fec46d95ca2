// Complex numbers and their parts are views of each other: gradients follow changes in place through any of them.  The
// slopes are PyTorch's, for cotangents 1, 2, 3, ... at x = 0/7 ... 7/7 in two rows.

const numbers = ({ torch }, x) => torch.view_as_complex(x.clone().reshape([2, 2, 2]));
const halves = ({ torch }, x) => torch.complex(x.index("...", ":2"), x.index("...", "2:"));
const pairs = ({ torch }, z) => torch.view_as_real(z);

const CASES = {
  "a real part": [
    [3, 2, 9, 4, 15, 6, 21, 8],
    (t, x) => {
      const z = numbers(t, x);
      z.real.mul_(3);
      return pairs(t, z);
    },
  ],
  "some of the imaginary parts, by what has a gradient": [
    [1, 2, 3, 4, 9.28571, 11.42857, 7, 5.71429],
    (t, x) => {
      const z = numbers(t, x);
      z.imag.index("1:").mul_(x.index("1:", ":2"));
      return pairs(t, z);
    },
  ],
  pairs: [
    [0.98995, 0.14142, 2.53328, 0.61311, 4.92668, 1.12225, 8.6767, 1.56261],
    (t, x) => {
      const z = numbers(t, x);
      pairs(t, z).index("...", 0).exp_();
      return z.abs();
    },
  ],
  "numbers, seen in the pairs": [
    [1.71429, 4.57143, 4, -1.71429, 15.14286, 13.14286, 12.85714, -1.42857],
    (t, x) => {
      const y = x.clone(),
        z = t.torch.view_as_complex(y.view([2, 2, 2]));
      z.mul_(halves(t, x));
      z.index(0).mul_(2);
      return y;
    },
  ],
  "numbers, seen in a part": [
    [8, 14.9701, 17.67761, 13.13452, -0.46279, -22.84378, -51.01484, -79.02345],
    (t, x) => {
      const z = t.torch.polar(x.add(1), x).clone(),
        part = z.real;
      z.mul_(2);
      z.imag.zero_();
      return part.mul(part);
    },
  ],
  "what numbers are a view of, and a part": [
    [0, 1.16618, 0.27988, 8.11662, 3.73178, 25.88921, 17.63265, 64],
    (t, x) => {
      const y = x.clone(),
        part = t.torch.view_as_complex(y.view([2, 2, 2])).imag;
      y.mul_(x);
      part.add_(1);
      return y.mul(y);
    },
  ],
  "numbers, whose former values the way back needs": [
    [-0.08971, 0.50146, 3.18166, 6.2158, -1.12686, 1.6059, 1.49122, 4.72968],
    (t, x) => {
      const z = numbers(t, x);
      z.add_(halves(t, x)).div_(halves(t, x).add(1));
      return pairs(t, z);
    },
  ],
  "parts that are assigned": [
    [0, 4, 8, 0, 0, 12, 16, 0],
    (t, x) => {
      const z = numbers(t, x);
      z.imag = x.index("...", "1:3").mul(2);
      z.real = 5;
      z.imag = z.imag.add(z.real);
      return pairs(t, z).mul(1);
    },
  ],
  "parts that are assigned to what had no gradient": [
    [0, 0.63246, 0, 2.89737, 1.48842, 2.32495, 0, 5.85966],
    (t, x) => {
      const z = t.torch.zeros([2, 2], { dtype: "complex64", device: t.device });
      z.real = x.index("...", ":2");
      z.imag = x.index("...", "3:");
      return z.abs();
    },
  ],
  "parts of what had no gradient": [
    [0, 2, 0, 1, 1.48842, 4, 0, 2.60473],
    (t, x) => {
      const z = t.torch.zeros([2, 2], { dtype: "complex64", device: t.device });
      z.real.copy_(x.index("...", ":2"));
      z.imag.select(1, 0).copy_(x.index("...", 3));
      return z.abs();
    },
  ],
};

const start = ({ torch, device }) => torch.arange(8, { dtype: "float32", device }).reshape([2, 4]).div(7);

export default Object.fromEntries(
  Object.entries(CASES).map(([name, [slopes, change]]) => [
    `changed in place: ${name}`,
    async (t) => {
      const x = start(t).requires_grad_(),
        y = change(t, x);
      y.backward(t.torch.arange(1, y.numel() + 1, { dtype: "float32", device: t.device }).reshape(y.shape));
      t.close(await x.grad.flatten().tolist(), slopes, { rtol: 1e-4, atol: 1e-4 });
    },
  ]),
);
