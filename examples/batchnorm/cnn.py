"""A convolutional network with batch normalisation learns handwritten digits; cnn.mjs is the same program in
JavaScript.

python cnn.py        trains it, and records what cnn.mjs is compared with: weights.safetensors and curve.json"""

import sys
from pathlib import Path

from torch import nn, optim
from torch.nn import functional as F

sys.path.insert(0, str(Path(__file__).parents[1]))
from digits.record import batch, data
from record import record

BATCH, STEPS = 32, 200


# Smooth throughout, as the networks of ../digits: at the kinks of ReLU and max pooling the last bit of a float32
# decides where a gradient goes, and after 200 steps even PyTorch is not within 1 % of itself in float64.
def network():
    return nn.Sequential(
        nn.Unflatten(1, (1, 8, 8)),
        nn.Conv2d(1, 16, 3, padding=1, bias=False),
        nn.BatchNorm2d(16),
        nn.GELU(),
        nn.Conv2d(16, 16, 3, padding=1, bias=False),
        nn.BatchNorm2d(16),
        nn.GELU(),
        nn.AvgPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1, bias=False),
        nn.BatchNorm2d(32),
        nn.GELU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(32, 10),
    )


def train(model, steps=STEPS):
    """Yields the loss of each step."""
    (images, labels), _ = data(model[-1].weight.dtype)
    optimizer = optim.AdamW(model.parameters(), lr=1e-2, weight_decay=0.05)
    schedule = optim.lr_scheduler.CosineAnnealingLR(optimizer, STEPS)
    for step in range(steps):
        index = batch(step, BATCH, len(images))
        loss = F.cross_entropy(model(images[index]), labels[index], label_smoothing=0.1)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        yield loss


if __name__ == "__main__":
    record(network, train, Path(__file__).parent)
