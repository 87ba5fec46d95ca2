"""CUDA PyTorch on the decoder of llama.mjs, in float16 (its weights, too): one JSON line each, like programs.mjs.

    python3 bench/llama_cuda.py [--modes=eager,compile,reduce-overhead] [--device=cuda] [--shape=llama_1b]

`lib` is torch, torch-compile or torch-reduce-overhead (CUDA graphs)."""

import argparse
import json

import models_cuda
import torch
from torch import nn
from torch.nn import functional as F

SHAPES = {
    "llama_1b": {
        "vocabulary": 128256,
        "width": 2048,
        "hidden": 8192,
        "heads": 32,
        "shared": 8,
        "layers": 16,
        "length": 1024,
    },
    "llama_tiny": {
        "vocabulary": 96,
        "width": 64,
        "hidden": 96,
        "heads": 4,
        "shared": 2,
        "layers": 2,
        "length": 1024,
    },
}
READ = 512


def turned(x, cosines, sines):
    a, b = x.chunk(2, -1)
    return torch.cat([a * cosines - b * sines, b * cosines + a * sines], -1)


class Attention(nn.Module):
    def __init__(self, width, heads, shared, length, **_):
        super().__init__()
        self.heads, self.shared, self.size = heads, shared, width // heads
        self.qkv = nn.Linear(width, (heads + 2 * shared) * self.size, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.register_buffer("keys", torch.zeros(1, shared, length, self.size))
        self.register_buffer("values", torch.zeros(1, shared, length, self.size))

    def forward(self, x, places, cosines, sines, seen):
        parts = self.qkv(x).unflatten(2, (-1, self.size)).transpose(1, 2)
        q, k, v = parts.split([self.heads, self.shared, self.shared], 1)
        q, k = turned(q, cosines, sines), turned(k, cosines, sines)
        self.keys.index_copy_(2, places, k)
        self.values.index_copy_(2, places, v)
        if seen is None:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        else:
            y = F.scaled_dot_product_attention(q, self.keys, self.values, attn_mask=seen, enable_gqa=True)
        return self.out(y.transpose(1, 2).flatten(2))


class Block(nn.Module):
    def __init__(self, width, hidden, **shape):
        super().__init__()
        self.norm1, self.norm2 = nn.RMSNorm(width), nn.RMSNorm(width)
        self.attention = Attention(width, **shape)
        self.gate, self.up = nn.Linear(width, hidden, bias=False), nn.Linear(width, hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)

    def forward(self, x, *at):
        x = x + self.attention(self.norm1(x), *at)
        y = self.norm2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Llama(nn.Module):
    def __init__(self, vocabulary, width, heads, layers, length, **shape):
        super().__init__()
        self.tokens = nn.Linear(width, vocabulary, bias=False)
        self.blocks = nn.ModuleList([Block(width=width, heads=heads, length=length, **shape) for _ in range(layers)])
        self.norm = nn.RMSNorm(width)
        rates = 500000 ** (-torch.arange(0, width // heads, 2) / (width // heads))
        angles = torch.outer(torch.arange(length).float(), rates)
        self.register_buffer("cosines", angles.cos().to(torch.get_default_dtype()))
        self.register_buffer("sines", angles.sin().to(torch.get_default_dtype()))
        self.register_buffer("order", torch.arange(length))

    def forward(self, tokens, places):
        cosines, sines = self.cosines[places], self.sines[places]
        seen = self.order.le(places).view(1, 1, 1, -1) if tokens.size(1) == 1 else None
        x = F.embedding(tokens, self.tokens.weight)
        for block in self.blocks:
            x = block(x, places, cosines, sines, seen)
        return self.tokens(self.norm(x[:, -1:]))


def workloads(shape, device):
    """name -> (tokens of a call, what makes a call)"""

    def made(tokens, start):
        def make(compiled):
            with torch.device(device):
                torch.set_default_dtype(torch.float16)
                plain = Llama(**shape).eval()
                torch.set_default_dtype(torch.float32)
                token = torch.randint(0, shape["vocabulary"], (1, tokens))
                places = torch.arange(start, start + tokens)
            model = compiled(plain)
            kept = sum(t.nbytes for name, t in plain.state_dict().items() if not name.endswith((".keys", ".values")))

            def run():
                with torch.no_grad():
                    following = model(token, places).argmax(-1)
                    if tokens == 1:
                        token.copy_(following)
                        places.add_(1)

            return run, kept

        return make

    return {"llama1b_int4_512": (READ, made(READ, 0)), "llama1b_int4_token": (1, made(1, READ))}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--modes", default="eager")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--shape", choices=SHAPES, default="llama_1b")
    parser.add_argument("--count", type=int, default=40)
    options = parser.parse_args()
    models_cuda.DEVICE = torch.device(options.device)
    for mode in options.modes.split(","):
        for name, (tokens, make) in workloads(SHAPES[options.shape], options.device).items():
            line = {"lib": "torch" if mode == "eager" else f"torch-{mode}", "backend": options.device}
            line |= {"workload": name}
            run, kept = make(models_cuda.MODES[mode])
            line |= models_cuda.measured(run, options.count)
            line |= {"tokens_per_s": round(1000 * tokens / line["pipelined_ms"]), "state_bytes": kept}
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
