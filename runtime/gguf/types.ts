// The types of tensors in GGUF files: how many elements share a block, its bytes, and what becomes of it here.

import { FILE_TYPES, type FileType } from "../files/number-formats.js";
import { type Blocks, int4, int8, q4k, q6k } from "./blocks.js";

export interface BlockType {
  readonly name: string;
  readonly elements: number;
  readonly bytes: number;
  /** Elements that are numbers by themselves, */
  readonly plain?: FileType;
  /** or blocks of few bits. */
  readonly blocks?: (data: Uint8Array<ArrayBuffer>, count: number) => Blocks;
}

const plain = (name: string, type: string): BlockType => {
  const found = FILE_TYPES[type]!;
  return { name, elements: 1, bytes: found.bytes, plain: found };
};

/** GGML's types by their numbers; a text is the name of one that is not read. */
const TYPES: ReadonlyMap<number, BlockType | string> = new Map<number, BlockType | string>([
  [0, plain("F32", "float32")],
  [1, plain("F16", "float16")],
  [2, { name: "Q4_0", elements: 32, bytes: 18, blocks: int4 }],
  [3, "Q4_1"],
  [6, "Q5_0"],
  [7, "Q5_1"],
  [8, { name: "Q8_0", elements: 32, bytes: 34, blocks: int8 }],
  [9, "Q8_1"],
  [10, "Q2_K"],
  [11, "Q3_K"],
  [12, { name: "Q4_K", elements: 256, bytes: 144, blocks: q4k }],
  [13, "Q5_K"],
  [14, { name: "Q6_K", elements: 256, bytes: 210, blocks: q6k }],
  [15, "Q8_K"],
  [24, plain("I8", "int8")],
  [25, plain("I16", "int16")],
  [26, plain("I32", "int32")],
  [27, plain("I64", "int64")],
  [28, plain("F64", "float64")],
  [30, plain("BF16", "bfloat16")],
]);

/** The type of that number; the name of one that is not read. */
export const blockType = (number: number): BlockType | string => TYPES.get(number) ?? `number ${number}`;
