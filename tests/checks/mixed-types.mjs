// Floating tensors of several types in one call, as PyTorch 2.13 answers them on the CPU: normalisations and losses keep
// the type of one argument, some refuse others.  promotion.mjs has the functions that take the common type.
//
// An answer has a word for each type of the first kind of argument, in it a letter for each type of the second: the type
// of the result (of the last one, where there are several), or - where PyTorch refuses.

const TYPES = { e: "float16", a: "bfloat16", f: "float32", d: "float64" };
const LETTERS = Object.keys(TYPES);

/** The types that tensors have here. */
const had = (t) => LETTERS.filter((l) => t.device === "cpu" || (l !== "d" && (l !== "e" || t.hasHalf)));

/** Each makes a tensor of its type: `a` what decides of PyTorch's answer, `b` what stands beside it. */
const CALLS = {
  layer_norm: [({ F }, a, b) => F.layer_norm(a(3, 4), [4], b(4), b(4)), "e-e- -aa- --f- ---d"],
  "layer_norm, bias alone": [({ F }, a, b) => F.layer_norm(a(3, 4), [4], null, b(4)), "e-e- -aa- --f- ---d"],
  "layer_norm, another bias": [({ F }, a, b) => F.layer_norm(a(3, 4), [4], a(4), b(4)), "e--- -a-- --f- ---d"],
  group_norm: [({ F }, a, b) => F.group_norm(a(3, 4, 5), 2, b(4), b(4)), "e-e- -aa- --f- ---d"],
  batch_norm: [({ F }, a, b) => F.batch_norm(a(3, 4), b(4), b(4), b(4), b(4)), "e-e- -aa- --f- ---d"],
  "batch_norm, training": [({ F }, a, b) => F.batch_norm(a(3, 4), b(4), b(4), b(4), b(4), true), "e-e- -aa- --f- ---d"],
  "batch_norm, running alone": [({ F }, a, b) => F.batch_norm(a(3, 4), b(4), b(4)), "e-e- -aa- --f- ---d"],
  "batch_norm, other running": [({ F }, a, b) => F.batch_norm(a(3, 4), b(4), b(4), a(4), a(4)), "e--- -a-- --f- ---d"],
  instance_norm: [({ F }, a, b) => F.instance_norm(a(3, 4, 5), b(4), b(4), b(4), b(4)), "e-e- -aa- --f- ---d"],
  rms_norm: [({ F }, a, b) => F.rms_norm(a(3, 4), [4], b(4)), "eeee aaaa ffff dddd"],
  native_layer_norm: [
    ({ torch }, a, b) => torch.native_layer_norm(a(3, 4), [4], b(4), b(4), 1e-5),
    "e-f- -af- --f- ---d",
  ],
  native_group_norm: [
    ({ torch }, a, b) => torch.native_group_norm(a(3, 4, 5), b(4), b(4), 3, 4, 5, 2, 1e-5),
    "e-f- -af- --f- ---d",
  ],
  native_batch_norm: [
    ({ torch }, a, b) => torch.native_batch_norm(a(3, 4), b(4), b(4), b(4), b(4), true, 0.1, 1e-5),
    "e-f- -af- --f- ---d",
  ],
  huber_loss: [({ F }, a, b) => F.huber_loss(a(4), b(4)), "eeee aaaa ffff dddd"],
  soft_margin_loss: [({ F }, a, b) => F.soft_margin_loss(a(4), b(4)), "eeee aaaa ffff dddd"],
  hinge_embedding_loss: [({ F }, a, b) => F.hinge_embedding_loss(a(4), b(4)), "eeee aaaa ffff dddd"],
  binary_cross_entropy: [({ F }, a, b) => F.binary_cross_entropy(a(4), b(4)), "e--- -a-- --f- ---d"],
  "binary_cross_entropy, weight": [({ F }, a, b) => F.binary_cross_entropy(a(4), a(4), b(4)), "eeee aaaa ffff dddd"],
  binary_cross_entropy_with_logits: [
    ({ F }, a, b) => F.binary_cross_entropy_with_logits(a(4), b(4)),
    "eafd eafd eafd eafd",
  ],
  "binary_cross_entropy_with_logits, weight": [
    ({ F }, a, b) => F.binary_cross_entropy_with_logits(a(4), a(4), b(4)),
    "eeee aaaa ffff dddd",
  ],
  nll_loss: [({ F, at }, a, b) => F.nll_loss(a(3, 4), at, b(4)), "e--- -a-- --f- ---d"],
  cross_entropy: [({ F, at }, a, b) => F.cross_entropy(a(3, 4), at, b(4)), "e--- -a-- --f- ---d"],
  "cross_entropy, probabilities": [({ F }, a, b) => F.cross_entropy(a(3, 4), b(3, 4)), "effd fafd fffd dddd"],
  normal: [({ torch }, a, b) => torch.normal(a(4), b(4)), "eeee aaaa ffff dddd"],
  scaled_dot_product_attention: [
    ({ F }, a, b) => F.scaled_dot_product_attention(a(2, 3, 4), a(2, 3, 4), a(2, 3, 4), b(3, 3)),
    "e-e- -aa- --f- --dd",
  ],
  embedding_bag: [
    ({ F, at }, a, b) => F.embedding_bag(at.reshape([3, 1]), a(5, 4), { per_sample_weights: b(3, 1), mode: "sum" }),
    "e--- -a-- --f- ---d",
  ],
  prelu: [({ F }, a, b) => F.prelu(a(3, 4), b(4)), "e--- -a-- --f- ---d"],
};

/** Normalisations of 16-bit floats: of x, with parameters w and b and statistics m and v. */
const NORMS = {
  layer_norm: (F, x, w, b) => F.layer_norm(x, [4], w, b),
  group_norm: (F, x, w, b) => F.group_norm(x, 2, w, b),
  instance_norm: (F, x, w, b, m, v) => F.instance_norm(x, m, v, w, b),
  "batch_norm, training": (F, x, w, b, m, v) => F.batch_norm(x, m, v, w, b, true),
  batch_norm: (F, x, w, b, m, v) => F.batch_norm(x, m, v, w, b),
  rms_norm: (F, x, w) => F.rms_norm(x, [4], w),
};
const MODULES = {
  LayerNorm: (nn) => nn.LayerNorm(4),
  GroupNorm: (nn) => nn.GroupNorm(2, 4),
  InstanceNorm1d: (nn) => nn.InstanceNorm1d(4, { affine: true, track_running_stats: true }),
  BatchNorm1d: (nn) => nn.BatchNorm1d(4),
  RMSNorm: (nn) => nn.RMSNorm(4),
};

export default {
  "the type of each result is PyTorch's"(t) {
    const { torch } = t,
      F = torch.nn.functional,
      { device } = t.tensor([0]),
      at = torch.ones([3], { dtype: "int64", device }),
      of =
        (letter) =>
        (...shape) =>
          torch.full(shape, 0.5, { dtype: TYPES[letter], device }),
      here = had(t);
    for (const [name, [call, wanted]] of Object.entries(CALLS))
      wanted.split(" ").forEach((word, i) =>
        [...word].forEach((letter, j) => {
          const pair = [LETTERS[i], LETTERS[j]];
          if (!pair.every((l) => here.includes(l))) return;
          let got = "-";
          try {
            const out = call({ torch, F, at }, ...pair.map(of));
            got = LETTERS.find((l) => TYPES[l] === (out.dtype ?? [...out].at(-1).dtype));
          } catch (e) {
            if (!/same type|same dtype|mixed dtype|of type|have the same|Type promoting|to match query/.test(e.message))
              throw e;
          }
          t.equal([name, ...pair, got], [name, ...pair, letter]);
        }),
      );
  },

  async "16-bit floats are normalised with parameters of 32 bits: values, gradients, statistics"(t) {
    const { torch } = t,
      F = torch.nn.functional,
      shape = [3, 4, 4],
      numbers = (n, k) => Array.from({ length: n }, (_, i) => Math.sin(k * (i + 1)) + 0.25),
      made = (k, dtype, n = 4) => t.tensor(numbers(n, k)).to(dtype);
    for (const dtype of had(t)
      .map((l) => TYPES[l])
      .filter((d) => d.endsWith("float16"))) {
      const ran = (norm, type) => {
        const x = made(1, dtype, 48).to(type).reshape(shape).requires_grad_(),
          [w, b] = [2, 3].map((k) => made(k, "float32").requires_grad_()),
          [m, v] = [made(4, "float32"), made(5, "float32").abs().add(1)],
          y = norm(F, x, w, b, m, v);
        y.backward(made(6, dtype, 48).to(type).reshape(shape));
        return { y, x: x.grad, w: w.grad, ...(b.grad ? { b: b.grad } : {}), m, v };
      };
      for (const [name, norm] of Object.entries(NORMS)) {
        const got = ran(norm, dtype),
          exact = ran(norm, "float32");
        for (const [part, value] of Object.entries(got)) {
          t.equal([name, dtype, part, value.dtype], [name, dtype, part, "yx".includes(part) ? dtype : "float32"]);
          // What is stored in 16 bits is rounded once; all else is computed in 32.
          const short = "yx".includes(part),
            wanted = short ? exact[part].to(dtype) : exact[part],
            rtol = short ? torch.finfo(dtype).eps : 1e-5;
          t.close(await value.tolist(), await wanted.tolist(), { rtol, atol: 1e-5 });
        }
      }
      for (const [name, make] of Object.entries(MODULES)) {
        const module = make(torch.nn),
          x = made(1, dtype, 48).reshape(shape).requires_grad_(),
          y = module(x);
        y.sum().backward();
        t.equal([name, y.dtype, x.grad.dtype, module.weight.grad.dtype], [name, dtype, dtype, "float32"]);
        t.equal([name, module.eval()(x).dtype], [name, dtype]);
      }
    }
  },
};
