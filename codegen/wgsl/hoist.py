"""Parts of formulas that only options and sizes decide, computed once on the host.

`1 - beta2 ** step` in a kernel would be computed again for every element, and in single floats.  Each such part
becomes a word of the uniform; the host evaluates it in doubles."""

from __future__ import annotations

from dataclasses import replace

from dsl.expression import E, sym, walk
from dsl.opdef import OpDef, Presence, symbol

from ..nests import Nest

OPERATORS = {"+", "-", "*", "/", "**", "neg"}
FUNCTIONS = {"sqrt", "exp", "log", "abs", "floor", "ceil", "min", "max"}


def hoisted(op: OpDef, nest: Nest) -> tuple[Nest, dict[str, E]]:
    """The nest with words in place of such parts, and what each word is."""
    kinds = {symbol(p.name): p.kind for p in op.params}
    words: dict[E, str] = {}

    def known(e: E) -> bool:
        if e.op == "const":
            return not isinstance(e.val, bool)
        if e.op == "sym":
            return (
                not e.val.startswith(Presence)
                and kinds.get(e.val, "int") in ("int", "real")
                and e.val not in ("inf", "nan")
            )
        if e.op == "call":
            return e.val in FUNCTIONS and all(map(known, e.args))
        return e.op in OPERATORS and all(map(known, e.args))

    def real(e: E) -> bool:
        """Whether e is a float: it has an option or a constant that is, or an operation that makes one."""
        return any(
            n.op == "/"
            or n.op == "call"
            and n.val in ("sqrt", "exp", "log")
            or n.op == "const"
            and isinstance(n.val, float)
            or n.op == "sym"
            and kinds.get(n.val) == "real"
            for n in walk(e)
        )

    def visit(e: E | None) -> E | None:
        if e is None or not e.args:
            return e
        if known(e) and real(e) and any(n.op == "sym" for n in walk(e)):
            return sym(words.setdefault(e, f"host{len(words)}_"))
        return E(e.op, tuple(visit(a) for a in e.args), e.val)

    steps = tuple(replace(s, body=visit(s.body), pred=visit(s.pred)) for s in nest.steps)
    return replace(nest, steps=steps), {name: e for e, name in words.items()}
