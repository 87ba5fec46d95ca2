// What is wrong with a file: its name, what stands in it and what was expected.

import { OpError } from "../base/errors.js";
import { titled } from "../base/class-name.js";

const MOST = 1000;

/**
 * A file that cannot be read or written, or whose content is not what its format says.
 *
 * @example
 * const found = await torch.load(new Uint8Array(8)).catch((error) => error);
 * [found instanceof torch.FileError, found.file]  // [true, "the given bytes"]
 */
export class FileError extends OpError {
  /** The name of the file, as messages show it. */
  readonly file: string;

  constructor(file: string, problem: string) {
    // names in a file may be of any length
    super(`${file}: ${problem.length > MOST ? `${problem.slice(0, MOST)}...` : problem}`);
    this.file = file;
  }
}
titled(FileError, "FileError");

/** `1 byte`, `12 bytes`. */
export const bytes = (n: number): string => `${n} byte${n === 1 ? "" : "s"}`;

export const tooShort = (name: string, what: string, n: number, at: number, size: number): FileError =>
  new FileError(name, `it is cut off: ${what} takes ${bytes(n)} from ${at} on, but the file ends at ${size}`);
