"""Parts of formulas that only options and sizes decide, computed once on the host.

`1 - beta2 ** step` in a kernel would be computed again for every element, and in single floats.  Each such part
becomes a uniform; the host evaluates it in doubles."""

from __future__ import annotations

from dataclasses import replace

from dsl.ir.builders import sym
from dsl.ir.expression import Binary, Call, Constant, E, Symbol, Unary
from dsl.ir.rewriting import mapped

from .context import KernelContext
from .kernel import Kernel

FUNCTIONS = {"sqrt", "exp", "log", "abs", "floor", "ceil", "min", "max"}


def hoisted(op: KernelContext, kernel: Kernel) -> tuple[Kernel, dict[str, E]]:
    """The kernel with uniforms in place of such parts, and what each uniform is."""
    uniforms: dict[E, str] = {}

    def known(e: E) -> bool:
        match e:
            case Constant(kind, _):
                return kind != "b"
            case Symbol(name):
                return (
                    not op.is_presence(name)
                    and op.options.get(name, "int") in ("int", "real")
                    and name not in ("inf", "nan")
                )
            case Call(name, operands):
                return name in FUNCTIONS and all(known(x) for x in operands)
            case Unary("-", operand):
                return known(operand)
            case Binary("+" | "-" | "*" | "/" | "**", left, right):
                return known(left) and known(right)
            case _:
                return False

    def visit(e: E) -> E:
        if not e.parts():
            return e
        if known(e) and e.symbols and real(e, op.options):
            return sym(uniforms.setdefault(e, f"host{len(uniforms)}_"))
        return mapped(e, visit)

    steps = tuple(
        [replace(s, body=visit(s.body), pred=None if s.pred is None else visit(s.pred)) for s in kernel.steps]
    )
    return replace(kernel, steps=steps), {name: e for e, name in uniforms.items()}


def real(e: E, kinds: dict[str, str]) -> bool:
    """Whether e is a float: it has an option or a constant that is, or an operation that makes one."""
    match e:
        case Constant(kind, _):
            return kind == "f"
        case Symbol(name):
            return kinds.get(name) == "real"
        case Binary("/", _, _) | Call("sqrt" | "exp" | "log", _):
            return True
        case _:
            return any(real(p, kinds) for p in e.parts())
