// Buffers of WebGPU and typed arrays that tensors lie in, and what torch.webgpu says to the GPU.

/** Doubles each number of a buffer, by a shader of the program's own. */
function double(gpu, { buffer, offset, size }) {
  const module = gpu.createShaderModule({
    code: `@group(0) @binding(0) var<storage, read_write> x: array<f32>;
           @compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3u) { x[id.x] *= 2; }`,
  });
  const pipeline = gpu.createComputePipeline({ layout: "auto", compute: { module, entryPoint: "main" } }),
    encoder = gpu.createCommandEncoder(),
    pass = encoder.beginComputePass();
  pass.setPipeline(pipeline);
  pass.setBindGroup(
    0,
    gpu.createBindGroup({
      layout: pipeline.getBindGroupLayout(0),
      entries: [{ binding: 0, resource: { buffer, offset, size } }],
    }),
  );
  pass.dispatchWorkgroups(size / 4);
  pass.end();
  gpu.queue.submit([encoder.finish()]);
}
const STORAGE = 128,
  COPY_SRC = 4,
  COPY_DST = 8;

export default {
  async "a buffer is a tensor, and stays one memory"({ torch, device, equal, throws }) {
    if (device !== "webgpu") return;
    const gpu = torch.gpuDevice(),
      buffer = gpu.createBuffer({ size: 64, usage: STORAGE | COPY_SRC | COPY_DST });
    gpu.queue.writeBuffer(
      buffer,
      0,
      Float32Array.from({ length: 16 }, (_, i) => i),
    );
    const x = torch.from_gpu_buffer(buffer, [2, 3], { offset: 8 });
    equal([x.dtype, x.device, ...x.shape], ["float32", "webgpu", 2, 3]);
    equal(await x.tolist(), [
      [2, 3, 4],
      [5, 6, 7],
    ]);
    x.mul_(10);
    torch.webgpu.flush();
    double(gpu, { buffer, offset: 0, size: 64 });
    equal(
      await torch.from_gpu_buffer(buffer, [16]).tolist(),
      [0, 2, 40, 60, 80, 100, 120, 140, 16, 18, 20, 22, 24, 26, 28, 30],
    );
    equal(await x.add(torch.from_gpu_buffer(buffer, [3])).tolist(), [
      [40, 62, 120],
      [100, 122, 180],
    ]);
    equal(await torch.from_gpu_buffer(buffer, [1], { dtype: "int32", offset: 4 }).tolist(), [0x40000000]);
    await throws(() => torch.from_gpu_buffer(buffer, [17]), /ends at 68, the buffer at 64/);
    await throws(() => torch.from_gpu_buffer(buffer, [1], { offset: 2 }), /offset 2 must be a multiple of the 4 bytes/);
    await throws(() => torch.from_gpu_buffer(buffer, [1], { dtype: "uint8" }), /not uint8/);
    await throws(() => torch.from_gpu_buffer([1], [1]), /'buffer' must be a GPUBuffer, got an array of 1/);
    const bare = gpu.createBuffer({ size: 4, usage: STORAGE });
    await throws(() => torch.from_gpu_buffer(bare, [1]), /usages STORAGE and COPY_SRC/);
    buffer.destroy();
    bare.destroy();
  },
  async "a tensor's buffer is a shader's, and gradients know what it wrote"({ torch, device, tensor, equal, throws }) {
    if (device !== "webgpu") {
      await throws(() => torch.gpu_buffer(tensor([1])), /gpu_buffer: the tensor is on cpu, not on webgpu/);
      return;
    }
    const x = tensor([1, 2, 3]).mul(1);
    double(torch.gpuDevice(), torch.gpu_buffer(x, { write: true }));
    equal(await x.add(1).tolist(), [3, 5, 7]);
    equal(torch.gpu_buffer(x.reshape(3, 1)).size, 12);
    equal(torch.gpu_buffer(x.narrow(0, 1, 2)).offset - torch.gpu_buffer(x).offset, 4);
    await throws(() => torch.gpu_buffer(tensor([[1, 2]]).expand(3, 2)), /must be contiguous/);
    const leaf = tensor([1, 2]).requires_grad_(),
      squared = leaf.mul(leaf).exp();
    torch.gpu_buffer(squared, { write: true });
    await throws(() => squared.sum().backward(), /modified by an inplace operation/);
    await torch.webgpu.synchronize();
    equal(torch.webgpu.is_available(), true);
  },
  async "the elements of a tensor are a typed array"({ torch, device, equal, throws }) {
    if (device !== "cpu") {
      await throws(() => torch.typed_array(torch.ones([2], { device })), /the tensor is on webgpu/);
      return;
    }
    const x = torch.zeros([2, 3], { device }),
      row = torch.typed_array(x.select(0, 1), { write: true });
    row.set([4, 5, 6]);
    equal(await x.tolist(), [
      [0, 0, 0],
      [4, 5, 6],
    ]);
    equal(Array.from(torch.typed_array(x)), [0, 0, 0, 4, 5, 6]);
    await throws(() => torch.typed_array(x.t()), /must be contiguous/);
    await throws(() => torch.typed_array([1]), /must be a tensor/);
    const leaf = torch.ones([2], { device, requires_grad: true }),
      made = leaf.exp();
    torch.typed_array(made, { write: true });
    await throws(() => made.sum().backward(), /modified by an inplace operation/);
  },
  async "without a GPU it is said"({ torch, device, throws, equal }) {
    if (device === "webgpu" || torch.gpuDevice()) return;
    equal(torch.webgpu.is_available(), false);
    await throws(() => torch.webgpu.flush(), /webgpu" is not ready/);
    await throws(() => torch.webgpu.on_lost(() => undefined), /no GPU yet/);
  },
};
