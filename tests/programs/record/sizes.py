"""Records calls with the smallest shapes: python sizes.py > sizes.jsonl

Every function of a table with arguments of no axes, of one element, of none, of axes that broadcast and that do not,
and what its gradients are: a program a function, as record.py writes them.  Needs torch and numpy."""

from __future__ import annotations

import base64
import itertools
import json
import math
import sys

import numpy as np
import torch
from answers import evaluate
from record import small

SHAPES = [[], [1], [0], [2], [0, 1], [2, 1], [1, 2], [2, 2], [1, 0], [0, 2]]
LARGER = [*SHAPES, [2, 0, 3], [1, 2, 2], [2, 1, 3]]
LOSSES = {
    2: """mse_loss l1_loss smooth_l1_loss huber_loss kl_div poisson_nll_loss soft_margin_loss hinge_embedding_loss
        binary_cross_entropy_with_logits multilabel_soft_margin_loss""".split(),
    3: "margin_ranking_loss gaussian_nll_loss triplet_margin_loss triplet_margin_with_distance_loss cosine_embedding_loss".split(),
}
PAIRS = """torch.add torch.atan2 torch.hypot torch.pow torch.dist torch.logaddexp torch.fmod torch.maximum torch.xlogy
    torch.copysign torch.heaviside torch.outer torch.dot torch.inner torch.matmul torch.kron torch.cdist torch.bmm
    torch.nn.functional.pairwise_distance torch.nn.functional.cosine_similarity torch.vecdot torch.linalg.cross""".split()
ROWS = """sum mean prod var std logsumexp softmax log_softmax cumsum cumprod cummax cummin logcumsumexp amax amin
    argmax argmin max min median nanmedian mode sort argsort diff std_mean aminmax count_nonzero all any nanmean
    nansum trapezoid cumulative_trapezoid unique unique_consecutive unbind squeeze unsqueeze msort""".split()
REDUCTIONS = "none", "mean", "sum"
POSITIVE = {"torch.nn.functional.gaussian_nll_loss": 2}  # the argument that is positive
NAMED = {"diff", "aminmax", "trapezoid", "cumulative_trapezoid", "unique", "unique_consecutive"}  # `dim` by name alone
SEVERAL = {"cummax": 2, "cummin": 2, "std_mean": 2, "aminmax": 2}  # results
DIM_SEVERAL = {"max": 2, "min": 2, "median": 2, "nanmedian": 2, "mode": 2, "sort": 2}  # results where `dim` is given


class Program:
    def __init__(self, function: str) -> None:
        self.function, self.steps, self.count = function, [], 0

    def name(self) -> dict:
        self.count += 1
        return {"t": self.count}

    def const(self, shape: list[int], k: int) -> dict:
        values = np.array([((i * 7 + k * 3) % 11 - 4) * 0.25 for i in range(math.prod(shape))], np.float32)
        if POSITIVE.get(self.function) == k:
            values = abs(values)
        made = self.name()
        w = {"shape": shape, "dtype": "float32", "b64": base64.b64encode(values.tobytes()).decode(), "rg": True}
        self.steps.append({"f": "const", "o": made["t"], "w": w})
        return made

    def call(self, shapes: list[list[int]], options: dict, more: tuple = (), results: int = 1) -> None:
        """The function, and the gradients of the sum of its first result."""
        given = [self.const(shape, k) for k, shape in enumerate(shapes)]
        made = [self.name() for _ in range(results)]
        out = made[0] if results == 1 else made
        self.steps.append({"f": self.function, "a": [*given, *more], "k": options, "o": out})
        if not made:
            return
        total = self.name()
        self.steps.append({"f": "torch.sum", "a": made[:1], "k": {}, "o": total})
        slopes = [self.name() for _ in given]
        self.steps.append({"f": "torch.autograd.grad", "a": [total, given], "k": {"allow_unused": True}, "o": slopes})


def programs():
    for n, losses in LOSSES.items():
        for loss in losses:
            p = Program(f"torch.nn.functional.{loss}")
            every = itertools.product(SHAPES, repeat=n)
            for i, shapes in enumerate(itertools.islice(every, 0, None, 19 if n == 3 else 4)):
                p.call(list(shapes), {"reduction": REDUCTIONS[i % 3]})
            yield p
    for function in PAIRS:
        p = Program(function)
        for shapes in itertools.islice(itertools.product(LARGER, repeat=2), 0, None, 11):
            p.call(list(shapes), {})
        yield p
    for function in ROWS:
        p = Program(f"torch.{function}")
        for shape, dim in itertools.islice(itertools.product(LARGER, (None, 0, -1)), 0, None, 4):
            by_name = {"dim": dim} if function in NAMED and dim is not None else {}
            more = () if dim is None or by_name else (dim,)
            results = SEVERAL.get(function, DIM_SEVERAL.get(function, 1) if more else 1)
            if function == "unbind":
                results = shape[dim or 0] if shape else 1
            p.call([shape], by_name, more, results)
        yield p


def main() -> None:
    torch.set_num_threads(1)
    for p in programs():
        made = small(evaluate({"id": f"sizes-{p.function.split('.')[-1]}", "steps": p.steps}))
        sys.stdout.write(json.dumps(made, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
