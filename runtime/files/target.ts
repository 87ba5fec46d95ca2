// Where files are written to: paths in Node, streams, and handles of files that the user of a page chose.

import { OpError, TypeMismatchError, describe } from "../base/errors.js";
import { hasPaths, writePath } from "./node-files.js";

interface FileHandle {
  createWritable(): Promise<WritableStream<Uint8Array>>;
}

/**
 * A path or file: URL (Node), a stream, or a FileSystemFileHandle (showSaveFilePicker, the origin's private file
 * system).
 */
export type Target = string | URL | WritableStream<Uint8Array> | FileHandle;

/** All parts in a row. */
export async function bytesOf(parts: AsyncIterable<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
  const list: Uint8Array[] = [];
  for await (const part of parts) list.push(part);
  const out = new Uint8Array(list.reduce((n, p) => n + p.length, 0));
  let at = 0;
  for (const part of list) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

/** Writes all parts one after the other. */
export async function writeTo(target: Target, parts: AsyncIterable<Uint8Array>, op: string): Promise<void> {
  if (typeof target === "string" || target instanceof URL) {
    const text = String(target);
    if (/^(https?|data|blob):/i.test(text))
      throw new OpError(`${op}: ${text} is an address, to which nothing can be written`);
    if (!hasPaths())
      throw new OpError(
        `${op}: there are no paths here to write "${text}" to; await torch.save(obj) and await torch.safetensors.save(tensors) make the bytes, or hand in the handle of a file`,
      );
    return writePath(/^file:/i.test(text) ? new URL(text) : text, parts);
  }
  const isObject = typeof target === "object" && target !== null;
  const writable = isObject && "createWritable" in target ? await target.createWritable() : target;
  if (!isObject || !("getWriter" in writable))
    throw new TypeMismatchError(
      `${op}: expected a path, a WritableStream or the handle of a file, got ${describe(target)}`,
    );
  if (writable.locked) throw new OpError(`${op}: the stream is locked: something else is writing to it`);
  const writer = writable.getWriter();
  try {
    for await (const part of parts) await writer.write(part);
    await writer.close();
  } catch (error) {
    await writer.abort(error).catch(() => undefined);
    throw error;
  }
}
