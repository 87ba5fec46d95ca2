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
FACTOR = [[1.0, 0.5], [-0.5, 2.0], [0.25, 0.0]]
TRIL = [[1.0, 0.0, 0.0], [0.5, 2.0, 0.0], [-1.0, 0.25, 0.5]]
CORR = [[1.0, 0, 0], [-0.28, 0.96, 0], [0.48, 0.64, 0.6]]
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
    ("Gamma", {"concentration": A, "rate": B}, POSITIVE),
    ("Gamma", {"concentration": [0.3, 1.0, 40.0], "rate": 2.0}, [0.01, 1.0, 25.0]),
    ("Chi2", {"df": [1.0, 2.5, 7.0]}, POSITIVE),
    ("InverseGamma", {"concentration": [0.7, 1.5, 3.0], "rate": B}, POSITIVE),
    ("Beta", {"concentration1": [0.5, 2.0, 3.0], "concentration0": [0.7, 3.0, 1.0]}, UNIT),
    ("Beta", {"concentration1": [1.0, 4.0, 2.0], "concentration0": [1.0, 2.0, 5.0]}, [0.0, 0.5, 0.25]),
    ("Dirichlet", {"concentration": [[1.5, 2.0, 3.0], [0.5, 0.25, 4.0]]}, [[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]]),
    ("Dirichlet", {"concentration": [[3.0, 1.0, 2.0], [0.5, 0.75, 0.25]]}, [[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]]),
    ("StudentT", {"df": [0.7, 1.5, 6.0], "loc": A, "scale": B}, REAL),
    ("StudentT", {"df": [3.0, 2.0, 30.0]}, REAL),
    ("FisherSnedecor", {"df1": [1.0, 3.0, 8.0], "df2": [2.0, 4.0, 9.0]}, POSITIVE),
    ("Poisson", {"rate": [0.5, 3.0, 20.0]}, [0.0, 2.0, 25.0]),
    ("Binomial", {"total_count": 5, "probs": P}, [0.0, 3.0, 5.0]),
    ("Binomial", {"total_count": [3.0, 8.0, 10.0], "logits": REAL}, [1.0, 8.0, 7.0]),
    ("Binomial", {"total_count": 5, "probs": Q}, [0.0, 3.0, 5.0]),
    ("NegativeBinomial", {"total_count": [2.0, 3.5, 8.0], "probs": [0.2, 0.5, 0.85]}, COUNTS),
    ("NegativeBinomial", {"total_count": 3, "logits": REAL}, COUNTS),
    ("VonMises", {"loc": [0.5, -1.0, 3.0], "concentration": [0.01, 2.0, 50.0]}, [-1.5, 0.3, 2.9]),
    ("GeneralizedPareto", {"loc": A, "scale": B, "concentration": [-0.4, 0.0, 0.3]}, [0.6, 2.0, 4.0]),
    ("GeneralizedPareto", {"loc": 0.5, "scale": 2.0, "concentration": [0.6, 1.5, -1.5]}, [0.6, 2.0, 1.4]),
    ("LogisticNormal", {"loc": [0.5, -1.0], "scale": [0.7, 1.5]}, [[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]]),
    ("LowRankMultivariateNormal", {"loc": [0.5, -1.0, 2.0], "cov_factor": FACTOR, "cov_diag": A}, [REAL, UNIT]),
    (
        "LowRankMultivariateNormal",
        {"loc": REAL, "cov_factor": [[1.0], [0.5], [2.0]], "cov_diag": B[::-1]},
        [REAL, UNIT],
    ),
    ("MultivariateNormal", {"loc": UNIT, "scale_tril": TRIL}, [REAL, UNIT]),
    ("LKJCholesky", {"dim": 3, "concentration": 1.5}, [CORR, [[1.0, 0, 0], [0.6, 0.8, 0], [0.0, 0.6, 0.8]]]),
    ("LKJCholesky", {"dim": 3, "concentration": [0.7, 4.0]}, [CORR, CORR]),
    ("Wishart", {"df": 4.5, "covariance_matrix": COV}, [[[2.0, 0.3], [0.3, 1.0]], [[5.0, -1.0], [-1.0, 3.0]]]),
    ("Wishart", {"df": [3.0, 2.5], "scale_tril": [[1.0, 0.0], [0.5, 2.0]]}, [[2.0, 0.3], [0.3, 1.0]]),
    ("Wishart", {"df": 3.0, "precision_matrix": COV}, [[2.0, 0.3], [0.3, 1.0]]),
]
# A transform as Python and JavaScript both write it, values, and whether there is a way back that gives them again.
MATRIX = [[0.3, 0.0], [-0.5, 1.25]]
TRANSFORMS = [
    ("ExpTransform", [], REAL),
    ("PowerTransform", [2.5], POSITIVE),
    ("SigmoidTransform", [], REAL),
    ("SoftplusTransform", [], REAL),
    ("TanhTransform", [], REAL),
    ("AbsTransform", [], REAL),
    ("AffineTransform", [0.5, -2.0], REAL),
    ("AffineTransform", [0.5, 3.0, 1], [REAL, UNIT]),
    ("SoftmaxTransform", [], [REAL, UNIT]),
    ("StickBreakingTransform", [], [REAL, UNIT]),
    ("LowerCholeskyTransform", [], MATRIX),
    ("PositiveDefiniteTransform", [], MATRIX),
    ("CorrCholeskyTransform", [], [REAL, UNIT]),
    ("CorrCholeskyTransform", [], [0.3, -0.2, 0.9, 0.1, -1.5, 0.7]),
    ("ReshapeTransform", [[3], [3, 1]], [REAL, UNIT]),
    ("IndependentTransform", [["ExpTransform", []], 1], [REAL, UNIT]),
    ("ComposeTransform", [[["ExpTransform", []], ["AffineTransform", [1.0, 2.0]], ["PowerTransform", [0.5]]]], REAL),
    ("ComposeTransform", [[["TanhTransform", []], ["StickBreakingTransform", []]]], [REAL, UNIT]),
    ("ComposeTransform", [[["AffineTransform", [0.1, 0.5]], ["CorrCholeskyTransform", []]]], [REAL, UNIT]),
    ("CatTransform", [[["ExpTransform", []], ["AffineTransform", [0.0, 2.0]]], 0, [1, 2]], REAL),
    ("StackTransform", [[["ExpTransform", []], ["TanhTransform", []]], 0], [REAL, UNIT]),
]
# A constraint as a name, or with its arguments, and numbers for it.
CONSTRAINTS = [
    ("real", REAL),
    ("positive", REAL),
    ("nonnegative", REAL),
    ("unit_interval", REAL),
    (["greater_than", [2.0]], REAL),
    (["greater_than_eq", [-1.0]], REAL),
    (["less_than", [2.0]], REAL),
    (["interval", [-1.0, 3.0]], REAL),
    (["half_open_interval", [-1.0, 3.0]], REAL),
    ("real_vector", REAL),
    ("simplex", REAL),
    ("lower_cholesky", MATRIX),
    ("positive_definite", MATRIX),
    ("corr_cholesky", REAL),
]
# What a distribution becomes: transforms in a row, and values.
TRANSFORMED = [
    (("Normal", {"loc": A, "scale": B}), [("ExpTransform", [])], POSITIVE),
    (("Normal", {"loc": A, "scale": B}), [("AffineTransform", [1.0, -2.0])], REAL),
    (("Normal", {"loc": A, "scale": B}), [("TanhTransform", []), ("AffineTransform", [1.0, 3.0])], [-1.5, 0.7, 3.1]),
    (("Uniform", {"low": [0.0, 0, 0], "high": [1.0, 1, 1]}), [("PowerTransform", [2.0])], UNIT),
    (("Normal", {"loc": [0.5, -1.0], "scale": [0.7, 1.5]}), [("StickBreakingTransform", [])], W),
    (("Gumbel", {"loc": 0.5, "scale": 2.0}), [("AffineTransform", [A, B])], REAL),
    (("Normal", {"loc": REAL, "scale": 1.0}), [("CorrCholeskyTransform", [])], CORR),
]
WHOLE = ("total_count", "dim")  # parameters that numbers stay for
ASKED = ("mean", "mode", "variance", "stddev", "batch_shape", "event_shape")


def made(name, arguments):
    given = {k: v if isinstance(v, int) and k in WHOLE else torch.tensor(v) for k, v in arguments.items()}
    return getattr(D, name)(**given)


def transform(name, arguments):
    def read(x):
        if isinstance(x, (list, tuple)) and x and isinstance(x[0], str):
            return transform(*x)
        if isinstance(x, list) and x and isinstance(x[0], (list, tuple)) and isinstance(x[0][0], str):
            return [transform(*one) for one in x]
        return torch.tensor(x) if name == "AffineTransform" and isinstance(x, list) else x

    return getattr(D, name)(*map(read, arguments))


def constraint(which):
    found = getattr(D.constraints, which if isinstance(which, str) else which[0])
    return found if isinstance(which, str) else found(*which[1])


def of_transform(t, x):
    y = t(x)
    return {
        "y": plain(y),
        "x": asked(lambda: t.inv(y)),
        "stretch": asked(lambda: t.log_abs_det_jacobian(x, y)),
        "shape": plain(t.forward_shape(x.shape)),
        "dims": [t.domain.event_dim, t.codomain.event_dim],
        "bijective": t.bijective,
    }


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
    transforms = [
        {"name": name, "arguments": a, "value": value, **of_transform(transform(name, a), torch.tensor(value))}
        for name, a, value in TRANSFORMS
    ]
    registered = [
        [
            which,
            value,
            *(asked(lambda: of(constraint(which))(torch.tensor(value))) for of in (D.biject_to, D.transform_to)),
        ]
        for which, value in CONSTRAINTS
    ]
    transformed = []
    for base, steps, value in TRANSFORMED:
        d = D.TransformedDistribution(made(*base), [transform(*step) for step in steps])
        x = torch.tensor(value)
        answers = {what: asked(lambda what=what: getattr(d, what)(x)) for what in ("log_prob", "cdf")}
        answers["icdf"] = asked(lambda: d.icdf(torch.tensor(UNIT)))
        answers |= {what: plain(getattr(d, what)) for what in ("batch_shape", "event_shape")}
        transformed.append({"base": base, "transforms": steps, "value": value, "answers": answers})
    out = {
        "cases": cases,
        "pairs": pairs,
        "transforms": transforms,
        "registered": registered,
        "transformed": transformed,
    }
    Path(__file__).with_suffix(".json").write_text(json.dumps(out, separators=(",", ":")) + "\n")


main()
