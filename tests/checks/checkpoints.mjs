// torch.save and torch.load of whole states: what PyTorch's torch.load reads, and what its files hold beside tensors.

const at = (name) => new URL(`../files/${name}`, import.meta.url);

/** A file's bytes, in Node and in a page. */
async function bytesOf(name) {
  if (at(name).protocol !== "file:") return new Uint8Array(await (await fetch(at(name))).arrayBuffer());
  return new Uint8Array(await (await import("node:fs/promises")).readFile(at(name)));
}

/** What torch.save writes, as one Blob. */
async function saved(t, value, options) {
  const parts = [];
  await t.torch.save(
    value,
    new WritableStream({
      write(part) {
        parts.push(part.slice());
      },
    }),
    options,
  );
  return new Blob(parts);
}

/** What is said on the console meanwhile. */
async function warnings(body) {
  const said = [],
    { warn } = console;
  console.warn = (text) => said.push(text);
  try {
    return [await body(), said];
  } finally {
    console.warn = warn;
  }
}

/** A network, its optimizer and its schedule. */
function trained(t) {
  const { nn, optim } = t.torch,
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)).to(t.device),
    optimizer = optim.Adam(model.parameters(), { lr: 0.05, betas: [0.8, 0.99], amsgrad: true }),
    schedule = optim.lr_scheduler.StepLR(optimizer, { step_size: 2, gamma: 0.5 });
  return { model, optimizer, schedule };
}
async function steps({ model, optimizer, schedule }, x, count) {
  const losses = [];
  for (let i = 0; i < count; i++) {
    optimizer.zero_grad();
    const loss = model(x).pow(2).sum();
    loss.backward();
    await optimizer.step();
    schedule.step();
    losses.push(await loss.item());
  }
  return losses;
}
const stateOf = ({ model, optimizer, schedule }) => ({
  model: model.state_dict(),
  optimizer: optimizer.state_dict(),
  schedule: schedule.state_dict(),
});
async function restore({ model, optimizer, schedule }, state) {
  await model.load_state_dict(state.model);
  await optimizer.load_state_dict(state.optimizer);
  schedule.load_state_dict(state.schedule);
}

/** Everything in a value as a text, with the bits of numbers: tensors as lists. */
const shown = async (value) => JSON.stringify(await plain(value));
async function plain(value) {
  if (Object.is(value, -0)) return "-0";
  if (value === null || typeof value !== "object") return value;
  if (typeof value.tolist === "function") return [value.dtype, value.shape, await value.tolist()];
  if (Array.isArray(value)) return Promise.all(value.map(plain));
  return Object.fromEntries(await Promise.all(Object.entries(value).map(async ([k, v]) => [k, await plain(v)])));
}

export default {
  "whatever is saved is loaded again": async (t) => {
    const value = {
      epoch: 3,
      negative: -7,
      large: 2 ** 40,
      most: -(2 ** 53) + 1,
      rate: 0.1,
      zero: -0,
      huge: 1e300,
      none: null,
      yes: true,
      name: "αβ\u{1f600}",
      list: [1, [2, []], {}],
      by: { 0: { step: 1 }, 12: { step: 2 } },
      "a key": { "with space": t.tensor([1.5]) },
      wide: t.tensor([1, 2, 3], { dtype: "int32" }),
      flags: t.tensor([true, false]),
      bytes: t.tensor([255, 0], { dtype: "uint8" }),
      scalar: t.tensor(2.5),
      empty: t.torch.zeros([0, 3], { device: t.device }),
    };
    if (t.device === "cpu") value.double = t.tensor([1 / 3], { dtype: "float64" });
    const found = await t.torch.load(await saved(t, value), { map_location: t.device });
    t.equal(await shown(found), await shown(value));
    const others = await t.torch.load(
      await saved(t, [
        2n ** 70n,
        -(2n ** 64n),
        NaN,
        -Infinity,
        new Set([1, "a"]),
        new Map([[[1, 2], "pair"]]),
        new Uint8Array([0, 200]),
      ]),
    );
    t.equal(
      [others.slice(0, 4), [...others[4]], [...others[5]], others[6]],
      [[2n ** 70n, -(2n ** 64n), NaN, -Infinity], [1, "a"], [[[1, 2], "pair"]], new Uint8Array([0, 200])],
    );
    for (let n = 0; n < 70; n++) {
      for (const sign of [1n, -1n]) {
        const whole = sign * 2n ** BigInt(n),
          back = await t.torch.load(await saved(t, { a: [whole, whole - 1n, whole + 1n] }));
        t.equal(back.a.map(BigInt), [whole, whole - 1n, whole + 1n]);
      }
    }
  },
  "tensors that share memory share it in the file, and what occurs twice is one": async (t) => {
    const base = t.tensor([
        [1, 2, 3],
        [4, 5, 6],
      ]),
      list = [1];
    const file = await saved(t, { base, turned: base.T, column: base.index(":", 1), again: base, list, same: list });
    const found = await t.torch.load(file, { map_location: t.device });
    t.equal(await found.turned.tolist(), [
      [1, 4],
      [2, 5],
      [3, 6],
    ]);
    found.base.add_(1);
    t.equal(
      [await found.column.tolist(), await found.again.tolist()],
      [
        [3, 6],
        [
          [2, 3, 4],
          [5, 6, 7],
        ],
      ],
    );
    t.equal(found.list === found.same, true);
    const cycle = { name: "itself" };
    cycle.me = cycle;
    const round = await t.torch.load(await saved(t, cycle));
    t.equal([round.me === round, round.name], [true, "itself"]);
  },
  "parameters keep requires_grad, and floats may be written smaller": async (t) => {
    const p = t.torch.nn.Parameter(t.tensor([1 / 3]));
    const found = await t.torch.load(await saved(t, { p, q: p.detach() }), { map_location: t.device });
    t.equal([found.p.requires_grad, found.q.requires_grad], [true, false]);
    const small = await t.torch.load(await saved(t, { p: p.detach(), n: 1 }, { dtype: "bfloat16" }), {
      dtype: "float32",
    });
    t.equal([await small.p.tolist(), small.n], [[0.333984375], 1]);
  },
  "the archive is as torch.save writes it: entries stored, in order, at multiples of 64 bytes": async (t) => {
    const data = new Uint8Array(await (await saved(t, { w: t.tensor([1, 2]), b: t.tensor([3]) })).arrayBuffer()),
      words = new DataView(data.buffer),
      names = [];
    let at = 0;
    while (words.getUint32(at, true) === 0x04034b50) {
      const name = words.getUint16(at + 26, true),
        start = at + 30 + name + words.getUint16(at + 28, true);
      names.push(new TextDecoder().decode(data.subarray(at + 30, at + 30 + name)));
      t.equal([start % 64, words.getUint16(at + 8, true)], [0, 0]);
      at = start + words.getUint32(at + 22, true);
    }
    t.equal(
      names,
      ["data.pkl", "byteorder", "data/0", "data/1", "version"].map((name) => `archive/${name}`),
    );
    t.equal(words.getUint32(at, true), 0x02014b50);
    const pickle = new TextDecoder("latin1").decode(data);
    for (const name of ["ctorch._utils\n_rebuild_tensor_v2\n", "ctorch\nFloatStorage\n", "ccollections\nOrderedDict\n"])
      t.equal(pickle.includes(name), true);
  },
  "what no file can hold is refused with its place": async (t) => {
    const bad = [
      [{ a: { b: [1, undefined] } }, /save: obj\.a\.b\[1\] must be tensors, numbers, .*got undefined/],
      [{ f: () => 1 }, /save: obj\.f must be .*got a function/],
      [{ "a b": Symbol("s") }, /save: obj\["a b"\] must be/],
      [{ when: new Date(0) }, /save: obj\.when must be .*got Date/],
      [{ x: new Float32Array(2) }, /save: obj\.x must be/],
      [{ net: t.torch.nn.Linear(1, 1) }, /save: obj\.net is a module; save its state_dict\(\)/],
      [undefined, /save/],
    ];
    for (const [value, words] of bad) await t.throws(() => saved(t, value), words);
    let deep = [];
    for (let i = 0; i < 600; i++) deep = [deep];
    await t.throws(() => saved(t, { deep }), /save: obj is nested more than 500 deep/);
  },
  "PyTorch's containers and NumPy's numbers and arrays; what cannot be had is left out by name": async (t) => {
    const [found, said] = await warnings(async () => t.torch.load(await bytesOf("containers.pt"))),
      { counter, ordered, groups, frozen, bytes, rows, columns, flags, model, losses } = found;
    t.equal(
      [await shown(counter), await shown(groups), [...frozen], bytes],
      ['{"a":2,"b":1,"c":1}', '{"a":[1]}', [3], new Uint8Array([1, 255])],
    );
    t.equal([Object.keys(ordered), await ordered.a.tolist()], [["z", "a"], [1]]);
    t.equal(
      [found.float64, found.float32, found.int64, found.large, found.flag],
      [1 / 3, Math.fround(0.1), -(2 ** 40), 2n ** 63n, true],
    );
    t.equal(
      [rows.dtype, await rows.tolist(), await columns.tolist(), await flags.tolist()],
      [
        "float32",
        [
          [1.5, -2],
          [3, 4],
        ],
        [
          [0, 1, 2],
          [3, 4, 5],
        ],
        [true, false],
      ],
    );
    t.equal(
      [Object.keys(model), losses.map(String), "args" in found, "turns" in found],
      [["w", "c"], ["0.5", "(1+2j)", "0.25"], false, false],
    );
    t.equal([model.c.dtype, model.c.shape], ["complex64", [2]]);
    t.equal(said.length, 1);
    for (const words of [
      /^load: the given bytes: left out/,
      /args: it holds argparse\.Namespace, which is refused/,
      /model\.module: it holds torch\.nn\.modules\.activation\.ReLU/,
      /turns: it holds an array of NumPy/,
    ])
      t.equal([words.source, words.test(said[0])], [words.source, true]);
    // the keys of both are texts here; written again, they are what they were
    const again = new TextDecoder("latin1").decode(
      await (await saved(t, { texts: found.texts, numbers: found.numbers })).arrayBuffer(),
    );
    t.equal(
      [again.includes("X\x01\x00\x00\x000X\x01\x00\x00\x00a"), again.includes("K\x00X\x01\x00\x00\x00a")],
      [true, true],
    );
  },
  "training that PyTorch saved goes on here with the same bits": async (t) => {
    const wanted = JSON.parse(new TextDecoder().decode(await bytesOf("training.json"))),
      state = await t.torch.load(await bytesOf("training.pt"), { map_location: t.device }),
      mine = trained(t);
    await restore(mine, state);
    t.equal(await mine.model[0].weight.tolist(), wanted.weight);
    t.equal(await mine.optimizer.state_dict().state[2].exp_avg_sq.tolist(), wanted.exp_avg_sq);
    t.equal([state.epoch, mine.schedule.get_last_lr()], [3, wanted.lr]);
    t.close(await steps(mine, state.x, 3), wanted.losses, { rtol: 1e-4, atol: 1e-6 });
    t.equal(mine.schedule.get_last_lr(), wanted["rates after"]);
  },
  "training goes on from a file as if it had not stopped, bit by bit": async (t) => {
    const one = trained(t),
      x = t.tensor([
        [1, -2, 0.5],
        [0.25, 3, -1],
      ]);
    await steps(one, x, 3);
    const file = await saved(t, { ...stateOf(one), epoch: 3 }),
      other = trained(t),
      state = await t.torch.load(file, { map_location: t.device });
    t.equal(await shown(state.optimizer), await shown(stateOf(one).optimizer));
    await restore(other, state);
    t.equal(await steps(other, x, 3), await steps(one, x, 3));
    t.equal(await shown(stateOf(other)), await shown(stateOf(one)));
  },
};
