"""Writes requirements.json beside itself: for each `require` of a definition, calls that show what it says.

A call shows it if removing the requirement, or turning one of its comparisons, would change what is answered.  Calls
are drawn near legal ones.  After a `require` was added or changed: `.venv/bin/python tests/recorded/requirements.py
NAME...` (without names: all, some minutes), and look at what changed."""

from __future__ import annotations

import json
import math
import random
import sys
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE.parent)]

from codegen.api import compiled  # noqa: E402
from codegen.binding.bind import bind  # noqa: E402
from codegen.binding.binding import filled  # noqa: E402
from codegen.binding.pattern import contiguous_strides  # noqa: E402
from codegen.data.errors import OpError  # noqa: E402
from codegen.data.model import Meta, Require  # noqa: E402
from dsl.ir.expression import Binary  # noqa: E402
from dsl.reference.sizes import constant  # noqa: E402
from dsl.testing.instances import instances  # noqa: E402
from workbench.numpy_runner import meta  # noqa: E402

RECORDED = HERE / "requirements.json"
TURNED = {
    "<": ("<=", ">="),
    "<=": ("<", ">"),
    ">": (">=", "<="),
    ">=": (">", "<"),
    "==": ("!=",),
    "!=": ("==",),
    "and": ("or",),
    "or": ("and",),
}
DTYPES = ("float32", "float64", "float16", "int32", "int8", "uint8", "bool")
NUMBERS = (-3, -2, -1, -0.5, 0, 0.25, 0.5, 1, 1.5, 2, 3, 4, 5, 6, 7, 8, 16, 33, 100, 1000)
SIZES = (0, 1, 2, 3, 4, 5, 7, 8)
DRAWS = 3000  # calls that are tried for an op
MORE = 8000  # while one of its requirements was not broken


def tensor(dtype: str, shape: list[int]) -> Meta:
    return Meta(dtype, list(shape), contiguous_strides(list(shape)), 0, False)


def as_json(arg):
    """An argument as the file has it: a tensor is its type and shape."""
    if isinstance(arg, Meta):
        return {"number": arg.dtype} if arg.weak else {arg.dtype: arg.shape}
    return {"inf": arg > 0} if isinstance(arg, float) and math.isinf(arg) else arg


def from_json(arg):
    if not isinstance(arg, dict):
        return arg
    ((name, value),) = arg.items()
    return (
        (math.inf if value else -math.inf)
        if name == "inf"
        else Meta(value, [], [], 0, True)
        if name == "number"
        else tensor(name, value)
    )


def answer(data, args: list) -> str:
    """The error of a call of an op; empty for a legal one."""
    try:
        bind(data, args)
    except OpError as error:
        return str(error)
    return ""


def variants(e) -> list:
    """A condition with one comparison turned."""
    found = []
    if isinstance(e, Binary):
        found = [Binary(operator, e.left, e.right) for operator in TURNED.get(e.operator, ())]
    parts = e.parts()
    for i, a in enumerate(parts):
        found += [e.of((*parts[:i], v, *parts[i + 1 :])) for v in variants(a)]
    return found


def holds(e, env: dict) -> bool | None:
    try:
        return bool(constant(e, {"inf": math.inf, "nan": math.nan, **env}))
    except (KeyError, ZeroDivisionError, OverflowError, ValueError, TypeError):
        return None


def drawn(op, rng: random.Random):
    """Calls that are legal, and others that lie near them."""
    legal = [
        [
            meta(a.astype(np.float32) if a.dtype == np.float64 else a) if isinstance(a, np.ndarray) else a
            for a in w.arguments(n)
        ]
        for n, w in enumerate(instances(op, 12, seed=5, largest=400))
    ]
    yield from legal
    while True:
        args = list(rng.choice(legal)) if legal else [None] * len(op.params)
        for _ in range(rng.choice((1, 1, 2, 2, 3, 4))):
            i = rng.randrange(len(args))
            args[i] = near(op.params[i], args[i], args, rng)
        yield args


def near(p, arg, args: list, rng: random.Random):
    """Another argument for a parameter: a size, a rank, a type, a number beside what was there."""
    if p.optional and rng.random() < 0.2:
        return None
    others = [n for a in args if isinstance(a, Meta) for n in (*a.shape, len(a.shape))] + [
        a for a in args if isinstance(a, (int, float)) and not isinstance(a, bool) and math.isfinite(a)
    ]
    if p.kind == "tensor":
        if not isinstance(arg, Meta):
            return tensor(rng.choice(DTYPES), rng.choices(SIZES, k=rng.randrange(4)))
        shape, dtype = list(arg.shape), arg.dtype
        match rng.randrange(6):
            case 0:
                dtype = rng.choice(DTYPES)
            case 1:
                shape = shape[1:] if rng.random() < 0.5 else shape[:-1]
            case 2:
                shape.insert(rng.choice((0, len(shape))), rng.choice(SIZES))
            case 3:
                return rng.choice([tensor(dtype, a.shape) for a in args if isinstance(a, Meta)])
            case _ if shape:
                at = rng.randrange(len(shape))
                shape[at] = max(
                    0,
                    rng.choice(
                        (shape[at] + 1, shape[at] - 1, rng.choice(SIZES), *[int(n) for n in others if abs(n) < 50][:3])
                    ),
                )
        return tensor(dtype, shape)
    if p.kind == "choice":
        return rng.choice(p.choices)
    if p.kind == "bool":
        return rng.random() < 0.5
    if p.kind == "dtype":
        return rng.choice(DTYPES)
    if p.kind in ("num", "real") and not isinstance(arg, list) and rng.random() < 0.1:
        return rng.choice((math.inf, -math.inf))
    number = lambda old: rng.choice(
        (
            rng.choice(NUMBERS),
            rng.choice(NUMBERS),
            *(
                n + d
                for n in (*others[:6], old)
                if isinstance(n, (int, float)) and math.isfinite(n)
                for d in (-1, 0, 1)
            ),
            0,
            -1,
        )
    )
    whole = lambda old: int(number(old)) if p.kind != "num" and p.kind != "real" else number(old)
    if isinstance(arg, list) or p.kind in ("ints", "dims"):
        listed = list(arg) if isinstance(arg, list) else [1] * max(p.rank, 1)
        match rng.randrange(4):
            case 0:
                listed.append(whole(1))
            case 1:
                listed = listed[1:]
            case _ if listed:
                at = rng.randrange(len(listed))
                listed[at] = whole(listed[at])
        return [n if n is None else int(n) for n in listed]
    return whole(arg)


def told(data, i: int, verdicts: list, turned: bool | None, env: dict) -> bool:
    """Whether another verdict of a requirement changes what is answered: the next one that fails may say the same."""

    def said(verdicts: list) -> str:
        return next(
            (filled(r.message, [v(env) for v in r.values]) for r, v in zip(data.requires, verdicts) if not v), ""
        )

    if turned is None or turned == verdicts[i]:
        return False
    return said([*verdicts[:i], turned, *verdicts[i + 1 :]]) != said(verdicts)


def shown(op) -> tuple[list, list[str]]:
    """Calls of an op with their answers, and what no call showed, with the reason."""
    data, caught = compiled.op_data(op), {}
    watching = replace(data, requires=[Require(lambda env: caught.update(env=dict(env)) or 1, "", []), *data.requires])
    refusing = [(i, r) for i, r in enumerate(op.requires) if not r.warns]
    wanted = {(i, -1): None for i, _ in refusing} | {
        (i, k): v for i, r in refusing for k, v in enumerate(variants(r.holds))
    }
    rng, calls, hidden = random.Random(zlib.crc32(op.name.encode())), [], set()
    for n, args in enumerate(drawn(op, rng)):
        if n >= (MORE if any(k < 0 for _, k in wanted) else DRAWS) or not wanted:
            break
        caught.clear()
        try:
            said = answer(watching, args)
        except Exception as error:  # a fault of the host: to be mended, and no answer to record
            print(f"{op.name}{tuple(as_json(a) for a in args)}: {type(error).__name__}: {error}", file=sys.stderr)
            continue
        if "env" not in caught:
            continue
        verdicts = [r.warns or holds(r.holds, caught["env"]) for r in op.requires]
        first = next((i for i, v in enumerate(verdicts) if not v), len(verdicts))
        hidden |= {i for i, v in enumerate(verdicts) if v is False and i > first}
        met = [
            (i, k)
            for (i, k), v in wanted.items()
            if i <= first and told(data, i, verdicts, True if k < 0 else holds(v, caught["env"]), caught["env"])
        ]
        if not met:
            continue
        for key in met:
            del wanted[key]
        calls.append([[as_json(a) for a in args], said])
    why = lambda i: (
        "an earlier requirement refuses what breaks it"
        if i in hidden
        else "the signature refuses what would break it, or the definition always meets it"
    )
    return calls, [
        f"{op.requires[i].message}: {why(i)}" if k < 0 else f"{op.requires[i].message}: no call tells it from {v}"
        for (i, k), v in wanted.items()
    ]


def refusing(ops: dict) -> dict:
    """The ops with a requirement that does more than warn."""
    return {name: op for name, op in ops.items() if any(not r.warns for r in op.requires)}


def main(names: list[str]) -> None:
    from definitions import LIBRARY

    ops = refusing(LIBRARY.ops)
    calls: dict = json.loads(RECORDED.read_text()) if names else {}
    left: dict = calls.pop("not shown", {})
    calls, left = ({n: c for n, c in kept.items() if n in ops and n not in names} for kept in (calls, left))
    for name, op in sorted(ops.items()):
        if name in calls:
            continue
        calls[name], open_ = shown(op)
        if open_:
            left[name] = open_
    RECORDED.write_text(
        "{\n"
        + ",\n".join(f"{json.dumps(n)}: {json.dumps(c)}" for n, c in (*sorted(calls.items()), ("not shown", left)))
        + "\n}\n"
    )
    print(
        f"{sum(map(len, calls.values()))} calls of {len(calls)} ops; {sum(map(len, left.values()))} of what they say not shown"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
