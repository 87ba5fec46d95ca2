// Stands for Node's `fs` where the checker of the recorded answers (tests/oracle/checker) runs in a page: it reads what
// was fetched before.
import tolerances from "../../tests/oracle/checker/tolerances.json";

/** Bytes with the two methods of Node's buffers that the checker calls. */
class Bytes extends Uint8Array {
  readBigUInt64LE(at) {
    return new DataView(this.buffer, this.byteOffset).getBigUint64(at, true);
  }
  toString(_, from, to) {
    return new TextDecoder().decode(this.subarray(from, to));
  }
}

const kept = new Map();

/** Fetches a file, so that `readFileSync` has it until `forget`. */
export async function fetched(path) {
  const response = await fetch(path);
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  kept.set(path, new Bytes(await response.arrayBuffer()));
}
export const forget = () => kept.clear();

export function readFileSync(path, encoding) {
  if (String(path).endsWith("tolerances.json")) return JSON.stringify(tolerances);
  const bytes = kept.get(path);
  return encoding ? new TextDecoder().decode(bytes) : bytes;
}
