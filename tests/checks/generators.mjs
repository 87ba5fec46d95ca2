// Random numbers: generators, which every function that draws takes, and what is drawn in place.
import { refused } from "./arguments.mjs";

/** What draws random numbers, by name. */
const drawing = ({ torch, device }) => {
  const {
      nn: { init },
    } = torch,
    blank = (...size) => torch.zeros(size, { device }),
    half = () => torch.full([3, 4], 0.5, { device });
  return {
    rand: (o) => torch.rand([3, 4], { ...o, device }),
    randn: (o) => torch.randn(3, 4, { ...o, device }),
    randint: (o) => torch.randint(0, 100, [3, 4], { ...o, device }),
    randperm: (o) => torch.randperm(12, { ...o, device }),
    rand_like: (o) => torch.rand_like(half(), o),
    randn_like: (o) => torch.randn_like(half(), o),
    randint_like: (o) => torch.randint_like(half(), 100, o),
    normal: (o) => torch.normal(0, 1, [3, 4], { ...o, device }),
    "normal of tensors": (o) => torch.normal(half(), half(), o),
    bernoulli: (o) => torch.bernoulli(half(), o),
    "bernoulli with p": (o) => torch.bernoulli(half(), 0.5, o),
    multinomial: (o) => torch.multinomial(half(), 3, o),
    "multinomial with replacement": (o) => torch.multinomial(half(), 3, true, o),
    rrelu: (o) => torch.rrelu(half().neg(), 0.1, 0.9, true, o),
    normal_: (o) => blank(3, 4).normal_(o),
    uniform_: (o) => blank(3, 4).uniform_(0, 1, o),
    bernoulli_: (o) => blank(3, 4).bernoulli_(0.5, o),
    random_: (o) => blank(3, 4).random_(0, 100, o),
    exponential_: (o) => blank(3, 4).exponential_(o),
    cauchy_: (o) => blank(3, 4).cauchy_(o),
    log_normal_: (o) => blank(3, 4).log_normal_(o),
    geometric_: (o) => blank(3, 4).geometric_(0.5, o),
    "Tensor.bernoulli": (o) => half().bernoulli(o),
    "init.uniform_": (o) => init.uniform_(blank(3, 4), o),
    "init.normal_": (o) => init.normal_(blank(3, 4), 1, 2, o.generator),
    "init.trunc_normal_": (o) => init.trunc_normal_(blank(3, 4), o),
    "init.xavier_uniform_": (o) => init.xavier_uniform_(blank(3, 4), o),
    "init.xavier_normal_": (o) => init.xavier_normal_(blank(3, 4), 2, o.generator),
    "init.kaiming_uniform_": (o) => init.kaiming_uniform_(blank(3, 4), o),
    "init.kaiming_normal_": (o) => init.kaiming_normal_(blank(3, 4), 0, "fan_out", "relu", o.generator),
    "init.orthogonal_": (o) => init.orthogonal_(blank(3, 4), o),
    "init.sparse_": (o) => init.sparse_(blank(4, 3), 0.5, 1, o.generator),
  };
};

export default {
  "a generator is made with and without `new`, for a device": async (t) => {
    const { Generator } = t.torch,
      draws = (generator) => t.torch.rand(2, { generator }).tolist();
    for (const make of [() => new Generator({ device: "cpu" }), () => Generator("cpu"), () => Generator()]) {
      t.equal([make() instanceof Generator, make().device], [true, "cpu"]);
      t.equal(await draws(make().manual_seed(3)), await draws(new Generator().manual_seed(3)));
    }
    t.equal(Generator({ device: t.device }).device, t.device);
    await t.throws(
      () => Generator({ device: "abacus" }),
      /Generator: argument 'device' must be a device \(.*got "abacus"/,
    );
  },
  "a generator decides wherever numbers are drawn": async (t) => {
    const { Generator, manual_seed } = t.torch,
      seeded = (n) => new Generator().manual_seed(n);
    for (const [name, draw] of Object.entries(drawing(t))) {
      const numbers = async (generator) => JSON.stringify(await draw({ generator }).tolist());
      manual_seed(1);
      const first = await numbers(seeded(7)),
        generator = seeded(7);
      manual_seed(2);
      t.equal(await numbers(generator), first);
      if ((await numbers(generator)) === first) throw new Error(`${name}: a generator draws the same twice`);
      if ((await numbers(seeded(8))) === first) throw new Error(`${name}: the seed of a generator does not count`);
      await refused(t, /generator.*Generator/)(() => draw({ generator: 7 }));
    }
  },
  "what is drawn in place has the method's own defaults, whatever the elements are": async (t) => {
    const defaults = {
      bernoulli_: [0.5],
      uniform_: [0, 1],
      normal_: [0, 1],
      log_normal_: [1, 2],
      exponential_: [1],
      cauchy_: [0, 1],
    };
    for (const [name, args] of Object.entries(defaults)) {
      const drawn = (...own) =>
        t
          .tensor(Array(24).fill(3))
          [name](...own, { generator: new t.torch.Generator().manual_seed(7) })
          .tolist();
      t.equal(await drawn(), await drawn(...args));
    }
  },
  "a generator leaves the package's own numbers where they are": async (t) => {
    const { Generator, manual_seed, rand, zeros } = t.torch,
      on = { device: t.device },
      before = [];
    for (const own of [false, true]) {
      manual_seed(3);
      if (own) zeros(5, on).normal_({ generator: new Generator().manual_seed(1) });
      before.push(await rand(4, on).tolist());
    }
    t.equal(before[0], before[1]);
  },
  "the same generator gives the same numbers on every device": async (t) => {
    const { Generator, rand, randint, zeros } = t.torch,
      generator = new Generator().manual_seed(5),
      on = { generator, device: t.device };
    t.close(await rand(3, on).tolist(), [0.0514, 0.112, 0.1327], { atol: 5e-5 });
    t.equal(await randint(5, 1000, [4], on).tolist(), [362, 401, 948, 601]);
    t.equal(await zeros(4, { device: t.device }).random_(0, 100, { generator }).tolist(), [51, 53, 74, 76]);
  },
  "random_ without bounds fills a type, as PyTorch does, and from a number on": async (t) => {
    const largest = { bool: 1, uint8: 255, int8: 127, int16: 32767, uint16: 65535, int32: 2 ** 31 - 1 };
    const floats = {
      float32: 2 ** 24,
      ...(t.device === "cpu" ? { float16: 2048, bfloat16: 256, float64: 2 ** 53 } : {}),
    };
    for (const [dtype, most] of Object.entries({ ...largest, uint32: 2 ** 31 - 1, int64: 2 ** 31 - 1, ...floats })) {
      const x = t.torch.zeros(400, { dtype, device: t.device }),
        filled = [await x.random_().tolist(), await x.random_({ from: 1 }).tolist()];
      for (const [from, list] of filled.map((numbers) => numbers.map(Number)).entries()) {
        const least = Math.min(...list),
          last = Math.max(...list);
        if (least < from || least > from + 0.03 * most || last < 0.97 * most || last > most || list.some((n) => n % 1))
          throw new Error(`${dtype} from ${from}: ${least} to ${last}`);
      }
    }
    const bytes = t.torch.zeros(3, { dtype: "uint8", device: t.device });
    await refused(t, /random_: from=-1 is out of bounds for uint8/)(() => bytes.random_({ from: -1 }));
  },
  "ranges of more numbers than a float has have all of them on the CPU": async (t) => {
    if (t.device !== "cpu") return;
    const { randint, zeros } = t.torch;
    for (const list of [
      await randint(0, 2 ** 31, [400]).tolist(),
      await zeros(400, { dtype: "int32" })
        .random_(0, 2 ** 31)
        .tolist(),
      await zeros(400, { dtype: "int64" })
        .random_(2 ** 40)
        .tolist(),
    ]) {
      const odd = list.filter((n) => Number(n) % 2).length;
      if (odd < 120 || odd > 280) throw new Error(`${odd} of ${list.length} are odd`);
    }
  },
  "random_ goes up to the end of a type, and takes the end alone": async (t) => {
    const { zeros } = t.torch,
      fill = (dtype, ...args) =>
        zeros(200, { dtype, device: t.device })
          .random_(...args)
          .tolist(),
      end = 2 ** 31;
    for (const [low, high, list] of [
      [0, end, await fill("int32", 0, end)],
      [0, end, await fill("int32", { to: end })],
      [-end, end, await fill("int32", -end, end)],
      [-1000, 1000, await fill("int32", -1000, 1000)],
      [0, 256, await fill("uint8", 256)],
      [-128, 128, await fill("int8", -128, 128)],
      [0, 2 ** 40, await fill("float32", 0, 2 ** 40)],
      [0, 7, await fill("float32", 7)],
    ]) {
      const span = Math.max(...list) - Math.min(...list);
      if (list.some((n) => n < low || n >= high || n % 1 !== 0) || span < 0.7 * (high - low - 1))
        throw new Error(`${low} to ${high}: ${list}`);
    }
    for (const [dtype, ...args] of [
      ["int32", 0, end + 1],
      ["int32", -end - 1, 0],
      ["int32", end, end + 5],
      ["int8", 129],
      ["int16", 32769],
      ["uint16", 65537],
      ["uint32", end + 1],
      ["bool", 3],
    ])
      await refused(t, /random_: .* does not fit into/)(() => fill(dtype, ...args));
    await refused(t, /random_: .*less than 'to'.*from=0 >= to=-5/)(() => fill("int32", -5));
    for (const to of [2.5, NaN, Infinity, "3", null]) await refused(t, /random_.*'to'/)(() => fill("float32", 0, to));
  },
  "a generator's state is PyTorch's, and goes where it is put": async (t) => {
    const { Generator, randperm } = t.torch,
      generator = new Generator().manual_seed(5);
    const sum = (state) =>
      state.tolist().then((bytes) => bytes.reduce((s, byte, i) => (s + (i + 1) * byte) % 1000003, 0));
    const states = [generator.get_state()];
    t.equal(states[0].shape, [5056]);
    t.equal([...generator.permutation(10)], [1, 4, 9, 6, 3, 5, 0, 2, 8, 7]);
    states.push(generator.get_state());
    for (let i = 0; i < 1400; i++) generator.bits();
    states.push(generator.get_state());
    t.equal(await Promise.all(states.map(sum)), [279245, 609654, 666133]);
    t.equal(await randperm(5, { generator }).tolist(), [2, 3, 0, 4, 1]);
    t.equal([...generator.set_state(states[0]).permutation(10)], [1, 4, 9, 6, 3, 5, 0, 2, 8, 7]);
    t.equal([...new Generator().set_state(states[2]).permutation(5)], [2, 3, 0, 4, 1]);
    t.equal(generator.initial_seed(), 5);
    t.equal(new Generator().initial_seed(), 67280421310721);
    t.equal([...new Generator().permutation(5)], [0, 1, 4, 3, 2]);
    t.equal(generator.seed(), generator.initial_seed());
    for (const wrong of [
      null,
      3,
      t.torch.zeros(5056),
      t.torch.zeros(3, { dtype: "uint8", device: "cpu" }),
      t.torch.zeros(5056, { dtype: "uint8", device: "cpu" }),
    ]) {
      await refused(t, /set_state/)(() => generator.set_state(wrong));
    }
  },
  "whole numbers of the default generator have 32 random bits": async (t) => {
    t.torch.manual_seed(1);
    const drawn = Array.from({ length: 16 }, () => t.torch.default_generator.bits());
    for (let bit = 0; bit < 32; bit++) t.equal(new Set(drawn.map((n) => Math.floor(n / 2 ** bit) % 2)).size, 2);
  },
  "a cloned generator goes on where the other is, by itself": async (t) => {
    const one = t.torch.Generator().manual_seed(5);
    t.torch.rand([3], { generator: one });
    const other = one.clone_state(),
      draw = (generator) => t.torch.randperm(9, { generator }).tolist(),
      wanted = await draw(one);
    t.equal([await draw(other), other.initial_seed()], [wanted, 5]);
  },
};
