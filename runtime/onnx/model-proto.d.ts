// ONNX's messages, as far as they are read here: what buildtools/onnx_messages.mjs makes model-proto.js answer.

export interface TensorProto {
  dims: number[];
  data_type: number;
  float_data: number[];
  int32_data: number[];
  string_data: Uint8Array[];
  int64_data: number[];
  double_data: number[];
  uint64_data: number[];
  name: string;
  raw_data: Uint8Array<ArrayBuffer> | undefined;
  external_data: { key: string; value: string }[];
  /** 1: its numbers lie in another file. */
  data_location: number;
}
export interface SparseTensorProto {
  values: TensorProto | undefined;
  indices: TensorProto | undefined;
  dims: number[];
}
export interface TypeProto {
  tensor_type:
    | {
        elem_type: number;
        shape:
          | { dim: { value: "dim_value" | "dim_param" | undefined; dim_value: number; dim_param: string }[] }
          | undefined;
      }
    | undefined;
}
export interface ValueInfoProto {
  name: string;
  type: TypeProto | undefined;
}
export interface AttributeProto {
  name: string;
  ref_attr_name: string;
  type: number;
  f: number;
  i: number;
  s: Uint8Array | undefined;
  t: TensorProto | undefined;
  g: GraphProto | undefined;
  sparse_tensor: SparseTensorProto | undefined;
  tp: TypeProto | undefined;
  floats: number[];
  ints: number[];
  strings: Uint8Array[];
  tensors: TensorProto[];
  graphs: GraphProto[];
}
export interface NodeProto {
  input: string[];
  output: string[];
  name: string;
  op_type: string;
  domain: string;
  overload: string;
  attribute: AttributeProto[];
}
export interface GraphProto {
  node: NodeProto[];
  name: string;
  initializer: TensorProto[];
  sparse_initializer: SparseTensorProto[];
  input: ValueInfoProto[];
  output: ValueInfoProto[];
}
export interface OperatorSet {
  domain: string;
  version: number;
}
export interface FunctionProto {
  name: string;
  domain: string;
  overload: string;
  input: string[];
  output: string[];
  attribute: string[];
  attribute_proto: AttributeProto[];
  node: NodeProto[];
  opset_import: OperatorSet[];
}
export interface ModelProto {
  ir_version: number;
  opset_import: OperatorSet[];
  producer_name: string;
  producer_version: string;
  graph: GraphProto | undefined;
  functions: FunctionProto[];
}
/** Both throw errors of any kind for bytes that are no such message. */
export declare const readModel: (bytes: Uint8Array) => ModelProto;
export declare const readTensor: (bytes: Uint8Array) => TensorProto;
