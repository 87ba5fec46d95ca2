"""CUDA PyTorch on the models of models.mjs, fp32 (TF32 off): one JSON line each, like programs.mjs.

    python3 bench/models_cuda.py [REGEX] [--modes=eager,compile,reduce-overhead] [--device=cuda]

`lib` is torch, torch-compile or torch-reduce-overhead (CUDA graphs)."""

import argparse
import json
import re
import statistics
import time

import torch
from torch import nn
from torch.nn import functional as F

torch.backends.cuda.matmul.allow_tf32 = False
torch.backends.cudnn.allow_tf32 = False
DEVICE = torch.device("cuda")


def uniform(*shape):
    return torch.rand(*shape, device=DEVICE) * 2 - 1


def ids(below, *shape):
    return torch.randint(0, below, shape, device=DEVICE)


class Inverted(nn.Module):
    def __init__(self, before, after, stride, wider):
        super().__init__()
        width, layers = before * wider, []
        if wider != 1:
            layers += [nn.Conv2d(before, width, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU6()]
        layers += [nn.Conv2d(width, width, 3, stride, 1, groups=width, bias=False), nn.BatchNorm2d(width), nn.ReLU6()]
        layers += [nn.Conv2d(width, after, 1, bias=False), nn.BatchNorm2d(after)]
        self.layers = nn.Sequential(*layers)
        self.residual = stride == 1 and before == after

    def forward(self, x):
        return x + self.layers(x) if self.residual else self.layers(x)


def mobilenet():
    layers = [nn.Conv2d(3, 32, 3, 2, 1, bias=False), nn.BatchNorm2d(32), nn.ReLU6()]
    before = 32
    for wider, after, count, stride in (
        (1, 16, 1, 1),
        (6, 24, 2, 2),
        (6, 32, 3, 2),
        (6, 64, 4, 2),
        (6, 96, 3, 1),
        (6, 160, 3, 2),
        (6, 320, 1, 1),
    ):
        for n in range(count):
            layers.append(Inverted(before, after, 1 if n else stride, wider))
            before = after
    layers += [nn.Conv2d(320, 1280, 1, bias=False), nn.BatchNorm2d(1280), nn.ReLU6()]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(1280, 1000))


class Basic(nn.Module):
    def __init__(self, before, after, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(before, after, 3, stride, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(after)
        self.conv2 = nn.Conv2d(after, after, 3, 1, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(after)
        self.down = None
        if stride != 1 or before != after:
            self.down = nn.Sequential(nn.Conv2d(before, after, 1, stride, bias=False), nn.BatchNorm2d(after))

    def forward(self, x):
        y = self.norm2(self.conv2(F.relu(self.norm1(self.conv1(x)))))
        return F.relu(y + (self.down(x) if self.down else x))


def resnet18():
    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    before = 64
    for after in (64, 128, 256, 512):
        layers += [Basic(before, after, 1 if after == 64 else 2), Basic(after, after, 1)]
        before = after
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000))


class Attention(nn.Module):
    def __init__(self, width, heads, causal):
        super().__init__()
        self.heads, self.causal = heads, causal
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x, past=None):
        q, k, v = [part.unflatten(2, (self.heads, -1)).transpose(1, 2) for part in self.qkv(x).chunk(3, 2)]
        if past is not None:
            k, v = torch.cat([past[0], k], 2), torch.cat([past[1], v], 2)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal and past is None)
        return self.out(y.transpose(1, 2).flatten(2))


class Block(nn.Module):
    def __init__(self, width, heads, causal):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads, causal)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x, past=None):
        x = x + self.attention(self.norm1(x), past)
        return x + self.mlp(self.norm2(x))


class Transformer(nn.Module):
    def __init__(self, vocabulary, length, width, heads, layers, causal):
        super().__init__()
        self.tokens, self.places = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList([Block(width, heads, causal) for _ in range(layers)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False)

    def forward(self, tokens, pasts=None, start=0):
        x = self.tokens(tokens) + self.places(torch.arange(start, start + tokens.size(1), device=tokens.device))
        for n, block in enumerate(self.blocks):
            x = block(x, None if pasts is None else pasts[n])
        return self.head(self.norm(x))


class UNetBlock(nn.Module):
    def __init__(self, width, heads, context):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2, self.norm3 = (nn.GroupNorm(32, width) for _ in range(3))
        self.conv1, self.conv2 = (nn.Conv2d(width, width, 3, padding=1) for _ in range(2))
        self.into, self.back = (nn.Conv2d(width, width, 1) for _ in range(2))
        self.time = nn.Linear(1280, width)
        self.norms = nn.ModuleList([nn.LayerNorm(width) for _ in range(3)])
        self.own, self.cross = self.projections(width, width), self.projections(width, context)
        self.wide, self.narrow = nn.Linear(width, 8 * width), nn.Linear(4 * width, width)

    @staticmethod
    def projections(width, of):
        sides = {"q": width, "k": of, "v": of}
        linear = {name: nn.Linear(side, width, bias=False) for name, side in sides.items()}
        return nn.ModuleDict({**linear, "out": nn.Linear(width, width)})

    def attend(self, by, x, context):
        def heads(part):
            return part.unflatten(2, (self.heads, -1)).transpose(1, 2)

        y = F.scaled_dot_product_attention(heads(by["q"](x)), heads(by["k"](context)), heads(by["v"](context)))
        return by["out"](y.transpose(1, 2).flatten(2))

    def forward(self, x, time, context):
        y = self.conv1(F.silu(self.norm1(x))) + self.time(F.silu(time))[:, :, None, None]
        x = x + self.conv2(F.silu(self.norm2(y)))
        norm1, norm2, norm3 = self.norms
        z = self.into(self.norm3(x)).flatten(2).transpose(1, 2)
        n = norm1(z)
        z = z + self.attend(self.own, n, n)
        n = norm2(z)
        z = z + self.attend(self.cross, n, context)
        a, b = self.wide(norm3(z)).chunk(2, 2)
        z = z + self.narrow(a * F.gelu(b))
        return x + self.back(z.transpose(1, 2).unflatten(2, x.shape[2:]))


class Lstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.head = nn.Embedding(1000, 256), nn.Linear(256, 1000)
        self.lstm = nn.LSTM(256, 256, batch_first=True)

    def forward(self, tokens):
        return self.head(self.lstm(self.tokens(tokens))[0])


class Chain(nn.Module):
    def forward(self, x):
        y = x
        for _ in range(4):
            y = torch.tanh(y * 1.01 + 0.5)
        return y + x


def mlp():
    return nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10))


def answers(make, inputs):
    def made(compiled):
        model, given = compiled(make().to(DEVICE).eval()), inputs()

        def run():
            with torch.no_grad():
                model(*given)

        return run

    return made


def trains(make, inputs, loss, optimizer):
    def made(compiled):
        plain = make().to(DEVICE).train()
        model, steps, given = compiled(plain), optimizer(plain.parameters()), inputs()

        def run():
            steps.zero_grad()
            loss(model, *given).backward()
            steps.step()

        return run

    return made


def classified(model, x, labels):
    return F.cross_entropy(model(x), labels)


def continued(model, x, following):
    return F.cross_entropy(model(x).flatten(0, 1), following.flatten())


def adam(parameters):
    return torch.optim.Adam(parameters, lr=1e-3)


def adamw(parameters):
    return torch.optim.AdamW(parameters, lr=1e-4)


def sgd(parameters):
    return torch.optim.SGD(parameters, lr=0.01, momentum=0.9)


def gpt2():
    return Transformer(50257, 1024, 768, 12, 12, True)


def pasts():
    return [[uniform(1, 12, 256, 64), uniform(1, 12, 256, 64)] for _ in range(12)]


WORKLOADS = {
    "chain12_16m": answers(Chain, lambda: [uniform(4096, 4096)]),
    "mlp_adam": trains(mlp, lambda: [uniform(128, 784), ids(10, 128)], classified, adam),
    "mobilenetv2_b1": answers(mobilenet, lambda: [uniform(1, 3, 224, 224)]),
    "mobilenetv2_b32": answers(mobilenet, lambda: [uniform(32, 3, 224, 224)]),
    "resnet18_b1": answers(resnet18, lambda: [uniform(1, 3, 224, 224)]),
    "resnet18_b32_train": trains(resnet18, lambda: [uniform(32, 3, 224, 224), ids(1000, 32)], classified, sgd),
    "gpt2_512": answers(gpt2, lambda: [ids(50257, 1, 512)]),
    "gpt2_token": answers(gpt2, lambda: [ids(50257, 1, 1), pasts(), 256]),
    "bert_b8x128": answers(lambda: Transformer(30522, 512, 768, 12, 12, False), lambda: [ids(30522, 8, 128)]),
    "unet_block": answers(
        lambda: UNetBlock(320, 8, 768), lambda: [uniform(1, 320, 64, 64), uniform(1, 1280), uniform(1, 77, 768)]
    ),
    "nanogpt_train": trains(
        lambda: Transformer(65, 256, 384, 6, 6, True),
        lambda: [ids(65, 16, 256), ids(65, 16, 256)],
        continued,
        adamw,
    ),
    "lstm_train": trains(Lstm, lambda: [ids(1000, 32, 35), ids(1000, 32, 35)], continued, adamw),
}
MODES = {
    "eager": lambda model: model,
    "compile": torch.compile,
    "reduce-overhead": lambda model: torch.compile(model, mode="reduce-overhead"),
}


def synchronize():
    if DEVICE.type == "cuda":
        torch.cuda.synchronize()


def timed(run, count):
    began = time.perf_counter()
    for _ in range(count):
        run()
    synchronize()
    return (time.perf_counter() - began) * 1e3 / count


def measured(run, count):
    first = timed(run, 1)
    timed(run, 8)
    median = statistics.median(timed(run, 1) for _ in range(count))
    return {
        "first_ms": round(first, 1),
        "median_ms": round(median, 4),
        "pipelined_ms": round(timed(run, count), 4),
    }


def main():
    global DEVICE
    parser = argparse.ArgumentParser()
    parser.add_argument("only", nargs="?", default=".")
    parser.add_argument("--modes", default="eager")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--count", type=int, default=40)
    options = parser.parse_args()
    DEVICE = torch.device(options.device)
    for mode in options.modes.split(","):
        for name, make in WORKLOADS.items():
            if not re.search(options.only, name):
                continue
            line = {
                "lib": "torch" if mode == "eager" else f"torch-{mode}",
                "backend": options.device,
                "workload": name,
            }
            try:
                line |= measured(make(MODES[mode]), options.count)
            except Exception as error:  # the others are measured all the same
                line["error"] = str(error)[:200]
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
