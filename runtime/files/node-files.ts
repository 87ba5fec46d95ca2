// Files by path in Node: what is read is read by position, and a file is written beside the old one and then takes its
// place. The module of Node is imported when a path is opened, so that bundles for browsers hold none of it.

import { describe } from "../base/errors.js";
import { FileError } from "./error.js";
import { type Report, counting } from "./progress.js";
import type { Source } from "./source.js";

interface Stat {
  size: number;
  mode: number;
  uid: number;
  gid: number;
  isFile(): boolean;
}
interface Handle {
  stat(): Promise<Stat>;
  read(into: Uint8Array, offset: number, length: number, position: number): Promise<{ bytesRead: number }>;
  write(from: Uint8Array, offset: number, length: number): Promise<{ bytesWritten: number }>;
  chmod(mode: number): Promise<void>;
  chown(uid: number, gid: number): Promise<void>;
  /** Not everything that calls itself Node has it. */
  sync?(): Promise<void>;
  close(): Promise<void>;
}
interface FileSystem {
  open(path: string | URL, flags: string, mode?: number): Promise<Handle>;
  realpath(path: string | URL): Promise<string>;
  rename(from: string, to: string): Promise<void>;
  rm(path: string, options: { force: boolean }): Promise<void>;
  stat(path: string | URL): Promise<Stat>;
}
interface Paths {
  basename(path: string): string;
  dirname(path: string): string;
  join(...parts: string[]): string;
  resolve(path: string): string;
  fileURLToPath(path: URL): string;
}

/** Whether paths name files here. */
export const hasPaths = (): boolean =>
  typeof (globalThis as { process?: { versions?: { node?: string } } }).process?.versions?.node === "string";

const fileSystem = async (): Promise<FileSystem> =>
  (await import("../platform/node.js")).fileSystem() as Promise<FileSystem>;
const pathModules = async (): Promise<Paths> => (await import("../platform/node.js")).paths() as Promise<Paths>;

const nameOf = (path: string | URL): string => (path instanceof URL ? decodeURIComponent(path.pathname) : path);
const reason = (error: unknown): string => (error instanceof Error ? error.message : describe(error));

/** The most that one call of the file system reads or writes. */
const PIECE = 2 ** 26;

/** Opens a file for reading by position. */
export async function openPath(path: string | URL, progress?: Report): Promise<Source> {
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
  const count = counting(stat.size, progress);
  return {
    name,
    size: stat.size,
    async read(start, end) {
      const out = new Uint8Array(end - start);
      for (let at = 0; at < out.length; ) {
        const { bytesRead } = await handle.read(out, at, Math.min(PIECE, out.length - at), start + at);
        if (bytesRead === 0)
          throw new FileError(
            name,
            `it became shorter while it was read: it had ${stat.size} bytes, and now ends at ${start + at}`,
          );
        at += bytesRead;
        count(bytesRead);
      }
      return out;
    },
    close: () => handle.close(),
  };
}

/** The last writing of each path that is under way. */
const writing = new Map<string, Promise<void>>();

/**
 * Writes all `parts` to a file, after whatever was to be written to it before; what was there stays until all is
 * written.
 */
export async function writePath(path: string | URL, parts: AsyncIterable<Uint8Array>): Promise<void> {
  const name = nameOf(path),
    [files, paths] = await Promise.all([fileSystem(), pathModules()]);
  const key = path instanceof URL ? paths.fileURLToPath(path) : paths.resolve(path);
  const turn = (writing.get(key) ?? Promise.resolve()).then(() => replace(files, paths, path, key, parts)),
    over = turn.catch(() => undefined);
  writing.set(key, over);
  try {
    await turn;
  } catch (error) {
    if (error instanceof Error && "code" in error) throw new FileError(name, `it cannot be written: ${error.message}`);
    throw error;
  } finally {
    if (writing.get(key) === over) writing.delete(key);
  }
}

/** Writes a new file beside the old one, on the disk as well, and puts it in its place with the old one's mode. */
async function replace(
  files: FileSystem,
  paths: Paths,
  path: string | URL,
  absolute: string,
  parts: AsyncIterable<Uint8Array>,
): Promise<void> {
  const before = await files.stat(path).catch(() => null);
  // a pipe or a device; of a folder the system says so
  if (before && !before.isFile()) return write(await files.open(path, "w"), parts);
  const place = before ? await files.realpath(path) : absolute,
    folder = paths.dirname(place),
    mode = before ? before.mode & 0o777 : 0o666;
  const [beside, handle] = await openBeside(files, paths.join(folder, paths.basename(place).slice(0, 50)), mode);
  try {
    await write(handle, parts, async () => {
      // The owner, where we may give files away; then the mode, from which the process's mask took.
      if (before) await tried(() => handle.chown(before.uid, before.gid)).then(() => tried(() => handle.chmod(mode)));
      await handle.sync?.();
    });
    await files.rename(beside, place);
  } catch (error) {
    await files.rm(beside, { force: true }).catch(() => undefined);
    throw error;
  }
  // So that the new name outlives a loss of power; not every system opens folders.
  await tried(async () => {
    const opened = await files.open(folder, "r");
    await tried(() => opened.sync?.());
    await opened.close();
  });
}

const tried = async (body: () => Promise<void> | undefined): Promise<void> => {
  try {
    await body();
  } catch {
    /* it is better with it, and good without */
  }
};

/** A new file whose name nobody had: what lies there by that name, a link for instance, is never opened. */
async function openBeside(files: FileSystem, start: string, mode: number): Promise<[string, Handle]> {
  for (let tries = 0; ; tries++) {
    const name = `${start}.${Math.random().toString(36).slice(2, 12)}.part`;
    try {
      return [name, await files.open(name, "wx", mode)];
    } catch (error) {
      if ((error as { code?: string }).code !== "EEXIST" || tries === 9) throw error;
    }
  }
}

async function write(handle: Handle, parts: AsyncIterable<Uint8Array>, finish?: () => Promise<void>): Promise<void> {
  try {
    for await (const part of parts) {
      for (let at = 0; at < part.length; )
        at += (await handle.write(part, at, Math.min(PIECE, part.length - at))).bytesWritten;
    }
    await finish?.();
  } finally {
    await handle.close();
  }
}
