"""Formulas of one kernel among those of another."""

from __future__ import annotations

from ..data.formulas import needed_accesses
from ..data.model import Code, Kernel, ReadCode, Step, StepCode
from ..data.nodes import (
    Apply,
    Binary,
    Constant,
    Element,
    Node,
    Result,
    Rounded,
    Select,
    Uniform,
    mapped,
    nodes_of,
    replaced,
)

MOST_NODES = 400  # of a formula: what is put in twice is written twice


def renamed(e: Node, elements: dict[int, Node], results: list[Node], prefix: str) -> Node:
    """The formula of a map in another kernel.  elements: what stands for its accesses; results: for its steps."""
    match e:
        case Element(access=n):
            return elements[n]
        case Result(step=n):
            return results[n]
        case Uniform(name=name) if name != "inf" and name != "nan":
            return Uniform(prefix + name)
        case _:
            return mapped(e, lambda x: renamed(x, elements, results, prefix))


def as_read(value: Node, kind: str, dtype: str, wanted: str) -> Node | None:
    """What is read of a tensor of a type where a value of a kind was stored; None where that is no formula."""
    if dtype == "float32":
        if kind == "f" and wanted == "f":
            return Rounded(value)
        if kind == "b" and wanted == "f":
            return Select(value, Constant("f", 1), Constant("f", 0))
        return None
    if dtype == "bool" and kind == "b":
        return value if wanted == "b" else Select(value, Constant(wanted, 1), Constant(wanted, 0))
    if dtype == "int32" and kind == "i" and wanted == "i":
        return value
    return None


def is_zero(e: Node) -> bool:
    match e:
        case Rounded(operand=operand):
            return is_zero(operand)
        case Constant(kind="f", value=0):
            return True
        case _:
            return False


def without_zeros(e: Node) -> Node:
    """A formula whose products with 0, which another kernel has stored, are NaN where their other factor is not finite:
    a compiler may take `0 * x` for 0."""
    made = mapped(e, without_zeros)
    match made:
        case Binary(operator="*", left=left, right=right):
            if is_zero(left):
                return Apply("nothing_of", [right])
            return Apply("nothing_of", [left]) if is_zero(right) else made
        case _:
            return made


def short(code: Code) -> bool:
    """Whether no formula has become too long."""
    return all(len(nodes_of(s.body)) <= MOST_NODES for s in code.steps)


def put_in(code: Code, n: int, by: Node) -> Code:
    """The formulas of a kernel with another in the place of an access's element."""

    def one(e: Node | None) -> Node | None:
        return None if e is None else replaced(e, Element(n), by)

    accesses = [ReadCode([one(i) for i in a.index], one(a.guard), one(a.fallback)) for a in code.accesses]
    return Code(accesses, [StepCode(one(s.pred), replaced(s.body, Element(n), by)) for s in code.steps])


def moved(e: Node | None, accesses: list[int], steps: list[int]) -> Node | None:
    return None if e is None else numbered(e, accesses, steps)


def numbered(e: Node, accesses: list[int], steps: list[int]) -> Node:
    """A formula by the new numbers of accesses and steps."""
    match e:
        case Element(access=n):
            return Element(accesses[n])
        case Result(step=n):
            return Result(steps[n])
        case _:
            return mapped(e, lambda x: numbered(x, accesses, steps))


def trimmed(kernel: Kernel, code: Code, drop: int) -> Kernel:
    """A kernel without step `drop` (-1: with all), without accesses that nothing uses."""
    kept = [n for n in range(len(kernel.steps)) if n != drop]
    needed = needed_accesses([kernel.steps[n] for n in kept], [code.steps[n] for n in kept], code.accesses)
    accesses = [needed.index(n) if n in needed else -1 for n in range(len(kernel.accesses))]
    numbers = [kept.index(n) if n in kept else -1 for n in range(len(kernel.steps))]
    used: list[int] = []
    for formulas in code.steps:
        for x in [*nodes_of(formulas.body), *nodes_of(formulas.pred)]:
            match x:
                case Result(step=n):
                    used.append(n)
                case _:
                    pass
    steps: list[Step] = []
    for n in kept:
        s = kernel.steps[n]
        target = -1 if s.target < 0 else accesses[s.target]
        name = f"acc{numbers[n]}" if s.name != "" or n in used else ""
        steps.append(Step(s.kind, name, s.red, s.value, s.inner, target, s.mode, s.compared))
    reads: list[ReadCode] = []
    for n in needed:
        a_code = code.accesses[n]
        reads.append(
            ReadCode(
                [moved(i, accesses, numbers) for i in a_code.index],
                moved(a_code.guard, accesses, numbers),
                moved(a_code.fallback, accesses, numbers),
            )
        )
    bodies = [
        StepCode(moved(code.steps[n].pred, accesses, numbers), numbered(code.steps[n].body, accesses, numbers))
        for n in kept
    ]
    k = kernel
    return Kernel(
        k.shape,
        k.when,
        k.loops,
        k.rloops,
        k.spread,
        [k.accesses[n] for n in needed],
        steps,
        [accesses[n] for n in k.left if accesses[n] >= 0],
        Code(reads, bodies),
        None,
        k.uniforms,
        k.constants,
        k.reverse,
        k.makes,
        k.number,
    )
