// torch.hub: weights from an address, brought once and kept.

import { flag, text, refuse } from "../base/argument-kinds.js";
import { OpError } from "../base/errors.js";
import { taken } from "../base/named-arguments.js";
import { FileError } from "../files/error.js";
import { type TorchLoadOptions, load } from "../files/load.js";
import { hasPaths } from "../files/node-files.js";
import type { OpenOptions, Progress } from "../files/source.js";
import { download, exists, hubFolder, joinedPath, noPaths, sha256OfPath } from "./disk-cache.js";
import { fromPageCache } from "./page-cache.js";

export interface HubOptions extends Omit<TorchLoadOptions, "progress"> {
  /** The folder, in a page the cache, that keeps the file; `get_dir()` and "checkpoints" without. */
  model_dir?: string | null;
  /** true: a line says what is brought.  A function is called whenever bytes have come. */
  progress?: boolean | ((progress: Progress) => void);
  /** Whether the file must have the SHA-256 whose first digits stand in its name, `resnet18-f37072fd.pth`. */
  check_hash?: boolean;
  /** The file's name, where it is to be another than at the end of the address. */
  file_name?: string | null;
  /** The whole SHA-256 that the file must have, in hexadecimal digits; a kept file is checked, too, default null. */
  sha256?: string | null;
}

const IN_PAGES = "tensorloom-hub";
let chosen: string | null = null;

/**
 * The folder of what was downloaded: `$TORCH_HOME/hub`, as PyTorch's; in a page the name of the cache.
 *
 * @example
 * torch.hub.set_dir("/tmp/hub");
 * torch.hub.get_dir()  // "/tmp/hub"
 */
export function get_dir(): string {
  taken("get_dir", arguments);
  return chosen ?? (hasPaths() ? hubFolder() : IN_PAGES);
}

/**
 * Chooses that folder, or name.
 *
 * @param d a path, in a page the name of the cache
 *
 * @example
 * torch.hub.set_dir("/tmp/hub");
 * torch.hub.get_dir()  // "/tmp/hub"
 */
export function set_dir(d: string): void;
export function set_dir(...args: unknown[]): void {
  chosen = text(taken("set_dir d", args)[0], "set_dir", "d");
}

/** The digits of a hash in a file's name, as PyTorch finds them. */
const hashIn = (name: string): string | null => /-([a-f0-9]+)\./.exec(name)?.[1] ?? null;

/**
 * What a file behind an address holds, as `load` answers it: brought the first time, and kept.  In Node it lies where
 * PyTorch keeps its own (`~/.cache/torch/hub/checkpoints`), in a page in the browser's Cache Storage, for all tabs and
 * workers of the origin.  A download that breaks off is gone on with, by the next call, too.  Where a page has no cache
 * or no room it is brought each time, and `console.warn` says so.
 *
 * @param url the file's address
 */
export async function load_state_dict_from_url<T = unknown>(url: string | URL, options?: HubOptions): Promise<T>;
export async function load_state_dict_from_url(...args: unknown[]): Promise<unknown> {
  const op = "load_state_dict_from_url",
    [given, model_dir, map_location, progress = true, check_hash = false, file_name, weights_only, rest] = taken(
      `${op} url model_dir? map_location? progress? check_hash? file_name? weights_only? | sha256 device dtype signal`,
      args,
    ),
    { sha256 = null, ...others } = rest as HubOptions,
    url = addressOf(given, op),
    name = file_name == null ? nameIn(url, op) : plainName(text(file_name, op, "file_name"), op),
    prefix = flag(check_hash, op, "check_hash") ? hashIn(name) : null,
    told = sha256 == null ? null : text(sha256, op, "sha256").toLowerCase(),
    wanted = told ?? prefix;
  if (told !== null && !/^[0-9a-f]{64}$/.test(told))
    throw new OpError(`${op}: argument 'sha256' must be 64 hexadecimal digits, got "${told}"`);
  if (check_hash && !wanted) console.warn(`${op}: "${name}" has no hash in its name, so nothing is checked`);
  const loading = {
    ...(map_location == null ? {} : { map_location }),
    ...(weights_only === false ? { weights_only } : {}),
    ...others,
  } as TorchLoadOptions;
  if (model_dir != null) text(model_dir, op, "model_dir");
  if (hasPaths()) {
    const path = await joinedPath(model_dir ?? (await joinedPath(get_dir(), "checkpoints")), name),
      check = async (at: string): Promise<void> => checked(name, wanted, () => sha256OfPath(at));
    if (!(await exists(path))) await download(url, path, opening(progress, others.signal, op, url, path), check);
    else if (told) await check(path);
    return load(path, loading);
  }
  const folder = model_dir ?? get_dir(),
    found = await fromPageCache(
      url,
      folder,
      name,
      opening(progress, others.signal, op, url, `the cache "${folder}"`),
      (file) => checked(name, wanted, () => sha256Of(file, name)),
    );
  if (found) return load(found, loading);
  console.warn(`${op}: the browser has no cache for this page, or no room in it: "${name}" is not kept`);
  const response = await fetch(url, others.signal ? { signal: others.signal } : {});
  if (!response.ok) throw new FileError(url, `the server answered ${response.status}`);
  const blob = await response.blob();
  await checked(name, wanted, () => sha256Of(blob, name));
  return load(blob, loading);
}

/**
 * Brings what lies behind an address to a path (Node): whole, or not at all.  `hash_prefix`: the first digits of its
 * SHA-256, else it is refused.
 *
 * @param url the file's address
 * @param dst the path of the new file
 * @param hash_prefix the first digits of its SHA-256; null: any
 * @param progress whether a line says what is brought
 */
export async function download_url_to_file(
  url: string | URL,
  dst: string,
  hash_prefix?: string | null,
  progress?: HubOptions["progress"],
): Promise<void>;
export async function download_url_to_file(
  url: string | URL,
  dst: string,
  options?: { hash_prefix?: string | null; progress?: HubOptions["progress"] },
): Promise<void>;
export async function download_url_to_file(...args: unknown[]): Promise<void> {
  const op = "download_url_to_file",
    [given, dst, hash_prefix, progress = true] = taken(`${op} url dst hash_prefix? progress?`, args),
    url = addressOf(given, op),
    path = text(dst, op, "dst"),
    prefix = hash_prefix == null ? null : text(hash_prefix, op, "hash_prefix").toLowerCase(),
    opened = opening(progress, null, op, url, path);
  if (!hasPaths()) throw noPaths(op);
  await download(url, path, opened, (at) => checked(path, prefix, () => sha256OfPath(at)));
}

function addressOf(given: unknown, op: string): string {
  if (!(given instanceof URL) && typeof given !== "string") refuse(op, "url", "an address", given);
  const { location } = globalThis as { location?: { href: string } };
  try {
    const url = new URL(given, hasPaths() ? undefined : location?.href);
    if (/^https?:$/.test(url.protocol)) return url.href;
  } catch {
    /* it is none */
  }
  throw new OpError(`${op}: "${String(given)}" is no address of http or https`);
}

/** The last part of an address's path. */
function nameIn(url: string, op: string): string {
  const name = decodeURIComponent(new URL(url).pathname.split("/").pop()!);
  if (!name) throw new OpError(`${op}: ${url} ends with no name; say file_name`);
  return plainName(name, op);
}

function plainName(name: string, op: string): string {
  if (!name || /[/\\\0]/.test(name) || /^\.+$/.test(name)) throw new OpError(`${op}: "${name}" is no name of a file`);
  return name;
}

function opening(
  progress: unknown,
  signal: AbortSignal | null | undefined,
  op: string,
  url: string,
  to: string,
): OpenOptions {
  const stop = signal ? { signal } : {};
  if (typeof progress === "function") return { ...stop, progress: progress as (progress: Progress) => void };
  if (!flag(progress, op, "progress")) return stop;
  let said = false;
  const say = (): void => {
    if (!said) console.info(`Downloading: "${url}" to ${to}`);
    said = true;
  };
  return { ...stop, progress: say };
}

/** Throws unless the hash begins as it should. */
async function checked(name: string, wanted: string | null, hash: () => Promise<string>): Promise<void> {
  if (!wanted) return;
  const found = await hash();
  if (!found.startsWith(wanted)) throw new FileError(name, `invalid hash value (expected "${wanted}", got "${found}")`);
}

async function sha256Of(file: Blob, name: string): Promise<string> {
  const { crypto } = globalThis as { crypto?: Crypto };
  if (!crypto?.subtle) throw new FileError(name, "its hash cannot be computed in a page that came over plain http");
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", await file.arrayBuffer()));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
