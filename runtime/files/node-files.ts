// Files by path in Node: what is read is read by position, and a file is written beside the old one and then takes its place.
// The module of Node is imported when a path is opened, so that bundles for browsers hold none of it.

import { describe } from "../errors.js";
import { FileError } from "./error.js";
import type { Source } from "./source.js";

interface Handle {
  stat(): Promise<{ size: number; isFile(): boolean }>;
  read(into: Uint8Array, offset: number, length: number, position: number): Promise<{ bytesRead: number }>;
  write(from: Uint8Array, offset: number, length: number): Promise<{ bytesWritten: number }>;
  close(): Promise<void>;
}
interface FileSystem {
  open(path: string | URL, flags: string): Promise<Handle>;
  rename(from: string | URL, to: string | URL): Promise<void>;
  rm(path: string | URL, options: { force: boolean }): Promise<void>;
}

/** Whether paths name files here. */
export const hasPaths = (): boolean =>
  typeof (globalThis as { process?: { versions?: { node?: string } } }).process?.versions?.node === "string";

const fileSystem = (): Promise<FileSystem> => {
  const name = "node:fs/promises";
  return import(/* @vite-ignore */ /* webpackIgnore: true */ name) as Promise<FileSystem>;
};

const nameOf = (path: string | URL): string => (path instanceof URL ? decodeURIComponent(path.pathname) : path);
const reason = (error: unknown): string => (error instanceof Error ? error.message : describe(error));

/** The most that one call of the file system reads or writes. */
const PIECE = 2 ** 26;

/** Opens a file for reading by position. */
export async function openPath(path: string | URL, progress?: (loaded: number, total: number) => void): Promise<Source> {
  const name = nameOf(path);
  let handle: Handle;
  try {
    handle = await (await fileSystem()).open(path, "r");
  } catch (error) {
    throw new FileError(name, `it cannot be opened: ${reason(error)}`);
  }
  const stat = await handle.stat();
  if (!stat.isFile()) {
    await handle.close();
    throw new FileError(name, "it is not a file");
  }
  let loaded = 0;
  return {
    name, size: stat.size,
    async read(start, end) {
      const out = new Uint8Array(end - start);
      for (let at = 0; at < out.length;) {
        const { bytesRead } = await handle.read(out, at, Math.min(PIECE, out.length - at), start + at);
        if (bytesRead === 0) throw new FileError(name, `it became shorter while it was read: it had ${stat.size} bytes, and now ends at ${start + at}`);
        at += bytesRead;
        loaded += bytesRead;
        progress?.(loaded, stat.size);
      }
      return out;
    },
    close: () => handle.close(),
  };
}

/** Writes all `parts` to a file; what was there before stays until all is written. */
export async function writePath(path: string | URL, parts: AsyncIterable<Uint8Array>): Promise<void> {
  const name = nameOf(path), files = await fileSystem();
  const beside = path instanceof URL ? new URL(`${path.href}.part`) : `${path}.part`;
  try {
    const handle = await files.open(beside, "w");
    try {
      for await (const part of parts) {
        for (let at = 0; at < part.length;) at += (await handle.write(part, at, Math.min(PIECE, part.length - at))).bytesWritten;
      }
    } finally {
      await handle.close();
    }
    await files.rename(beside, path);
  } catch (error) {
    await files.rm(beside, { force: true }).catch(() => undefined);
    if (error instanceof Error && "code" in error) throw new FileError(name, `it cannot be written: ${error.message}`);
    throw error;
  }
}
