// Files: PyTorch's checkpoints and safetensors, read and written; what tests/files holds, and damaged copies of it.

import { checkpointOf, readDamaged } from "../files/damage.mjs";

const at = (name) => new URL(`../files/${name}`, import.meta.url);

/** A file's bytes, in Node and in a page. */
async function bytesOf(torch, name) {
  if (at(name).protocol !== "file:") return new Uint8Array(await (await fetch(at(name))).arrayBuffer());
  return new Uint8Array(await (await import("node:fs/promises")).readFile(at(name)));
}
const expected = async (t) => JSON.parse(new TextDecoder().decode(await bytesOf(t.torch, "expected.json")));

/** A GPU has no float64. */
const options = (t) => ({ map_location: t.device, dtype: t.device === "cpu" ? null : "float32" });
const KEPT = {
  float64: "float64",
  float16: "float16",
  empty: "float32",
  scalar: "float32",
};

async function checkTypes(t, found, wanted, names = Object.keys(wanted)) {
  t.equal(Object.keys(found).sort(), Object.keys(wanted).sort());
  for (const name of names) {
    t.equal(found[name].device, t.device);
    const kept = KEPT[name] ?? name;
    t.equal(found[name].dtype, t.device !== "cpu" && kept.includes("float") ? "float32" : kept);
    if (t.device === "cpu") t.equal(await found[name].tolist(), wanted[name]);
    else if (name !== "float64") t.close(await found[name].tolist(), wanted[name], { rtol: 1e-6, atol: 1e-37 });
  }
}

export default {
  "a checkpoint's tensors of every type: stored, deflated and in a zip64 archive": async (t) => {
    const all = await expected(t);
    for (const name of ["types.pt", "deflated.pt", "zip64.pt"])
      await checkTypes(t, await t.torch.load(at(name), options(t)), all[name]);
  },
  "safetensors of every type, from an address, bytes, a Blob and a Response": async (t) => {
    const wanted = (await expected(t))["types.safetensors"],
      data = await bytesOf(t.torch, "types.safetensors");
    for (const from of [at("types.safetensors"), data, data.buffer, new Blob([data]), new Response(data)]) {
      await checkTypes(t, await t.torch.safetensors.load_file(from, options(t)), wanted);
    }
    await checkTypes(t, await t.torch.load(data, options(t)), wanted);
  },
  "half precision stays half precision where the device has it, and else says what to do": async (t) => {
    if (!t.hasHalf) {
      await t.throws(
        () => t.torch.load(at("types.safetensors"), { map_location: t.device, dtype: "float16" }),
        /float16 is not available .* \{dtype: "float32"\} makes float32 of it/,
      );
      return;
    }
    const { float16 } = await t.torch.load(at("types.safetensors"), { map_location: t.device, dtype: "float16" });
    t.equal([float16.dtype, float16.device], ["float16", t.device]);
    t.equal(await float16.tolist(), (await expected(t))["types.safetensors"].float16);
  },
  "JSON has the type that is asked for, as lists and as {shape, data}": async (t) => {
    const data = new TextEncoder().encode(JSON.stringify({ list: [1, 0, 2], parts: { shape: [3], data: [1, 0, 2] } }));
    for (const dtype of [
      null,
      "float32",
      ...(t.hasHalf ? ["float16"] : []),
      ...(t.device === "cpu" ? ["float64"] : []),
    ]) {
      const { list, parts } = await t.torch.load(data, { map_location: t.device, dtype }),
        wanted = dtype ?? "float32";
      t.equal(
        [list.dtype, parts.dtype, await list.tolist(), await parts.tolist()],
        [wanted, wanted, [1, 0, 2], [1, 0, 2]],
      );
    }
  },
  "views of one memory share it": async (t) => {
    const found = await t.torch.load(at("views.pt"), { map_location: t.device }),
      wanted = (await expected(t))["views.pt"];
    for (const [name, value] of Object.entries(wanted)) t.equal(await found[name].tolist(), value);
    found.base.index(2, 1).fill_(100);
    t.equal(
      [await found.turned.index(1).tolist(), await found.column.tolist()],
      [
        [1, 5, 100],
        [1, 5, 100],
      ],
    );
    t.equal(found.again === found.base || found.again.storage === found.base.storage, true);
  },
  "checkpoints of PyTorch before 1.6 are read, and damaged ones refused": async (t) => {
    const { load } = t.torch,
      { epoch, ...found } = await load(at("legacy.pt"), { map_location: t.device, dtype: "float32" }),
      { whole, yes, ...wanted } = (await expected(t))["legacy.pt"];
    t.equal([epoch, await found.whole.tolist(), await found.yes.tolist()], [3, whole, yes]);
    for (const [name, value] of Object.entries(wanted)) t.close(await found[name].tolist(), value);
    t.equal([found.none.shape, found.yes.dtype], [[0, 3], "bool"]);
    found.base.index(1, 1).fill_(100);
    t.equal(await found.turned.index(1).tolist(), [1, 100]);

    const url = at("legacy.pt"),
      bytes =
        url.protocol === "file:"
          ? new Uint8Array(await (await import("node:fs/promises")).readFile(url))
          : new Uint8Array(await (await fetch(url)).arrayBuffer());
    for (let n = 16; n < bytes.length; n += 7) await t.throws(() => load(bytes.slice(0, n)), /pickle/);
    const miscounted = bytes.slice();
    miscounted[bytes.length - 3 * 4] += 1; // somewhere in the last storages' counts or numbers: an answer or an error
    await load(miscounted).catch((error) => t.equal(/pickles are damaged/.test(error.message), true));
  },
  "a file that is cut off says what its tensors take and what there is": async (t) => {
    for (const [name, said] of [
      ["legacy.pt", /its storage \d+ takes (\d+) bytes from (\d+) on, but the file has (\d+) bytes$/],
      ["types.safetensors", /its tensors take (\d+) bytes, but (\d+) follow the header$/],
    ]) {
      const whole = await bytesOf(t.torch, name);
      for (const cut of [1, 2, 7, 20]) {
        const told = await t.torch.load(whole.slice(0, -cut)).catch(({ message }) => message),
          [takes, from, has] = said.exec(told).slice(1).map(Number);
        t.equal([name, cut, has === undefined ? takes - from : takes + from - has], [name, cut, cut]);
        if (has !== undefined) t.equal(has, whole.length - cut);
      }
    }
  },
  "a module takes its state from a file and answers as in PyTorch": async (t) => {
    const { nn } = t.torch,
      all = await expected(t),
      { state, x, y } = all["net.pt"];
    for (const name of ["net.pt", "net4.pt", "net.safetensors"]) {
      const net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2)).to(t.device).eval();
      const report = await net.load_state_dict(name === "net.pt" ? String(at(name)) : at(name));
      t.equal([report.missing_keys, report.unexpected_keys], [[], []]);
      for (const [key, value] of Object.entries(net.state_dict())) t.close(await value.tolist(), state[key]);
      t.close(await net(t.tensor(x)).tolist(), y);
    }
    await t.throws(
      () => nn.Linear(3, 4).load_state_dict(at("net.pt")),
      /Unexpected key\(s\) in state_dict: "0.weight"/,
    );
    await t.throws(
      () => nn.Linear(3, 4).load_state_dict(at("missing.pt")),
      /missing.pt: (it cannot be opened|the server answered 404)/,
    );
  },
  "plain containers become objects, lists, Maps and Sets": async (t) => {
    const found = await t.torch.load(at("nested.pt")),
      wanted = (await expected(t))["nested.pt"];
    const { epoch, loss, name, none, flags, pair, bytes, big, huge, size, dtype, device, ordered } = found;
    t.equal(
      [epoch, loss, name, none, flags, pair, bytes],
      [3, 0.25, "αβ", null, [true, false], [1, 2], new Uint8Array([0, 255])],
    );
    t.equal(
      [big, huge, size, dtype, device, Object.entries(ordered)],
      [
        2n ** 60n,
        -(2n ** 70n),
        [2, 3],
        "float16",
        "cuda:1",
        [
          ["z", 1],
          ["a", 2],
        ],
      ],
    );
    t.equal([[...found.set], found["by number"][7], [...found.mixed]], [[1, 2], "b", [[[1, 2], "pair"]]]);
    t.equal(
      [await found.parameter.tolist(), found.parameter.requires_grad, await found.uint16.tolist()],
      [[1, 2], true, [1, 65535]],
    );
    t.equal(found.optimizer.param_groups[0].params, wanted.params);
    t.close(await found.optimizer.state[0].exp_avg.tolist(), wanted.exp_avg);
    t.equal([Object.hasOwn(found, "__proto__"), found.polluted, {}.polluted], [true, undefined, undefined]);
  },
  "what is no tensor or plain container is refused by name": async (t) => {
    const { load } = t.torch;
    await t.throws(
      () => load(at("refused.pt")),
      /refused\.pt: it holds torch\.nn\.modules\.linear\.Linear, which is refused.*state_dict/,
    );
    const large = () => load(at("large.pt"), { map_location: t.device });
    if (t.device === "cpu") t.equal(await (await large()).n.tolist(), [5, 2 ** 40]);
    else await t.throws(large, /large\.pt: .*1099511627776 does not fit into the 32 bits that int64 has on webgpu/);
    await t.throws(() => load(at("script.pt")), /script\.pt: it is a TorchScript archive/);
    await t.throws(() => load(at("net.pt"), { weights_only: false }), /weights_only=False is not possible/);
    await t.throws(
      () => load(7),
      /load: expected a path, an address, a Blob, a Response, an ArrayBuffer or a typed array, got number 7/,
    );
    await t.throws(
      () => load(new Uint8Array([1, 2])),
      /the given bytes: it is neither a checkpoint of PyTorch .* begin with 01 02/,
    );
    await t.throws(() => load(new Uint8Array()), /begin with nothing/);
    if (t.device !== "cpu")
      await t.throws(
        () => load(at("types.pt"), { map_location: t.device }),
        /types\/data\/0: .*float64.*dtype: "float32"/,
      );
  },
  "an opened file reads its header first, then a tensor or some of its rows": async (t) => {
    const file = await t.torch.safetensors.safe_open(at("net.safetensors"), { device: t.device }),
      { state } = (await expected(t))["net.pt"];
    t.equal(file.keys().sort(), Object.keys(state).sort());
    t.close(await (await file.get_tensor("2.weight")).tolist(), state["2.weight"]);
    const slice = file.get_slice("0.weight");
    t.equal([slice.get_shape(), slice.get_dtype()], [[4, 3], "F32"]);
    t.close(await (await slice.rows(1, 3)).tolist(), state["0.weight"].slice(1, 3));
    t.close(await (await slice.rows(-1)).tolist(), state["0.weight"].slice(-1));
    t.equal((await slice.rows(3, 1)).shape, [0, 3]);
    await t.throws(
      () => file.get_slice("1.num_batches_tracked").rows(0),
      /rows: tensor "1\.num_batches_tracked" has no axes/,
    );
    await t.throws(() => file.get_tensor("nope"), /safe_open: File does not contain tensor nope; it has 9:/);
    await file.close();
  },
  "tensors are handed out while the rest is still on its way, and progress is told": async (t) => {
    const data = await bytesOf(t.torch, "net.safetensors"),
      seen = [];
    let sent = 0,
      last = null;
    const body = new ReadableStream(
      {
        pull(to) {
          if (sent >= data.length) to.close();
          else to.enqueue(data.slice(sent, (sent += 50)));
        },
      },
      { highWaterMark: 0 },
    );
    const response = new Response(body, { headers: { "content-length": String(data.length) } });
    for await (const [name, x] of t.torch.safetensors.stream(response, {
      device: t.device,
      progress: (p) => {
        last = p;
      },
    }))
      seen.push([name, x.shape, sent < data.length]);
    t.equal([seen.length, seen[0], seen[8][2]], [9, ["0.weight", [4, 3], true], false]);
    t.equal([last.loaded, last.total], [data.length, data.length]);
  },
  "a reader that stops early stops the download": async (t) => {
    const data = await bytesOf(t.torch, "net.safetensors");
    let sent = 0,
      cancelled = false;
    const body = new ReadableStream(
      {
        pull(to) {
          to.enqueue(data.slice(sent, (sent += 50)));
        },
        cancel() {
          cancelled = true;
        },
      },
      { highWaterMark: 0 },
    );
    for await (const [name] of t.torch.safetensors.stream(new Response(body))) if (name) break;
    t.equal(cancelled, true);
  },
  "headers that lie are named": async (t) => {
    const { load } = t.torch.safetensors,
      bytes = (header, extra = 0, length = null) => {
        const text = new TextEncoder().encode(typeof header === "string" ? header : JSON.stringify(header)),
          out = new Uint8Array(8 + text.length + extra);
        new DataView(out.buffer).setBigUint64(0, BigInt(length ?? text.length), true);
        out.set(text, 8);
        return out;
      };
    const x = { dtype: "F32", shape: [2], data_offsets: [0, 8] };
    t.equal(await (await load(bytes({ x }, 8))).x.tolist(), [0, 0]);
    await t.throws(() => load(bytes({ x }, 7)), /its tensors take 8 bytes, but 7 follow the header/);
    await t.throws(() => load(bytes({ x }, 9)), /its tensors take 8 bytes, but 9 follow/);
    await t.throws(() => load(bytes({ x }, 8, 2 ** 40)), /its header would take 1099511627776 bytes/);
    await t.throws(
      () => load(bytes({ x: { ...x, shape: [3] } }, 8)),
      /tensor "x" of shape \[3\] and dtype F32 takes 12 bytes, but its data_offsets \[0,8\] hold 8/,
    );
    await t.throws(() => load(bytes({ x: { ...x, shape: [2 ** 40] } }, 8)), /at most 2147483647 elements/);
    await t.throws(
      () => load(bytes({ x: { ...x, shape: [-2] } }, 8)),
      /shape \[-2\], expected at most 64 whole numbers/,
    );
    await t.throws(
      () => load(bytes({ x: { ...x, dtype: "F8_E5M2" } }, 8)),
      /tensor "x" has the dtype "F8_E5M2"; supported are BOOL/,
    );
    await t.throws(() => load(bytes({ x, y: x }, 8)), /tensor "y" begins at 0, where 8 is expected/);
    await t.throws(
      () => load(bytes({ x: 3 })),
      /tensor "x" must be an object with dtype, shape and data_offsets, and is 3/,
    );
    await t.throws(() => load(bytes("[1,2]")), /header must be an object, and is \[1,2\]/);
    await t.throws(() => load(bytes("{no", 8)), /its safetensors header is no JSON/);
    await t.throws(() => load(bytes({ __metadata__: { a: 1 } })), /__metadata__ must be an object of texts/);
    await t.throws(
      () => load(new Uint8Array(5)),
      /it is cut off: the length of a safetensors header takes 8 bytes from 0 on, but the file ends at 5/,
    );
  },
  "pickles that want too much are refused, or cost no more than they hold": async (t) => {
    const { load } = t.torch,
      times = (n, part) => Array.from({ length: n }, () => part),
      text = (s) => ["X", s.length, 0, 0, 0, s];
    t.equal((await load(checkpointOf("}", text("a"), "K\x03s."))).a, 3);
    // Tuples of the same tuple twice, sixty deep, as the key of a dictionary: written out they would have 2^60 items.
    const [[key]] = await load(checkpointOf("})", times(60, ["2", 0x86]), "Ns."));
    t.equal(key.length, 2);
    await t.throws(
      () => load(checkpointOf("]", times(2000, "]"), times(2000, "a"), ".")),
      /its containers are nested more than 500 deep/,
    );
    await t.throws(
      () =>
        load(
          checkpointOf(
            "c_codecs\nencode\nq\x01",
            text("x".repeat(200)),
            "q\x02",
            text("latin1"),
            "q\x03",
            times(50, ["h\x01h\x02h\x03", 0x86, "R"]),
            ".",
          ),
        ),
      /it makes more than it holds/,
    );
    await t.throws(
      () => load(checkpointOf("cos\nsystem\n", text("ls"), [0x85], "R.")),
      /it holds os\.system, which is refused/,
    );
    await t.throws(
      () => load(checkpointOf("c", "x".repeat(5000), "\ny\n.")),
      /^the given bytes: it holds x{900,1000}\.\.\.$/,
    );
    await t.throws(
      () => load(checkpointOf("K\x01")),
      /its pickle is damaged at byte 4: 1 bytes are announced, 0 are left/,
    );
    await t.throws(
      () => load(checkpointOf("B", [0xff, 0xff, 0xff, 0x7f], ".")),
      /2147483647 bytes are announced, 1 are left/,
    );
    await t.throws(() => load(checkpointOf("i")), /the instruction 0x69, which is not read/);
    await t.throws(() => load(checkpointOf("h\x05.")), /nothing was kept as 5/);
  },
  "damaged files end in a value or a clear error": async (t) => {
    const names = ["types.pt", "deflated.pt", "zip64.pt", "nested.pt", "types.safetensors"];
    const files = await Promise.all(names.map(async (name) => [name, await bytesOf(t.torch, name)]));
    const json = new TextEncoder().encode(
      JSON.stringify({
        a: [
          [1, 2],
          [3, 4],
        ],
        b: { shape: [2, 3], data: [1, 2, 3, 4, 5, 6] },
        c: [true, false],
        d: 1.5,
      }),
    );
    t.equal(Object.keys(await t.torch.load(json)), ["a", "b", "c", "d"]);
    const refused = await readDamaged(t.torch, [...files, ["state.json", json]], 600, 7);
    t.equal(refused > 300, true);
  },
};
