/** Fields of protobuf messages: [number, value], where a text or list of bytes has a length and a number has none. */
export function message(...fields) {
  const out = [],
    varint = (n) => {
      for (; n > 127; n = Math.floor(n / 128)) out.push((n % 128) | 128);
      out.push(n);
    };
  for (const [field, value] of fields) {
    varint(field * 8 + (typeof value === "number" ? 0 : 2));
    const bytes = typeof value === "string" ? new TextEncoder().encode(value) : value;
    varint(typeof value === "number" ? value : bytes.length);
    if (typeof value !== "number") out.push(...bytes);
  }
  return Uint8Array.from(out);
}
