// Checkpoints as PyTorch wrote them before 1.6, in which weights are still published: a file of pickles (a mark, a
// version, what the machine was like, the object, the keys of its storages), and then the storages in the order of
// their keys, each after a count of its elements.

import { build } from "./checkpoint.js";
import { Context } from "./checkpoint-names.js";
import type { Destination } from "./destination.js";
import { FileError, bytes } from "./error.js";
import { unpickle } from "./pickle.js";
import type { Source } from "./source.js";

/** How such a file begins: a pickle of protocol 2, of a whole number of ten bytes. */
export const OLD = "\x80\x02\x8a\x0a";
const MAGIC = 0x1950a86a20f9469cfc6cn,
  VERSION = 1001;

/** The object that it holds. */
export async function readOldCheckpoint(source: Source, place: Destination): Promise<unknown> {
  const data = await source.read(0, source.size),
    context = new Context(source.name, 2 * data.length),
    fail = (problem: string): FileError => new FileError(source.name, `its pickles are damaged: ${problem}`);
  let at = 0;
  const next = (): unknown => {
    const [value, end] = unpickle(data, context, source.name, at);
    at = end;
    return value;
  };
  if (next() !== MAGIC) throw fail("the first is not PyTorch's mark");
  const version = next();
  if (version !== VERSION) throw fail(`the version is ${String(version)}, not ${VERSION}`);
  const machine = next();
  if (machine instanceof Map && machine.get("little_endian") === false)
    throw new FileError(source.name, 'its numbers are in the byte order "big"; only "little" is read');
  const value = next(),
    keys = next();
  if (!Array.isArray(keys) || !keys.every((key): key is string => typeof key === "string"))
    throw fail("the last is no list of keys");
  const spans = new Map<string, [from: number, to: number]>(),
    words = new DataView(data.buffer, data.byteOffset, data.byteLength);
  for (const key of keys) {
    const memory = context.memory(key);
    if (!memory) throw fail(`no tensor has the storage ${key}`);
    if (memory.leftOut) throw new FileError(source.name, memory.leftOut.what); // how long it is, is not known
    const size = memory.numel * (memory.type?.bytes ?? 1);
    if (!(at + 8 + size <= data.length))
      throw fail(`its storage ${key} takes ${bytes(size)} from ${at + 8} on, but the file has ${bytes(data.length)}`);
    const count = Number(words.getBigUint64(at, true));
    if (count !== memory.numel) throw fail(`its storage ${key} has ${count} elements, not ${memory.numel}`);
    spans.set(key, [at + 8, at + 8 + size]);
    at += 8 + size;
  }
  return build(value, source, place, {
    named: (key) => `the storage ${key}`,
    size: (key) => {
      const span = spans.get(key);
      return span && span[1] - span[0];
    },
    read: async (key) => data.slice(...spans.get(key)!),
  });
}
