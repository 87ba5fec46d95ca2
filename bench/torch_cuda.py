"""CUDA PyTorch on the workloads of workloads.mjs, eager, fp32 (TF32 off): one JSON line each, like run.mjs.

Needs an NVIDIA GPU and torch with CUDA: python3 bench/torch_cuda.py [REGEX]"""

import json
import re
import statistics
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

torch.backends.cuda.matmul.allow_tf32 = False
torch.backends.cudnn.allow_tf32 = False
CUDA = torch.device("cuda")


def uniform(*shape):
    return torch.rand(*shape, device=CUDA) * 2 - 1


def op(call, *shapes):
    def make():
        inputs = [uniform(*shape) for shape in shapes]
        return lambda: call(*inputs)

    return make


def halved(call, *shapes):
    def make():
        inputs = [uniform(*shape).half() for shape in shapes]
        return lambda: call(*inputs)

    return make


def chain(x):
    y = x
    for _ in range(4):
        y = torch.tanh(y * 1.01 + 0.5)
    return y + x


def attention(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


def both(call, *shapes):
    def make():
        inputs = [uniform(*shape).requires_grad_() for shape in shapes]

        def run():
            for x in inputs:
                x.grad = None
            call(*inputs).sum().backward()

        return run

    return make


def training(optimizer):
    def make():
        net = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10)).to(CUDA)
        steps, images = optimizer(net.parameters()), uniform(128, 784)
        labels = torch.arange(128, device=CUDA) * 7 % 10

        def step():
            steps.zero_grad()
            F.cross_entropy(net(images), labels).backward()
            steps.step()

        return step

    return make


def dispatches():
    start, one = uniform(256), torch.ones(256, device=CUDA)

    def run():
        x = start
        for _ in range(1000):
            x = x + one

    return run


ROWS, LARGE = (1024, 1024), (4096, 4096)
CONV = (64, 64, 3, 3)
WORKLOADS = {
    "add_1m": op(torch.add, (1 << 20,), (1 << 20,)),
    "exp_1m": op(torch.exp, (1 << 20,)),
    "sum_1m": op(torch.sum, (1 << 20,)),
    "sum_rows_1024": op(lambda a: a.sum(1), ROWS),
    "softmax_1024": op(lambda a: a.softmax(-1), ROWS),
    "layernorm_1024": op(lambda a: F.layer_norm(a, (1024,)), ROWS),
    "add_256mb": op(torch.add, (1 << 26,), (1 << 26,)),
    "add_16m": op(lambda a: a + a, LARGE),
    "sum_16m": op(torch.sum, LARGE),
    "softmax_4096": op(lambda a: a.softmax(-1), LARGE),
    "sum_rows_4096": op(lambda a: a.sum(1), LARGE),
    "gelu_16m": op(F.gelu, LARGE),
    **{f"matmul_{n}": op(torch.matmul, (n, n), (n, n)) for n in (256, 512, 1024, 2048, 4096)},
    **{f"matmul_{n}_half": halved(torch.matmul, (n, n), (n, n)) for n in (512, 1024, 2048, 4096)},
    "conv2d_64x56x56_3x3": op(lambda x, w: F.conv2d(x, w, padding=1), (1, 64, 56, 56), CONV),
    "conv2d_b32_64x56x56_3x3": op(lambda x, w: F.conv2d(x, w, padding=1), (32, 64, 56, 56), CONV),
    "conv2d_b32_64x56x56_3x3_half": halved(lambda x, w: F.conv2d(x, w, padding=1), (32, 64, 56, 56), CONV),
    "chain12_1m": op(chain, (1 << 20,)),
    "chain12_16m": op(chain, LARGE),
    "attention_256x8x64": op(attention, *[(1, 8, 256, 64)] * 3),
    "attention_b4_h16_2048x64": op(attention, *[(4, 16, 2048, 64)] * 3),
    "conv2d_b32_and_backward": both(lambda x, w: F.conv2d(x, w, padding=1), (32, 64, 56, 56), CONV),
    "attention_b4_h16_and_backward": both(attention, *[(4, 16, 2048, 64)] * 3),
    "mlp_sgd_eager": training(lambda parameters: torch.optim.SGD(parameters, lr=0.05)),
    "mlp_adam_eager": training(lambda parameters: torch.optim.Adam(parameters, lr=1e-3)),
    "dispatch_chain_1000": dispatches,
}


def timed(run, count):
    began = time.perf_counter()
    for _ in range(count):
        run()
    torch.cuda.synchronize()
    return (time.perf_counter() - began) * 1e3 / count


def main():
    only = re.compile(sys.argv[1] if len(sys.argv) > 1 else ".")
    for name, make in WORKLOADS.items():
        if only.search(name):
            run = make()
            timed(run, 10)
            median = statistics.median(timed(run, 1) for _ in range(60))
            print(
                json.dumps(
                    {
                        "lib": "torch",
                        "backend": torch.cuda.get_device_name(),
                        "workload": name,
                        "median_ms": round(median, 4),
                        "pipelined_ms": round(timed(run, 60), 4),
                    }
                ),
                flush=True,
            )


if __name__ == "__main__":
    main()
