// Downloaded files in Node: in the folder where PyTorch keeps its own.  A file appears under its name when it is whole;
// until then it is <name>.part, which one process at a time writes and a later call goes on with.

import { OpError } from "../base/errors.js";
import { FileError } from "../files/error.js";
import { openPath } from "../files/node-files.js";
import type { OpenOptions } from "../files/source.js";
import { type PartialFile, fetchInto } from "./resumed-download.js";

interface Handle {
  write(from: Uint8Array): Promise<unknown>;
  sync(): Promise<void>;
  close(): Promise<void>;
}
interface FileSystem {
  mkdir(path: string, options: { recursive: boolean }): Promise<unknown>;
  open(path: string, flags: string): Promise<Handle>;
  readFile(path: string, encoding: "utf8"): Promise<string>;
  rename(from: string, to: string): Promise<void>;
  rm(path: string, options: { force: boolean }): Promise<void>;
  stat(path: string): Promise<{ size: number }>;
  writeFile(path: string, text: string, options?: { flag: string }): Promise<void>;
}
interface Paths {
  dirname(path: string): string;
  join(...parts: string[]): string;
  resolve(path: string): string;
}
interface Process {
  readonly pid: number;
  readonly env: Readonly<Record<string, string | undefined>>;
  kill(pid: number, signal: 0): unknown;
}

const files = async (): Promise<FileSystem> =>
  (await import("../platform/node.js")).fileSystem() as Promise<FileSystem>;
const paths = async (): Promise<Paths> => (await import("../platform/node.js")).paths() as Promise<Paths>;
const { process } = globalThis as unknown as { process: Process };

/** PyTorch's folder for what its hub downloads. */
export function hubFolder(): string {
  const { TORCH_HOME, XDG_CACHE_HOME, HOME, USERPROFILE } = process.env,
    cache = XDG_CACHE_HOME || `${HOME ?? USERPROFILE ?? "."}/.cache`;
  return `${TORCH_HOME || `${cache}/torch`}/hub`;
}

/** A file that is being written. */
class DiskFile implements PartialFile {
  private handle: Handle | null = null;

  private constructor(
    private readonly fs: FileSystem,
    private readonly path: string,
    private readonly url: string,
    public size: number,
    public validator: string | null,
  ) {}

  /** What there is of it from this address. */
  static async open(fs: FileSystem, path: string, url: string): Promise<DiskFile> {
    try {
      const told = JSON.parse(await fs.readFile(`${path}.json`, "utf8")) as { url: string; validator: string | null };
      if (told.url === url) return new DiskFile(fs, path, url, (await fs.stat(path)).size, told.validator);
    } catch {
      /* there is nothing */
    }
    return new DiskFile(fs, path, url, 0, null);
  }

  async restart(validator: string | null): Promise<void> {
    await this.handle?.close();
    this.handle = await this.fs.open(this.path, "w");
    this.size = 0;
    this.validator = validator;
    await this.fs.writeFile(`${this.path}.json`, JSON.stringify({ url: this.url, validator }));
  }

  async append(piece: Uint8Array): Promise<void> {
    this.handle ??= await this.fs.open(this.path, "a");
    await this.handle.write(piece);
    this.size += piece.length;
  }

  async save(): Promise<void> {
    await this.handle?.sync();
    await this.handle?.close();
    this.handle = null;
  }
}

/** What this process brings, by path. */
const underWay = new Map<string, Promise<void>>();

/** Brings a file to `path`, whole or not at all; `check` is given the path of what came before it gets its name. */
export async function download(
  url: string,
  path: string,
  options: OpenOptions,
  check: (path: string) => Promise<void>,
): Promise<void> {
  const [fs, { dirname, resolve }] = await Promise.all([files(), paths()]),
    target = resolve(path),
    other = underWay.get(target);
  // Where another call of this program brings the file, it need not come twice.
  if (
    await other?.then(
      () => true,
      () => false,
    )
  )
    return check(target);
  const turn = bring(fs, url, target, options, check, dirname(target));
  underWay.set(target, turn);
  try {
    await turn;
  } catch (error) {
    if (typeof (error as { code?: unknown }).code === "string")
      throw new FileError(path, `it cannot be written: ${(error as Error).message}`);
    throw error;
  } finally {
    if (underWay.get(target) === turn) underWay.delete(target);
  }
}

async function bring(
  fs: FileSystem,
  url: string,
  target: string,
  options: OpenOptions,
  check: (path: string) => Promise<void>,
  folder: string,
): Promise<void> {
  await fs.mkdir(folder, { recursive: true });
  const mine = await lock(fs, `${target}.lock`),
    // another process is at it: this one keeps out of its way
    part = mine ? `${target}.part` : `${target}.${process.pid}.${Math.random().toString(36).slice(2, 10)}.part`;
  try {
    const file = await DiskFile.open(fs, part, url);
    try {
      await fetchInto(url, file, options);
    } catch (error) {
      await file.save();
      if (!mine) await remove(fs, part);
      throw error;
    }
    try {
      await check(part);
    } catch (error) {
      await remove(fs, part);
      throw error;
    }
    await fs.rename(part, target);
    await fs.rm(`${part}.json`, { force: true });
  } finally {
    if (mine) await fs.rm(`${target}.lock`, { force: true });
  }
}

async function remove(fs: FileSystem, part: string): Promise<void> {
  await fs.rm(part, { force: true });
  await fs.rm(`${part}.json`, { force: true });
}

/** Takes a lock that no living process has; false where one has it. */
async function lock(fs: FileSystem, path: string): Promise<boolean> {
  for (let tries = 0; tries < 2; tries++) {
    try {
      await fs.writeFile(path, String(process.pid), { flag: "wx" });
      return true;
    } catch (error) {
      if ((error as { code?: string }).code !== "EEXIST") throw error;
      const owner = Number(await fs.readFile(path, "utf8").catch(() => "0"));
      if (owner !== process.pid && isAlive(owner)) return false;
      await fs.rm(path, { force: true });
    }
  }
  return false;
}

function isAlive(pid: number): boolean {
  if (!(pid > 0)) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as { code?: string }).code === "EPERM"; // it is somebody else's
  }
}

/** Whether a file is there. */
export async function exists(path: string): Promise<boolean> {
  return (await files()).stat(path).then(
    () => true,
    () => false,
  );
}

export const joinedPath = async (...parts: string[]): Promise<string> => (await paths()).join(...parts);

interface Hash {
  update(bytes: Uint8Array): void;
  digest(form: "hex"): string;
}

/** The SHA-256 of a file, in hexadecimal digits. */
export async function sha256OfPath(path: string): Promise<string> {
  const { createHash } = (await (await import("../platform/node.js")).hashes()) as { createHash(name: string): Hash },
    source = await openPath(path),
    hash = createHash("sha256");
  try {
    for (let at = 0; at < source.size; at += 2 ** 24)
      hash.update(await source.read(at, Math.min(at + 2 ** 24, source.size)));
  } finally {
    await source.close();
  }
  return hash.digest("hex");
}

/** The error for a page, which has no paths. */
export const noPaths = (op: string): OpError =>
  new OpError(`${op}: there are no paths here; torch.hub.load_state_dict_from_url keeps files in the browser's cache`);
