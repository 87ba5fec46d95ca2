// torch.nn.attention: attention with functions of places.  Numbers are PyTorch 2.13's; gradients are those of the same
// formula there, whose flex_attention has none on a CPU.

const OUT = [
  -0.2609, -0.254833, -0.0559142, 0.18532, 0.295915, 0.492935, 0.316911, -0.0989442, -0.119864, 0.0741639, 0.212066,
  0.189481, -0.12636, -0.246156, -0.179665, 0.0227922, -0.307333, 0.0539878, 0.374452, 0.411538, -0.0132284, -0.0139271,
  -0.00408554, 0.00884766,
];
const SUMS = [1.60206, 0.659434, 1.64622, 1.37401, 2.01568, 2.82249];
const SLOPES = {
  query: [
    -0.142289, -0.107167, -0.0624711, -0.0121952, -0.187804, -0.187409, -0.170272, -0.137926, -0.273545, -0.206985,
    -0.121937, -0.0259958, -0.0471835, -0.0405045, -0.0302075, -0.017212, 0.148059, 0.140622, 0.120624, 0.0898509,
    -0.0191699, 0.0370641, 0.0899868, 0.134872,
  ],
  key: [
    -0.167672, 0.0454078, 0.237132, 0.317329, 0.156765, -0.00342528, -0.162005, -0.244391, -0.0281911, -0.0409412,
    -0.0344359, -0.0117349, 0.039098, -0.00104136, -0.040691, -0.061203, 0.0, 0.0, 0.0, 0.0, 0.076601, 0.0167794,
    -0.0509339, -0.0946921, 0.122372, 0.162096, 0.125584, 0.0300072, -0.305847, -0.270121, -0.107352, 0.105906,
    0.106874, 0.0912457, 0.0327028, -0.0412208, 0.0, 0.0, 0.0, 0.0,
  ],
  value: [
    0.625413, 0.732028, 0.809459, 0.854619, 0.493398, 0.628805, 0.739144, 0.820016, 0.505757, 0.56317, 0.598132,
    0.609248, 0.0923619, 0.0899848, 0.0840203, 0.0747062, 0.0, 0.0, 0.0, 0.0, 0.147331, -0.0528575, -0.250938,
    -0.439015, 0.0696969, -0.113181, -0.291547, -0.458289, -0.26773, -0.343067, -0.404727, -0.450251, -0.0890115,
    -0.102511, -0.111923, -0.116873, 0.0, 0.0, 0.0, 0.0,
  ],
};
const UNSEEN = [
  0.0, 0.0, 0.0, 0.0, 0.0, 0.783327, 0.973848, 0.42738, -0.208619, -0.0467997, 0.150436, 0.233825, 0.0, 0.0, 0.0, 0.0,
  -0.750987, 0.0504223, 0.813673, 0.961153, 0.0655759, -0.337289, -0.484899, -0.265548,
];
const GROUPED = [
  -0.0653915, -0.0772059, -0.0305925, 0.0391728, -0.00192145, -0.0242684, -0.0282497, -0.010852, 0.0324872, 0.0948178,
  0.0853921, 0.0113435,
];

function given(t) {
  const { torch } = t,
    wave = (shape, by) => {
      const n = shape.reduce((a, b) => a * b, 1);
      return torch.arange(n, { device: t.device }).float().mul(by).sin().reshape(shape);
    };
  const q = wave([1, 2, 3, 4], 0.7),
    k = wave([1, 2, 5, 4], 0.3),
    v = wave([1, 2, 5, 4], 0.9);
  return { wave, q, k, v, ...torch.nn.attention.flex_attention };
}

export default {
  "scores and masks are functions of places": async (t) => {
    const { wave, q, k, v, flex_attention, create_block_mask } = given(t),
      relative = (score, b, h, i, j) => score.add(i.sub(j).mul(0.1)).add(h),
      mask = create_block_mask((b, h, i, j) => i.add(1).ge(j), null, null, 3, 5, { device: t.device });
    for (const x of [q, k, v]) x.requires_grad_();
    const [out, lse] = flex_attention(q, k, v, relative, mask, { return_lse: true });
    t.close((await out.tolist()).flat(Infinity), OUT);
    t.close((await lse.tolist()).flat(Infinity), SUMS);
    out
      .mul(wave([1, 2, 3, 4], 0.2))
      .sum()
      .backward();
    for (const [name, x] of Object.entries({ query: q, key: k, value: v }))
      t.close((await x.grad.tolist()).flat(Infinity), SLOPES[name]);
  },
  "queries without keys get 0, without slopes that are NaN": async (t) => {
    const { q, k, v, flex_attention, create_block_mask } = given(t),
      mask = create_block_mask((b, h, i, j) => i.gt(j), null, null, 3, 5, { device: t.device });
    q.requires_grad_();
    const out = flex_attention(q, k, v, { block_mask: mask });
    t.close((await out.tolist()).flat(Infinity), UNSEEN);
    out.sum().backward();
    t.equal(await q.grad.isfinite().all().item(), true);
  },
  "heads of queries share keys": async (t) => {
    const { wave, k, v, flex_attention } = given(t),
      q = wave([1, 4, 3, 4], 0.7);
    const out = await flex_attention(q, k, v, { enable_gqa: true }).tolist();
    t.close(out.flat(Infinity).slice(0, 12), GROUPED);
    await t.throws(() => flex_attention(q, k, v), /flex_attention: .*same number of heads but got Hq=4 and Hkv=2/);
  },
  "the same as attention with a mask, also compiled and in 16 bits": async (t) => {
    const { q, k, v, flex_attention, create_mask, create_block_mask } = given(t),
      F = t.torch.nn.functional,
      seen = (b, h, i, j) => i.ge(j),
      mask = create_mask(seen, null, null, 3, 5, t.device),
      wanted = F.scaled_dot_product_attention(q, k, v, mask);
    const block = create_block_mask(seen, null, null, 3, 5, t.device);
    const call = (...args) => flex_attention(...args, { block_mask: block });
    t.close(await call(q, k, v).tolist(), await wanted.tolist());
    t.close(await t.torch.compile(call)(q, k, v).tolist(), await wanted.tolist());
    if (!t.hasHalf) return;
    const half = call(q.half(), k.half(), v.half());
    t.equal(half.dtype, "float16");
    t.close(await half.float().tolist(), await wanted.tolist(), { rtol: 2e-3, atol: 1e-3 });
  },
  "masks are joined and written out": async (t) => {
    const { create_mask, and_masks, or_masks, create_block_mask, noop_mask } = given(t),
      causal = (b, h, i, j) => i.ge(j),
      near = (b, h, i, j) => i.sub(j).lt(2);
    const written = async (mod, ...sizes) =>
      await create_mask(mod, null, null, ...sizes, t.device)
        .to("int32")
        .tolist();
    t.equal(await written(and_masks(causal, near), 3, 3), [
      [
        [
          [1, 0, 0],
          [1, 1, 0],
          [0, 1, 1],
        ],
      ],
    ]);
    t.equal(
      await written(
        or_masks(causal, (b, h, i, j) => j.eq(2)),
        2,
        3,
      ),
      [
        [
          [
            [1, 0, 1],
            [1, 1, 1],
          ],
        ],
      ],
    );
    t.equal(await written(and_masks(), 1, 2), [[[[1, 1]]]]);
    t.equal(await written(or_masks(), 1, 2), [[[[0, 0]]]]);
    t.equal(await written((score, b, h, i, j) => score.masked_fill(i.lt(j), -Infinity), 2, 2), [
      [
        [
          [1, 0],
          [1, 1],
        ],
      ],
    ]);
    const block = create_block_mask(causal, 2, null, 5, 4, { BLOCK_SIZE: [2, 4], device: t.device });
    t.equal(block.shape, [2, 1, 5, 4]);
    t.equal([block.seq_lengths, block.numel()], [[5, 4], 40]);
    t.equal(await block.to_dense().tolist(), [[[[1], [1], [1]]], [[[1], [1], [1]]]]);
    t.equal(await create_block_mask(noop_mask, null, null, 2, 2, t.device).to_dense().tolist(), [[[[1]]]]);
  },
  "what does not fit is refused": async (t) => {
    const { q, k, v, flex_attention, create_block_mask, create_mask } = given(t),
      causal = (b, h, i, j) => i.ge(j);
    await t.throws(() => flex_attention(q.select(0, 0), k, v), /must be 4D tensors/);
    await t.throws(() => flex_attention(q, k.narrow(3, 0, 3), v), /E=4 and E=3/);
    await t.throws(() => flex_attention(q, k.to("int32"), v), /same dtype/);
    await t.throws(() => flex_attention(q, k, v, causal), /score_mod must answer a float tensor, got bool/);
    const other = create_block_mask(causal, null, null, 8, 8, t.device);
    await t.throws(
      () => flex_attention(q, k, v, { block_mask: other }),
      /created for .*\(1, 1, 8, 8\) but got q_len=3/,
    );
    await t.throws(() => flex_attention(q, k, v, { block_mask: causal }), /'block_mask' must be a BlockMask/);
    await t.throws(() => create_mask((b, h, i, j) => i.sub(j), null, null, 2, 2, t.device), /booleans, got int64/);
    await t.throws(() => create_block_mask(causal, null, null, 0, 2), /'Q_LEN' must be at least 1/);
  },
  "PyTorch's kernels are named, and the result is the same": async (t) => {
    const { q, k, v } = given(t),
      { SDPBackend, sdpa_kernel } = t.torch.nn.attention,
      F = t.torch.nn.functional,
      call = () => F.scaled_dot_product_attention(q, k, v);
    const wanted = await call().tolist();
    t.equal(await sdpa_kernel(SDPBackend.MATH, call).tolist(), wanted);
    t.equal(
      await sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.MATH], { set_priority: true }, call).tolist(),
      wanted,
    );
    await t.throws(() => sdpa_kernel("math", call), /instance of SDPBackend .* got .*math/);
    await t.throws(() => sdpa_kernel([SDPBackend.MATH]), /missing required argument 'body'/);
  },
};
