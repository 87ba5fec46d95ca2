"""Special functions on numpy arrays, in float64, exact to about 1e-15 relative (lgamma, digamma: 1e-13)."""

from __future__ import annotations

import math

import numpy as np

erf = np.vectorize(math.erf, otypes=[np.float64])
erfc = np.vectorize(math.erfc, otypes=[np.float64])


def _lgamma(x: float) -> float:
    if math.isnan(x):
        return x
    if math.isinf(x) or x <= 0 and x == math.floor(x):
        return math.inf
    return math.lgamma(x)


lgamma = np.vectorize(_lgamma, otypes=[np.float64])


def _digamma(x: float) -> float:
    """PyTorch's conventions: NaN at negative whole numbers, -inf with zero's sign at zero."""
    if math.isnan(x) or x == math.inf:
        return x
    if x == -math.inf:
        return math.nan
    if x == 0:
        return math.copysign(math.inf, -x)
    shift = 0.0
    if x < 0:
        if x == math.floor(x):
            return math.nan
        shift, x = -math.pi / math.tan(math.pi * (x - round(x))), 1 - x
    while x < 10:
        shift -= 1 / x
        x += 1
    y = 1 / (x * x)
    series = y * (1 / 12 - y * (1 / 120 - y * (1 / 252 - y * (1 / 240 - y * (1 / 132 - y * (691 / 32760 - y / 12))))))
    return shift + math.log(x) - 0.5 / x - series


digamma = np.vectorize(_digamma, otypes=[np.float64])


def _erfinv(y: float) -> float:
    """A rational start (Giles 2010), polished by two steps of Halley's method."""
    if math.isnan(y) or abs(y) > 1:
        return math.nan
    if abs(y) == 1:
        return math.copysign(math.inf, y)
    if y == 0:
        return y
    w = -math.log1p(-y * y)
    if w < 5:
        w -= 2.5
        p = 2.81022636e-08
        for c in (
            3.43273939e-07,
            -3.5233877e-06,
            -4.39150654e-06,
            0.00021858087,
            -0.00125372503,
            -0.00417768164,
            0.246640727,
            1.50140941,
        ):
            p = c + p * w
    else:
        w = math.sqrt(w) - 3
        p = -0.000200214257
        for c in (
            0.000100950558,
            0.00134934322,
            -0.00367342844,
            0.00573950773,
            -0.0076224613,
            0.00943887047,
            1.00167406,
            2.83297682,
        ):
            p = c + p * w
    x = p * y
    for _ in range(2):
        error = math.erfc(abs(x)) - (1 - abs(y)) if abs(y) > 0.5 else abs(y) - math.erf(abs(x))
        error = math.copysign(1, x) * error
        slope = 2 / math.sqrt(math.pi) * math.exp(-x * x)
        if slope == 0:
            break
        step = error / slope
        x += step / (1 - x * step)
    return x


erfinv = np.vectorize(_erfinv, otypes=[np.float64])
