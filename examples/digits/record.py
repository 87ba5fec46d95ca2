"""Records how PyTorch trains the two networks: writes recording.json (needs torch==2.13.0; run once).

The same data, order, models and optimizers as digits.mjs, on the CPU in float32: initial weights, the loss
of each of 100 steps, and the accuracy on the test images after them.

    python record.py            records
    python record.py choose     tries learning rates and shows how each does on images held out of the training images

The learning rates below are the ones that `choose` puts first among those whose loss float32 leaves within 2e-5 of
float64: two implementations cannot agree on the others.  The test images were not looked at for it."""

import json
import sys
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

HERE = Path(__file__).parent
STEPS, SEED = 100, 3
BATCH = {"mlp": 128, "cnn": 64}


def data(dtype=torch.float32):
    """(images, labels) for training and for testing."""
    rows = np.frombuffer((HERE / "digits.bin").read_bytes(), np.uint8).reshape(-1, 65)
    images, labels = torch.tensor(rows[:, :64] / 4 - 1.25, dtype=dtype), torch.tensor(rows[:, 64].astype(np.int64))
    return apart(images, labels)


def apart(images, labels):
    """Every fifth image held out: those for testing, and of the rest those for validation."""
    held = torch.arange(len(images)) % 5 == 4
    return (images[~held], labels[~held]), (images[held], labels[held])


def batch(step, size, n):
    return [(step * size + i) * 577 % n for i in range(size)]


# Smooth throughout (GELU, average pooling): at ReLU's and max pooling's kinks the last bit of a float32 decides
# where a gradient goes, and two correct implementations part after a few dozen steps.
MODELS = {
    "mlp": lambda: nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.Linear(128, 64), nn.GELU(), nn.Linear(64, 10)),
    "cnn": lambda: nn.Sequential(
        nn.Unflatten(1, (1, 8, 8)),
        nn.Conv2d(1, 16, 3, padding=1),
        nn.GELU(),
        nn.AvgPool2d(2),
        nn.Conv2d(16, 16, 3, padding=1),
        nn.GELU(),
        nn.Flatten(),
        nn.Linear(256, 10),
    ),
}
OPTIMIZERS = {
    "sgd": lambda parameters, lr: torch.optim.SGD(parameters, lr=lr, momentum=0.9),
    "adam": lambda parameters, lr: torch.optim.Adam(parameters, lr=lr),
}
RATES = {"mlp sgd": 0.07, "mlp adam": 0.005, "cnn sgd": 0.1, "cnn adam": 0.02}
CHOICE = {"sgd": (0.03, 0.05, 0.07, 0.1, 0.15), "adam": (0.003, 0.005, 0.007, 0.01, 0.015, 0.02)}


def start(name):
    torch.manual_seed(SEED)
    return MODELS[name]().state_dict()


def train(how, lr, images, labels, dtype=torch.float32):
    """The model after STEPS steps, and the loss of each."""
    name, optimizer = how.split()
    model = MODELS[name]().to(dtype)
    model.load_state_dict(start(name))
    steps = OPTIMIZERS[optimizer](model.parameters(), lr)
    losses = []
    for step in range(STEPS):
        index = batch(step, BATCH[name], len(images))
        steps.zero_grad()
        loss = F.cross_entropy(model(images[index]), labels[index])
        loss.backward()
        steps.step()
        losses.append(loss.item())
    return model, losses


def accuracy(model, images, labels):
    with torch.no_grad():
        return (model(images).argmax(1) == labels).sum().item() / len(labels)


def rounding(how, lr, losses, images, labels):
    """How far, relatively, rounding to float32 moves the loss."""
    _, exact = train(how, lr, images.double(), labels, torch.float64)
    return max(abs(a - b) / b for a, b in zip(losses, exact))


def choose():
    """For each run the rates from best to worst on the validation images."""
    training, validation = apart(*data()[0])
    for how in RATES:
        tried = []
        for lr in CHOICE[how.split()[1]]:
            model, losses = train(how, lr, *training)
            off = max(
                rounding(how, lr, losses, *training), rounding(how, lr, train(how, lr, *data()[0])[1], *data()[0])
            )
            tried.append((accuracy(model, *validation), lr, off))
        for right, lr, off in sorted(tried, reverse=True):
            print(f"{how}, lr {lr}: {right:.4f} of the validation images, float32 is within {off:.1e} of float64")


def main():
    training, test = data()
    recording = {"torch": torch.__version__.split("+")[0], "weights": {}, "runs": {}}
    for name in MODELS:
        recording["weights"][name] = {
            key: {"shape": list(value.shape), "data": [float(str(np.float32(x))) for x in value.flatten().tolist()]}
            for key, value in start(name).items()
        }
    for how, lr in RATES.items():
        model, losses = train(how, lr, *training)
        recording["runs"][how] = {"losses": losses, "accuracy": accuracy(model, *test)}
        print(
            f"{how}: loss {losses[0]:.4f} to {losses[-1]:.4f}, accuracy {recording['runs'][how]['accuracy']:.4f}, "
            "float32 is within "
            f"{rounding(how, lr, losses, *training):.1e} of float64"
        )
    (HERE / "recording.json").write_text(json.dumps(recording).replace('], "', '],\n"') + "\n")


if __name__ == "__main__":
    torch.use_deterministic_algorithms(True)
    torch.set_num_threads(1)
    choose() if "choose" in sys.argv[1:] else main()
