// Whether a GPU's units for products of matrices can be used: WGSL's subgroup matrices, which are an experiment still.

/** The feature's name while it is an experiment: pages have it behind a flag, Dawn in Node with `allow_unsafe_apis`. */
export const MATRIX_UNITS = "chromium-experimental-subgroup-matrix";
const SUBGROUP = 32;

// Sizes and types are refused by devices that have others, words by browsers that have older ones: the text has all
// that kernels use (codegen/wgsl/matrix_units.wgsl.j2).  What a device says of its sizes is not asked: it may say nothing.
const TRIAL = `
enable f16;
enable subgroups, chromium_experimental_subgroup_matrix;
@group(0) @binding(0) var<storage, read_write> out: array<f32>;
var<workgroup> tile: array<f16, 256>;
@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) local: u32, @builtin(subgroup_id) subgroup: u32) {
  tile[local] = 1.0h;
  workgroupBarrier();
  let left = subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>, row_major>(&tile, subgroup * 8u, 16u);
  let right = subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>, col_major>(&tile, 0u, 16u);
  let sum = subgroupMatrixMultiplyAccumulate(left, right, subgroup_matrix_result<f32, 16, 16>());
  subgroupMatrixStore<row_major>(&out, 0u, sum, 16u);
}`;

interface AdapterInfo {
  subgroupMinSize?: number;
  subgroupMaxSize?: number;
}

const found = new WeakSet<GPUDevice>();

/** Finds out whether a device takes a kernel for its units. */
export async function tryMatrixUnits(gpu: GPUDevice): Promise<void> {
  const info = (gpu as GPUDevice & { adapterInfo?: AdapterInfo }).adapterInfo;
  if (!gpu.features.has(MATRIX_UNITS as GPUFeatureName) || !gpu.features.has("shader-f16")) return;
  if (info?.subgroupMinSize !== SUBGROUP || info.subgroupMaxSize !== SUBGROUP) return;
  // A text that is refused must not be reported as an error of the program's.
  gpu.pushErrorScope("validation");
  const module = gpu.createShaderModule({ code: TRIAL });
  const made = gpu.createComputePipelineAsync({ layout: "auto", compute: { module, entryPoint: "main" } }).then(
    () => true,
    () => false,
  );
  const error = await gpu.popErrorScope();
  if ((await made) && error === null) found.add(gpu);
}

/** Whether `tryMatrixUnits` found them. */
export const hasMatrixUnits = (gpu: GPUDevice): boolean => found.has(gpu);
