"""What was trained here goes on in PyTorch: for each optimizer a checkpoint of train_and_save.mjs, with the model's, the
optimizer's and the scheduler's state, is loaded by torch.load(weights_only=True), and the losses of the steps after it
are those that came here.  Writes proved_training.json.

    NODE=... python tests/files/prove_training.py [cpu|webgpu]    in an environment with torch, after a build"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
from torch import nn

HERE = Path(__file__).parent
NEAR = 2e-5
# As in train_and_save.mjs.
OPTIMIZERS = {
    "SGD": {"lr": 0.05, "momentum": 0.9, "nesterov": True},
    "Adam": {"lr": 0.01, "amsgrad": True},
    "AdamW": {"lr": 0.01, "weight_decay": 0.1},
    "Adamax": {"lr": 0.01},
    "NAdam": {"lr": 0.01},
    "RAdam": {"lr": 0.01},
    "RMSprop": {"lr": 0.01, "momentum": 0.5, "centered": True},
    "Adagrad": {"lr": 0.05},
    "Adadelta": {"lr": 1},
    "ASGD": {"lr": 0.02},
    "Rprop": {"lr": 0.01},
}


def far(name: str, options: dict, checkpoint: Path, device: str) -> float:
    """The largest difference of a loss after the checkpoint, as a part of it."""
    words = [os.environ.get("NODE", "node"), str(HERE / "train_and_save.mjs"), str(checkpoint), name, device]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    losses = json.loads(done.stdout.splitlines()[-1])
    saved = torch.load(checkpoint, weights_only=True)
    net = nn.Sequential(nn.Conv1d(2, 4, 3), nn.BatchNorm1d(4), nn.ReLU(), nn.Flatten(), nn.Linear(24, 3))
    optimizer = getattr(torch.optim, name)(net.parameters(), **options)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 3, gamma=0.5)
    assert not any(net.load_state_dict(saved["model"]))  # neither missing nor unexpected names
    optimizer.load_state_dict(saved["optimizer"])
    schedule.load_state_dict(saved["schedule"])
    own = optimizer.state_dict()
    assert set(own["state"]) == set(saved["optimizer"]["state"]) == set(range(6))
    most = 0.0
    for wanted in losses:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(saved["inputs"]), saved["wanted"])
        loss.backward()
        optimizer.step()
        schedule.step()
        most = max(most, abs(loss.item() - wanted) / max(abs(wanted), 1e-2))
    return most


def main() -> None:
    device = sys.argv[1] if len(sys.argv) > 1 else "cpu"
    found = {}
    for name, options in OPTIMIZERS.items():
        with tempfile.TemporaryDirectory() as folder:
            found[name] = far(name, options, Path(folder) / "checkpoint.pt", device)
        print(name, f"{found[name]:.1e}", flush=True)
    wrong = [name for name, most in found.items() if not most < NEAR]
    if not wrong and device == "cpu":
        proof = {
            "torch": torch.__version__,
            "largest difference of a loss": {n: float(f"{x:.1e}") for n, x in found.items()},
        }
        (HERE / "proved_training.json").write_text(json.dumps(proof, indent=2) + "\n", encoding="utf-8")
    print(f"{len(found)} optimizers, {len(wrong)} wrong: {', '.join(wrong)}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
