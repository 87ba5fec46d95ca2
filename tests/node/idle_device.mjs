// A GPU that does nothing, for what the package itself does: host_cost.test.mjs, device_memory.test.mjs.

globalThis.GPUBufferUsage ??= {
  MAP_READ: 1,
  MAP_WRITE: 2,
  COPY_SRC: 4,
  COPY_DST: 8,
  UNIFORM: 64,
  STORAGE: 128,
  QUERY_RESOLVE: 512,
};
globalThis.GPUShaderStage ??= { COMPUTE: 4 };
globalThis.GPUMapMode ??= { READ: 1, WRITE: 2 };

/** A GPUDevice that does nothing, and counts the calls of each kind. */
export function idleDevice() {
  const calls = {};
  const counted =
    (name, result = () => undefined) =>
    (...words) => {
      calls[name] = (calls[name] ?? 0) + 1;
      return result(...words);
    };
  const pass = {
    setPipeline: counted("setPipeline"),
    setBindGroup: counted("setBindGroup"),
    dispatchWorkgroups: counted("dispatchWorkgroups"),
    end() {},
  };
  const encoder = {
    beginComputePass: counted("beginComputePass", () => pass),
    copyBufferToBuffer() {},
    clearBuffer() {},
    finish: () => ({}),
  };
  const pipeline = () => ({ getBindGroupLayout: () => ({}) });
  return {
    calls,
    pass,
    features: new Set(),
    lost: new Promise(() => {}),
    addEventListener() {},
    pushErrorScope() {},
    popErrorScope: async () => null,
    destroy() {},
    limits: {
      maxBufferSize: 2 ** 28,
      maxStorageBufferBindingSize: 2 ** 27,
      maxStorageBuffersPerShaderStage: 8,
      maxUniformBufferBindingSize: 65536,
      maxComputeWorkgroupStorageSize: 16384,
      maxComputeInvocationsPerWorkgroup: 256,
      maxComputeWorkgroupSizeX: 256,
      maxComputeWorkgroupSizeY: 256,
      maxComputeWorkgroupSizeZ: 64,
      maxComputeWorkgroupsPerDimension: 65535,
      minUniformBufferOffsetAlignment: 256,
      minStorageBufferOffsetAlignment: 256,
    },
    createBuffer: counted("createBuffer", ({ size }) => ({
      size,
      destroy() {},
      unmap() {},
      mapAsync: async () => {},
      getMappedRange: () => new ArrayBuffer(size),
    })),
    createShaderModule: counted("createShaderModule", () => ({ getCompilationInfo: async () => ({ messages: [] }) })),
    createBindGroupLayout: counted("createBindGroupLayout", () => ({})),
    createPipelineLayout: counted("createPipelineLayout", () => ({})),
    createBindGroup: counted("createBindGroup", () => ({})),
    createComputePipeline: counted("createComputePipeline", pipeline),
    createComputePipelineAsync: counted("createComputePipelineAsync", async () => pipeline()),
    createCommandEncoder: () => encoder,
    queue: { submit: counted("submit"), writeBuffer: counted("writeBuffer"), onSubmittedWorkDone: async () => {} },
  };
}
