// Writes zip archives of stored entries, as torch.save makes them: the content of each begins at a multiple of 64
// bytes, so that a file can be mapped into memory.  zip64's records stand where 32 bits do not do.

let table: Uint32Array | null = null;

function crcTable(): Uint32Array {
  if (table) return table;
  table = new Uint32Array(256);
  for (let n = 0; n < 256; n++) {
    let c = n;
    for (let k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
    table[n] = c;
  }
  return table;
}

function crc32(data: Uint8Array): number {
  const words = crcTable();
  let c = -1;
  for (let i = 0; i < data.length; i++) c = words[(c ^ data[i]!) & 0xff]! ^ (c >>> 8);
  return ~c >>> 0;
}

/** Numbers of 2, 4 and 8 bytes one after the other, as `sizes` says digit by digit. */
function record(sizes: string, ...values: number[]): Uint8Array {
  const out = new Uint8Array([...sizes].reduce((n, d) => n + Number(d), 0)),
    view = new DataView(out.buffer);
  let at = 0;
  values.forEach((value, i) => {
    const size = Number(sizes[i]);
    if (size === 2) view.setUint16(at, value, true);
    else if (size === 4) view.setUint32(at, value, true);
    else view.setBigUint64(at, BigInt(value), true);
    at += size;
  });
  return out;
}

const FULL = 0xffffffff;
const ALIGNMENT = 64;
const ZIP64 = 45;
/** 1980-01-01, the first day that there is. */
const DAY = 33;
const small = (n: number): number => Math.min(n, FULL);

/** The pieces of an archive with these entries, in their order. */
export async function* zipped(
  entries: AsyncIterable<readonly [name: string, data: Uint8Array]>,
): AsyncGenerator<Uint8Array, void> {
  const directory: Uint8Array[] = [];
  let at = 0;
  for await (const [name, data] of entries) {
    const path = new TextEncoder().encode(name),
      crc = crc32(data),
      size = data.length,
      start = at,
      // both sizes, as they must stand in a local header
      long = size >= FULL ? record("2288", 1, 16, size, size) : new Uint8Array(),
      filled = 30 + path.length + long.length + 4,
      padding = (ALIGNMENT - ((start + filled) % ALIGNMENT)) % ALIGNMENT,
      // an extra field "FB" of nothing, as PyTorch's writer has it
      extra = new Uint8Array(padding).fill(0x5a);
    const common = [ZIP64, 0x800, 0, 0, DAY, crc, small(size), small(size), path.length] as const;
    const header = [
      record("42222244422", 0x04034b50, ...common, long.length + 4 + padding),
      path,
      long,
      record("22", 0x4246, padding),
      extra,
    ];
    for (const part of header) {
      yield part;
      at += part.length;
    }
    yield data;
    at += size;
    const wide = [...(size >= FULL ? [size, size] : []), ...(start >= FULL ? [start] : [])],
      more = wide.length ? record(`22${"8".repeat(wide.length)}`, 1, 8 * wide.length, ...wide) : new Uint8Array();
    directory.push(
      record("422222244422222" + "44", 0x02014b50, ZIP64, ...common, more.length, 0, 0, 0, 0, small(start)),
      path,
      more,
    );
  }
  const length = directory.reduce((n, part) => n + part.length, 0),
    count = directory.length / 3;
  yield* directory;
  if (at >= FULL || length >= FULL || count >= 0xffff) {
    yield record("4822448888", 0x06064b50, 44, ZIP64, ZIP64, 0, 0, count, count, length, at);
    yield record("4484", 0x07064b50, 0, at + length, 1);
  }
  const n = Math.min(count, 0xffff);
  yield record("42222442", 0x06054b50, 0, 0, n, n, small(length), small(at), 0);
}
