// Reductions of complex numbers with their gradients, as PyTorch 2.13 answers them, also where elements are 0.

/** A call, the shape of what it answers, its numbers, and the gradient of the real part of their weighted sum. */
const CALLS = [
  [(x) => x.prod(), [], [0, 0], [0, 0, 0, 0, 0, 0, -24.21875, 0.78125, 0, 0, 0, 0]],
  [(x) => x.prod(0), [3], [0, 0, 1, -3.25, -2.25, -1.75], [0, 0, 5.5, 4, 4.5, -1.5, 2, -1.5, 0, 2.5, -5.625, -3.75]],
  [
    (x) => x.prod(-1, { keepdim: true }),
    [2, 1],
    [-5, 0.625, 0, 0],
    [0.3125, -2.5, -4.375, 2.5, 2.5, 1.25, 9.5, -1.5, 0, 0, 0, 0],
  ],
  [
    (x) => x.cumprod(1),
    [2, 3],
    [1, 2, 2.5, 0, -5, 0.625, 0, 0, 0, 0, 0, 0],
    [1.9375, -4.5, -9.125, 4.5, 7.5, 3.75, 46.25, 7.5, 0, 0, 0, 0],
  ],
  [
    (x) => x.cumprod(0),
    [2, 3],
    [1, 2, 0.5, -1, -2, 0.25, 0, 0, 1, -3.25, -2.25, -1.75],
    [1, 0.5, 15.75, 11, 12, -1.5, 8, -6, 0, 6.25, -11.25, -7.5],
  ],
  [
    (x) => x.var(),
    [],
    [3.802083],
    [
      0.1666667, 0.6833333, -0.03333335, -0.5166667, -1.033333, -0.01666667, -0.2333333, -0.1166667, 0.9666666,
      -0.3166667, 0.1666667, 0.2833333,
    ],
  ],
  [
    (x) => x.var([0, 1]),
    [],
    [3.802083],
    [
      0.1666667, 0.6833333, -0.03333335, -0.5166667, -1.033333, -0.01666667, -0.2333333, -0.1166667, 0.9666666,
      -0.3166667, 0.1666667, 0.2833333,
    ],
  ],
  [(x) => x.var(0, { keepdim: true }), [1, 3], [2.5, 3.25, 4.78125], [1, 2, -5, -1, -9, -2.25, -1, -2, 5, 1, 9, 2.25]],
  [
    (x) => x.var([1], { correction: 0 }),
    [2],
    [3.236111, 1.944444],
    [
      0.7777778, 1.055556, 0.4444445, -0.9444445, -1.222222, -0.1111111, -1.777778, -0.2222222, 2.222222, -0.888889,
      -0.4444445, 1.111111,
    ],
  ],
  [
    (x) => x.var(1, false),
    [2],
    [3.236111, 1.944444],
    [
      0.7777778, 1.055556, 0.4444445, -0.9444445, -1.222222, -0.1111111, -1.777778, -0.2222222, 2.222222, -0.888889,
      -0.4444445, 1.111111,
    ],
  ],
  [
    (x) => x.var(false),
    [],
    [3.168403],
    [
      0.1388889, 0.5694444, -0.02777779, -0.4305556, -0.8611112, -0.0138889, -0.1944445, -0.09722223, 0.8055555,
      -0.2638889, 0.1388889, 0.2361111,
    ],
  ],
  [
    (x) => x.std(),
    [],
    [1.949893],
    [
      0.04273738, 0.1752233, -0.008547481, -0.1324859, -0.2649718, -0.004273741, -0.05983234, -0.02991617, 0.2478768,
      -0.08120103, 0.04273738, 0.07265355,
    ],
  ],
  [
    (x) => x.std([0, 1], { keepdim: true }),
    [1, 1],
    [1.949893],
    [
      0.04273738, 0.1752233, -0.008547481, -0.1324859, -0.2649718, -0.004273741, -0.05983234, -0.02991617, 0.2478768,
      -0.08120103, 0.04273738, 0.07265355,
    ],
  ],
  [
    (x) => x.std(1),
    [2],
    [2.203217, 1.707825],
    [
      0.2647643, 0.359323, 0.1512939, -0.3214996, -0.4160582, -0.03782348, -0.7807201, -0.09759001, 0.9759001,
      -0.3903601, -0.19518, 0.48795,
    ],
  ],
  [
    (x) => x.std(1, false),
    [2],
    [1.798919, 1.394433],
    [
      0.2161791, 0.293386, 0.1235309, -0.2625033, -0.3397101, -0.03088274, -0.6374553, -0.07968191, 0.7968191,
      -0.3187276, -0.1593638, 0.3984095,
    ],
  ],
  [
    (x) => x.logsumexp(1),
    [2],
    [0.116169, 1.668235, 3.063143, -0.3502972],
    [
      2.682317, 0.3558159, -1.641082, 0.01593578, -0.04123515, 0.1282485, 0.1038444, 0.01182148, 1.7166, 1.208345,
      0.1795555, -0.2201669,
    ],
  ],
  [
    (x) => x.logsumexp([0, 1], { keepdim: true }),
    [1, 1],
    [3.041324, -0.3019108],
    [
      -0.03837062, -0.1400219, 0.03502504, 0.0807934, 0.007200159, -0.000637165, 0.05271322, 0.008600792, 0.8463396,
      0.6592067, 0.09709266, -0.1079419,
    ],
  ],
];
const ROWS = [
  [
    [1, 2],
    [0.5, -1],
    [-2, 0.25],
  ],
  [
    [0, 0],
    [3, -0.5],
    [1, 1],
  ],
];

export default {
  "products, variances and logarithms of sums": async ({ torch, tensor, device, equal, close }) => {
    for (const [call, shape, numbers, slopes] of CALLS) {
      const x = torch.view_as_complex(tensor(ROWS)).requires_grad_(),
        y = call(x),
        parts = y.dtype === "complex64" ? torch.view_as_real(y) : y,
        weights = torch
          .arange(1, y.numel() + 1, { device })
          .float()
          .reshape(y.shape);
      equal([String(call), [...y.shape], y.dtype], [String(call), shape, parts === y ? "float32" : "complex64"]);
      close((await parts.detach().reshape([-1]).tolist()).flat(), numbers, { rtol: 1e-5, atol: 1e-5 });
      const weighted = y.mul(weights);
      (parts === y ? weighted : weighted.mul(torch.complex(1, -0.5)).real).sum().backward();
      close(await torch.view_as_real(x.grad).reshape([-1]).tolist(), slopes, { rtol: 1e-5, atol: 1e-5 });
    }
  },
  "of nothing, of three axes, and what is refused": async ({ torch, device, equal, close, throws }) => {
    const none = torch.zeros([0], { dtype: "complex64", device }),
      x = torch.randn([2, 3, 4], { dtype: "complex64", device });
    equal(await torch.view_as_real(none.prod()).tolist(), [1, 0]);
    equal(
      [x.var([0, 2]), x.var([-1, 0], { keepdim: true }), x.std([]), x.logsumexp([0, 2]), x.prod(1), x.cumprod(-1)].map(
        (y) => y.shape,
      ),
      [[3], [1, 3, 1], [], [3], [2, 4], [2, 3, 4]],
    );
    const one = torch.view_as_complex(torch.tensor([3, 4], { device }));
    for (const y of [
      one.prod(),
      one.prod(0),
      one.prod(-1, { keepdim: true }),
      one.cumprod(0),
      one.log().logsumexp(0).exp(),
    ])
      close(await torch.view_as_real(y).tolist(), [3, 4], { rtol: 1e-4, atol: 1e-4 });
    equal(await one.var({ correction: 0 }).tolist(), 0);
    await throws(() => one.prod(1), /out of range/);
    await throws(() => x.var([0, 0]), /appears multiple times/);
    await throws(() => x.prod(3), /out of range/);
  },
};
