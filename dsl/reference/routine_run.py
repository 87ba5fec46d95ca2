"""What a routine means: its steps on numpy arrays (dsl/lowering/routines.py)."""

from __future__ import annotations

import numpy as np

from ..ir.expression import Binary, Call, Cast, Constant, E, Index, Local, Select, Symbol, Unary
from ..lowering.routines import Loop, Routine, Set
from . import scalars


def run(routine: Routine, args: tuple) -> np.ndarray:
    """The routine at every place of arrays that broadcast; floats are computed in float64 and answered as they came."""
    arrays = [np.asarray(a) for a in args]
    floats = [a.dtype for a in arrays if a.dtype.kind == "f" and a.ndim or isinstance(a, np.generic)]
    integral = routine.integral and all(a.dtype.kind in ("b", "i", "u") for a in arrays)
    compute = np.int32 if integral else np.float64
    shape = np.broadcast_shapes(*(a.shape for a in arrays))
    env = {p: np.broadcast_to(a.astype(compute), shape) for p, a in zip(routine.params, arrays)}
    with np.errstate(all="ignore"):
        for s in routine.steps:
            if isinstance(s, Loop):
                repeat(s, env, shape, compute)
            else:
                assign(s, env, None, compute)
    out = np.broadcast_to(env["out"], shape)
    return out.astype(np.result_type(*floats)) if floats and not integral else out


def assign(s: Set, env: dict, where: np.ndarray | None, compute):
    values = [np.asarray(evaluate(e, env)).astype(compute) for e in s.values]
    for n, v in zip(s.names, values):
        env[n] = v if where is None or n not in env else np.where(where, v, env[n])


def repeat(s: Loop, env: dict, shape, compute):
    low, high = (
        np.broadcast_to(scalars.cast("i", np.ceil(evaluate(e, env)), np.dtype(np.float64)), shape)
        for e in (s.low, s.high)
    )
    if not low.size:
        return
    going = low < high
    for k in range(int(low.min()), int(high.max())):
        now = going & (k >= low) & (k < high)
        inner = {**env, s.index: k}
        if s.condition is not None and now.any():
            holds = np.broadcast_to(evaluate(s.condition, inner), shape) != 0
            going = going & (holds | ~now)
            now = now & holds
        if not going.any():
            break
        if not now.any():
            continue
        for t in s.steps:
            assign(t, inner, now, compute)
        for n in (n for t in s.steps for n in t.names):
            env[n] = inner[n]


def evaluate(e: E, env: dict):
    match e:
        case Constant():
            return e.literal
        case Symbol(name):
            return {"inf": np.inf, "nan": np.nan, "pi": np.pi}[name]
        case Local(name):
            return env[name]
        case Index(loop):
            return env[loop]
        case Select(condition, yes, no):
            parts = (scalars.number(evaluate(yes, env)), scalars.number(evaluate(no, env)))
            return np.where(evaluate(condition, env), *parts)
        case Call(name, operands):
            return scalars.call(name, *[evaluate(x, env) for x in operands])
        case Unary(operator, operand):
            return scalars.unary(operator, evaluate(operand, env))
        case Cast(kind, operand):
            return scalars.cast(kind, evaluate(operand, env), np.dtype(np.float64))
        case Binary(operator, left, right):
            return scalars.binary(operator, evaluate(left, env), evaluate(right, env))
    raise ValueError(f"no expression of a routine: {e}")
