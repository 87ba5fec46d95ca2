// Damaged files: seeded mutations of good ones, and what must come of reading them.

/** Numbers from 0 up to 1 (mulberry32). */
export function random(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const WORDS = [0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff];

function joined(a, b) {
  const out = new Uint8Array(a.length + b.length);
  out.set(a);
  out.set(b, a.length);
  return out;
}

/**
 * A copy of `data` with one to four damages: bits, bytes, words, digits, cuts, repeats, one byte many times, parts
 * exchanged.
 */
export function damaged(data, draw) {
  const below = (n) => Math.floor(draw() * n);
  let out = data.slice();
  for (let n = 1 + below(4); n > 0; n--) {
    const at = below(out.length),
      length = 1 + below(32);
    switch (below(10)) {
      case 0:
        out[at] ^= 1 << below(8);
        break;
      case 1:
        out[at] = below(256);
        break;
      case 2:
        new DataView(out.buffer).setUint32(Math.min(at, Math.max(out.length - 4, 0)), WORDS[below(WORDS.length)], true);
        break;
      case 3:
        new DataView(out.buffer).setBigUint64(
          Math.min(at, Math.max(out.length - 8, 0)),
          2n ** BigInt(below(64)) - BigInt(below(2)),
          true,
        );
        break;
      case 4:
        out = out.slice(0, Math.max(at, 8));
        break; // cut off
      case 5:
        out = joined(out.subarray(0, at), out.subarray(at + length));
        break; // a gap
      case 6:
        out = joined(out.subarray(0, at), out.subarray(Math.max(0, at - length)));
        break; // a repeat
      case 7:
        out = joined(joined(out.subarray(0, at), new Uint8Array(4 ** below(7)).fill(out[at])), out.subarray(at));
        break;
      case 8: {
        const other = below(Math.max(out.length - length, 1));
        out.copyWithin(other, at, at + length);
        break;
      }
      default:
        for (let i = at; i < Math.min(at + length, out.length); i++)
          if (out[i] >= 0x30 && out[i] <= 0x39) out[i] = 0x30 + below(10);
    }
    if (out.length < 8) out = joined(out, new Uint8Array(8));
  }
  return out;
}

/**
 * Reads `count` damaged copies of the files; throws where one does not end in a value or a FileError, or `check` does
 * not hold.
 */
export async function readDamaged(torch, files, count, seed, check = () => undefined) {
  const draw = random(seed);
  let refused = 0;
  for (let i = 0; i < count; i++) {
    const [name, data] = files[i % files.length],
      bytes = damaged(data, draw);
    let timer;
    const late = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Error("no answer after 20 s")), 20_000);
    });
    try {
      await Promise.race([torch.load(bytes), late]);
    } catch (error) {
      if (!(error instanceof torch.FileError) || error.message.length > 2000)
        throw new Error(`mutation ${i} of ${name}: ${error.stack}`);
      refused++;
    } finally {
      clearTimeout(timer);
    }
    check(i, name);
  }
  return refused;
}

const SIGNATURES = { local: 0x04034b50, central: 0x02014b50, end: 0x06054b50 };
const encoded = (parts) =>
  Uint8Array.from(
    parts.flat(Infinity).flatMap((part) => (typeof part === "string" ? [...new TextEncoder().encode(part)] : [part])),
  );

/**
 * A zip archive.  Of an entry: its name, its data (stored), or `deflated` data with their `size` and `crc`; `at`: where
 * the directory says it is.
 */
export function archiveOf(entries) {
  let out = new Uint8Array(0),
    directory = new Uint8Array(0);
  const record = (length, values) => {
    const bytes = new Uint8Array(length),
      words = new DataView(bytes.buffer);
    for (const [place, value] of Object.entries(values)) words.setUint32(Number(place), value, true);
    return bytes;
  };
  for (const { name: text, data, deflated, size, crc = 0, at } of entries) {
    const name = new TextEncoder().encode(text),
      content = deflated ?? data,
      method = deflated ? 8 : 0,
      lengths = [content.length, size ?? content.length];
    const central = record(46, {
      0: SIGNATURES.central,
      8: method << 16,
      16: crc,
      20: lengths[0],
      24: lengths[1],
      28: name.length,
      42: at ?? out.length,
    });
    directory = joined(directory, joined(central, name));
    out = joined(
      out,
      joined(
        joined(
          record(30, { 0: SIGNATURES.local, 8: method, 14: crc, 18: lengths[0], 22: lengths[1], 26: name.length }),
          name,
        ),
        content,
      ),
    );
  }
  return joined(
    joined(out, directory),
    record(22, { 0: SIGNATURES.end, 8: entries.length * 0x10001, 12: directory.length, 16: out.length }),
  );
}

/** A checkpoint with this pickle and nothing else: a zip archive with one stored entry. */
export const checkpointOf = (...pickle) =>
  archiveOf([{ name: "a/data.pkl", data: joined(new Uint8Array([0x80, 2]), encoded(pickle)) }]);

/** Data deflated: an entry's `deflated`, `size` and `crc`. */
async function deflate(data) {
  const packed = new Uint8Array(
      await new Response(new Blob([data]).stream().pipeThrough(new CompressionStream("gzip"))).arrayBuffer(),
    ),
    words = new DataView(packed.buffer);
  return { deflated: packed.slice(10, -8), size: data.length, crc: words.getUint32(packed.length - 8, true) };
}

const repeated = (n, ...bytes) => {
  const out = new Uint8Array(n * bytes.length);
  for (let i = 0; i < out.length; i++) out[i] = bytes[i % bytes.length];
  return out;
};
const text = (words) => new TextEncoder().encode(words);
const header = (words, extra = 0) =>
  joined(joined(new Uint8Array(new BigUint64Array([BigInt(words.length)]).buffer), text(words)), new Uint8Array(extra));

/**
 * A float32 tensor called "a" of so many elements, whose storage is said to have `length`; of an untyped storage these
 * are bytes, and the tensor says its type.
 */
const tensorPickle = (count, length, offset = 0, untyped = false) => {
  const word = (n) => ["J", ...new Uint8Array(new Int32Array([n]).buffer)],
    name = (t) => ["X", t.length, 0, 0, 0, t];
  return [
    "}",
    name("a"),
    `ctorch._utils\n_rebuild_tensor_v${untyped ? 3 : 2}\n((`,
    name("storage"),
    untyped ? "ctorch.storage\nUntypedStorage\n" : "ctorch\nFloatStorage\n",
    name("0"),
    name("cpu"),
    word(length),
    "tQ",
    word(offset),
    word(count),
    [0x85],
    "K\x01",
    [0x85],
    [0x89],
    "ccollections\nOrderedDict\n)R",
    untyped ? "ctorch\nfloat32\n" : "",
    "tRs.",
  ];
};

/** Small files that want much: [what, bytes, the error's words]. */
export async function greedy() {
  const n = 20_000_000,
    stored = (data) => [{ name: "a/data.pkl", data: joined(Uint8Array.of(0x80, 2), data) }],
    pickle = (...parts) => ({ name: "a/data.pkl", data: joined(Uint8Array.of(0x80, 2), encoded(parts)) });
  const deep = (of, close, count) => of.repeat(count) + close.repeat(count),
    zeros = await deflate(new Uint8Array(2 ** 26));
  const files = [
    [
      "a pickle that inflates a thousandfold",
      archiveOf([{ name: "a/data.pkl", ...(await deflate(repeated(2 ** 26 + 1, 0x5d))) }]),
      /its pickle would have 67108865 bytes inflated, at most 67108864 are read/,
    ],
    ...[
      ["lists", [0x5d]],
      ["dictionaries", [0x7d]],
      ["sets", [0x8f]],
      ["copies kept", [0x5d, 0x94]],
    ].map(([what, code]) => [
      what,
      archiveOf(stored(repeated(2_100_000, ...code))),
      /it has more than 2097152 objects/,
    ]),
    ...[
      ["nothings", 0x4e],
      ["marks", 0x28],
    ].map(([what, code]) => [what, archiveOf(stored(repeated(n, code))), /it has more than 16777216 values/]),
    [
      "texts kept",
      archiveOf(stored(joined(encoded(["X\x01\0\0\0a"]), repeated(2_100_000, 0x94)))),
      /it has more than 2097152 objects/,
    ],
    [
      "deflated tensors a thousand times the file",
      archiveOf([
        pickle(tensorPickle(2 ** 24, 2 ** 24)),
        ...Array.from({ length: 60 }, (_, i) => ({ name: `a/data/${i}`, ...zeros })),
      ]),
      /its deflated entries would have 4026531840 bytes inflated, at most \d+ are read of a file of \d+ bytes/,
    ],
    [
      "entries over one another",
      archiveOf(
        [
          pickle(tensorPickle(4, 4)),
          { name: "a/data/0", data: new Uint8Array(16) },
          { name: "a/data/1", data: new Uint8Array(16), at: 400 },
        ].map((e, i, all) => (i === 2 ? { ...e, at: 35 + all[0].data.length } : e)),
      ),
      /the entries \S+ and \S+ overlap/,
    ],
    [
      "a storage of more than there is",
      archiveOf([pickle(tensorPickle(1000, 1000)), { name: "a/data/0", data: new Uint8Array(16) }]),
      /the entry a\/data\/0 holds 16 bytes, but 1000 elements of float32 take 4000/,
    ],
    [
      "a tensor of more than its storage",
      archiveOf([pickle(tensorPickle(1000, 4)), { name: "a/data/0", data: new Uint8Array(16) }]),
      /takes 1000 elements, but its storage 0 has 4/,
    ],
    [
      "a tensor of more than its bytes",
      archiveOf([pickle(tensorPickle(5, 16, 0, true)), { name: "a/data/0", data: new Uint8Array(16) }]),
      /takes 5 elements, but its storage 0 has 4/,
    ],
    [
      "a tensor beyond its storage",
      archiveOf([pickle(tensorPickle(2, 4, 3)), { name: "a/data/0", data: new Uint8Array(16) }]),
      /takes 5 elements, but its storage 0 has 4/,
    ],
    ["a storage that is not there", archiveOf([pickle(tensorPickle(4, 4))]), /the entry a\/data\/0 is missing/],
    [
      "a length without numbers",
      text('{"a":{"shape":[4e8],"data":{"length":4e8}}}'),
      /expected a list of numbers or a typed array as the data of Object, got Object/,
    ],
    [
      "a shape without numbers",
      text('{"a":{"shape":[40000,40000],"data":[1]}}'),
      /1 elements cannot have the shape \[40000, 40000\]/,
    ],
    [
      "lists of which the first are long",
      text(`{"a":[[${"[1],".repeat(30000)}[${"1,".repeat(30000)}1]]${",[]".repeat(30000)}]}`),
      /expected sequence of length/,
    ],
    [
      "lists whose lengths multiply",
      text(`{"a":[[[${"1,".repeat(20000)}1]${",[]".repeat(20000)}]${",[]".repeat(20000)}]}`),
      /a tensor of size \[20001, 20001, 20001\] is too large/,
    ],
    ["JSON in JSON", text(`{"a":${deep("[", "]", 200_000)}}`), /nested more than 66 deep at byte 70/],
    ["a deep header", header(`{"a":${deep("[", "]", 200_000)}}`), /nested more than 16 deep at byte 20/],
    ["a deep header of objects", header(`{"a":${deep('{"a":', "}", 200_000)}}`), /nested more than 16 deep/],
    ["a deep header that does not end", header(`{"a":${"[".repeat(200_000)}`), /nested more than 16 deep/],
    [
      "a header for what is not there",
      header('{"a":{"dtype":"F32","shape":[400000000],"data_offsets":[0,1600000000]}}', 16),
      /its tensors take 1600000000 bytes, but 16 follow the header/,
    ],
    [
      "tensors over one another",
      header(
        '{"a":{"dtype":"U8","shape":[8],"data_offsets":[0,8]},"b":{"dtype":"U8","shape":[8],"data_offsets":[4,12]}}',
        12,
      ),
      /tensors must neither overlap nor leave gaps/,
    ],
    [
      "keys within keys",
      archiveOf([{ name: "a/data.pkl", data: joined(Uint8Array.of(0x80, 2), encoded(chained(150, 190))) }]),
      null,
    ],
  ];
  return files;
}

/** Dictionaries within dictionaries: each is near as the key of the one around it, and far away as its item. */
function chained(levels, depth) {
  const out = ["}q\0"];
  for (let level = 1; level < levels; level++)
    out.push(
      "}",
      "h",
      level - 1,
      0x85,
      "h",
      level - 1,
      Array.from({ length: depth }, () => 0x85),
      "sq",
      level,
    );
  return [...out, "."];
}
