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

/** A copy of `data` with one to four damages: bits, bytes, words, digits, cuts, repeats. */
export function damaged(data, draw) {
  const below = (n) => Math.floor(draw() * n);
  let out = data.slice();
  for (let n = 1 + below(4); n > 0; n--) {
    const at = below(out.length), length = 1 + below(32);
    switch (below(8)) {
      case 0: out[at] ^= 1 << below(8); break;
      case 1: out[at] = below(256); break;
      case 2: new DataView(out.buffer).setUint32(Math.min(at, Math.max(out.length - 4, 0)), WORDS[below(WORDS.length)], true); break;
      case 3: new DataView(out.buffer).setBigUint64(Math.min(at, Math.max(out.length - 8, 0)), 2n ** BigInt(below(64)) - BigInt(below(2)), true); break;
      case 4: out = out.slice(0, Math.max(at, 8)); break;                                     // cut off
      case 5: out = joined(out.subarray(0, at), out.subarray(at + length)); break;                // a gap
      case 6: out = joined(out.subarray(0, at), out.subarray(Math.max(0, at - length))); break;   // a repeat
      default: for (let i = at; i < Math.min(at + length, out.length); i++) if (out[i] >= 0x30 && out[i] <= 0x39) out[i] = 0x30 + below(10);
    }
    if (out.length < 8) out = joined(out, new Uint8Array(8));
  }
  return out;
}

/** Reads `count` damaged copies of the files; throws where one does not end in a value or a FileError, or `check` does not hold. */
export async function readDamaged(torch, files, count, seed, check = () => undefined) {
  const draw = random(seed);
  let refused = 0;
  for (let i = 0; i < count; i++) {
    const [name, data] = files[i % files.length], bytes = damaged(data, draw);
    let timer;
    const late = new Promise((_, reject) => { timer = setTimeout(() => reject(new Error("no answer after 20 s")), 20_000); });
    try {
      await Promise.race([torch.load(bytes), late]);
    } catch (error) {
      if (!(error instanceof torch.FileError) || error.message.length > 2000) throw new Error(`mutation ${i} of ${name}: ${error.stack}`);
      refused++;
    } finally {
      clearTimeout(timer);
    }
    check(i, name);
  }
  return refused;
}

/** A checkpoint with this pickle and nothing else: a zip archive with one stored entry. */
export function checkpointOf(...pickle) {
  const data = joined(new Uint8Array([0x80, 2]), Uint8Array.from(pickle.flat(Infinity).flatMap((part) => (typeof part === "string" ? [...new TextEncoder().encode(part)] : [part]))));
  const name = new TextEncoder().encode("a/data.pkl"), at = 30 + name.length + data.length, out = new Uint8Array(at + 46 + name.length + 22), words = new DataView(out.buffer);
  const write = (from, values) => { for (const [place, value] of Object.entries(values)) words.setUint32(from + Number(place), value, true); };
  write(0, { 0: 0x04034b50, 18: data.length, 22: data.length, 26: name.length });
  out.set(name, 30);
  out.set(data, 30 + name.length);
  write(at, { 0: 0x02014b50, 20: data.length, 24: data.length, 28: name.length });
  out.set(name, at + 46);
  write(at + 46 + name.length, { 0: 0x06054b50, 8: 0x00010001, 12: 46 + name.length, 16: at });
  return out;
}
