"""A small GPT learns to continue a text letter by letter; gpt.mjs is the same program in JavaScript.

python gpt.py        trains it, and records what gpt.mjs is compared with: weights.safetensors and curve.json"""

import sys
from pathlib import Path

import torch
from torch import nn, optim
from torch.nn import functional as F

sys.path.insert(0, str(Path(__file__).parents[1]))
from alice.text import LETTERS, passages
from record import record

BATCH, LENGTH, WIDTH, HEADS, LAYERS, STEPS = 8, 32, 32, 4, 2, 200


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        q, k, v = [part.unflatten(2, (HEADS, -1)).transpose(1, 2) for part in self.qkv(x).chunk(3, 2)]
        seen = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(seen.transpose(1, 2).flatten(2))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1 = nn.LayerNorm(WIDTH)
        self.attention = Attention()
        self.norm2 = nn.LayerNorm(WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.letter = nn.Embedding(len(LETTERS), WIDTH)
        self.place = nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.Sequential(*[Block() for _ in range(LAYERS)])
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, len(LETTERS), bias=False)
        self.apply(self.start)

    def start(self, module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, std=0.02)
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)

    def forward(self, ids):
        x = self.letter(ids) + self.place(torch.arange(ids.size(1)))
        return self.head(self.norm(self.blocks(x)))


def train(model, steps=STEPS):
    """Yields the loss of each step."""
    matrices = [p for p in model.parameters() if p.dim() > 1]
    others = [p for p in model.parameters() if p.dim() == 1]
    optimizer = optim.AdamW(
        [{"params": matrices}, {"params": others, "weight_decay": 0}], lr=1e-2, betas=(0.9, 0.99), weight_decay=0.1
    )
    warmup = optim.lr_scheduler.LinearLR(optimizer, 0.1, 1, 20)
    decay = optim.lr_scheduler.CosineAnnealingLR(optimizer, STEPS - 20, 1e-3)
    schedule = optim.lr_scheduler.SequentialLR(optimizer, [warmup, decay], [20])
    for step in range(steps):
        x, y = passages(step, BATCH, LENGTH)
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1)
        optimizer.step()
        schedule.step()
        yield loss


if __name__ == "__main__":
    record(GPT, train, Path(__file__).parent)
