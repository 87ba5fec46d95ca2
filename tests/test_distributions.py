"""Random numbers have the distributions that their ops say: moments, and Kolmogorov's and Smirnov's test; and the same
seed, call and place give the same bits on every target where a result is made without rounding."""

import math
from pathlib import Path

import numpy as np
import pytest

from dsl.library import load
from dsl.reference.special import erf
from workbench import Function

LIBRARY, ERRORS, _ = load(Path(__file__).parents[1] / "ops" / "random.op")
COUNT = 40000

uniform = lambda a, b: lambda x: np.clip((x - a) / (b - a), 0, 1)
normal = lambda m, s: lambda x: 0.5 * (1 + erf((x - m) / (s * math.sqrt(2))))
# op -> (options, distribution function, mean, standard deviation; None: it has none)
CONTINUOUS = {
    "rand_like": ({}, uniform(0, 1), 0.5, math.sqrt(1 / 12)),
    "randn_like": ({}, normal(0, 1), 0, 1),
    "uniform_fill": ({"from": -2, "to": 6}, uniform(-2, 6), 2, 8 * math.sqrt(1 / 12)),
    "normal_fill": ({"mean": 3, "std": 0.5}, normal(3, 0.5), 3, 0.5),
    "log_normal_fill": (
        {"mean": 0.1, "std": 0.4},
        lambda x: normal(0.1, 0.4)(np.log(x)),
        math.exp(0.18),
        math.sqrt(math.expm1(0.16)) * math.exp(0.18),
    ),
    "exponential_fill": ({"lambd": 2}, lambda x: -np.expm1(-2 * x), 0.5, 0.5),
    "cauchy_fill": ({"median": 1, "sigma": 2}, lambda x: 0.5 + np.arctan((x - 1) / 2) / math.pi, None, None),
}
# op -> (options, probability of each value)
DISCRETE = {
    "geometric_fill": ({"p": 0.3}, {k: 0.3 * 0.7 ** (k - 1) for k in range(1, 60)}),
    "bernoulli_fill": ({"p": 0.2}, {0: 0.8, 1: 0.2}),
    "bernoulli_of": ({"p": 0.7}, {0: 0.3, 1: 0.7}),
    "random_fill": ({"from": -3, "to": 4}, dict.fromkeys(range(-3, 4), 1 / 7)),
    "random_fill_below": ({"to": 5}, dict.fromkeys(range(5), 0.2)),
    "randint_fill": ({"low": 2, "last": 11}, dict.fromkeys(range(2, 12), 0.1)),
}


def draw(name: str, seed: int, **options) -> np.ndarray:
    f = Function(LIBRARY.ops[name], LIBRARY)
    f.seeds = (seed, 0, 5)
    return np.asarray(f.numpy(np.zeros(COUNT, np.float32), **options))


def test_every_distribution_is_here():
    assert not ERRORS
    drawn = {n for n, op in LIBRARY.ops.items() if op.random and op.pointwise and not n.endswith("dropout")} - {
        "bernoulli"
    }
    assert drawn <= set(CONTINUOUS) | set(DISCRETE), drawn


@pytest.mark.parametrize("name", CONTINUOUS)
@pytest.mark.parametrize("seed", [1, 77])
def test_continuous(name, seed):
    options, below, mean, std = CONTINUOUS[name]
    x = np.sort(draw(name, seed, **options).astype(np.float64))
    assert np.isfinite(x).all()
    steps, share = np.arange(COUNT + 1) / COUNT, below(x)
    distance = max(np.max(steps[1:] - share), np.max(share - steps[:-1]))
    assert distance * math.sqrt(COUNT) < 1.95  # one in a thousand is larger
    if mean is None:
        return
    assert abs(x.mean() - mean) < 4 * std / math.sqrt(COUNT)
    assert x.std() == pytest.approx(std, rel=0.03)


@pytest.mark.parametrize("name", DISCRETE)
@pytest.mark.parametrize("seed", [1, 77])
def test_discrete(name, seed):
    options, chances = DISCRETE[name]
    values, counts = np.unique(draw(name, seed, **options), return_counts=True)
    assert set(values) <= set(chances)
    expected = np.array([chances[v] * COUNT for v in values])
    usual = expected >= 5
    chi2 = np.sum((counts[usual] - expected[usual]) ** 2 / expected[usual])
    degrees = usual.sum() - 1
    assert chi2 < degrees + 4 * math.sqrt(2 * degrees)


def test_bernoulli_follows_its_argument():
    f = Function(LIBRARY.ops["bernoulli"], LIBRARY)
    p = np.repeat(np.float32([0.0, 0.25, 1.0]), COUNT)
    shares = np.asarray(f.numpy(p)).reshape(3, COUNT).mean(1)
    assert shares[0] == 0 and shares[2] == 1 and abs(shares[1] - 0.25) < 0.01


@pytest.mark.parametrize(
    "name", ["rand_like", "bernoulli_of", "bernoulli_fill", "random_fill", "random_fill_below", "randint_fill"]
)
def test_the_gpu_draws_the_same_bits(name):
    f = Function(LIBRARY.ops[name], LIBRARY)
    options = {**CONTINUOUS, **DISCRETE}[name][0]
    f.seeds = (12345, 6, 7)
    x = np.zeros((7, 33), np.float32)
    try:
        got = f.gpu(x, **options)
    except RuntimeError as none:
        pytest.skip(str(none))
    np.testing.assert_array_equal(got, f.numpy(x, **options))
