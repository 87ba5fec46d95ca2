"""Records how PyTorch trains the two networks: writes recording.json (needs torch==2.13.0; run once).

The same data, order, models and optimizers as digits.mjs, on the CPU in float32: initial weights, the loss
of each of 100 steps, and the accuracy on the test images after them."""

import json
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

HERE = Path(__file__).parent
STEPS, BATCH = 100, 128


def data(dtype=torch.float32):
    rows = np.frombuffer((HERE / "digits.bin").read_bytes(), np.uint8).reshape(-1, 65)
    images, labels = torch.tensor(rows[:, :64] / 4 - 1.25, dtype=dtype), torch.tensor(rows[:, 64].astype(np.int64))
    test = torch.arange(len(rows)) % 5 == 4
    return (images[~test], labels[~test]), (images[test], labels[test])


def batch(step, n):
    return [(step * BATCH + i) * 577 % n for i in range(BATCH)]


# Seed, learning rates and widths were chosen by trying, with an eye on the test accuracy and on how little rounding
# moves the loss: the accuracy shows that training works and is no held-out estimate.
# Smooth throughout (GELU, average pooling): at ReLU's and max pooling's kinks the last bit of a float32 decides
# where a gradient goes, and two correct implementations part after a few dozen steps.
MODELS = {
    "mlp": lambda: nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.Linear(128, 64), nn.GELU(), nn.Linear(64, 10)),
    "cnn": lambda: nn.Sequential(nn.Unflatten(1, (1, 8, 8)), nn.Conv2d(1, 16, 3, padding=1), nn.GELU(), nn.AvgPool2d(2),
                                 nn.Conv2d(16, 32, 3, padding=1), nn.GELU(), nn.AvgPool2d(2), nn.Flatten(),
                                 nn.Linear(128, 10)),
}
OPTIMIZERS = {
    "mlp sgd": lambda parameters: torch.optim.SGD(parameters, lr=0.1, momentum=0.9),
    "mlp adam": lambda parameters: torch.optim.Adam(parameters, lr=0.005),
    "cnn sgd": lambda parameters: torch.optim.SGD(parameters, lr=0.1, momentum=0.9),
    "cnn adam": lambda parameters: torch.optim.Adam(parameters, lr=0.01),
}


def train(model, optimizer, dtype=torch.float32):
    (images, labels), (test_images, test_labels) = data(dtype)
    losses = []
    for step in range(STEPS):
        index = batch(step, len(images))
        optimizer.zero_grad()
        loss = F.cross_entropy(model(images[index]), labels[index])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    with torch.no_grad():
        right = (model(test_images).argmax(1) == test_labels).sum().item()
    return losses, right / len(test_labels)


def main():
    torch.use_deterministic_algorithms(True)
    torch.set_num_threads(1)
    recording = {"torch": torch.__version__.split("+")[0], "weights": {}, "runs": {}}
    for name, make in MODELS.items():
        torch.manual_seed(3)
        start = make().state_dict()
        recording["weights"][name] = {
            key: {"shape": list(value.shape), "data": [float(str(np.float32(x))) for x in value.flatten().tolist()]}
            for key, value in start.items()}
        for how in [how for how in OPTIMIZERS if how.startswith(name)]:
            model, exact = make(), make().double()
            model.load_state_dict(start)
            exact.load_state_dict(start)
            losses, accuracy = train(model, OPTIMIZERS[how](model.parameters()))
            truth, _ = train(exact, OPTIMIZERS[how](exact.parameters()), torch.float64)
            recording["runs"][how] = {"losses": losses, "accuracy": accuracy}
            print(f"{how}: loss {losses[0]:.4f} to {losses[-1]:.4f}, accuracy {accuracy:.4f}, float32 is within "
                  f"{max(abs(a - b) / b for a, b in zip(losses, truth)):.1e} of float64")
    (HERE / "recording.json").write_text(json.dumps(recording).replace('], "', '],\n"') + "\n")


if __name__ == "__main__":
    main()
