"""Where the accuracy of pointwise functions is measured: the same arguments for the package and for PyTorch.  Needs
numpy only.

An error is measured in units in the last place of float32, at the correct result; below the smallest normal number
that unit no longer shrinks, since a device may take such numbers for zero."""

from __future__ import annotations

import json
import sys

import numpy as np

SEED = 20260101
# Calls with an option that has no default: label -> (PyTorch's name, arguments before the tensor, options)
OPTIONS = {
    "polygamma(1, x)": ("torch.special.polygamma", [1], {}),
    "polygamma(2, x)": ("torch.special.polygamma", [2], {}),
    "mvlgamma(x, 3)": ("torch.mvlgamma", [], {"p": 3}),
    "round(x, decimals=2)": ("torch.round", [], {"decimals": 2}),
}
# Degrees of the orthogonal polynomials stand for their second argument.
DEGREE = 7


def anywhere(rng, n: int) -> np.ndarray:
    """Normal float32 numbers with random bits: every size is as likely.  Smaller ones WebGPU may take for zero."""
    bits = rng.integers(0, 2**32, 2 * n, dtype=np.uint32).view(np.float32)
    return bits[np.isfinite(bits) & (np.abs(bits) >= 2.0**-126)][:n]


def arguments(count: int) -> list[np.ndarray]:
    """One or two arrays of float32."""
    rng = np.random.Generator(np.random.PCG64(SEED))
    parts = []
    for _ in range(count):
        parts.append(
            np.concatenate(
                [
                    anywhere(rng, 1500),
                    rng.uniform(-4, 4, 1500),
                    rng.uniform(-100, 100, 1000),
                    rng.uniform(0, 1, 1000),
                    rng.uniform(0, 20, 500),
                    np.exp(rng.uniform(-20, 5, 500)),
                    np.arange(-50, 50) / 4,
                ]
            ).astype(np.float32)
        )
    return parts


def largest(got: np.ndarray, want: np.ndarray) -> tuple[float, int]:
    """(the largest error in ulp where both are finite, at how many places one is NaN or infinite and the other not
    so)."""
    got, want = np.asarray(got, np.float64), np.asarray(want, np.float64)
    with np.errstate(all="ignore"):
        rounded = want.astype(np.float32)
        special = ~np.isfinite(rounded)
        wrong = np.where(special, ~((got == rounded) | (np.isnan(got) & np.isnan(rounded))), ~np.isfinite(got))
        # one step past the largest number is an error of a unit, not of kind
        edge = (np.abs(want) > 3.4e38) & (np.abs(want) < 3.5e38)
        ulp = np.exp2(np.maximum(np.floor(np.log2(np.abs(want))), -126) - 23)
        ulp = np.where(want == 0, 2.0**-149, ulp)
        error = np.where(special | wrong | edge, 0, np.abs(got - want) / ulp)
        error = np.where((np.abs(want) < 2.0**-126) & (np.abs(got) <= 2.0**-126), 0, error)
    return (float(np.max(error)) if error.size else 0.0), int(np.sum(wrong & ~edge))


def record(file: str, value) -> None:
    with open(file, "w", encoding="utf-8") as f:
        f.write(json.dumps(value, indent=0, sort_keys=True) + "\n")


if __name__ == "__main__":
    sys.exit("this file is imported")
