// The compiler in a program that runs: the same Python as in the build, by Pyodide.  What it makes of definitions is
// data (transported.ts), so that it may run in a worker, and its ops elsewhere.

import { OpError, TypeMismatchError } from "../base/errors.js";
import { taken } from "../base/named-arguments.js";
import { type FileLike, openStream } from "../files/source.js";
import { pyodidePackage } from "./pyodide-package.js";
import { type CompiledDefinitions, type OpFunction, opsOf } from "./transported.js";

/** A mistake in definitions, with its place in their text. */
export interface Mistake {
  /** The line and column at which it begins, counted from 1. */
  readonly line: number;
  readonly column: number;
  /** Where it stands in the text: offsets as JavaScript counts them. */
  readonly from: number;
  readonly to: number;
  readonly message: string;
  /** What is said of this very place, or "". */
  readonly label: string;
  readonly help: readonly string[];
}

/** Definitions with mistakes were to be compiled; the message lists them. */
export class DefinitionError extends OpError {
  readonly mistakes: readonly Mistake[];

  constructor(mistakes: readonly Mistake[]) {
    super(mistakes.map(told).join("\n"));
    this.mistakes = mistakes;
  }

  /** Of the first mistake. */
  get line(): number {
    return this.mistakes[0]!.line;
  }

  get column(): number {
    return this.mistakes[0]!.column;
  }
}

const told = ({ line, column, message, label, help }: Mistake): string =>
  `${line}:${column}: ${message}${label && ` (${label})`}${help.map((text) => `\n  ${text}`).join("")}`;

/** What is needed of Pyodide. */
export interface Pyodide {
  unpackArchive(buffer: ArrayBuffer | ArrayBufferView, format: string): void;
  pyimport(name: string): any;
}

export interface CompilerOptions {
  /**
   * A Pyodide that is loaded, or the address of the folder in which its files lie; by default that of the installed
   * package `pyodide`.
   */
  pyodide?: Pyodide | string | URL;
  /** What messages, kernels and the profiler call the ops after: `own.swish`. */
  name?: string;
}

/** The compiler of ops; see `loadCompiler`. */
export class Compiler {
  /** Without its options: `compiler.name`, what it calls ops after. */
  constructor(
    private readonly answer: (request: string) => string,
    readonly name: string,
  ) {}

  /**
   * What definitions become, as data for `opsOf`, which another thread may be sent.  Throws DefinitionError for
   * mistakes in them.
   */
  compile(source: string): CompiledDefinitions {
    if (typeof source !== "string") throw new TypeMismatchError("compile: definitions must be a text");
    const { errors = [], made } = JSON.parse(this.answer(JSON.stringify({ text: source, home: this.name }))) as {
      errors?: readonly Mistake[];
      made?: CompiledDefinitions;
    };
    if (errors.length) throw new DefinitionError(errors);
    return made!;
  }

  /** The functions that definitions make, by their names.  Throws DefinitionError. */
  ops(source: string): Record<string, OpFunction> {
    return opsOf(this.compile(source));
  }

  /**
   * The op that a text defines, as a function: it runs on every device, has gradients, and `torch.compile` knows it.
   * name: which, where there are several.  Throws DefinitionError for mistakes, OpError if it is not clear which op.
   */
  op(...args: [source: string, name?: string]): OpFunction {
    const [source, name] = taken("op source name?", args) as [string, string | undefined];
    const found = this.ops(source),
      names = Object.keys(found);
    if (name !== undefined ? !(name in found) : names.length !== 1)
      throw new OpError(
        name !== undefined
          ? `op: the text defines no '${name}', but ${names.join(", ") || "nothing"}`
          : names.length
            ? `op: the text defines several ops, name one of them: ${names.join(", ")}`
            : "op: the text defines no op",
      );
    return found[name ?? names[0]!]!;
  }
}

/**
 * Loads the compiler: some seconds, once.  archive: the file `tensorloom-compiler-VERSION.zip` of a release, as an
 * address, in Node also a path, or its bytes.  Throws FileError where it cannot be read, OpError if Pyodide or the
 * compiler cannot be loaded.
 */
export async function loadCompiler(
  archive: FileLike,
  { pyodide, name = "own" }: CompilerOptions = {},
): Promise<Compiler> {
  if (!/^[a-z]\w*$/i.test(name)) throw new OpError(`loadCompiler: '${name}' cannot be a name of ops`);
  const stream = await openStream(archive, {}, "loadCompiler");
  const [bytes, python] = await Promise.all([
    stream.rest(),
    pyodide !== undefined && typeof pyodide === "object" && "pyimport" in pyodide ? pyodide : started(pyodide),
  ]);
  python.unpackArchive(bytes, "zip");
  try {
    return new Compiler(python.pyimport("workbench.run_time").answer, name);
  } catch (error) {
    throw new OpError(`loadCompiler: the archive holds no compiler: ${lastLine(error)}`);
  }
}

async function started(from: string | URL | undefined): Promise<Pyodide> {
  const folder = from === undefined ? undefined : String(from).replace(/\/?$/, "/");
  try {
    const { loadPyodide } = await (folder === undefined
      ? pyodidePackage()
      : import(/* @vite-ignore */ /* webpackIgnore: true */ /* turbopackIgnore: true */ `${folder}pyodide.mjs`));
    return await loadPyodide(folder === undefined ? {} : { indexURL: folder });
  } catch (error) {
    throw new OpError(
      `loadCompiler: Pyodide cannot be loaded ${folder ? `from ${folder}` : "as the package 'pyodide', which is not part of tensorloom"}: ${lastLine(error)}`,
    );
  }
}

const lastLine = (error: unknown): string =>
  String((error as Error | undefined)?.message ?? error)
    .trim()
    .split("\n")
    .at(-1)!;
