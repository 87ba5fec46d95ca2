// The workloads, each with its name and sizes in torch_cuda.py too. A workload makes its inputs and returns what to
// run; `run` gives its results up, so that the device's memory is reused as a program would.
import { uniform } from "./measure.mjs";

/** name -> () => run. `torch` is the package, `device` where the tensors live. */
export function workloads(torch, device) {
  const { nn, optim } = torch,
    F = nn.functional;
  const tensor = (shape, seed, lo, hi) =>
    torch.tensor(
      uniform(
        shape.reduce((a, b) => a * b, 1),
        seed,
        lo,
        hi,
      ),
      { shape, device },
    );
  const op = (make, call) => () => {
    const inputs = make();
    return () => {
      call(...inputs).dispose();
    };
  };
  const factors = (n) => () => [tensor([n, n], 6), tensor([n, n], 7)],
    picture = () => [tensor([32, 64, 56, 56], 3), tensor([64, 64, 3, 3], 4)];
  const matmul = (a, b) => a.matmul(b),
    conv = (x, w) => F.conv2d(x, w, null, { padding: 1 });
  // Half numbers: a device without them says so.
  const halved = (make) => () => make().map((x) => x.half());
  const million = [1 << 20],
    rows = [1024, 1024],
    large = [4096, 4096];
  const chain = (x) =>
    torch.tidy(() => {
      let y = x;
      for (let i = 0; i < 4; i++) y = y.mul(1.01).add(0.5).tanh();
      return y.add(x);
    });
  const attention = (shape) =>
    op(
      () => [31, 32, 33].map((seed) => tensor(shape, seed)),
      (q, k, v) => F.scaled_dot_product_attention(q, k, v, { is_causal: true }),
    );
  const both = (shapes, call) => () => {
    const inputs = shapes.map((shape, i) => tensor(shape, 40 + i).requires_grad_());
    return () =>
      torch.tidy(() => {
        for (const input of inputs) input.grad = null;
        call(...inputs)
          .sum()
          .backward();
      });
  };
  const training = (optimizer) => () => {
    const net = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10));
    net.to(device);
    const steps = optimizer(net.parameters()),
      images = tensor([128, 784], 20);
    const labels = torch.tensor(
      Int32Array.from({ length: 128 }, (_, i) => (i * 7) % 10),
      { shape: [128], device },
    );
    return async () => {
      steps.zero_grad();
      F.cross_entropy(net(images), labels).backward();
      await steps.step();
    };
  };
  return {
    add_1m: op(
      () => [tensor(million, 1), tensor(million, 2)],
      (a, b) => a.add(b),
    ),
    exp_1m: op(
      () => [tensor(million, 1)],
      (a) => a.exp(),
    ),
    sum_1m: op(
      () => [tensor(million, 1)],
      (a) => a.sum(),
    ),
    sum_rows_1024: op(
      () => [tensor(rows, 5)],
      (a) => a.sum(1),
    ),
    softmax_1024: op(
      () => [tensor(rows, 5)],
      (a) => a.softmax(-1),
    ),
    layernorm_1024: op(
      () => [tensor(rows, 5)],
      (a) => F.layer_norm(a, [1024]),
    ),
    add_256mb: op(
      () => [tensor([1 << 26], 1), tensor([1 << 26], 2)],
      (a, b) => a.add(b),
    ),
    add_16m: op(
      () => [tensor(large, 1)],
      (a) => a.add(a),
    ),
    sum_16m: op(
      () => [tensor(large, 1)],
      (a) => a.sum(),
    ),
    softmax_4096: op(
      () => [tensor(large, 1)],
      (a) => a.softmax(-1),
    ),
    sum_rows_4096: op(
      () => [tensor(large, 1)],
      (a) => a.sum(1),
    ),
    gelu_16m: op(
      () => [tensor(large, 1)],
      (a) => F.gelu(a),
    ),
    ...Object.fromEntries([256, 512, 1024, 2048, 4096].map((n) => [`matmul_${n}`, op(factors(n), matmul)])),
    ...Object.fromEntries([512, 1024, 2048, 4096].map((n) => [`matmul_${n}_half`, op(halved(factors(n)), matmul)])),
    conv2d_64x56x56_3x3: op(() => [tensor([1, 64, 56, 56], 3), tensor([64, 64, 3, 3], 4)], conv),
    conv2d_b32_64x56x56_3x3: op(picture, conv),
    conv2d_b32_64x56x56_3x3_half: op(halved(picture), conv),
    chain12_1m: op(() => [tensor(million, 1)], chain),
    chain12_16m: op(() => [tensor(large, 1)], chain),
    attention_256x8x64: attention([1, 8, 256, 64]),
    attention_b4_h16_2048x64: attention([4, 16, 2048, 64]),
    conv2d_b32_and_backward: both(
      [
        [32, 64, 56, 56],
        [64, 64, 3, 3],
      ],
      conv,
    ),
    attention_b4_h16_and_backward: both(
      [0, 0, 0].map(() => [4, 16, 2048, 64]),
      (q, k, v) => F.scaled_dot_product_attention(q, k, v, { is_causal: true }),
    ),
    mlp_sgd_eager: training((parameters) => optim.SGD(parameters, { lr: 0.05 })),
    mlp_adam_eager: training((parameters) => optim.Adam(parameters, { lr: 1e-3 })),
    dispatch_chain_1000: () => {
      const start = tensor([256], 1),
        one = torch.ones([256], { device });
      return () =>
        torch
          .tidy(() => {
            let x = start;
            for (let i = 0; i < 1000; i++) x = x.add(one);
            return x;
          })
          .dispose();
    },
  };
}
