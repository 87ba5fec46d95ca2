"""What PyTorch trained goes through this package and on in PyTorch, bit for bit: for each optimizer and each scheduler
PyTorch saves a training in the middle, load_and_save.mjs loads it into a model, an optimizer and a scheduler of its own,
goes on for some steps beside PyTorch's losses, and saves what it had loaded; PyTorch loads that with weights_only=True
and must come to the very losses that it came to without the way through here.  Writes proved_resume.json.

    NODE=... python tests/files/prove_resume.py     in an environment with torch 2.13, after a build"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
from torch import nn
from torch.optim import lr_scheduler as schedulers

HERE = Path(__file__).parent
BEFORE, AFTER = 4, 4
# As in load_and_save.mjs.
OPTIMIZERS = {
    "SGD": {"lr": 0.05, "momentum": 0.9},
    "Adam": {"lr": 0.01, "amsgrad": True},
    "AdamW": {"lr": 0.01},
    "Adamax": {"lr": 0.01},
    "NAdam": {"lr": 0.01},
    "RAdam": {"lr": 0.01},
    "RMSprop": {"lr": 0.01, "momentum": 0.5, "centered": True},
    "Adagrad": {"lr": 0.05},
    "Adadelta": {"lr": 1.0},
    "ASGD": {"lr": 0.02},
    "Rprop": {"lr": 0.01},
    "Adafactor": {"lr": 0.01},
    "LBFGS": {"lr": 0.5},
    "Muon": {"lr": 0.01},
}
SCHEDULES = {
    "StepLR": {"step_size": 3, "gamma": 0.5},
    "MultiStepLR": {"milestones": [2, 6]},
    "ConstantLR": {},
    "LinearLR": {},
    "ExponentialLR": {"gamma": 0.9},
    "CosineAnnealingLR": {"T_max": 7},
    "CosineAnnealingWarmRestarts": {"T_0": 3},
    "CyclicLR": {"base_lr": 0.01, "max_lr": 0.1, "cycle_momentum": False},
    "OneCycleLR": {"max_lr": 0.1, "total_steps": 30, "cycle_momentum": False},
    "PolynomialLR": {},
    "LambdaLR": {"lr_lambda": lambda n: 0.9**n},
    "MultiplicativeLR": {"lr_lambda": lambda n: 0.9},
    "ReduceLROnPlateau": {"patience": 1},
    "SequentialLR": {},
    "ChainedScheduler": {},
}
PAIRS = [(name, "StepLR") for name in OPTIMIZERS] + [("SGD", name) for name in SCHEDULES if name != "StepLR"]


def training(optimizer_name: str, schedule_name: str):
    torch.manual_seed(5)
    if optimizer_name == "Muon":  # of matrices only
        net = nn.Sequential(nn.Linear(6, 5, bias=False), nn.Tanh(), nn.Linear(5, 3, bias=False))
    else:
        net = nn.Sequential(nn.Linear(6, 5), nn.BatchNorm1d(5), nn.Tanh(), nn.Linear(5, 3))
    optimizer = getattr(torch.optim, optimizer_name)(net.parameters(), **OPTIMIZERS[optimizer_name])
    if schedule_name in ("SequentialLR", "ChainedScheduler"):
        parts = [schedulers.ConstantLR(optimizer, total_iters=2), schedulers.ExponentialLR(optimizer, 0.9)]
        if schedule_name == "SequentialLR":
            return net, optimizer, schedulers.SequentialLR(optimizer, parts, [3])
        return net, optimizer, schedulers.ChainedScheduler(parts, optimizer)
    return net, optimizer, getattr(schedulers, schedule_name)(optimizer, **SCHEDULES[schedule_name])


def losses(net, optimizer, schedule, count: int) -> list[float]:
    x, wanted = torch.linspace(-1, 1, 24).reshape(4, 6), torch.tensor([0, 1, 2, 1])

    def closure():
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x), wanted)
        loss.backward()
        return loss

    found = []
    for _ in range(count):
        found.append(optimizer.step(closure).item())
        schedule.step(*([found[-1]] if isinstance(schedule, schedulers.ReduceLROnPlateau) else []))
    return found


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        wanted = {}
        for pair in PAIRS:
            parts = training(*pair)
            losses(*parts, BEFORE)
            names = ("model", "optimizer", "schedule")
            torch.save(dict(zip(names, (p.state_dict() for p in parts), strict=True)), f"{folder}/{'_'.join(pair)}.pt")
            wanted["_".join(pair)] = losses(*parts, AFTER)
        Path(folder, "losses.json").write_text(json.dumps(wanted))
        words = [os.environ.get("NODE", "node"), str(HERE / "load_and_save.mjs"), folder]
        print(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
        differ = []
        for pair in PAIRS:
            name = "_".join(pair)
            saved = torch.load(f"{folder}/{name}.back.pt", weights_only=True)
            net, optimizer, schedule = training(*pair)
            net.load_state_dict(saved["model"])
            optimizer.load_state_dict(saved["optimizer"])
            schedule.load_state_dict(saved["schedule"])
            if losses(net, optimizer, schedule, AFTER) != wanted[name]:
                differ.append(name)
    if not differ:
        proof = {"torch": torch.__version__, "the same losses, bit for bit": [" ".join(pair) for pair in PAIRS]}
        (HERE / "proved_resume.json").write_text(json.dumps(proof, indent=2) + "\n", encoding="utf-8")
    print(f"{len(PAIRS)} trainings, {len(differ)} differ: {', '.join(differ)}")
    sys.exit(1 if differ else 0)


if __name__ == "__main__":
    main()
