"""Runs the programs of this folder in PyTorch: python tests/ports/record.py, which writes recorded.json.  See README.md.

They run in float64, so that rounding is no part of what is recorded."""

import importlib
import json
from pathlib import Path

import torch
from given import numbers

HERE = Path(__file__).parent
FILES = [
    "vision",
    "language",
    "generative",
    "signals",
    "decisions",
    "science",
    "inference",
    "structures",
    "segmenting",
    "sequences",
    "agents",
    "operators",
    "densities",
    "practices",
    "adversaries",
    "solvers",
    "worlds",
]
STEPS, SHOWN = 3, 24
torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)


def plain(x: float) -> float:
    return float(f"{x:.9g}")


def summary(x: torch.Tensor) -> list[float]:
    """Its norm, and its product with other numbers, which sees signs and places."""
    flat = x.detach().to(torch.float64).flatten()
    return [plain(flat.norm().item()), plain((flat @ numbers([flat.numel()], 31)).item())]


def shown(x: torch.Tensor) -> dict:
    return {
        "shape": list(x.shape),
        "first": [plain(v) for v in x.detach().flatten()[:SHOWN].tolist()],
        "all": summary(x),
    }


def answers(program) -> dict:
    model, step = program()
    steps, gradients = [], {}
    for i in range(STEPS):
        loss, out = step(i)
        steps.append({"loss": plain(loss.item()), "out": shown(out)})
        if i == 0:
            gradients = {name: summary(p.grad) for name, p in model.named_parameters() if p.grad is not None}
    state = {name: summary(x) for name, x in model.state_dict().items()}
    return {"steps": steps, "gradients": gradients, "state": state}


def main():
    found = {}
    for name in FILES:
        for program in importlib.import_module(name).PROGRAMS:
            found[f"{name} {program.__name__}"] = answers(program)
    lines = ",\n".join(f"{json.dumps(k)}:{json.dumps(v, separators=(',', ':'))}" for k, v in found.items())
    (HERE / "recorded.json").write_text(f"{{\n{lines}\n}}\n")


main()
