// torch.fft, with pairs in the place of complex numbers.  Wanted values are PyTorch's.
const near = { atol: 1e-4 };

export default {
  "real input makes pairs": async (t) => {
    const { fft } = t.torch,
      x = t.tensor([1, 2, 3, 4, 5, 6]);
    t.close(
      await fft.rfft(x).tolist(),
      [
        [21, 0],
        [-3, 5.1962],
        [-3, 1.7321],
        [-3, 0],
      ],
      near,
    );
    t.close(
      await fft.fft(x, 3).tolist(),
      [
        [6, 0],
        [-1.5, 0.866],
        [-1.5, -0.866],
      ],
      near,
    );
    t.close(
      await fft.ihfft(x, { n: 2, norm: "ortho" }).tolist(),
      [
        [2.1213, 0],
        [-0.7071, 0],
      ],
      near,
    );
    t.equal(fft.rfft2(x.reshape(2, 3)).shape, [2, 2, 2]);
    t.equal(fft.rfftn(x.reshape(2, 3), { dim: [1, 0] }).shape, [2, 3, 2]);
  },
  "there and back": async (t) => {
    const { fft, view_as_complex, view_as_real } = t.torch,
      x = t.tensor([1, 2, 3, 4, 5]).requires_grad_(true);
    for (const norm of ["forward", "backward", "ortho"]) {
      t.close(await fft.irfft(view_as_complex(fft.rfft(x, { norm })), { n: 5, norm }).tolist(), [1, 2, 3, 4, 5], near);
      t.close(
        await view_as_real(fft.ifft(view_as_complex(fft.fft(x, { norm })), { norm }))
          .index(":", 0)
          .tolist(),
        [1, 2, 3, 4, 5],
        near,
      );
      t.close(await fft.hfft(view_as_complex(fft.ihfft(x, { norm })), { n: 5, norm }).tolist(), [1, 2, 3, 4, 5], near);
    }
    fft.fft(x).square().sum().backward();
    t.close(await x.grad.tolist(), [10, 20, 30, 40, 50], near);
    const y = t.torch.randn([3, 4, 5], { device: t.device });
    t.close(await fft.irfftn(view_as_complex(fft.rfftn(y)), { s: y.shape }).tolist(), await y.tolist(), near);
  },
  "a tensor is real, a ComplexView complex": async (t) => {
    const { fft, view_as_complex } = t.torch,
      pairs = t.tensor([
        [1, 0],
        [2, 1],
      ]);
    t.close(
      await fft.irfft(pairs).tolist(),
      [
        [0.5, 0.5],
        [1.5, 0.5],
      ],
      near,
    );
    t.close(await fft.irfft(view_as_complex(pairs)).tolist(), [1.5, -0.5], near);
    t.equal(view_as_complex(pairs).shape, [2]);
    await t.throws(() => fft.rfft(view_as_complex(pairs)), /expects a real input tensor/);
    await t.throws(() => view_as_complex(t.tensor([1, 2, 3])), /last dimension of size 2/);
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
        await t.torch.fft.fft(x).tolist(),
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
    t.equal(spectra.shape, [3, 5, 2]);
    t.close(
      await spectra.index(":", 1).tolist(),
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
