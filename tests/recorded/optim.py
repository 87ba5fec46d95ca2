"""Writes optim.mjs beside itself: what PyTorch's optimizers, schedulers and clipping answer.  Needs PyTorch; the tests
do not.

Parameters and gradients are `number(k)`, which JavaScript computes alike.  Every option of every optimizer occurs."""

import json
import math
from pathlib import Path

import torch

torch.set_num_threads(1)
SHAPES, MATRICES = [(2, 3), (3,), ()], [(2, 3), (3, 2)]
WD, MAX = {"weight_decay": 0.1}, {"weight_decay": 0.1, "maximize": True}
OPTIMIZERS = {
    "SGD": [
        {},
        {"lr": 0.01},
        {"weight_decay": 0.5},
        {"momentum": 0.9},
        MAX,
        {"momentum": 0.9, "dampening": 0.5},
        {"momentum": 0.9, **WD},
        {"momentum": 0.9, "nesterov": True, **WD},
    ],
    "ASGD": [{}, {"lambd": 0.1}, {"lr": 0.02}, {"t0": 3}, {"alpha": 0.5, "lr": 0.1}, WD, MAX],
    "Rprop": [{}, {"lr": 2e-4}, {"etas": [0.5, 1.5]}, {"step_sizes": [2e-6, 0.011]}, {"maximize": True}],
    "Adam": [
        {},
        {"lr": 0.01},
        WD,
        MAX,
        {"amsgrad": True, **WD},
        {"betas": [0.5, 0.7], "eps": 1e-2},
        {"decoupled_weight_decay": True, **WD},
    ],
    "AdamW": [{}, {"lr": 0.01}, WD, MAX, {"amsgrad": True, **WD}],
    "Adamax": [{}, {"lr": 0.1}, WD, MAX, {"betas": [0.5, 0.7]}],
    "NAdam": [
        {},
        {"lr": 1e-3},
        {"momentum_decay": 6e-3},
        WD,
        {"decoupled_weight_decay": True, "momentum_decay": 6e-3, **WD},
        MAX,
    ],
    "RAdam": [{}, {"lr": 0.002}, {"eps": 1e-2}, {"decoupled_weight_decay": True, **WD}, MAX, {"betas": [0.5, 0.7]}],
    "RMSprop": [
        {},
        {"lr": 1e-3},
        WD,
        MAX,
        {"centered": True, **WD},
        {"momentum": 0.5},
        {"centered": True, "momentum": 0.1, **MAX},
        {"alpha": 0.5},
    ],
    "Adagrad": [{}, WD, MAX, {"lr": 0.1}, {"initial_accumulator_value": 0.1, **WD}, {"lr": 0.1, "lr_decay": 0.5, **WD}],
    "Adadelta": [{}, {"lr": 0.01}, {"rho": 0.95, "weight_decay": 0.9}, MAX, {"eps": 1e-2}],
    "Adafactor": [{}, {"lr": 0.05}, MAX, {"beta2_decay": -1.0}, {"d": 1.5}, {"eps": [1e-3, 0.1]}],
    "Muon": [
        {},
        {"lr": 0.01},
        {"weight_decay": 0.2},
        {"momentum": 0.8, "nesterov": False},
        {"ns_steps": 6},
        {"ns_coefficients": [3.4, -4.7, 2.0]},
        {"adjust_lr_fn": "match_rms_adamw"},
    ],
    "LBFGS": [
        {},
        {"lr": 0.01},
        {"tolerance_grad": 1e-6},
        {"line_search_fn": "strong_wolfe"},
        {"history_size": 2, "max_iter": 4},
    ],
}
CYCLE = {"base_lr": 0.001, "max_lr": 0.1, "step_size_up": 4}
SCHEDULERS = [
    ["LambdaLR", {"lr_lambda": "decay"}],
    ["LambdaLR", {"lr_lambda": ["decay", "grow"]}],
    ["MultiplicativeLR", {"lr_lambda": "decay"}],
    ["StepLR", {"step_size": 3}],
    ["StepLR", {"step_size": 4, "gamma": 0.5}],
    ["MultiStepLR", {"milestones": [2, 5, 5, 9], "gamma": 0.5}],
    ["ConstantLR", {}],
    ["ConstantLR", {"factor": 0.5, "total_iters": 4}],
    ["LinearLR", {}],
    ["LinearLR", {"start_factor": 0.25, "end_factor": 0.5, "total_iters": 7}],
    ["ExponentialLR", {"gamma": 0.9}],
    ["PolynomialLR", {"total_iters": 8, "power": 2.0}],
    ["PolynomialLR", {}],
    ["CosineAnnealingLR", {"T_max": 5, "eta_min": 0.01}],
    ["CosineAnnealingLR", {"T_max": 20}],
    ["CosineAnnealingWarmRestarts", {"T_0": 4}],
    ["CosineAnnealingWarmRestarts", {"T_0": 3, "T_mult": 2, "eta_min": 0.001}],
    ["CyclicLR", CYCLE],
    ["CyclicLR", {**CYCLE, "step_size_down": 7, "mode": "triangular2"}],
    ["CyclicLR", {**CYCLE, "mode": "exp_range", "gamma": 0.9}],
    ["CyclicLR", {**CYCLE, "base_lr": [0.001, 0.01], "max_lr": [0.1, 0.2], "cycle_momentum": False}],
    ["OneCycleLR", {"max_lr": 0.1, "total_steps": 20}],
    ["OneCycleLR", {"max_lr": [0.1, 0.2], "epochs": 4, "steps_per_epoch": 5, "anneal_strategy": "linear"}],
    ["OneCycleLR", {"max_lr": 0.1, "total_steps": 20, "three_phase": True, "pct_start": 0.25, "div_factor": 10.0}],
    ["ReduceLROnPlateau", {"patience": 2, "factor": 0.5}],
    ["ReduceLROnPlateau", {"patience": 1, "cooldown": 2, "min_lr": [0.01, 0.001], "mode": "max"}],
    ["ReduceLROnPlateau", {"patience": 0, "threshold": 0.1, "threshold_mode": "abs"}],
    [
        "SequentialLR",
        {
            "schedulers": [["ConstantLR", {"factor": 0.1, "total_iters": 3}], ["ExponentialLR", {"gamma": 0.9}]],
            "milestones": [4],
        },
    ],
    [
        "SequentialLR",
        {
            "schedulers": [
                ["LinearLR", {"start_factor": 0.1, "total_iters": 5}],
                ["CosineAnnealingLR", {"T_max": 15}],
                ["StepLR", {"step_size": 2}],
            ],
            "milestones": [5, 12],
        },
    ],
    [
        "ChainedScheduler",
        {"schedulers": [["ConstantLR", {"factor": 0.1, "total_iters": 3}], ["ExponentialLR", {"gamma": 0.9}]]},
    ],
]
LAMBDAS = {"decay": lambda t: 0.95**t, "grow": lambda t: 1 + t / 4}


def number(k: int) -> float:
    """From -1 to 1, without a pattern that a mistake could hide in."""
    return (k * 7919 + 104729) % 1009 / 504.5 - 1


def tensor(shape, first: int) -> torch.Tensor:
    return torch.tensor([number(first + j) for j in range(math.prod(shape))]).reshape(shape)


def short(values) -> list:
    return [float(f"{v:.7g}") for v in values]


def pair(value):
    return tuple(value) if isinstance(value, list) else value


def trajectory(name: str, options: dict) -> list:
    shapes = MATRICES if name == "Muon" else SHAPES
    params = [torch.nn.Parameter(tensor(s, 100 * i)) for i, s in enumerate(shapes)]
    targets = [tensor(s, 1000 + 100 * i) for i, s in enumerate(shapes)]
    optimizer = getattr(torch.optim, name)(params, **{k: pair(v) for k, v in options.items()})

    def closure():
        optimizer.zero_grad()
        loss = sum(((p - t) ** 2 * (1 + p**2)).sum() for p, t in zip(params, targets))
        loss.backward()
        return loss

    out = []
    for n in range(10):
        for i, p in enumerate(params):
            p.grad = tensor(p.shape, 2000 + 300 * n + 100 * i)
        optimizer.step(*[closure] * (name == "LBFGS"))
        if n in (0, 1, 9):
            out.append(short(v for p in params for v in p.detach().flatten().tolist()))
    return out


def course(name: str, options: dict) -> list:
    momentum = name in ("CyclicLR", "OneCycleLR")
    optimizer = torch.optim.SGD(
        [{"params": [torch.nn.Parameter(torch.zeros(1))], "lr": lr} for lr in (0.05, 0.3)], lr=0.1, momentum=0.9
    )

    def make(name, options):
        given = {
            k: ([LAMBDAS[x] for x in v] if isinstance(v, list) else LAMBDAS[v]) if k == "lr_lambda" else v
            for k, v in options.items()
        }
        if "schedulers" in given:
            given["schedulers"] = [make(*one) for one in given["schedulers"]]
            if name == "ChainedScheduler":
                return torch.optim.lr_scheduler.ChainedScheduler(given["schedulers"], optimizer)
        return getattr(torch.optim.lr_scheduler, name)(optimizer, **given)

    scheduler, out = make(name, options), []
    for t in range(20):
        out.append(
            short(
                [g["lr"] for g in optimizer.param_groups] + [g["momentum"] for g in optimizer.param_groups if momentum]
            )
        )
        optimizer.step()
        scheduler.step(*[number(t) + 1] * (name == "ReduceLROnPlateau"))
    return out


def clipped() -> list:
    out = []
    for norm_type in (2.0, 1.0, 3.0, math.inf, -math.inf, 0.0):
        for most in (0.5, 100.0):
            params = [torch.nn.Parameter(tensor(s, 100 * i)) for i, s in enumerate(SHAPES)]
            for i, p in enumerate(params):
                p.grad = tensor(p.shape, 500 + 100 * i)
            total = torch.nn.utils.clip_grad_norm_(params, most, norm_type)
            out.append(
                [
                    str(norm_type),
                    most,
                    *short([total.item()]),
                    short(v for p in params for v in p.grad.flatten().tolist()),
                ]
            )
    return out


if __name__ == "__main__":
    recorded = {
        "torch": torch.__version__,
        "optimizers": [
            [name, options, trajectory(name, options)] for name, all_ in OPTIMIZERS.items() for options in all_
        ],
        "schedulers": [[name, options, course(name, options)] for name, options in SCHEDULERS],
        "clipped": clipped(),
    }
    lines = ",\n".join(
        f'"{key}": '
        + (
            json.dumps(value)
            if isinstance(value, str)
            else "[\n" + ",\n".join(json.dumps(x, separators=(",", ":")) for x in value) + "]"
        )
        for key, value in recorded.items()
    )
    Path(__file__).with_suffix(".mjs").write_text(
        "// PyTorch's answers.  Written by optim.py.\nexport default {\n" + lines + "};\n"
    )
