"""What accuracy is measured with: the float64 meaning against known values, and units in the last place."""

import math

import numpy as np
import pytest
from accuracy import points
from definitions import LIBRARY

from buildtools.paths import ROOT
from workbench import Function

# Values to 15 digits, from tables of the functions.
KNOWN = [
    ("bessel_j0", (20.0,), 0.16702466434058316),
    ("bessel_j1", (20.0,), 0.06683312417584993),
    ("bessel_y0", (20.0,), 0.06264059680938384),
    ("bessel_y1", (20.0,), -0.16551161436252116),
    ("i0e", (20.0,), 0.08978031188482602),
    ("i1e", (20.0,), 0.08750622218328867),
    ("modified_bessel_k0", (5.0,), 0.003691098334042594),
    ("modified_bessel_k1", (5.0,), 0.004044613445452164),
    ("airy_ai", (2.0,), 0.03492413042327438),
    ("airy_ai", (-4.0,), -0.07026553294928951),
    ("airy_ai", (-8.0,), -0.05270505035638620),
    ("erfcx", (3.0,), 0.17900115118138996),
    ("ndtri", (0.25,), -0.6744897501960817),
    ("zeta", (3.0, 1.0), 1.2020569031595942),
    ("digamma", (0.5,), -1.9635100260214235),
    ("lgamma", (0.5,), 0.5723649429247001),
    ("chebyshev_polynomial_t", (0.3, 9.0), math.cos(9 * math.acos(0.3))),
]


@pytest.mark.parametrize("name, args, value", KNOWN)
def test_known_values(name, args, value):
    got = Function(LIBRARY.ops[name], LIBRARY).numpy(*(np.float64([a]) for a in args))
    assert got[0] == pytest.approx(value, rel=2e-13)


def test_units_in_the_last_place():
    one = np.float64([1.0, 1.0, 0.0, np.inf, np.nan])
    assert points.largest(one.astype(np.float32), one) == (0, 0)
    assert points.largest(np.float32([1 + 2**-23]), np.float64([1.0])) == (1, 0)
    assert points.largest(np.float32([np.nan, 1.0]), np.float64([1.0, np.inf])) == (0, 2)
    assert points.largest(np.float32([0.0]), np.float64([1e-40])) == (0, 0)  # a device may flush


def test_every_large_error_has_its_reason():
    report = (ROOT / "docs" / "accuracy.md").read_text(encoding="utf-8")
    assert report.count("| exp2 |") == 1
    assert "UNEXPLAINED" not in report
