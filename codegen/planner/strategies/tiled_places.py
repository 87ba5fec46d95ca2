"""Where the elements of a tile lie, and whether they count: what a thread's row or column alone decides is computed
before the loop over the depth, and what is left is the same for all threads that load the same points of it."""

from __future__ import annotations

from ...data.nodes import Binary, Constant, Node, Uniform, mapped, same
from ..affine import Affine, affine
from ..lines import Line
from ..positions import computed_indices, position, uniform_name, variable
from ..printed import printed, unsigned
from ..writer import KernelWriter, is_bound, uniform_value


def split_position(k: KernelWriter, batch: int, n: int, suffix: str) -> list[str]:
    """The element of access n as two sums: of the batch and a row or column, whose variables have a suffix, and of the
    depth; [] where it is no such sum.  batch: how many of the outer lines are the batch's."""
    if not is_bound(k, n):
        return []
    own = [f"p.{uniform_name(k, f'at{n}', k.r.offsets[n])}"]
    along: list[str] = []
    for d in range(len(k.outer)):
        own.extend(moved_by(k, n, k.outer[d], "outer", d, suffix if d >= batch else ""))
    for d in range(len(k.reduce)):
        along.extend(moved_by(k, n, k.reduce[d], "inner", d, ""))
    for computed in computed_indices(k, n):
        if computed.step == 0:
            continue
        form = affine(computed.formula, lambda name: uniform_value(k, name), None)
        if form is None:
            return []
        outer = named_terms(form, k.outer, batch, "outer", suffix)
        inner = named_terms(form, k.reduce, len(k.reduce), "inner", "")
        if len(outer) + len(inner) < len([name for name in form.factors if name != "" and form.factors[name] != 0]):
            return []
        if form.factors[""] != 0:
            outer.append(str(form.factors[""]))
        stride = f"p.{uniform_name(k, f'step{n}_{computed.axis}', computed.step)}"
        if len(outer) > 0:
            own.append(f"u32({' + '.join(outer)}) * {stride}")
        if len(inner) > 0:
            along.append(f"u32({' + '.join(inner)}) * {stride}")
    return [" + ".join(own), " + ".join(along)]


def moved_by(k: KernelWriter, n: int, line: Line, stem: str, d: int, suffix: str) -> list[str]:
    if line.strides[n] == 0:
        return []
    name = f"{variable(line, stem, d)}{suffix}"
    stride = uniform_name(k, f"{k.prefix}{stem}_stride{n}_{d}", line.strides[n])
    return [f"{name if line.name == '' else f'u32({name})'} * p.{stride}"]


def named_terms(form: Affine, lines: list[Line], batch: int, stem: str, suffix: str) -> list[str]:
    """The loops among the lines in a sum, times their numbers."""
    out: list[str] = []
    for d in range(len(lines)):
        by = form.factors.get(lines[d].name, 0) if lines[d].name != "" else 0
        if by != 0:
            name = f"{variable(lines[d], stem, d)}{suffix if d >= batch else ''}"
            out.append(name if by == 1 else f"{name} * {by}")
    return out


def place_of(k: KernelWriter, n: int, places: dict[int, str]) -> str:
    """The element of access n: what is known of it, else all of its position."""
    return places[n] if n in places else position(k, n)


def counts(k: KernelWriter, condition: Node) -> str:
    """A condition that is evaluated as a whole.  Whether a number is at least 0 and below a size is one comparison of
    bits."""
    parts = conjuncts(condition)
    out: list[str] = []
    n = 0
    while n < len(parts):
        pair = within(k, parts[n], parts[n + 1]) if n + 1 < len(parts) else ""
        out.append(f"({pair if pair != '' else printed(without_branches(parts[n]))})")
        n += 2 if pair != "" else 1
    return " & ".join(out)


def conjuncts(condition: Node) -> list[Node]:
    match condition:
        case Binary(operator="&&", left=left, right=right):
            return conjuncts(left) + conjuncts(right)
        case _:
            return [condition]


def within(k: KernelWriter, low: Node, high: Node) -> str:
    """0 <= e and e < n as one comparison; "" where conditions are others, or n is not known to be a size."""
    at_least = not_negative(low)
    if at_least is None:
        return ""
    match high:
        case Binary(operator="<", left=e, right=end):
            if not same(e, at_least):
                return ""
            return f"{unsigned(at_least)} < {unsigned(end)}" if is_size(k, end) else ""
        case _:
            return ""


def not_negative(condition: Node) -> Node | None:
    """What a condition says to be at least 0; None where it says something else."""
    match condition:
        case Binary(operator="<=", left=Constant(value=0), right=e):
            return e
        case Binary(operator=">=", left=e, right=Constant(value=0)):
            return e
        case _:
            return None


def is_size(k: KernelWriter, e: Node) -> bool:
    match e:
        case Constant(value=value):
            return value >= 0
        case Uniform(name=name):
            known = uniform_value(k, name)
            return known is not None and known >= 0
        case _:
            return False


def without_branches(condition: Node) -> Node:
    """A condition that is evaluated as a whole."""
    match condition:
        case Binary(operator="&&", left=left, right=right):
            return Binary("&", without_branches(left), without_branches(right))
        case Binary(operator="||", left=left, right=right):
            return Binary("|", without_branches(left), without_branches(right))
        case _:
            return mapped(condition, without_branches)


def power_from(size: int) -> int:
    """The least power of two that is no less.  A remainder by it says that an XOR of smaller numbers is smaller, too:
    Tint knows the range of a remainder, a sum or a product, and leaves out the check of an index of workgroup memory
    that cannot fail; a GPU's compiler then leaves out the remainder."""
    power = 1
    while power < size:
        power = power * 2
    return power
