// Philox 4x32-10 on the CPU: random numbers as a pure function of seed, call, site and place.
// The definition, shared by all targets, is in dsl/reference/random.py; the bits must match it.

const block = new Uint32Array(4);
let blockKey0 = -1,
  blockKey1 = -1,
  blockCall = -1,
  blockSite = -1,
  blockPlace = -1;

/** The upper 32 bits of the product of two 32-bit numbers. */
function high(a: number, b: number): number {
  const a0 = a & 0xffff,
    a1 = a >>> 16,
    b0 = b & 0xffff,
    b1 = b >>> 16;
  const middle = a1 * b0 + ((a0 * b0) >>> 16);
  const cross = a0 * b1 + (middle & 0xffff);
  return (a1 * b1 + Math.floor(middle / 0x10000) + Math.floor(cross / 0x10000)) >>> 0;
}

/** Ten rounds over the counter (c0, c1, c2, 0), into `block`. */
function philox(key0: number, key1: number, c0: number, c1: number, c2: number): void {
  let c3 = 0;
  for (let round = 0; round < 10; round++) {
    const high0 = high(0xd2511f53, c0),
      low0 = Math.imul(0xd2511f53, c0);
    const high1 = high(0xcd9e8d57, c2),
      low1 = Math.imul(0xcd9e8d57, c2);
    c0 = (high1 ^ c1 ^ key0) >>> 0;
    c1 = low1 >>> 0;
    c2 = (high0 ^ c3 ^ key1) >>> 0;
    c3 = low0 >>> 0;
    key0 = (key0 + 0x9e3779b9) >>> 0;
    key1 = (key1 + 0xbb67ae85) >>> 0;
  }
  block[0] = c0;
  block[1] = c1;
  block[2] = c2;
  block[3] = c3;
}

/** A number from 0 up to 1, in steps of 2**-24.  Four neighbouring places share one block of bits. */
export function uniform(seed0: number, seed1: number, call: number, site: number, place: number): number {
  const quarter = Math.floor(place / 4);
  if (
    quarter !== blockPlace ||
    site !== blockSite ||
    call !== blockCall ||
    seed0 !== blockKey0 ||
    seed1 !== blockKey1
  ) {
    philox(seed0 >>> 0, seed1 >>> 0, quarter >>> 0, site, call >>> 0);
    blockPlace = quarter;
    blockSite = site;
    blockCall = call;
    blockKey0 = seed0;
    blockKey1 = seed1;
  }
  return (block[place % 4] >>> 8) * 2 ** -24;
}
