// torch.onnx.

export { load, type OnnxLoadOptions } from "./load.js";
