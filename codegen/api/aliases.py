"""PyTorch's names: which op or ops a name means, in which namespace, and which are methods.

A name that several ops share is overloaded: at run time the first op whose parameters accept the
arguments runs.  Every op in the root namespace whose first parameter is a tensor is a method as well,
and a pointwise one also in place, as `name_`; `Tensor.name_` is that alone."""

from __future__ import annotations

from dataclasses import dataclass, field

from dsl.opdef import Library, OpDef

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
    """All names of a library; `written`: methods that the runtime has by hand."""
    out = Names()
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
    return out


def put(table: dict[str, list[OpDef]], name: str, op: OpDef):
    ops = table.setdefault(name, [])
    if op not in ops:
        ops.append(op)


def is_method(op: OpDef) -> bool:
    return bool(op.params) and op.params[0].kind == "tensor" and not op.params[0].optional


def in_place(op: OpDef) -> bool:
    """Whether the result can stand in the place of the first argument."""
    return len(op.outputs) == 1 and op.tensors[op.outputs[0]].dtype != "bool" and op.params[0].cls != "Bool"
