"""Makes containers.pt and training.pt of this folder, with PyTorch and NumPy, and what they hold (training.json):
python tests/files/record_training.py."""

import argparse
import collections
import json
from pathlib import Path

import numpy as np
import torch

HERE = Path(__file__).parent


def containers():
    groups = collections.defaultdict(list)
    groups["a"].append(1)
    torch.save(
        {
            "counter": collections.Counter("abca"),
            "ordered": collections.OrderedDict(z=1, a=torch.tensor([1.0])),
            "groups": groups,
            "frozen": frozenset([3]),
            "bytes": bytearray(b"\x01\xff"),
            "float64": np.float64(1 / 3),
            "float32": np.float32(0.1),
            "int64": np.int64(-(2**40)),
            "large": np.uint64(2**63),
            "flag": np.bool_(True),
            "rows": np.array([[1.5, -2], [3, 4]], dtype=np.float32),
            "columns": np.asfortranarray(np.arange(6, dtype=np.int64).reshape(2, 3)),
            "flags": np.array([True, False]),
            "args": argparse.Namespace(lr=0.1),
            "model": {"w": torch.ones(2), "c": torch.zeros(2, dtype=torch.complex64), "module": torch.nn.ReLU()},
            "turns": np.array([1j]),
            "losses": [0.5, complex(1, 2), 0.25],
            "texts": {"0": "a", "1": "b"},
            "numbers": {0: "a", 1: "b"},
        },
        HERE / "containers.pt",
    )


def network():
    return torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))


def steps(model, optimizer, schedule, x, count):
    losses = []
    for _ in range(count):
        optimizer.zero_grad()
        loss = model(x).pow(2).sum()
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
    return losses


def training():
    torch.manual_seed(0)
    model = network()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05, betas=(0.8, 0.99), amsgrad=True)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
    x = torch.tensor([[1.0, -2, 0.5], [0.25, 3, -1]])
    steps(model, optimizer, schedule, x, 3)
    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "schedule": schedule.state_dict()}
    torch.save({**state, "x": x, "epoch": 3}, HERE / "training.pt")
    expected = {
        "weight": model[0].weight.tolist(),
        "exp_avg_sq": optimizer.state_dict()["state"][2]["exp_avg_sq"].tolist(),
        "lr": schedule.get_last_lr(),
    }
    expected["losses"] = steps(model, optimizer, schedule, x, 3)
    expected["rates after"] = schedule.get_last_lr()
    (HERE / "training.json").write_text(json.dumps(expected, indent=1) + "\n")


containers()
training()
