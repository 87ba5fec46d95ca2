"""Random numbers have the distributions that their ops say: moments, and Kolmogorov's and Smirnov's test; and the same
seed, call and place give the same bits on every target where a result is made without rounding."""

import math
from pathlib import Path

import numpy as np
import pytest

from dsl.library import load
from dsl.reference.special import erf
from workbench import Function

OPS = Path(__file__).parents[1] / "ops"
LIBRARY, ERRORS, _ = load(OPS / "random.op")
DRAWN, DRAWN_ERRORS, _ = load(OPS / "draw.op")
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
    "random_fill_whole": ({}, lambda x: (x + 1) / 2**24, 2**23, 2**24 / math.sqrt(12)),
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


def tried(name: str) -> Function:
    f = Function(DRAWN.ops[name], DRAWN)
    f.seeds = (3, 0, 5)
    return f


def test_every_distribution_is_here():
    assert not ERRORS and not DRAWN_ERRORS
    assert {n for n, op in DRAWN.ops.items() if op.random} == {name for name, *_ in (*TRIED, *COUNTED)}
    drawn = {n for n, op in LIBRARY.ops.items() if op.random and op.pointwise and not n.endswith("dropout")} - {
        "bernoulli",
        "bernoulli_fill_each",
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


def below(density, low: float, high: float):
    """The share below each number, of a density that is integrated from `low` to `high`."""
    at = np.linspace(low, high, 200001)
    heights = density((at[1:] + at[:-1]) / 2)
    return lambda x: np.interp(x, at, np.concatenate([[0], np.cumsum(heights) / heights.sum()]))


def gamma_density(a: float):
    """Of the logarithm of a gamma number."""
    return lambda l: np.exp(a * l - np.exp(l) - math.lgamma(a))


# op -> (argument, share below)
TRIED = [
    ("log_gamma_draw", 0.05, below(gamma_density(0.05), -500, 6)),
    ("log_gamma_draw", 0.7, below(gamma_density(0.7), -60, 6)),
    ("log_gamma_draw", 1, below(gamma_density(1), -40, 6)),
    ("log_gamma_draw", 40, below(gamma_density(40), 0, 6)),
    ("von_mises_draw", 0.01, below(lambda x: np.exp(0.01 * np.cos(x)), -math.pi, math.pi)),
    ("von_mises_draw", 2, below(lambda x: np.exp(2 * np.cos(x)), -math.pi, math.pi)),
    ("von_mises_draw", 500, below(lambda x: np.exp(500 * (np.cos(x) - 1)), -math.pi, math.pi)),
]


@pytest.mark.parametrize(("name", "argument", "share_below"), TRIED)
def test_what_is_tried_until_it_is_accepted(name, argument, share_below):
    x = np.sort(np.asarray(tried(name).numpy(np.full(COUNT, float(argument)))).astype(np.float64))
    steps, share = np.arange(COUNT + 1) / COUNT, share_below(x)
    assert max(np.max(steps[1:] - share), np.max(share - steps[:-1])) * math.sqrt(COUNT) < 1.95


def poisson_chances(rate: float) -> dict[int, float]:
    return {k: math.exp(k * math.log(rate) - rate - math.lgamma(k + 1)) for k in range(int(rate + 20 * rate**0.5 + 20))}


def binomial_chances(n: int, p: float) -> dict[int, float]:
    return {k: math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)}


COUNTED = [
    ("poisson", (0.3,), poisson_chances(0.3)),
    ("poisson", (9.5,), poisson_chances(9.5)),
    ("poisson", (29.9,), poisson_chances(29.9)),
    ("poisson", (30.1,), poisson_chances(30.1)),
    ("poisson", (400,), poisson_chances(400)),
    ("binomial", (7, 0.2), binomial_chances(7, 0.2)),
    ("binomial", (90, 0.3), binomial_chances(90, 0.3)),
    ("binomial", (90, 0.4), binomial_chances(90, 0.4)),
    ("binomial", (500, 0.9), binomial_chances(500, 0.9)),
]


@pytest.mark.parametrize(("name", "arguments", "chances"), COUNTED)
def test_counts_that_are_tried(name, arguments, chances):
    drawn = tried(name).numpy(*(np.full(COUNT, float(a)) for a in arguments))
    values, counts = np.unique(np.asarray(drawn), return_counts=True)
    assert set(values) <= set(chances)
    expected = np.array([chances[v] * COUNT for v in values])
    usual = expected >= 5
    chi2, degrees = np.sum((counts[usual] - expected[usual]) ** 2 / expected[usual]), usual.sum() - 1
    assert chi2 < degrees + 4 * math.sqrt(2 * degrees)


def test_large_counts_have_their_moments():
    x = np.asarray(tried("poisson").numpy(np.full(COUNT, 1e6)))
    assert abs(x.mean() - 1e6) < 4 * 1000 / math.sqrt(COUNT)
    assert x.std() == pytest.approx(1000, rel=0.03)
    x = np.asarray(tried("binomial").numpy(np.full(COUNT, 1e6), np.full(COUNT, 0.25)))
    assert abs(x.mean() - 250000) < 4 * 433 / math.sqrt(COUNT)
    assert x.std() == pytest.approx(math.sqrt(187500), rel=0.03)


# Shape, number and the slope of the number where it keeps its share, by mpmath with 40 digits.
SLOPES = [
    (0.001, 7.491740535291383e-87, 1.4813832854202065e-81),
    (0.001, 1.453021353679992e-228, 7.61441577814586e-223),
    (0.01, 2.006888712411347e-153, 7.044942964624871e-149),
    (0.01, 1.2761558892520966e-26, 7.537292481023275e-23),
    (0.01, 2.9369965057730946e-73, 4.88864357340324e-69),
    (0.1, 3.129235610920794e-16, 1.103894744575735e-13),
    (0.1, 0.00139150839728381, 0.0857524382691218),
    (0.5, 0.0007893582063475732, 0.0113429374175142),
    (0.5, 0.4610545065279484, 1.281189496127142),
    (0.9, 0.02495307745331376, 0.11388482839972881),
    (0.9, 0.624197367275932, 0.9834365228211759),
    (0.9, 0.22812174772858915, 0.543620900563315),
    (1, 2.8824327826406577, 1.9065957540381038),
    (1, 0.2349605760150479, 0.5113320614583676),
    (1, 2.703186609784628, 1.8567976393374201),
    (1.5, 3.748166982874734, 1.703578845569992),
    (1.5, 0.46442469550442916, 0.5812458328737681),
    (3, 6.057654967233006, 1.4711662165959103),
    (3, 2.2156264274470514, 0.9045008779191112),
    (3, 1.8446598758904875, 0.8200007006867576),
    (8, 12.773996299587969, 1.2784392650034133),
    (8, 4.409560445920985, 0.7467351518219998),
    (8, 8.738650076097036, 1.0668323411122147),
    (10, 15.292966164378132, 1.2479647962027942),
    (10, 8.46606767242233, 0.9344839278542536),
    (25, 33.13895349663051, 1.1551911954167184),
    (25, 30.54659612284653, 1.110911055188858),
    (31, 40.01634716845418, 1.139176344724629),
    (31, 25.044385418051682, 0.9019505341362131),
    (31, 32.77963418240239, 1.0337149661528342),
]


def test_a_gamma_number_keeps_its_share_as_its_shape_moves():
    a, x, wanted = np.array(SLOPES).T
    slopes = tried("log_gamma_slope")
    np.testing.assert_allclose(np.asarray(slopes.numpy(a, np.log(x))) * x, wanted, rtol=1e-9)


@pytest.mark.parametrize("name", ["bernoulli", "bernoulli_fill_each"])
def test_bernoulli_follows_its_argument(name):
    f = Function(LIBRARY.ops[name], LIBRARY)
    p = np.repeat(np.float32([0.0, 0.25, 1.0]), COUNT)
    shares = np.asarray(f.numpy(*([p] if name == "bernoulli" else [np.zeros_like(p), p]))).reshape(3, COUNT).mean(1)
    assert shares[0] == 0 and shares[2] == 1 and abs(shares[1] - 0.25) < 0.01


@pytest.mark.parametrize(
    "name", ["rand_like", "bernoulli_of", "bernoulli_fill", "random_fill", "random_fill_below", "randint_fill"]
)
def test_the_gpu_draws_the_same_bits(name):
    f = Function(LIBRARY.ops[name], LIBRARY)
    options = {**CONTINUOUS, **DISCRETE}[name][0]
    f.seeds = (12345, 6, 7)
    x = np.zeros((7, 33), np.float32)
    np.testing.assert_array_equal(f.gpu(x, **options), f.numpy(x, **options))
