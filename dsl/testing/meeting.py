"""Sizes and options that a `require` wants, for random instances of an op (instances.py): drawn alone they would hardly
ever meet it.

Equations, remainders of 0 and bounds of a single size or option are met by changing that one; other conditions are left
to chance."""

from __future__ import annotations

import random

from ..ir.builders import is_binary
from ..ir.expression import Binary, E, Symbol
from ..ir.rewriting import symbols
from ..reference.sizes import constant


def meet(holds: E, env: dict, free: set[str], rng: random.Random):
    """Changes in `env` one of the names `free`, where that makes a condition true which is not."""
    if is_binary(holds, "and"):
        for part in holds.parts():
            meet(part, env, free, rng)
        return
    if not isinstance(holds, Binary) or constant(holds, env):
        return
    left, right, operator = holds.left, holds.right, holds.operator
    for one, other, op in ((left, right, operator), (right, left, TURNED.get(operator, ""))):
        name = (
            one.name
            if isinstance(one, Symbol)
            else one.left.name
            if is_binary(one, "%") and isinstance(one.left, Symbol)
            else None
        )
        if name not in free or name in symbols(other):
            continue
        found = solution(one, op, int(constant(other, env)), env, rng)
        if found is None:
            continue
        env[name] = found
        return


TURNED = {"==": "==", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def solution(one: E, op: str, wanted: int, env: dict, rng: random.Random) -> int | None:
    """What the name in `one`, alone or before `%`, should be so that `one op wanted` holds."""
    if is_binary(one, "%"):
        divisor = int(constant(one.right, env))
        return divisor * rng.randint(1, 3) + wanted if op == "==" and divisor > 0 else None
    match op:
        case "==":
            return wanted
        case ">=":
            return wanted + rng.randint(0, 2)
        case ">":
            return wanted + rng.randint(1, 3)
        case "<=":
            return max(wanted - rng.randint(0, 2), min(wanted, 1))
        case "<":
            return max(wanted - rng.randint(1, 3), min(wanted - 1, 1))
    return None
