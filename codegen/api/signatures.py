"""Parameters and results of an op as TypeScript: types, options interfaces, overloads.

An op with optional parameters has one signature for each number of positional arguments, each with a
trailing options object, as in `conv2d(input, weight, bias, {stride: 2})`.  That object may also hold what is required
but for tensors, `softmax(input, {dim: 1})`: then it must."""

from __future__ import annotations

from dataclasses import dataclass

from dsl.ir.expression import Constant
from dsl.opdef import OpDef, Param

from .names import RESERVED, camel

SCALARS = {
    "num": "number",
    "real": "number",
    "int": "number",
    "bool": "boolean",
    "dim": "number",
    "dims": "number | readonly number[]",
    "ints": "number | readonly number[]",
    "reals": "number | readonly number[]",
    "dtype": "DType",
}


@dataclass(frozen=True)
class Signature:
    """params: (name, type) in order; options: the type of the options object, or ""."""

    params: tuple[tuple[str, str], ...]
    options: str
    needs_options: bool
    result: str

    def text(self, name: str = "", skip: int = 0, result: str = "") -> str:
        """`add(input: Tensor, options?: AddOptions): Tensor`; `skip`: leading parameters left out."""
        args = [f"{n}: {t}" for n, t in self.params[skip:]]
        if self.options:
            args.append(f"options{'' if self.needs_options else '?'}: {self.options}")
        return f"{name}({', '.join(args)}): {result or self.result}"


def type_name(op_name: str) -> str:
    """`max_pool2d` -> `MaxPool2d`."""
    name = camel(op_name)
    return name[0].upper() + name[1:]


def required(p: Param) -> bool:
    return not p.optional and not p.has_default


def param_type(p: Param, op: OpDef) -> str:
    if p.kind == "tensor" and p.keyword and creates(op):
        base = "Tensor | readonly number[]"
    elif p.kind == "tensor":
        base = {"num": "TensorOrNumber", "ints": "Tensor | readonly number[]"}.get(p.instead, "Tensor")
    elif p.kind == "choice":
        base = " | ".join(c if c in ("true", "false") else f'"{c}"' for c in p.choices)
    elif p.kind == "ints" and p.optional:
        base = "number | readonly (number | null)[]"
    else:
        base = SCALARS[p.kind]
    follows = p.has_default and (
        p.default is None if p.kind == "dims" else p.default is not None and not isinstance(p.default, Constant)
    )
    if p.optional or follows:
        return f"{base} | null" if base else "null"  # as if left out
    return base


def positional(op: OpDef) -> list[Param]:
    return [p for p in op.params if not p.keyword]


def optional_params(op: OpDef) -> list[Param]:
    """Those that the options object may hold: all that may be left out, and keywords."""
    return [p for p in op.params if not required(p) or p.keyword]


def creates(op: OpDef) -> bool:
    """Whether a call gives numbers only, so that it may say where the result shall be."""
    return not any(p.kind == "tensor" and not p.keyword for p in op.params)


def options_name(op: OpDef) -> str:
    return f"{type_name(op.name)}Options" if optional_params(op) or creates(op) or op.random else ""


def result_type(op: OpDef) -> str:
    return "Tensor" if len(op.outputs) == 1 else f"{type_name(op.name)}Result" if op.outputs else "void"


def signatures(op: OpDef) -> list[Signature]:
    """From the fewest positional arguments to all of them."""
    params = [(p.name + "_" if p.name in RESERVED else p.name, param_type(p, op)) for p in positional(op)]
    fewest = max([i + 1 for i, p in enumerate(positional(op)) if required(p)], default=0)
    keywords = [p for p in op.params if p.keyword]
    out = []
    for n in range(fewest, len(params) + 1):
        rest = n < len(params) or keywords or creates(op) or op.random
        must = any(required(p) and camel(p.name) == p.name for p in keywords)
        out.append(Signature(tuple(params[:n]), options_name(op) if rest else "", must, result_type(op)))
    return out + by_name(op, params, fewest)


def by_name(op: OpDef, params: list[tuple[str, str]], fewest: int) -> list[Signature]:
    """What is required given by its name: from all that is no tensor to none."""
    out, of = [], positional(op)
    for n in reversed(
        range(max([i + 1 for i, p in enumerate(of) if p.kind == "tensor" and required(p)], default=fewest), fewest)
    ):
        named = "; ".join(f"{p.name}: {param_type(p, op)}" for p in of[n:fewest] if required(p))
        if named:
            out.append(
                Signature(
                    tuple(params[:n]),
                    " & ".join(filter(None, [f"{{ {named} }}", options_name(op)])),
                    True,
                    result_type(op),
                )
            )
    return out


# As otherNames of runtime/base/named-arguments.ts; what must be given is asked for by its own name.
NUMPYS = {"dim": "axis", "keepdim": "keepdims"}


@dataclass(frozen=True)
class Option:
    name: str
    type: str
    optional: bool
    doc: str


def options(op: OpDef, docs: dict[str, str]) -> list[Option]:
    """The members of the options interface, in snake_case and in camelCase."""
    out = []
    for p in optional_params(op):
        name, t = p.name, param_type(p, op)
        both = camel(name) != name
        out.append(Option(name, t, both or not required(p), docs[name]))
        if both:
            out.append(Option(camel(name), t, True, f"The same as `{name}`."))
        if name in NUMPYS and not required(p):
            out.append(Option(NUMPYS[name], t, True, f"NumPy's name for `{name}`."))
    if creates(op):
        out += [
            Option("device", "string | null", True, "Where the result shall be; by default where new tensors are."),
            Option("requires_grad", "boolean", True, "Whether operations on the result are recorded for gradients."),
        ]
    if op.random:
        out.append(
            Option(
                "generator",
                "RandomSource | null",
                True,
                "Where the random numbers come from: a `torch.Generator` in place of the package's own.",
            )
        )
    return out
