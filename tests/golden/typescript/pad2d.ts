export const pad2dOp: CompiledOp = { op: data.pad2d, kernels: kernels.pad2d };
