// torch.linalg.eig, eigvals and complex eigh: PyTorch's recorded answers (tests/recorded/eigen.py), and what makes vectors eigenvectors.

const at = (name) => new URL(`../recorded/${name}`, import.meta.url);
async function recorded() {
  if (at("eigen.json").protocol !== "file:") return (await fetch(at("eigen.json"))).json();
  return JSON.parse(await (await import("node:fs/promises")).readFile(at("eigen.json"), "utf8"));
}

function made(t, { matrix, shape, complex }) {
  const values = Float32Array.from(matrix.flat(Infinity)),
    x = t.torch.tensor(values, { shape: complex ? [...shape, 2] : shape, device: t.device });
  return complex ? t.torch.view_as_complex(x) : x;
}

/** Pairs, sorted: of complex matrices the order is not PyTorch's. */
const sorted = (pairs) => pairs.toSorted(([a, b], [c, d]) => (Math.abs(a - c) > 1e-4 ? a - c : b - d));

/** The values of each matrix, as parts of `scale`. */
function pairs(values, scale) {
  const stack = Array.isArray(values[0][0]) ? values : [values];
  return stack.map((row) => row.map(([re, im]) => [re / scale, im / scale]));
}

/** The function whose gradient is recorded. */
function total(t, a) {
  const { torch } = t,
    { eigenvalues, eigenvectors } = torch.linalg.eig(a),
    parts = torch.view_as_real(eigenvalues),
    sizes = torch.view_as_real(eigenvectors).square().sum(-1),
    rows = sizes.shape.slice(0, -1),
    weights = torch
      .arange(
        rows.reduce((x, y) => x * y, 1),
        { dtype: "float32", device: t.device },
      )
      .add(1)
      .cos();
  return parts
    .square()
    .mul(t.tensor([1, 0.5]))
    .sum()
    .add(sizes.mul(weights.reshape(rows).unsqueeze(-1)).pow(2).sum())
    .add(torch.linalg.eigvals(a).abs().sum());
}

export default {
  "values are PyTorch's, vectors eigenvectors of length 1": async (t) => {
    const { torch } = t;
    for (const [name, one] of Object.entries(await recorded())) {
      const a = made(t, one),
        [values, vectors] = torch.linalg.eig(a),
        scale = Math.max(...one.matrix.flat(Infinity).map(Math.abs), 1e-30);
      t.equal([name, values.dtype, vectors.dtype], [name, "complex64", "complex64"]);
      t.equal([name, values.shape, vectors.shape], [name, one.shape.slice(0, -1), one.shape]);
      if (!a.numel()) continue;
      const got = pairs(await torch.view_as_real(values).tolist(), scale),
        wanted = pairs(one.values, scale);
      t.close(one.complex ? got.map(sorted) : got, one.complex ? wanted.map(sorted) : wanted, { atol: 2e-5 });
      const apart = torch.matmul(a.to("complex64"), vectors).sub(vectors.mul(values.unsqueeze(-2)));
      t.close(await torch.view_as_real(apart).abs().max().div(scale).item(), 0, { atol: 2e-5 });
      t.close(await vectors.abs().square().sum(-2).sub(1).abs().max().item(), 0, { atol: 1e-5 });
    }
  },
  "gradients are PyTorch's": async (t) => {
    for (const one of Object.values(await recorded())) {
      if (!one.slope) continue;
      const a = made(t, one).requires_grad_(),
        [found] = t.torch.autograd.grad(total(t, a), a),
        real = one.complex ? t.torch.view_as_real(found) : found,
        size = Math.max(...one.slope.flat(Infinity).map(Math.abs), 1);
      t.close(await real.div(size).tolist(), await t.tensor(one.slope).div(size).tolist(), { atol: 3e-4 });
    }
  },
  "Hermitian matrices are what their eigenvalues and eigenvectors make, also where values coincide": async (t) => {
    const { torch } = t,
      parts = (x) => torch.view_as_real(x).tolist(),
      h = torch.randn([2, 3, 3], { dtype: torch.complex64, device: t.device }),
      made = (a) => {
        const { eigenvalues, eigenvectors } = torch.linalg.eigh(a);
        return eigenvectors.mul(eigenvalues.exp().unsqueeze(-2)).matmul(eigenvectors.mH);
      },
      slope = async (f) => {
        const a = h.add(h.mH).detach().requires_grad_(),
          out = f(a);
        torch
          .view_as_real(out)
          .mul(torch.arange(36, { device: t.device }).reshape(2, 3, 3, 2))
          .sum()
          .backward();
        return [await parts(out.detach()), await parts(a.grad.add(a.grad.mH).div(2))];
      };
    const [values, slopes] = await slope(torch.matrix_exp),
      [ours, found] = await slope(made);
    t.close(ours, values, { rtol: 1e-3, atol: 1e-3 });
    t.close(found, slopes, { rtol: 5e-3, atol: 5e-2 });
    const one = torch.eye(3, { dtype: torch.complex64, device: t.device }),
      { eigenvalues, eigenvectors } = torch.linalg.eigh(one);
    t.close(await eigenvalues.tolist(), [1, 1, 1], { atol: 2e-5 });
    t.close(await parts(eigenvectors.mH.matmul(eigenvectors)), await parts(one), { atol: 2e-5 });
  },
  "real eigenvalues are real, and pairs are conjugates": async (t) => {
    const { twelve, markov } = await recorded(),
      values = await t.torch.view_as_real(t.torch.linalg.eigvals(made(t, twelve))).tolist();
    for (const [re, im] of values)
      t.equal(
        values.some(([x, y]) => x === re && y === -im),
        true,
      );
    t.equal(await t.torch.linalg.eigvals(made(t, markov)).imag.abs().max().item(), 0);
    t.equal(await t.torch.linalg.eig(made(t, markov)).eigenvectors.imag.abs().max().item(), 0);
  },
  "what it refuses": async (t) => {
    const { linalg } = t.torch;
    await t.throws(
      () => linalg.eig(t.tensor([[1, 2, 3]])),
      /eig: A must be batches of square matrices, but they are 1 by 3 matrices/,
    );
    await t.throws(
      () =>
        linalg.eig(
          t.tensor(
            [
              [1, 2],
              [3, 4],
            ],
            { dtype: "int32" },
          ),
        ),
      /floating point/,
    );
    await t.throws(
      async () =>
        await linalg
          .eigvals(
            t.tensor([
              [NaN, 2],
              [3, 4],
            ]),
          )
          .tolist(),
      /infs or NaNs/,
    );
    if (t.device !== "cpu") return;
    const doubles = t.tensor(
      [
        [1, 2],
        [3, 4],
      ],
      { dtype: "float64" },
    );
    await t.throws(() => linalg.eig(doubles), /complex128, which there is not/);
    await t.throws(() => t.torch.polar(doubles, doubles), /complex128, which there is not/);
  },
};
