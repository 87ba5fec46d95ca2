"""Kernels of a step with what its call decides put in: options, tensors that are not given."""

from __future__ import annotations

from ..data.formulas import formulas_of
from ..data.model import Call, Code, Kernel, Loop, Op, ReadCode, StepCode
from ..data.nodes import Binary, Constant, Element, Index, Node, Option, Select, Unary, mapped, nodes_of
from ..planner.writer import is_bool


def settled_kernel(op: Op, call: Call, kernel: Kernel, code: Code) -> Kernel:
    """A kernel whose formulas know the options of a call."""

    def one(e: Node | None) -> Node | None:
        return None if e is None else settled(op, call, code, kernel, e)

    def condition(e: Node | None) -> Node | None:
        made = one(e)
        return None if made is not None and is_true(made) else made

    accesses = [ReadCode([one(i) for i in a.index], condition(a.guard), one(a.fallback)) for a in code.accesses]
    steps = [StepCode(condition(s.pred), settled(op, call, code, kernel, s.body)) for s in code.steps]
    made = Code(accesses, steps)
    named: list[str] = []
    for e in formulas_of(made):
        for x in nodes_of(e):
            match x:
                case Index(loop=name):
                    named.append(name)
                case _:
                    pass
    if kernel.shape == "scan":
        named = [x.name for x in kernel.loops + kernel.rloops]
    k = kernel
    return Kernel(
        k.shape,
        k.when,
        [Loop(x.name, x.extent, x.pack, x.named and x.name in named) for x in k.loops],
        [Loop(x.name, x.extent, x.pack, x.named and x.name in named) for x in k.rloops],
        k.spread,
        k.accesses,
        k.steps,
        k.left,
        made,
        None,
        k.uniforms,
        k.constants,
        k.reverse,
        k.makes,
        k.number,
    )


def is_absent(call: Call, slot: int) -> bool:
    return slot >= len(call.slots) or not call.slots[slot].given


def is_true(e: Node) -> bool:
    return isinstance(e, Constant) and e.value != 0


def settled(op: Op, call: Call, code: Code, kernel: Kernel, e: Node) -> Node:
    match e:
        case Option(name=name):
            value = call.env[name] if name in call.env else 0
            return Constant("b" if is_bool(op, name) else "i", value)
        case Element(access=n) if is_absent(call, kernel.accesses[n].slot):
            other = code.accesses[n].fallback
            kind = kernel.accesses[n].kind
            zero = Constant("f" if kind == "T" else kind, 0)
            return settled(op, call, code, kernel, other) if other is not None else zero
        case _:
            return folded(mapped(e, lambda x: settled(op, call, code, kernel, x)))


def folded(e: Node) -> Node:
    """A choice whose condition is known is what it chooses."""
    match e:
        case Select(condition=Constant(value=value), yes=yes, no=no):
            return yes if value != 0 else no
        case Unary(operator="!", operand=Constant(value=value)):
            return Constant("b", 0 if value != 0 else 1)
        case Binary(operator="&&", left=Constant(value=value), right=right):
            return right if value != 0 else Constant("b", 0)
        case Binary(operator="&&", left=left, right=Constant(value=value)):
            return left if value != 0 else Constant("b", 0)
        case Binary(operator="||", left=Constant(value=value), right=right):
            return Constant("b", 1) if value != 0 else right
        case Binary(operator="||", left=left, right=Constant(value=value)):
            return Constant("b", 1) if value != 0 else left
        case Binary(operator="==", left=Constant(value=a), right=Constant(value=b)):
            return Constant("b", 1 if a == b else 0)
        case Binary(operator="!=", left=Constant(value=a), right=Constant(value=b)):
            return Constant("b", 0 if a == b else 1)
        case _:
            return e
