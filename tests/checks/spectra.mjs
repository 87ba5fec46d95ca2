// torch.fft and stft.  Wanted values are PyTorch's.
const near = { atol: 1e-4 };
/** Complex numbers as pairs, for comparisons. */
const pairs = (t, x) => t.torch.view_as_real(x).tolist();

export default {
  "real input makes complex numbers": async (t) => {
    const { fft } = t.torch,
      x = t.tensor([1, 2, 3, 4, 5, 6]);
    t.close(
      await pairs(t, fft.rfft(x)),
      [
        [21, 0],
        [-3, 5.1962],
        [-3, 1.7321],
        [-3, 0],
      ],
      near,
    );
    t.close(
      await pairs(t, fft.fft(x, 3)),
      [
        [6, 0],
        [-1.5, 0.866],
        [-1.5, -0.866],
      ],
      near,
    );
    t.close(
      await pairs(t, fft.ihfft(x, { n: 2, norm: "ortho" })),
      [
        [2.1213, 0],
        [-0.7071, 0],
      ],
      near,
    );
    t.equal(fft.rfft2(x.reshape(2, 3)).shape, [2, 2]);
    t.equal(fft.rfftn(x.reshape(2, 3), { dim: [1, 0] }).shape, [2, 3]);
  },
  "there and back": async (t) => {
    const { fft, view_as_real } = t.torch,
      x = t.tensor([1, 2, 3, 4, 5]).requires_grad_(true);
    for (const norm of ["forward", "backward", "ortho"]) {
      t.close(await fft.irfft(fft.rfft(x, { norm }), { n: 5, norm }).tolist(), [1, 2, 3, 4, 5], near);
      t.close(
        await view_as_real(fft.ifft(fft.fft(x, { norm }), { norm }))
          .index(":", 0)
          .tolist(),
        [1, 2, 3, 4, 5],
        near,
      );
      t.close(await fft.hfft(fft.ihfft(x, { norm }), { n: 5, norm }).tolist(), [1, 2, 3, 4, 5], near);
    }
    view_as_real(fft.fft(x)).square().sum().backward();
    t.close(await x.grad.tolist(), [10, 20, 30, 40, 50], near);
    const y = t.torch.randn([3, 4, 5], { device: t.device });
    t.close(await fft.irfftn(fft.rfftn(y), { s: y.shape }).tolist(), await y.tolist(), near);
  },
  "real and complex input": async (t) => {
    const { fft, view_as_complex } = t.torch,
      x = t.tensor([
        [1, 0],
        [2, 1],
      ]);
    t.close(
      await fft.irfft(x).tolist(),
      [
        [0.5, 0.5],
        [1.5, 0.5],
      ],
      near,
    );
    t.close(await fft.irfft(view_as_complex(x)).tolist(), [1.5, -0.5], near);
    await t.throws(() => fft.rfft(view_as_complex(x)), /expects a real input tensor/);
    if (t.device === "cpu")
      await t.throws(() => fft.fft(x.double()), /of float64 the transform is complex128, which there is not/);
  },
  "any length": async (t) => {
    for (const n of [1, 2, 7, 12, 30, 49, 64, 97]) {
      const x = t.torch.arange(n, { dtype: "float32", device: t.device }),
        [re, im] = [0, 0].map(() => new Array(n).fill(0));
      for (let j = 0; j < n; j++)
        for (let k = 0; k < n; k++) {
          re[j] += k * Math.cos((2 * Math.PI * ((j * k) % n)) / n);
          im[j] -= k * Math.sin((2 * Math.PI * ((j * k) % n)) / n);
        }
      t.close(
        await pairs(t, t.torch.fft.fft(x)),
        re.map((a, j) => [a, im[j]]),
        { rtol: 1e-5, atol: 1e-5 * n * n },
      );
    }
  },
  "frequencies and shifts": async (t) => {
    const { fft } = t.torch;
    t.equal(await fft.fftshift(fft.fftfreq(4)).tolist(), [-0.5, -0.25, 0, 0.25]);
    t.equal(
      await fft
        .ifftshift(
          fft.fftshift(
            t.tensor([
              [1, 2, 3],
              [4, 5, 6],
            ]),
          ),
          { dim: [0, 1] },
        )
        .tolist(),
      [
        [1, 2, 3],
        [4, 5, 6],
      ],
    );
    t.equal(
      await fft
        .fftshift(
          t.tensor([
            [1, 2, 3],
            [4, 5, 6],
          ]),
          1,
        )
        .tolist(),
      [
        [3, 1, 2],
        [6, 4, 5],
      ],
    );
  },
  "windows, and back": async (t) => {
    const x = t.tensor([1, 2, 3, 4, 5, 6, 7, 8], { dtype: "float32" }),
      window = t.tensor([0, 0.5, 1, 0.5]);
    const spectra = t.torch.stft(x, 4, { hop_length: 2, window, return_complex: true });
    t.equal(spectra.shape, [3, 5]);
    t.close(
      await pairs(t, spectra.index(":", 1)),
      [
        [6, 0],
        [-3, 1],
        [0, 0],
      ],
      near,
    );
    t.close(await t.torch.istft(spectra, 4, { hop_length: 2, window }).tolist(), [1, 2, 3, 4, 5, 6, 7, 8], near);
    t.equal(x.stft({ n_fft: 4, onesided: false, return_complex: false }).shape, [4, 9, 2]);
    await t.throws(() => t.torch.stft(x, 4), /return_complex/);
    await t.throws(
      () => t.torch.stft(x, 4, { win_length: 5, return_complex: true }),
      /expected 0 < win_length <= n_fft/,
    );
  },
  refused: async (t) => {
    const { fft } = t.torch,
      x = t.tensor([
        [1, 2],
        [3, 4],
      ]);
    await t.throws(() => fft.fft(x, 0), /Invalid number of data points \(0\) specified/);
    await t.throws(() => fft.fft(x, { norm: "other" }), /Invalid normalization mode: "other"/);
    await t.throws(() => fft.fft(x, { dim: 2 }), /Dimension out of range/);
    await t.throws(() => fft.fft2(x, { s: [1, 2], dim: 0 }), /dim and shape arguments must have the same length/);
    await t.throws(() => fft.fftn(x, { dim: [0, -2] }), /multiple times/);
    await t.throws(() => fft.irfftn(t.tensor(1)), /must transform at least one axis/);
  },
};
