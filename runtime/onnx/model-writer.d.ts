// What writes ONNX's messages: what buildtools/onnx_messages.mjs makes model-writer.js of.

import type { ModelProto } from "./model-proto.js";

/** A message of which not everything is said. */
export type Message<T> = T extends Uint8Array
  ? T
  : T extends (infer Item)[]
    ? Message<Item>[]
    : T extends object
      ? { [Key in keyof T]?: Message<T[Key]> }
      : T;

export declare const writeModel: (model: Message<ModelProto>) => Uint8Array<ArrayBuffer>;
