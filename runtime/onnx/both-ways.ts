// tensorloom/onnx: models in and out.  `torch.onnx` of the whole package holds what reads them; what writes them is
// imported from here, so that bundles of the whole do without.

export * from "./index.js";
export { exportModel as export, ONNXProgram, type OnnxExportOptions } from "./export/export.js";
