"""Types of tensors: promotion as the signature says it, and what a formula's elements are.

PyTorch's kinds: `Num -> Num` default, `-> Float` int-to-float, `Any -> Num` bool-to-long ("sum"), the rest none."""

from __future__ import annotations

from ..ir.builders import is_condition
from ..ir.expression import Binary, Call, Constant, E, Index, Random, Read, Select, Symbol
from ..ir.intrinsics import KEEPING, PREDICATES, ROUNDING
from ..ir.program import Tensor
from ..opdef import OpDef, symbol
from ..text.syntax import Op, Param
from ..text.vocabulary import is_tensor, names_in

NUMBERS = ("Num", "Float", "Any")


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
    elements = [p.name for p in over if is_element(p, tensors)]
    if op.question and elements and not about(op, [p.name for p in tensors if p.name not in elements]):
        return kind, elements  # whether an element fits into the type of others is asked before it is one of theirs
    return kind, [p.name for p in over if p.name not in elements] or elements


def about(op: Op, names: list[str]) -> bool:
    """Whether the formulas of an op name one of these."""
    return any(n.val in names for a in op.body for n in names_in(a.value))


def is_element(p: Param, tensors: list[Param]) -> bool:
    """Whether a tensor stands for an element of others (`value: Any[]`): it takes their type, whatever its own is."""
    return p.type.name == "Any" and p.type.dims == () and len(tensors) > 1


def output_dtype(cls: str, op: Op) -> str:
    over = promotion(op)[1]
    if cls == "Bool":
        return "bool"
    if cls == "Int32":
        return "int32"
    if cls == "Int" and any(p.type.name in NUMBERS for p in op.params if is_tensor(p)) or cls == "Int" and not over:
        return "int"
    if cls == "Int":
        return (
            "int"
            if not all(p.type.name in ("Int", "Bits") and p.type.dims is None for p in op.params if is_tensor(p))
            else "T"
        )
    return "T"


def is_integral(op: Op) -> bool:
    """Whether T is a type of whole numbers, whatever the call."""
    kind, over = promotion(op)
    classes = {p.type.name for p in op.params if is_tensor(p) and p.name in over}
    return kind == "default" and classes <= {"Int", "Bits"}


def element(e: E, tensors: dict[str, Tensor], red: str | None = None, integral: bool = False) -> str:
    """The dtype of a formula's elements: "bool", "int", "T", or "float" where T is a type of whole numbers and the
    formula's values are none, as exp(x) is."""
    if red in ("argmax", "argmin"):
        return "int"
    if red in ("any", "all"):
        return "bool"
    found = kind(e, tensors)
    if integral and found == "t" and makes_fractions(e, tensors):
        return "float"
    return {"t": "T", "b": "bool", "i": "int"}[found] if red is None or found != "b" else "int"


def makes_fractions(e: E, tensors: dict[str, Tensor]) -> bool:
    """Whether values of whole numbers need not be whole."""
    match e:
        case Constant("f", value):
            return value % 1 != 0
        case Binary("/", _, _):
            return True
        case Read(name, _, _):
            return name in tensors and tensors[name].dtype == "float"
        case Call(name, _) if name in ROUNDING:
            return False
        case Call(name, _) if name not in PREDICATES and name not in KEEPING:
            return True
        case Select(_, yes, no):
            return makes_fractions(yes, tensors) or makes_fractions(no, tensors)
        case _:
            return not is_condition(e) and any(makes_fractions(part, tensors) for part in e.parts())


def kind(e: E, tensors: dict[str, Tensor]) -> str:
    """t (follows T or is a float), i or b."""
    if is_condition(e):
        return "b"
    match e:
        case Constant("f", _):
            return "t"
        case Constant(of, _):
            return of
        case Index():
            return "i"
        case Symbol() | Random() | Binary("/" | "**", _, _):
            return "t"
        case Call(name, _) if name in PREDICATES:
            return "b"
        case Call(name, _) if name not in ("max", "min", "abs", "stop", "stored", "sign"):
            return "t"
        case Read(name, _, _):
            t = tensors.get(name)
            return {"int": "i", "int32": "i", "bool": "b", "own": "i"}.get(t.dtype if t else "T", "t")
        case Select(_, yes, no):
            parts: tuple[E, ...] = (yes, no)
        case _:
            parts = e.parts()
    kinds = {kind(a, tensors) for a in parts}
    return "t" if "t" in kinds else "i" if "i" in kinds else "b" if kinds == {"b"} else "t"


# --- Symbols ---------------------------------------------------------------------------------------


def symbol_kinds(op: OpDef) -> dict[str, str]:
    """The kind of every option, by its symbol: "num" "real" "int" "bool" "choice" ...; and "real" for each number of
    a list of reals and each `where` size that need not be whole (`X / Y`).  All other symbols are whole numbers."""
    kinds = {symbol(p.name): p.kind for p in op.params if p.kind != "tensor"}
    kinds |= {f"{p.name}{j}": "real" for p in op.params if p.kind == "reals" for j in range(p.rank)}
    for name, e in op.sizes:
        if not is_integral_formula(e, kinds):
            kinds[name] = "real"
    return kinds


def is_integral_formula(e: E, kinds: dict[str, str]) -> bool:
    """Whether a formula over options and sizes always gives a whole number."""
    if is_condition(e):
        return True
    match e:
        case Constant(kind, _):
            return kind != "f"
        case Symbol(name):
            return kinds.get(name) not in ("real", "num") and name not in ("inf", "nan")
        case Binary("/" | "**", _, _):
            return False
        case Select(_, yes, no):
            return is_integral_formula(yes, kinds) and is_integral_formula(no, kinds)
        case Call(name, _) if name in ROUNDING or name == "sign":
            return True
        case Call(name, _) if name not in ("max", "min", "abs", "stop", "stored"):
            return False
        case _:
            return all(is_integral_formula(a, kinds) for a in e.parts())
