"""The functions that the CPU's interpreter has for formulas (runtime/devices/cpu/node-evaluator.ts); an op brings what
else its formulas call."""

from __future__ import annotations

from typing import Literal

Interpreted = Literal[
    "abs",
    "allowed",
    "ceil",
    "cos_of",
    "cosh_of",
    "divide",
    "exp2_of",
    "exp_of",
    "expm1_of",
    "floor",
    "floor_divide",
    "floor_divide_whole",
    "is_infinite",
    "is_nan",
    "larger",
    "log1p_of",
    "log_of",
    "max",
    "min",
    "nothing_of",
    "power",
    "reciprocal_root",
    "remainder_whole",
    "round",
    "sign_bit",
    "sign_of",
    "sin_of",
    "sinh_of",
    "smaller",
    "square",
    "square_root",
    "tanh_of",
    "trunc",
]
