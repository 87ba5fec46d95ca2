"""Options as constants in a kernel: strides, paddings and dilations of windows are few and small.

Division by a constant needs no test for 0 and, where it is 1, no division at all.  What is read and when stays as it
was."""

from __future__ import annotations

from ..data.model import Call, Code, Env, Kernel, Op, ReadCode, StepCode
from ..data.nodes import Apply, Constant, Division, Node, Uniform, mapped

LARGEST = 64  # an option that becomes a constant: a larger one is no stride of a window, and each makes a kernel


def windowed(kernel: Kernel) -> bool:
    """Whether the kernel sums over loops that arithmetic uses."""
    return any(loop.named for loop in kernel.rloops)


def constant_options(op: Op, kernel: Kernel, call: Call) -> dict[str, int]:
    """The uniforms of a windowed kernel that are small whole options, with their values."""
    out: dict[str, int] = {}
    if not windowed(kernel):
        return out
    for w in kernel.uniforms:
        if w.kind != "i" or w.value is not None or w.name not in call.env:
            continue
        for param in op.params:
            if param.kind != "ints" and param.kind != "int":
                continue
            if w.name != param.name and (param.kind == "int" or not is_component(w.name, param.name, call.env)):
                continue
            value = call.env[w.name]
            if value >= 0 and value <= LARGEST:
                out[w.name] = int(value)
    return out


def is_component(name: str, option: str, env: Env) -> bool:
    """Whether a name is that of a number of an option that is a list: its own, and its place in it."""
    n = 0
    while f"{option}{n}" in env:
        if name == f"{option}{n}":
            return True
        n += 1
    return False


def with_constants(code: Code, constants: dict[str, int]) -> Code:
    """The formulas of a kernel with numbers in place of these uniforms."""
    accesses = [
        ReadCode([known(i, constants) for i in a.index], known(a.guard, constants), known(a.fallback, constants))
        for a in code.accesses
    ]
    return Code(accesses, [StepCode(known(s.pred, constants), put_in(s.body, constants)) for s in code.steps])


def known(e: Node | None, constants: dict[str, int]) -> Node | None:
    return None if e is None else put_in(e, constants)


def put_in(e: Node, constants: dict[str, int]) -> Node:
    match e:
        case Uniform(name=name) if name in constants:
            return Constant("i", constants[name])
        case _:
            return divided(mapped(e, lambda operand: put_in(operand, constants)))


def divided(e: Node) -> Node:
    """A division by a positive constant, written out."""
    match e:
        case Apply(name="floor_divide_int", operands=[dividend, Constant(value=by)]) if by > 0:
            return dividend if by == 1 else Division("//", dividend, int(by))
        case Apply(name="remainder_int", operands=[dividend, Constant(value=by)]) if by > 0:
            return Constant("i", 0) if by == 1 else Division("%", dividend, int(by))
        case _:
            return e
