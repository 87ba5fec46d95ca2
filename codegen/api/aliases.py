"""PyTorch's names: which op or ops a name means, in which namespace, and which are methods.

A name that several ops share is overloaded: at run time the first op whose parameters accept the
arguments runs.  Every op in the root namespace whose first parameter is a tensor is a method as well,
and a pointwise one also in place, as `name_`; `Tensor.name_` is that alone."""

from __future__ import annotations

from dataclasses import dataclass, field

from dsl.opdef import Library, OpDef
from dsl.text.places import OPS

# The functions `name_` that PyTorch has beside methods in place.
IN_PLACE_FUNCTIONS = OPS / "in_place.names"
# PyTorch's modules and the package's own names for them; the root is "torch".
NAMESPACES = {
    "torch": "torch",
    "torch.nn.functional": "functional",
    "torch.linalg": "linalg",
    "torch.special": "special",
    "torch.fft": "fft",
    "torch.masked": "masked",
    "torch.signal.windows": "signal.windows",
}

# Functions of torch.nn.functional that take the option `inplace`.
IN_PLACE = (
    *("alpha_dropout", "celu", "dropout", "dropout1d", "dropout2d", "dropout3d", "elu", "feature_alpha_dropout"),
    *(
        "hardsigmoid",
        "hardswish",
        "hardtanh",
        "leaky_relu",
        "mish",
        "relu",
        "relu6",
        "rrelu",
        "selu",
        "silu",
        "threshold",
    ),
)


@dataclass
class Names:
    """namespaces: module -> name -> ops, in the order of the files; methods: name -> ops; inplace: likewise."""

    namespaces: dict[str, dict[str, list[OpDef]]] = field(default_factory=dict)
    methods: dict[str, list[OpDef]] = field(default_factory=dict)
    inplace: dict[str, list[OpDef]] = field(default_factory=dict)


def names_of(library: Library, written: frozenset[str] = frozenset()) -> Names:
    """All names of a library; `written`: methods that the runtime has by hand.

    A pointwise op `f` is also the method `f_`, unless another op is that and nothing else: `bernoulli_()` has a
    probability of its own where `bernoulli()` reads the elements."""
    out = Names()
    alone = [op for op in library.ops.values() if all(a.endswith("_") for a in op.aliases)]
    written |= {a.rpartition(".")[2] for op in alone for a in op.aliases}
    for op in library.ops.values():
        for alias in op.aliases:
            space, name = alias.rsplit(".", 1)
            if space in NAMESPACES:
                put(out.namespaces.setdefault(NAMESPACES[space], {}), name, op)
            if name.endswith("_"):  # a method that works in place, and no other
                put(out.inplace, name, op)
                continue
            if space in ("torch", "Tensor") and is_method(op) and name not in written:
                put(out.methods, name, op)
                if op.pointwise and f"{name}_" not in written and in_place(op):
                    put(out.inplace, f"{name}_", op)
    for name, ops in out.inplace.items():  # what is of another type for truth values than for numbers is refused
        ops[:0] = [op for op in out.methods.get(name[:-1], []) if op.pointwise and is_of_truths(op) and op not in ops]
    return out


def in_place_functions(names: Names) -> dict[str, dict[str, list[OpDef]]]:
    """What ops/in_place.names lists: namespace -> `name_` -> the ops of `name`; ValueError where there are none."""
    found: dict[str, dict[str, list[OpDef]]] = {}
    for space, name in listed(IN_PLACE_FUNCTIONS.read_text(encoding="utf-8")):
        ops = names.inplace.get(name) or names.namespaces.get(space, {}).get(name[:-1], [])
        ops = [op for op in ops if in_place(op)]
        if not ops or not name.endswith("_"):
            raise ValueError(f"{IN_PLACE_FUNCTIONS.name}: there is no op that {space}.{name} could be in place")
        found.setdefault(space, {})[name] = ops
    return found


def listed(text: str) -> list[tuple[str, str]]:
    """The lines of a list of names, a namespace and names of it: (namespace, name), as the package's modules call the
    namespace."""
    found = []
    for line in text.splitlines():
        space, *rest = line.split("#")[0].split() or [""]
        found += [(space.removeprefix("nn."), name) for name in rest]
    return found


def put(table: dict[str, list[OpDef]], name: str, op: OpDef):
    ops = table.setdefault(name, [])
    if op not in ops:
        ops.append(op)


def is_method(op: OpDef) -> bool:
    return bool(op.params) and op.params[0].kind == "tensor" and not op.params[0].optional


def is_of_truths(op: OpDef) -> bool:
    """Whether an op makes other elements of bools alone."""
    return len(op.outputs) == 1 and op.tensors[op.outputs[0]].dtype != "bool" and op.params[0].cls == "Bool"


def in_place(op: OpDef) -> bool:
    """Whether the result can stand in the place of the first argument."""
    return len(op.outputs) == 1 and op.tensors[op.outputs[0]].dtype != "bool" and op.params[0].cls != "Bool"
