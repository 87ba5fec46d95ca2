// NumPy's numbers and arrays in pickles: how `numpy.dtype`, scalars and arrays say what they are.

import { contiguousStrides, numelOf } from "../base/shape.js";
import { FILE_TYPES, type FileType } from "./number-formats.js";
import { type Known, LeftOut } from "./pickle.js";

/** Kind and size, as NumPy writes them. */
const CODES: Readonly<Record<string, string>> = {
  f8: "float64",
  f4: "float32",
  f2: "float16",
  i8: "int64",
  i4: "int32",
  i2: "int16",
  i1: "int8",
  u8: "uint64",
  u4: "uint32",
  u2: "uint16",
  u1: "uint8",
  b1: "bool",
  c8: "complex64",
};

/** A numpy.dtype. */
export class NumpyType {
  readonly code: string;
  order = "<";

  constructor(code: string) {
    this.code = code;
  }
  /** What its numbers are in files; null for those that are not read. */
  get type(): FileType | null {
    return this.order === ">" ? null : (FILE_TYPES[CODES[this.code]!] ?? null);
  }
}

/** A numpy.ndarray. */
export class NumpyArray {
  type: FileType | null = null;
  shape: readonly number[] = [];
  strides: readonly number[] = [];
  data: Uint8Array = new Uint8Array();

  /** Throws what `wrong` throws where the numbers are not those of such an array. */
  fill(type: unknown, shape: unknown, fortran: unknown, data: unknown, wrong: () => never): void {
    if (!(type instanceof NumpyType) || !isSizes(shape)) wrong();
    this.type = type.type;
    this.shape = shape;
    if (!this.type) return;
    if (!(data instanceof Uint8Array) || data.length !== numelOf(shape) * this.type.bytes) return wrong();
    this.data = data;
    this.strides = fortran
      ? contiguousStrides([...shape].reverse())
          .slice()
          .reverse()
      : contiguousStrides(shape);
  }
}

const isSizes = (v: unknown): v is number[] =>
  Array.isArray(v) && v.length <= 64 && v.every((n) => typeof n === "number" && Number.isSafeInteger(n) && n >= 0);

/**
 * The names of NumPy's that pickles hold.  `wrong(name)`: throws that one is called as NumPy never writes it;
 * `spend(n)`: throws where more bytes are made than the file has room for.
 */
export function numpyNames(wrong: (name: string) => never, spend: (n: number) => true): [string, Known][] {
  const filled = (made: NumpyArray, ...[type, shape, fortran, data]: unknown[]): NumpyArray => {
    made.fill(type, shape, fortran, data, () => wrong("numpy.ndarray"));
    spend(made.data.length);
    return made;
  };
  const scalar: Known = {
    call: ([type, data]) => {
      if (!(type instanceof NumpyType)) return wrong("numpy.scalar");
      const read = type.type;
      if (!read) return new LeftOut(`it holds a number of NumPy of the type ${type.code}`);
      if (!(data instanceof Uint8Array) || data.length !== read.bytes) return wrong("numpy.scalar");
      const view = new DataView(data.slice().buffer);
      if (read.name === "bool") return view.getUint8(0) !== 0;
      if (read.name === "int64" || read.name === "uint64") {
        const value = read.name === "int64" ? view.getBigInt64(0, true) : view.getBigUint64(0, true),
          number = Number(value);
        return Number.isSafeInteger(number) ? number : value;
      }
      return read.name === "uint32" ? view.getUint32(0, true) : Number(read.decode(view.buffer)[0]);
    },
  };
  const array: Known = {
    call: () => new NumpyArray(),
    set: (made, state) => {
      const [, shape, type, fortran, data] = Array.isArray(state) ? (state as unknown[]) : [];
      filled(made as NumpyArray, type, shape, fortran, data);
    },
  };
  const buffer: Known = {
    call: ([data, type, shape, order]) => filled(new NumpyArray(), type, shape, order === "F", data),
  };
  const type: Known = {
    call: ([code]) => (typeof code === "string" ? new NumpyType(code) : wrong("numpy.dtype")),
    set: (made, state) => {
      const order: unknown = Array.isArray(state) ? state[1] : null;
      if (typeof order !== "string") return wrong("numpy.dtype");
      (made as NumpyType).order = order;
    },
  };
  return [
    ["numpy.ndarray", {}],
    ["numpy.dtype", type],
    ...["numpy._core", "numpy.core"].flatMap((core): [string, Known][] => [
      [`${core}.multiarray.scalar`, scalar],
      [`${core}.multiarray._reconstruct`, array],
      [`${core}.numeric._frombuffer`, buffer],
    ]),
  ];
}
