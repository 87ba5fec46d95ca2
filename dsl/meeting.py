"""Sizes and options that a `require` wants, for random instances of an op (worlds.py): drawn alone they would hardly
ever meet it.

Equations, remainders of 0 and bounds of a single size or option are met by changing that one; other conditions are left
to chance."""

from __future__ import annotations

import random

from .expression import E, symbols
from .reference import constant


def meet(holds: E, env: dict, free: set[str], rng: random.Random):
    """Changes in `env` one of the names `free`, where that makes a condition true which is not."""
    if holds.op == "and":
        for part in holds.args:
            meet(part, env, free, rng)
        return
    if len(holds.args) != 2 or constant(holds, env):
        return
    for one, other, op in ((*holds.args, holds.op), (*holds.args[::-1], TURNED.get(holds.op, ""))):
        name = one.val if one.op == "sym" else one.args[0].val if one.op == "%" and one.args[0].op == "sym" else None
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
    if one.op == "%":
        divisor = int(constant(one.args[1], env))
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
