// Files that are written: read again bit by bit, in the types and streams that were asked for.

export default {
  "written tensors are read again, bit by bit": async (t) => {
    const { safetensors } = t.torch,
      base = t.tensor([
        [1.5, -2, 0.1],
        [3, 4, 5],
      ]);
    const state = {
      w: base,
      turned: base.T,
      n: t.tensor([1, -2], { dtype: "int32" }),
      b: t.tensor([true, false]),
      i: t.tensor([-1, 5], { dtype: "int8" }),
      u: t.tensor([255], { dtype: "uint8" }),
      none: t.torch.zeros([0, 2], { device: t.device }),
      one: t.tensor(7),
    };
    if (t.hasHalf) state.h = t.tensor([1 / 3, 70000]).half();
    const data = await safetensors.save(state, { metadata: { format: "pt" } }),
      found = await safetensors.load(data, { device: t.device });
    t.equal(Object.keys(found).sort(), Object.keys(state).sort());
    for (const [name, x] of Object.entries(state))
      t.equal([found[name].dtype, found[name].shape, await found[name].tolist()], [x.dtype, x.shape, await x.tolist()]);
    t.equal(new DataView(data.buffer).getUint32(0, true) % 8, 0);
    const opened = await safetensors.safe_open(data);
    t.equal(
      [opened.metadata().format, opened.keys()],
      ["pt", ["none", "one", "turned", "w", "n", ...(t.hasHalf ? ["h"] : []), "i", "u", "b"]],
    );
  },
  "without a file torch.save answers the bytes of one": async ({ torch, device, tensor, equal, throws }) => {
    const { save, load } = torch,
      model = { x: tensor([1, 2]), epoch: 3 },
      bytes = await save(model),
      found = await load(bytes, { device });
    equal([bytes instanceof Uint8Array, await found.x.tolist(), found.epoch], [true, [1, 2], 3]);
    const named = await load(await save({ obj: model, f: null }), { device });
    equal([await named.x.tolist(), named.epoch], [[1, 2], 3]);
    const tensors = await save({ x: model.x }, { metadata: { by: "hand" } }),
      opened = await torch.safetensors.safe_open(tensors);
    equal([opened.metadata().by, opened.keys()], ["hand", ["x"]]);
    const { param_groups } = await load(await save(torch.optim.SGD([torch.nn.Parameter(model.x)]).state_dict()));
    equal(param_groups[0].params, [0]);
    await throws(() => save(model, undefined), /argument 'f' is undefined/);
  },
  "entries of saved archives have the sums of their bytes that zip asks for": async (t) => {
    const parts = [];
    await t.torch.save({ x: t.tensor([1, 2]) }, new WritableStream({ write: (part) => void parts.push(part.slice()) }));
    const bytes = new Uint8Array(await new Blob(parts).arrayBuffer()),
      data = new DataView(bytes.buffer),
      sums = {};
    for (let at = 0; at + 46 < bytes.length; at++) {
      if (data.getUint32(at, true) !== 0x02014b50) continue; // an entry of the directory
      const name = new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + data.getUint16(at + 28, true)));
      sums[name.replace(/.*\//, "")] = data.getUint32(at + 16, true);
    }
    // as Python's zlib.crc32 has them of b"little" and b"3\n"
    t.equal([sums.byteorder, sums.version], [434322821, 1432854225]);
  },
  "floating tensors are written as half precision or bfloat16 where that is asked for": async (t) => {
    const { safetensors } = t.torch,
      state = { x: t.tensor([1 / 3, 1, -70000, 1.00390625, 1.01171875, NaN]), n: t.tensor([3], { dtype: "int32" }) };
    const wanted = {
      bfloat16: ["BF16", [0.333984375, 1, -70144, 1, 1.015625, NaN]],
      float16: ["F16", [0.333251953125, 1, -Infinity, 1.00390625, 1.01171875, NaN]],
    };
    for (const [dtype, [name, values]] of Object.entries(wanted)) {
      const file = await safetensors.safe_open(await safetensors.save(state, { dtype }));
      t.equal(
        [file.get_slice("x").get_dtype(), file.get_slice("n").get_dtype(), await (await file.get_tensor("x")).tolist()],
        [name, "I32", values],
      );
    }
    await t.throws(
      () => safetensors.save(state, { dtype: "int8" }),
      /save: dtype must be one of float16, bfloat16, float32, float64, got "int8"/,
    );
  },
  "what is nested as deep as torch.save takes it is read again": async (t) => {
    const kinds = {
      list: (x) => [x],
      object: (a) => ({ a }),
      map: (x) => new Map([["a", x]]),
      set: (x) => new Set([x]),
    };
    for (const [kind, around] of Object.entries(kinds))
      for (const inside of [1, t.tensor([1, 2])]) {
        const saved = async (depth) => {
          let x = inside;
          for (let n = 0; n < depth; n++) x = around(x);
          const parts = [];
          await t.torch.save(x, new WritableStream({ write: (part) => void parts.push(part.slice()) }));
          return new Blob(parts);
        };
        let [deepest, refused] = [1, 1000];
        while (refused - deepest > 1) {
          const depth = Math.floor((deepest + refused) / 2);
          if (await saved(depth).catch(() => null)) deepest = depth;
          else refused = depth;
        }
        await t.throws(() => saved(refused), /save: obj is nested more than \d+ deep/);
        let found = await t.torch.load(await saved(deepest));
        while (typeof found === "object" && !("storage" in found))
          found = Array.isArray(found) ? found[0] : found instanceof Set ? [...found][0] : found.a;
        t.equal(
          [kind, deepest > 200, inside === 1 ? found : await found.tolist()],
          [kind, true, await (inside.tolist?.() ?? 1)],
        );
      }
  },
  "torch.save writes to streams, and safetensors where metadata are given": async (t) => {
    const parts = [],
      sink = () =>
        new WritableStream({
          write(part) {
            parts.push(part);
          },
        });
    await t.torch.save({ a: t.tensor([1, 2]) }, sink());
    t.equal(await (await t.torch.load(new Blob(parts.splice(0)))).a.tolist(), [1, 2]);
    await t.torch.save({ a: t.tensor([1, 2]) }, sink(), { metadata: { format: "pt" } });
    const file = await t.torch.safetensors.safe_open(new Blob(parts));
    t.equal([file.metadata().format, file.keys()], ["pt", ["a"]]);
    const { save, nn } = t.torch,
      tensors = { metadata: { format: "pt" } };
    await t.throws(
      () => save(nn.Linear(1, 1), sink()),
      /save: expected a dictionary of tensors, got a module or function; save model\.state_dict\(\)/,
    );
    await t.throws(() => save(t.tensor([1]), sink(), tensors), /got Tensor; save\(\{name: tensor\}, f\)/);
    await t.throws(() => save({ epoch: 3 }, sink(), tensors), /save: "epoch" must be a tensor, got number 3/);
    await t.throws(
      () => save({ a: t.tensor([1]) }, 3),
      /expected a path, a WritableStream or the handle of a file, got number 3/,
    );
    await t.throws(
      () => save({ a: t.tensor([1]) }, "https://example.org/a"),
      /is an address, to which nothing can be written/,
    );
  },
  "what is saved are the values at the call": async (t) => {
    const { save } = t.torch.safetensors,
      state = {
        a: t.tensor([1, 2, 3]),
        b: t
          .tensor([
            [1, 2],
            [3, 4],
          ])
          .t(),
        c: t.tensor([1]),
        d: t.tensor(1),
      };
    const saved = save(state);
    for (const x of Object.values(state)) x.mul_(10);
    state.a.dispose();
    state.e = t.tensor([1]);
    const found = await t.torch.load(await saved);
    t.equal(Object.keys(found).sort(), ["a", "b", "c", "d"]);
    for (const [name, value] of Object.entries({
      a: [1, 2, 3],
      b: [
        [1, 3],
        [2, 4],
      ],
      c: [1],
      d: 1,
    }))
      t.equal(await found[name].tolist(), value);
  },
};
