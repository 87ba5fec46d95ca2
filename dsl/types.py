"""Types of tensors: promotion as the signature says it, and what a formula's elements are.

PyTorch's kinds: `Num -> Num` default, `-> Float` int-to-float, `Any -> Num` bool-to-long ("sum"), the rest none."""

from __future__ import annotations

from .expression import E
from .ir import Tensor
from .opdef import OpDef, symbol
from .scope import is_tensor
from .syntax import Op

NUMBERS = ("Num", "Float", "Any")
TRUTHS = {"<", "<=", ">", ">=", "==", "!=", "and", "or", "not", "inside"}
TRUTH_CALLS = {"isnan", "isinf", "signbit"}


def promotion(op: Op) -> tuple[str, list[str]]:
    """(kind, the tensor parameters whose types make T)."""
    tensors = [p for p in op.params if is_tensor(p)]
    over = [p for p in tensors if p.type.name in NUMBERS] or [p for p in tensors if p.type.name in ("Int", "Bits")]
    classes = {p.type.name for p in over}
    results = [o.type.name for o in op.outputs if o.type is not None]  # "" or none: whatever the formula makes
    if "Float" in results and classes == {"Int"}:
        return "float", []  # whole numbers stay exact beside a result of floats
    if "Float" in results or classes == {"Float"}:
        kind = "float"
    elif "Any" in classes and "Num" in results:
        kind = "sum"
    elif not over:
        kind = "none"
    else:
        kind = "default"
    return kind, [p.name for p in over]


def output_dtype(cls: str, op: Op) -> str:
    over = promotion(op)[1]
    if cls == "Bool":
        return "bool"
    if cls == "Int" and any(p.type.name in NUMBERS for p in op.params if is_tensor(p)) or cls == "Int" and not over:
        return "int"
    if cls == "Int":
        return (
            "int"
            if not all(p.type.name in ("Int", "Bits") and p.type.dims is None for p in op.params if is_tensor(p))
            else "T"
        )
    return "T"


def element(e: E, tensors: dict[str, Tensor], red: str | None = None) -> str:
    """The dtype of a formula's elements: "bool", "int" or "T"."""
    if red in ("argmax", "argmin"):
        return "int"
    if red in ("any", "all"):
        return "bool"
    found = kind(e, tensors)
    return {"t": "T", "b": "bool", "i": "int"}[found] if red is None or found != "b" else "int"


def kind(e: E, tensors: dict[str, Tensor]) -> str:
    """t (follows T or is a float), i or b."""
    if e.op in TRUTHS or e.op == "call" and e.val in TRUTH_CALLS:
        return "b"
    match e.op:
        case "const":
            return "b" if isinstance(e.val, bool) else "i" if isinstance(e.val, int) else "t"
        case "idx":
            return "i"
        case "sym":
            return "t"
        case "rand" | "call" if e.op == "rand" or e.val not in ("max", "min", "abs", "stop", "sign"):
            return "t"
        case "read":
            t = tensors.get(e.val[0])
            return {"int": "i", "bool": "b", "own": "i"}.get(t.dtype if t else "T", "t")
        case "/" | "**":
            return "t"
        case "if":
            parts = e.args[1:]
        case _:
            parts = e.args
    kinds = {kind(a, tensors) for a in parts}
    return "t" if "t" in kinds else "i" if "i" in kinds else "b" if kinds == {"b"} else "t"


# --- Symbols ---------------------------------------------------------------------------------------


def symbol_kinds(op: OpDef) -> dict[str, str]:
    """The kind of every option, by its symbol: "num" "real" "int" "bool" "choice" ...; and "real" for each
    `where` size that need not be whole (`X / Y`).  All other symbols are whole numbers."""
    kinds = {symbol(p.name): p.kind for p in op.params if p.kind != "tensor"}
    for name, e in op.sizes:
        if not whole(e, kinds):
            kinds[name] = "real"
    return kinds


def whole(e: E, kinds: dict[str, str]) -> bool:
    """Whether a formula over options and sizes always gives a whole number."""
    match e.op:
        case "const":
            return isinstance(e.val, int)
        case "sym":
            return kinds.get(e.val) not in ("real", "num") and e.val not in ("inf", "nan")
        case "/" | "**":
            return False
        case "if":
            return all(whole(a, kinds) for a in e.args[1:])
        case "call" if e.val in ("floor", "ceil", "round", "trunc", "sign"):
            return True
        case "call" if e.val not in ("max", "min", "abs", "stop"):
            return False
    return e.op in TRUTHS or all(whole(a, kinds) for a in e.args)
