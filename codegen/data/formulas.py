"""The formulas of a kernel: all there are, and the accesses that they read."""

from __future__ import annotations

from dsl.ir.dtypes import is_rounded

from .model import Code, Env, ReadCode, Step, StepCode
from .nodes import (
    Apply,
    Binary,
    Constant,
    Element,
    Node,
    Option,
    Rounded,
    Select,
    Uniform,
    children,
    elements_of,
    mapped,
    nodes_of,
)


def formulas_of(code: Code) -> list[Node | None]:
    """All formulas of a kernel."""
    out: list[Node | None] = []
    for a in code.accesses:
        out.extend([*a.index, a.guard, a.fallback])
    for s in code.steps:
        out.extend([s.pred, s.body])
    return out


def settled_in(code: Code, dtype: str) -> Code:
    """The formulas where T is a type: what is rounded to it there."""
    found = False
    for e in formulas_of(code):
        found = found or any(is_stored(x) for x in nodes_of(e))
    if not found:
        return code

    def one(e: Node | None) -> Node | None:
        return None if e is None else rounded_to(e, dtype)

    accesses = [ReadCode([one(i) for i in a.index], one(a.guard), one(a.fallback)) for a in code.accesses]
    return Code(accesses, [StepCode(one(s.pred), rounded_to(s.body, dtype)) for s in code.steps])


def is_stored(e: Node) -> bool:
    match e:
        case Apply(name="stored_of"):
            return True
        case _:
            return False


def rounded_to(e: Node, dtype: str) -> Node:
    match e:
        case Apply(name="stored_of", operands=[operand]):
            inner = rounded_to(operand, dtype)
            if is_rounded(dtype):
                return Apply("to_" + dtype, [inner])
            return Rounded(inner) if dtype == "float32" else inner
        case _:
            return mapped(e, lambda x: rounded_to(x, dtype))


def needed_accesses(steps: list[Step], formulas: list[StepCode], reads: list[ReadCode]) -> list[int]:
    """The accesses that steps store or their formulas read, and those that these read for an index, in order."""
    needed = [False for _ in reads]
    todo: list[int] = []
    for n in range(len(steps)):
        todo.extend(elements_of(formulas[n].body))
        todo.extend(elements_of(formulas[n].pred))
        if steps[n].target >= 0:
            todo.append(steps[n].target)
    while len(todo) > 0:
        access = todo.pop()
        if needed[access]:
            continue
        needed[access] = True
        own = reads[access]
        for e in [*own.index, own.guard, own.fallback]:
            todo.extend(elements_of(e))
    return [n for n in range(len(needed)) if needed[n]]


def chosen_accesses(formulas: list[StepCode], env: Env) -> list[int]:
    """The accesses that formulas read with the options of a call: of a choice by an option only one branch."""
    out: list[int] = []
    for s in formulas:
        add_chosen(s.body, env, out)
        if s.pred is not None:
            add_chosen(s.pred, env, out)
    return out


def add_chosen(e: Node, env: Env, out: list[int]) -> None:
    match e:
        case Element(access=n):
            out.append(n)
        case Select(condition=Option(name=name), yes=yes, no=no):
            add_chosen(yes if name in env and env[name] != 0 else no, env, out)
        case Select(
            condition=Binary(operator="==", left=Uniform(name=name), right=Constant(value=value)), yes=yes, no=no
        ) if name in env:
            add_chosen(yes if env[name] == value else no, env, out)
        case _:
            for x in children(e):
                add_chosen(x, env, out)
