"""One axis of a tensor that a pattern sees as several, `(groups channels)`."""

from __future__ import annotations

from ..data.errors import OpError
from ..data.model import Axis, Dim, Env, Op, Slot


def bind_factors(op: Op, slot: Slot, d: Dim, n: int, at: int, env: Env) -> None:
    """One axis seen as several: at most one of them is new."""
    known = 1
    unknown = ""
    for f in d.factors:
        if f in env:
            known *= int(env[f])
        elif f[0] >= "0" and f[0] <= "9":
            known *= int(f)
        elif unknown == "" or unknown == f:
            unknown = f
        else:
            raise OpError(
                f"{op.name}: dimension {at} of '{slot.name}' cannot be split into {' x '.join(d.factors)}: two of "
                "these are unknown"
            )
    if unknown == "":
        if known != n:
            raise OpError(
                f"{op.name}: dimension {at} of '{slot.name}' must be {' x '.join(d.factors)} = {known}, but is {n}"
            )
        return
    if known <= 0 or n % known != 0:
        raise OpError(
            f"{op.name}: dimension {at} of '{slot.name}' is {n}, which is not divisible by {known} "
            f"({' x '.join(d.factors)})"
        )
    env[unknown] = n // known


def parts_of(d: Dim, stride: int, env: Env) -> list[Axis]:
    """The logical axes of one physical axis that is seen as several."""
    out: list[Axis] = []
    for f in reversed(d.factors):
        n = int(env[f]) if f in env else int(f)
        out.insert(0, Axis([n], [stride]))
        stride *= n
    return out


def length(d: Dim, env: Env) -> int:
    """The length of the one axis."""
    n = 1
    for f in d.factors:
        n *= int(env[f]) if f in env else int(f)
    return n
