// GGUF files that are none, or are damaged, end in an error of the package's own or in an answer:
// node damaged.mjs SEED COUNT.  Prints {name: failure or null}.
import { readFileSync } from "node:fs";
import { refusing } from "../exchange/refusals.mjs";

const [seed, count] = process.argv.slice(2),
  torch = await import("../../dist/in-node/index.js"),
  { load } = await import("../../dist/in-node/runtime/gguf/index.js");
torch.set_slow_warnings(false);
const original = new Uint8Array(readFileSync(new URL("../files/weights.gguf", import.meta.url))),
  PATIENCE = 5000, // ms
  ROOM = 64 * 2 ** 20, // bytes that reading a file of 37 kB may take, the collector's leisure included
  results = {},
  refuses = refusing(results);

// --- A file by its parts ------------------------------------------------------------------------------

const u32 = (n) => new Uint8Array(Uint32Array.of(n).buffer),
  u64 = (n) => new Uint8Array(BigUint64Array.of(BigInt(n)).buffer),
  text = (s) => [u64(new TextEncoder().encode(s).length), new TextEncoder().encode(s)],
  join = (...parts) => Uint8Array.from(parts.flat(Infinity).flatMap((part) => [...part])),
  file = (tensors, values, ...rest) => join(u32(0x46554747), u32(3), u64(tensors), u64(values), ...rest),
  entry = (name, shape, type, at) => [text(name), u32(shape.length), shape.map(u64), u32(type), u64(at)];
/** One tensor, its bytes behind it at a multiple of 32. */
function single(shape, type, bytes, at = 0) {
  const head = file(1, 0, entry("w", shape, type, at));
  return join(head, new Uint8Array((32 - (head.length % 32)) % 32), new Uint8Array(bytes));
}

await refuses("no file", () => load(new Uint8Array(0)), "cut off", "the first word");
await refuses("another format", () => load(new TextEncoder().encode("a text, not a model")), "no GGUF file");
await refuses("another version", () => load(join(u32(0x46554747), u32(1), u64(0), u64(0))), "version 1; 2 and 3");
await refuses("too many tensors", () => load(file(2 ** 40, 0)), "1099511627776 tensors", "too few");
await refuses("a count of 64 bits", () => load(file(2n ** 63n, 0)), "the number of tensors", "9223372036854775808");
await refuses("too many values", () => load(file(0, 2 ** 30)), "1073741824 values of metadata");
await refuses("a long key", () => load(file(0, 1, u64(2 ** 50), new Uint8Array(64))), "cut off", "key of value 0");
await refuses(
  "a key that is no text",
  () => load(file(0, 1, u64(2), [Uint8Array.of(255, 254)], u32(0), u64(0))),
  "UTF-8",
);
await refuses("a type that there is not", () => load(file(0, 1, text("a"), u32(77), u64(0))), '"a"', "type 77");
await refuses(
  "a long list",
  () => load(file(0, 1, text("a"), u32(9), u32(6), u64(2 ** 33), u64(0))),
  '"a"',
  "elements",
);
await refuses(
  "lists in lists",
  () =>
    load(
      file(
        0,
        1,
        text("a"),
        u32(9),
        Array.from({ length: 5000 }, () => [u32(9), u64(1)]),
      ),
    ),
  "more than 4 deep",
);
const lists = (depth) =>
  load(
    file(
      0,
      1,
      text("a"),
      u32(9),
      Array.from({ length: depth - 1 }, () => [u32(9), u64(1)]),
      u32(4),
      u64(1),
      u32(7),
    ),
  );
await refuses("one list more than may be in lists", () => lists(6), "more than 4 deep");
await lists(5); // one of numbers within four is read
await refuses(
  "two of one key",
  () => load(file(0, 2, text("a"), u32(4), u32(1), text("a"), u32(4), u32(1))),
  "two values",
);
await refuses("an absurd shape", () => load(single([2 ** 40, 2 ** 40], 0, 4)), '"w"', "[1099511627776, 1099511627776]");
await refuses("a shape beyond the file", () => load(single([2 ** 20], 0, 4)), "would end at", "the file has");
await refuses("too many axes", () => load(single([1, 1, 1, 1, 1], 0, 4)), "5 axes");
await refuses("rows that are no blocks", () => load(single([33], 2, 36)), "blocks of 32", "Q4_0");
await refuses("a type that is not read", () => load(single([32], 3, 36)), '"w"', "Q4_1", "not read");
await refuses("an unknown type", () => load(single([32], 99, 36)), "number 99");
await refuses("a place between", () => load(single([1], 0, 36, 4)), "not at a multiple of 32");
await refuses(
  "tensors on each other",
  () => load(join(file(2, 0, entry("a", [16], 0, 0), entry("b", [16], 0, 32)), new Uint8Array(256))),
  "where another one goes on",
);
await refuses(
  "two of one name",
  () => load(join(file(2, 0, entry("a", [8], 0, 0), entry("a", [8], 0, 32)), new Uint8Array(256))),
  "two tensors called",
);
await refuses(
  "an alignment that is none",
  () => load(file(0, 1, text("general.alignment"), u32(4), u32(0))),
  "general.alignment is 0",
);
{
  const { metadata, tensors } = await load(
    join(file(1, 1, text("constructor"), u32(8), text("__proto__"), entry("__proto__", [0], 0, 0)), new Uint8Array(64)),
  );
  results["names of any kind"] =
    metadata.constructor === "__proto__" && Object.hasOwn(tensors, "__proto__") && {}.x === undefined ? null : "lost";
}

// --- At random ----------------------------------------------------------------------------------------

let state = Number(seed);
const random = (n) => ((state = (Math.imul(state, 1664525) + 1013904223) >>> 0) >>> 8) % n,
  // what comes before the tensors' own bytes is what can lead astray
  HEADER = 2200,
  WILD = [0n, 1n, 2n ** 31n, 2n ** 32n - 1n, 2n ** 40n, 2n ** 53n, 2n ** 63n, 2n ** 64n - 1n];
function copied() {
  const length = random(6) === 0 ? random(original.length) : original.length,
    copy = original.slice(0, length),
    view = new DataView(copy.buffer);
  for (let k = random(4); k >= 0 && length > 8; k--) {
    const at = random(Math.min(length - 8, random(4) ? HEADER : length));
    if (random(2)) copy[at] = random(256);
    else view.setBigUint64(at, random(2) ? WILD[random(WILD.length)] : BigInt(random(300)), true);
  }
  return copy;
}
results["damaged copies"] = results["damaged copies: memory"] = null;
let errors = 0;
const before = process.memoryUsage.rss();
for (let i = 0; i < Number(count); i++) {
  const copy = copied(),
    began = performance.now();
  try {
    for (const weight of Object.values((await load(copy)).tensors)) {
      if (weight.dequantize && i % 16 === 0) await weight.dequantize().sum().item();
      for (const part of weight.parts ? Object.values(weight.parts) : [weight]) part.dispose();
    }
  } catch (error) {
    errors++;
    if (error.name !== "FileError" || !error.message.startsWith("the given bytes: "))
      results["damaged copies"] ??= `copy ${i}: ${error.stack}`;
  }
  const took = performance.now() - began;
  if (took > PATIENCE) results["damaged copies"] ??= `copy ${i} took ${took} ms`;
}
const grown = process.memoryUsage.rss() - before;
if (grown > ROOM + 40000 * Number(count)) results["damaged copies: memory"] = `${grown} bytes more than before`;
if (errors < Number(count) / 10 || errors === Number(count))
  results["damaged copies"] ??= `${errors} of ${count} were refused`;
if (process.env.TOLD) console.error(`${errors} of ${count} refused, ${grown} bytes more`);
process.stdout.write(`${JSON.stringify(results)}\n`, () => process.exit(0));
