// complex64: PyTorch's recorded answers (tests/recorded/complex.py), values and gradients, and what programs do with it.

const at = (name) => new URL(`../recorded/${name}`, import.meta.url);
async function recorded() {
  if (at("complex.json").protocol !== "file:") return (await fetch(at("complex.json"))).json();
  return JSON.parse(await (await import("node:fs/promises")).readFile(at("complex.json"), "utf8"));
}
const number = (v) => (typeof v === "string" ? Number(v.replace("inf", "Infinity")) : v);
const near = { rtol: 1e-4, atol: 2e-5 };

/** A tensor of recorded numbers: of complex64 two for each element. */
function made(t, { dtype, shape, data }) {
  const values = data.map(number),
    typed = dtype === "complex64" ? Float32Array.from(values) : values;
  return t.torch.tensor(typed, { dtype, shape, device: t.device });
}

/** The cotangent of results: the same formula as in the recording. */
function cotangent(t, { dtype, shape }) {
  const count = shape.reduce((a, b) => a * b, 1),
    values = [];
  for (let k = 0; k < count; k++) values.push(Math.cos(k + 1), ...(dtype === "complex64" ? [Math.sin(2 * k + 1)] : []));
  return made(t, { dtype, shape, data: values });
}

async function replay(t, inputs, { call, args, options, results, gradients }) {
  const leaves = new Map();
  const value = (v) => {
    if (Array.isArray(v)) return v.map(value);
    if (v === null || typeof v !== "object") return v;
    if ("re" in v) return t.torch.complex(v.re, v.im);
    if ("dtype" in v) return t.torch[v.dtype];
    if (!leaves.has(v.in)) {
      const x = made(t, inputs[v.in]);
      leaves.set(v.in, /float|complex/.test(x.dtype) ? x.requires_grad_() : x);
    }
    return leaves.get(v.in);
  };
  const given = args.map(value),
    named = Object.fromEntries(Object.entries(options).map(([k, v]) => [k, value(v)]));
  if (!leaves.size) named.device = t.device;
  const rest = Object.keys(named).length ? [named] : [];
  let got;
  if (call.startsWith(".")) {
    const name = call.slice(1),
      it = given[0][name];
    got = typeof it === "function" && !(it instanceof t.torch.Tensor) ? given[0][name](...given.slice(1), ...rest) : it;
  } else got = call.split(".").reduce((o, part) => o[part], t.torch)(...given, ...rest);
  got = await got;
  const list = got instanceof t.torch.Tensor || typeof got === "boolean" ? [got] : [...got];
  t.equal(list.length, results.length);
  for (const [i, wanted] of results.entries()) {
    if (typeof wanted !== "object") {
      t.equal(list[i], wanted);
      continue;
    }
    t.equal([list[i].dtype, list[i].shape], [wanted.dtype, wanted.shape]);
    const values = Array.from(await list[i].data(), Number);
    t.close(
      values,
      wanted.data.map((v) => Number(number(v))),
      near,
    );
  }
  if (!gradients) return;
  const names = Object.keys(gradients),
    smooth = results.map((_, i) => i).filter((i) => list[i].requires_grad);
  const found = t.torch.autograd.grad(
    smooth.map((i) => list[i]),
    names.map((name) => leaves.get(name)),
    { grad_outputs: smooth.map((i) => cotangent(t, results[i])), allow_unused: true },
  );
  for (const [i, name] of names.entries()) {
    const wanted = gradients[name],
      zero = wanted.data.every((v) => v === 0);
    if (zero && found[i] === null) continue;
    t.equal([name, found[i]?.dtype, found[i]?.shape], [name, wanted.dtype, wanted.shape]);
    t.close(Array.from(await found[i].data()), wanted.data.map(number), near);
  }
}

/** All recorded calls whose number leaves `rest` when divided by `parts`, with every mistake named. */
const part = (rest, parts) => async (t) => {
  const { inputs, cases } = await recorded(),
    wrong = [];
  for (const [n, one] of cases.entries()) {
    if (n % parts !== rest) continue;
    try {
      await replay(t, inputs, one);
    } catch (error) {
      wrong.push(`${one.call} ${JSON.stringify(one.args)} ${JSON.stringify(one.options)}: ${error.message}`);
    }
  }
  t.equal(wrong, []);
};

const PARTS = 4;

const C = (t, re, im) => t.torch.complex(re, im);
const pairs = (t, x) => t.torch.view_as_real(x).tolist();

export default {
  ...Object.fromEntries(
    Array.from({ length: PARTS }, (_, i) => [`PyTorch's answers, part ${i + 1} of ${PARTS}`, part(i, PARTS)]),
  ),
  "numbers in and out": async (t) => {
    const { torch } = t,
      z = t.tensor([C(t, 1, 2), C(t, 3, -1)]);
    t.equal([z.dtype, z.is_complex(), z.is_floating_point(), z.element_size()], ["complex64", true, false, 8]);
    t.equal((await z.tolist()).map(String), ["(1+2j)", "(3-1j)"]);
    t.equal([String(await z.sum().item()), String(C(t, 0, -1.5))], ["(4+1j)", "(0-1.5j)"]);
    t.equal(Array.from(await z.data()), [1, 2, 3, -1]);
    if (t.device === "cpu") {
      t.equal(String(z), "tensor([1.+2.j, 3.-1.j])");
      t.equal(String(t.tensor([[C(t, 0.5, -12.25), C(t, 100, 0)]])), "tensor([[  0.5000-12.2500j, 100.0000+0.0000j]])");
      t.equal(String(z.requires_grad_().mul(2)), "tensor([2.+4.j, 6.-2.j], grad_fn=<MulBackward0>)");
      z.requires_grad_(false);
    }
    t.equal(await pairs(t, torch.zeros([1, 1], { dtype: torch.complex64, device: t.device })), [[[0, 0]]]);
    t.equal(await pairs(t, t.tensor([1, 2], { dtype: "complex64" })), [
      [1, 0],
      [2, 0],
    ]);
    t.equal(torch.randn([2, 3], { dtype: torch.cfloat, device: t.device }).shape, [2, 3]);
    const spread = torch.view_as_real(torch.randn([4000], { dtype: torch.cfloat, device: t.device }));
    t.close(await spread.square().mean(0).tolist(), [0.5, 0.5], { atol: 0.1 });
  },
  "views share memory, and are changed in place": async (t) => {
    const { torch } = t,
      z = t.tensor([C(t, 1, 2), C(t, 3, -1), C(t, 0, 1)]);
    z.real.mul_(10);
    z.index(1).copy_(C(t, 5, 5));
    t.equal(await pairs(t, z), [
      [10, 2],
      [5, 5],
      [0, 1],
    ]);
    torch.view_as_real(z).index(2).fill_(7);
    z.narrow(0, 0, 1).add_(C(t, 0, 1));
    t.equal(await pairs(t, z), [
      [10, 3],
      [5, 5],
      [7, 7],
    ]);
    t.equal(await pairs(t, z.mul_(z.conj()).imag.mul(0).add(z)), [
      [109, 0],
      [50, 0],
      [98, 0],
    ]);
    const wide = t.tensor([
      [1, 2, 3, 4],
      [5, 6, 7, 8],
    ]);
    t.equal(await pairs(t, torch.view_as_complex(wide.reshape(2, 2, 2)).index(":", 1)), [
      [3, 4],
      [7, 8],
    ]);
    await t.throws(() => torch.view_as_complex(wide), /last dimension of size 2/);
    await t.throws(() => torch.view_as_complex(wide.index(":", "::2")), /last dimension with stride 1/);
    await t.throws(() => torch.view_as_complex(wide.index(":", "1:3")), /stride divisible by 2/);
    await t.throws(() => torch.view_as_real(wide), /only supported for complex tensors/);
  },
  "gradients go through changes in place": async (t) => {
    const z = t.tensor([C(t, 1, 2), C(t, 3, -1)]).requires_grad_(),
      y = z.mul(2);
    y.index(0).mul_(C(t, 0, 1));
    y.abs().square().sum().backward();
    t.close(
      await pairs(t, z.grad),
      [
        [8, 16],
        [24, -8],
      ],
      near,
    );
    z.grad = null;
    for (let i = 0; i < 2; i++) z.square().real.sum().backward();
    t.close(
      await pairs(t, z.grad),
      [
        [4, -8],
        [12, 4],
      ],
      near,
    );
    await t.throws(() => z.sum().backward(), /only for real scalar outputs but got torch.complex64/);
    // The gradient of a gradient: |z|**2 has the constant second derivative 2.
    const [g] = t.torch.autograd.grad(z.abs().square().sum(), z, { create_graph: true }),
      [h] = t.torch.autograd.grad(g.real.sum(), z);
    t.close(
      await pairs(t, h),
      [
        [2, 0],
        [2, 0],
      ],
      near,
    );
  },
  "rotary embeddings as Llama writes them": async (t) => {
    const { torch } = t,
      [batch, length, heads, width] = [2, 3, 2, 4],
      x = torch.randn([batch, length, heads, width], { device: t.device }).requires_grad_();
    const theta = t.tensor([1, 0.01]),
      angles = torch.outer(torch.arange(length, { device: t.device }).float(), theta),
      turns = torch.polar(torch.ones_like(angles), angles);
    const rotated = (xq) => {
      const numbers = torch.view_as_complex(xq.float().reshape(...xq.shape.slice(0, -1), -1, 2)),
        around = turns.view(1, length, 1, width / 2);
      return torch.view_as_real(numbers.mul(around)).flatten(3).type_as(xq);
    };
    const out = rotated(x);
    // Pairs turn and keep their lengths, and the way back turns them back.
    out.square().sum().backward();
    t.close(await x.grad.tolist(), await x.mul(2).tolist(), { rtol: 1e-4, atol: 1e-5 });
    t.close(await out.select(1, 0).tolist(), await x.select(1, 0).tolist(), near);
    const faster = torch.compile(rotated);
    for (let i = 0; i < 3; i++) t.close(await faster(x.detach()).tolist(), await out.tolist(), near);
  },
  "a filter of frequencies": async (t) => {
    const { torch } = t,
      n = 32,
      time = torch
        .arange(n, { device: t.device })
        .float()
        .mul((2 * Math.PI) / n),
      low = time.mul(2).sin(),
      signal = low.add(time.mul(9).cos());
    const spectrum = torch.fft.rfft(signal),
      mask = torch.arange(n / 2 + 1, { device: t.device }).lt(5);
    t.close(await torch.fft.irfft(spectrum.mul(mask)).tolist(), await low.tolist(), { atol: 1e-5 });
    t.close(await torch.fft.irfft(torch.where(mask, spectrum, 0), n).tolist(), await low.tolist(), { atol: 1e-5 });
    const filter = torch.randn([n / 2 + 1], { dtype: torch.complex64, device: t.device }).requires_grad_();
    const learned = torch.fft.irfft(spectrum.mul(filter));
    learned.square().sum().backward();
    t.equal([filter.grad.dtype, filter.grad.shape], ["complex64", [n / 2 + 1]]);
  },
  "a module with complex parameters": async (t) => {
    const { torch } = t,
      { nn } = torch;
    class Mixer extends nn.Module {
      constructor() {
        super();
        this.weight = new nn.Parameter(torch.randn([3, 3], { dtype: torch.complex64 }));
      }
      forward(x) {
        return torch.fft.ifft(torch.fft.fft(x).matmul(this.weight)).real;
      }
    }
    const model = new Mixer();
    if (t.device !== "cpu") await model.to(t.device);
    const x = torch.randn([2, 3], { device: t.device }),
      out = model(x);
    out.square().sum().backward();
    t.equal([model.weight.grad.dtype, out.dtype], ["complex64", "float32"]);
    const other = new Mixer();
    if (t.device !== "cpu") await other.to(t.device);
    await other.load_state_dict(model.state_dict());
    t.close(await other(x).tolist(), await out.tolist(), near);
  },
  "optimizers move complex parameters as PyTorch does": async (t) => {
    const { torch } = t,
      turn = t.tensor([C(t, 0, 1), C(t, 1, 0), C(t, 1, -1)]);
    for (const { optimizer, options, after } of (await recorded()).optimizers) {
      const z = t.tensor([C(t, 1, 0.5), C(t, 2, -1), C(t, -0.5, 0.25)]).requires_grad_(),
        pair = t.tensor([C(t, 2, -1), C(t, -0.5, 0.25)]).requires_grad_(),
        moves = new torch.optim[optimizer]([z, pair], options);
      for (let i = 0; i < 6; i++) {
        moves.zero_grad();
        const far = z.mul(turn).sub(1).abs().square().sum();
        far.add(z.mul(z).real.sum().mul(0.1)).backward();
        const near = pair
          .mul(turn.narrow(0, 1, 2))
          .sub(1)
          .abs()
          .square()
          .sum();
        near.add(pair.mul(pair).real.sum().mul(0.1)).backward();
        await moves.step();
      }
      t.close(
        Array.from(await torch.view_as_real(z.detach()).data()),
        after.data,
        { rtol: 1e-4, atol: 2e-4 },
        optimizer,
      );
    }
    const z = t.tensor([[C(t, 1, 2)]]).requires_grad_(),
      norms = new torch.optim.Adafactor([z]);
    z.abs().sum().backward();
    await t.throws(() => norms.step(), /Adafactor does not support complex parameters/);
    await t.throws(() => new torch.optim.Muon([z]), /Muon does not support complex parameters/);
  },
  "files hold them": async (t) => {
    const { torch } = t,
      z = torch.randn([3, 2], { dtype: torch.complex64, device: t.device }),
      chunks = [];
    const sink = new WritableStream({ write: (chunk) => void chunks.push(chunk) });
    await torch.save({ z, part: z.index(1), real: z.real }, sink);
    const back = await torch.load(await new Blob(chunks).arrayBuffer(), { map_location: t.device });
    t.equal([back.z.dtype, await pairs(t, back.z)], ["complex64", await pairs(t, z)]);
    t.equal([await pairs(t, back.part), await back.real.tolist()], [await pairs(t, z.index(1)), await z.real.tolist()]);
  },
  "complex options beside real tensors are refused, complex operands are not": async (t) => {
    const { torch } = t,
      x = t.tensor([1, 2, 3]),
      square = t.tensor([
        [1, 2],
        [3, 4],
      ]),
      mask = t.tensor([true, false, true]),
      first = t.tensor([0], { dtype: torch.long }),
      z = C(t, 1, 2),
      one = t.tensor(z);
    const refused = {
      value: [
        () => x.masked_fill(mask, z),
        () => x.masked_fill_(mask, z),
        () => x.masked_fill(mask, one),
        () => x.int().masked_fill(mask, z),
        () => x.index_fill(0, first, z),
        () => x.index_fill(0, first, one),
        () => torch.addcmul(x, x, x, { value: z }),
        () => torch.addcdiv(x, x, x, { value: z }),
        () => torch.nn.functional.pad(x, [1, 1], "constant", z),
        () => x.scatter(0, first, z),
      ],
      alpha: [
        () => torch.add(x, x, { alpha: z }),
        () => x.add_(x, { alpha: z }),
        () => torch.sub(x, x, { alpha: z }),
        () => torch.rsub(x, x, { alpha: z }),
        () => torch.addmm(square, square, square, { alpha: z }),
        () => x.index_add(0, first, x.narrow(0, 0, 1), { alpha: z }),
      ],
      beta: [() => torch.addmm(square, square, square, { beta: z })],
    };
    for (const [name, calls] of Object.entries(refused))
      for (const call of calls) await t.throws(call, new RegExp(`argument ${name} must not be a complex`));
    t.equal(await x.tolist(), [1, 2, 3]);
    for (const made of [
      x.pow(z),
      torch.where(mask, x, z),
      x.mul(z),
      torch.lerp(x, x, one),
      torch.add(x, z, { alpha: z }),
      torch.add(x, x.mul(one), { alpha: z }),
      x.mul(one).masked_fill(mask, z),
      x.mul(one).masked_fill(mask, one),
    ])
      t.equal([made.dtype, made.shape], ["complex64", [3]]);
  },
  "a tensor that fills takes the type of what it fills": async (t) => {
    const whole = t.tensor([1, 2, 3], { dtype: t.torch.long }),
      mask = t.tensor([true, false, true]),
      fill = t.tensor(-7.5);
    for (const filled of [whole.masked_fill(mask, fill), whole.index_fill(0, t.tensor([0, 2]).long(), fill)])
      t.equal([filled.dtype, await filled.tolist()], ["int64", [-7, 2, -7]]);
    t.equal((await mask.masked_fill(mask, t.tensor(5)).tolist()).join(), "true,false,true");
  },
  "types and what has no complex meaning": async (t) => {
    const { torch } = t,
      z = t.tensor([C(t, 1, 2)]);
    t.equal(
      [
        torch.promote_types(torch.complex64, torch.int64),
        torch.result_type(z, 1.5),
        torch.can_cast(torch.complex64, torch.float32),
        torch.can_cast(torch.float32, torch.complex64),
      ],
      ["complex64", "complex64", false, true],
    );
    t.equal(
      [await z.to(torch.float32).tolist(), z.type()],
      [[1], `torch.${t.device === "cpu" ? "" : "webgpu."}ComplexFloatTensor`],
    );
    await t.throws(() => z.relu(), /relu: "relu" not implemented for 'ComplexFloat'/);
    await t.throws(() => z.lt(z), /lt: "lt" not implemented for 'ComplexFloat'/);
    await t.throws(() => torch.max(z), /max: "max" not implemented for 'ComplexFloat'/);
    await t.throws(() => z.sort(), /"sort" not implemented for 'ComplexFloat'/);
    await t.throws(
      () => t.tensor([1.5]).add_(z),
      /result type complex64 can't be cast to the desired output type float32/,
    );
    await t.throws(() => t.tensor([1.5]).copy_(C(t, 1, 1)), /\(1\+1j\) does not fit into float32/);
    await t.throws(
      () => torch.zeros([1], { dtype: "complex128" }),
      /zeros: argument .dtype. must be a dtype .* got "complex128"/,
    );
    if (t.device === "cpu") await t.throws(() => z.add(t.tensor([1.5]).double()), /complex128, which there is not/);
    await t.throws(() => torch.imag(t.tensor([1])), /not implemented for tensors with non-complex dtypes/);
  },
};
