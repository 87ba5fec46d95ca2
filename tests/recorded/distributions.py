"""Asks PyTorch what distributions answer: python tests/recorded/distributions.py, which writes distributions.json.

Each entry is a class, its arguments, values and PyTorch's answers; then divergences of pairs."""

import json
import math
from pathlib import Path

import torch
from torch import distributions as D

torch.set_default_dtype(torch.float64)
A, B = [0.5, 1.0, 2.5], [0.25, 1.5, 3.0]
P, Q = [0.2, 0.5, 0.9], [0.7, 0.4, 0.1]
W = [[0.1, 0.2, 0.7], [0.5, 0.25, 0.25]]
REAL, POSITIVE, UNIT = [-1.5, 0.3, 2.0], [0.1, 0.7, 3.0], [0.1, 0.5, 0.8]
COUNTS = [0.0, 1.0, 4.0]
COV = [[2.0, 0.5], [0.5, 1.0]]
CASES = [
    ("Normal", {"loc": A, "scale": B}, REAL),
    ("Normal", {"loc": 0, "scale": 2}, REAL),
    ("Laplace", {"loc": A, "scale": B}, REAL),
    ("Cauchy", {"loc": A, "scale": B}, REAL),
    ("Uniform", {"low": [-2.0, 0, 1], "high": [1.0, 0.5, 4]}, [-1.0, 0.25, 3.5]),
    ("Exponential", {"rate": A}, POSITIVE),
    ("Bernoulli", {"probs": P}, [0.0, 1.0, 1.0]),
    ("Bernoulli", {"logits": REAL}, [0.0, 1.0, 1.0]),
    ("Geometric", {"probs": P}, COUNTS),
    ("ContinuousBernoulli", {"probs": P}, UNIT),
    ("ContinuousBernoulli", {"logits": [-8.0, 0.02, 0.0]}, UNIT),
    ("RelaxedBernoulli", {"temperature": 0.7, "probs": P}, UNIT),
    ("RelaxedBernoulli", {"temperature": [0.5, 1.0, 2.0], "logits": REAL}, UNIT),
    ("RelaxedOneHotCategorical", {"temperature": 0.7, "probs": W}, [[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]]),
    ("Categorical", {"probs": W}, [2, 0]),
    ("Categorical", {"logits": W}, [1, 2]),
    ("OneHotCategorical", {"probs": W}, [[0.0, 1, 0], [1.0, 0, 0]]),
    ("Multinomial", {"total_count": 4, "probs": W}, [[1.0, 0, 3], [2.0, 1, 1]]),
    ("Pareto", {"scale": B, "alpha": [0.7, 1.5, 3.0]}, [0.5, 2.0, 3.5]),
    ("Gumbel", {"loc": A, "scale": B}, REAL),
    ("Weibull", {"scale": A, "concentration": B}, POSITIVE),
    ("Kumaraswamy", {"concentration1": A, "concentration0": [2.0, 3.0, 1.5]}, UNIT),
    ("HalfCauchy", {"scale": B}, POSITIVE),
    ("HalfNormal", {"scale": B}, POSITIVE),
    ("LogNormal", {"loc": A, "scale": B}, POSITIVE),
    ("MultivariateNormal", {"loc": [0.5, -1.0], "covariance_matrix": COV}, [[0.0, 0.0], [1.0, -2.0]]),
    ("MultivariateNormal", {"loc": [0.5, -1.0], "precision_matrix": COV}, [[0.0, 0.0], [1.0, -2.0]]),
    ("Bernoulli", {"probs": [0.0, 1.0, 0.5]}, [0.0, 1.0, 1.0]),
    ("Categorical", {"probs": [[0.0, 0.3, 0.7], [1.0, 0.0, 0.0]]}, [2, 0]),
    ("Geometric", {"probs": [0.3, 0.9, 0.5]}, [3.0, 0.0, 1.0]),
    ("Uniform", {"low": [-1.0, 0.0, 2.0], "high": [0.5, 1.0, 3.0]}, [-1.0, 0.25, 2.5]),
    ("MultivariateNormal", {"loc": [0.5, -1.0], "scale_tril": [[1.0, 0.0], [0.5, 2.0]]}, [[0.0, 0.0], [1.0, -2.0]]),
]
ASKED = ("mean", "mode", "variance", "stddev", "batch_shape", "event_shape")


def made(name, arguments):
    given = {k: v if k == "total_count" and isinstance(v, int) else torch.tensor(v) for k, v in arguments.items()}
    return getattr(D, name)(**given)


def plain(x):
    if isinstance(x, torch.Tensor):
        return plain(x.tolist())
    if isinstance(x, (list, tuple)):
        return [plain(v) for v in x]
    return str(x) if isinstance(x, float) and not math.isfinite(x) else x


def asked(f):
    try:
        return plain(f())
    except (NotImplementedError, AttributeError, RuntimeError, ValueError):
        return None


def main():
    cases, pairs = [], []
    for name, arguments, value in CASES:
        d, x = made(name, arguments), torch.tensor(value)
        answers = {what: asked(lambda what=what: getattr(d, what)) for what in ASKED}
        for what in ("log_prob", "cdf"):
            answers[what] = asked(lambda what=what: getattr(d, what)(x))
        answers["icdf"] = asked(lambda: d.icdf(torch.tensor(UNIT)))
        answers["entropy"] = asked(d.entropy)
        answers["support"] = asked(lambda: d.enumerate_support()) if d.has_enumerate_support else None
        cases.append({"name": name, "arguments": arguments, "value": value, "answers": answers})
    for i, (p, p_args, _) in enumerate(CASES):
        for j, (q, q_args, _) in enumerate(CASES):
            found = asked(lambda p=p, q=q, a=p_args, b=q_args: D.kl_divergence(made(p, a), made(q, b)))
            if found is not None:
                pairs.append([i, j, found])
    out = {"cases": cases, "pairs": pairs}
    Path(__file__).with_suffix(".json").write_text(json.dumps(out, separators=(",", ":")) + "\n")


main()
