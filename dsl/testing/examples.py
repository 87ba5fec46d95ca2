"""The tests inside definitions, `test f([1, 2]) == [2, 4]`: run, compared, and answered as errors if they fail.

How an op is called is not known here: the caller gives a function from names of ops to callables on
arrays, numbers, lists and texts, which answer an array, or a dict of arrays for several results."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable

from ..opdef import OpDef
from ..text.diagnostics import Error
from ..text.syntax import Test, X

RELATIVE, ABSOLUTE = 1e-6, 1e-12  # how near `~=` must be
CONSTANTS = {"inf": math.inf, "nan": math.nan, "pi": math.pi, "true": True, "false": False, "all": None}
LONGEST = 70  # letters of a result that are shown


def check_tests(
    ops: Iterable[OpDef], function: Callable[[str], Callable], refused: tuple[type[Exception], ...]
) -> list[tuple[OpDef, Error]]:
    """Every test that fails, with its op; a definition's tests are run once, not for each of a family.

    refused: the exceptions by which a call says that its arguments are wrong."""
    failed, seen = [], set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for op in ops:
            for test in op.tests:
                if (op.file, test.span) in seen:
                    continue
                seen.add((op.file, test.span))
                error = run(op, test, function, refused)
                if error:
                    failed.append((op, error))
    return failed


def run(
    op: OpDef, test: Test, function: Callable[[str], Callable], refused: tuple[type[Exception], ...]
) -> Error | None:
    """The error of one test, or None if it holds."""
    call = test.condition if test.raises is not None else test.condition.args[0]
    name = op.tree.name if op.tree and not op.family else op.name

    def failed(label: str) -> Error:
        return Error("test", f"{name}: this test fails", test.span, label)

    try:
        got = value(call, function)
        if test.raises is not None:
            return failed(f"nothing is raised; got {shown(got)}")
        want = value(test.condition.args[1], function)
    except refused as e:
        if test.raises is None:
            return failed(f"the call is refused: {e}")
        return None if test.raises in str(e) else failed(f"raises: {e}")
    if isinstance(got, dict):
        return failed("the call has several results: name one, " + " or ".join(f"`.{n}`" for n in got))
    return None if same(got, want, test.condition.kind == "~=") else failed(f"got {shown(got)}")


def value(e: X, function: Callable[[str], Callable]):
    """A number, text, list or result of a call."""
    a = [value(x, function) for x in e.args if x.kind != "kw"]
    match e.kind:
        case "num" | "str":
            return e.val
        case "name":
            return CONSTANTS[e.val]
        case "list":
            return a
        case "neg":
            return -a[0] if not isinstance(a[0], bool) else not a[0]
        case "+":
            return a[0] + a[1]
        case "-":
            return a[0] - a[1]
        case "*":
            return a[0] * a[1]
        case "/":
            return a[0] / a[1] if a[1] else math.nan
        case "**":
            return a[0] ** a[1]
        case "field":
            return a[0][e.val]
        case "call":
            return function(e.val)(*a, **{x.val: value(x.args[0], function) for x in e.args if x.kind == "kw"})
    raise ValueError(f"no value: {e.kind}")


def same(got, want, about: bool) -> bool:
    """Equal shapes and elements; NaN equals NaN."""
    (shape, numbers), (wanted_shape, wanted) = flat(got), flat(want)
    near = lambda g, w: g == w or g != g and w != w or about and abs(g - w) <= ABSOLUTE + RELATIVE * abs(w)
    return shape == wanted_shape and all(near(g, w) for g, w in zip(numbers, wanted))


def flat(x) -> tuple[tuple[int, ...], list]:
    """The shape and the elements of an array, of nested lists of numbers and arrays, or of a number."""
    if hasattr(x, "shape"):
        return tuple(x.shape), x.reshape(-1).tolist()
    if not isinstance(x, list):
        return (), [x]
    parts = [flat(y) for y in x]
    shape = parts[0][0] if parts else ()
    if any(s != shape for s, _ in parts):
        raise ValueError("lists of different lengths are no array")
    return (len(x), *shape), [v for _, numbers in parts for v in numbers]


def nested(x):
    """An array, or a list of arrays and numbers, as nested lists."""
    return [nested(y) for y in x] if isinstance(x, list) else x.tolist() if hasattr(x, "tolist") else x


def shown(got) -> str:
    """A result as the language writes it, cut off if it is long."""
    if isinstance(got, dict):
        return ", ".join(f"{n} = {shown(a)}" for n, a in got.items())

    def text(v) -> str:
        if isinstance(v, list):
            return f"[{', '.join(map(text, v))}]"
        return str(v).lower() if isinstance(v, bool) else f"{v:.9g}" if isinstance(v, float) else str(v)

    out = text(nested(got))
    return out if len(out) <= LONGEST else out[: LONGEST - 3] + "..."
