"""Where a kernel's points are: the variables of its loops, and the element of each access there."""

from __future__ import annotations

from dataclasses import dataclass

from ..data.names import safe_name
from ..data.nodes import BoundsCheck, Constant, Node, elements_of
from .lines import Line
from .printed import operand, printed, unsigned
from .writer import KernelWriter, Patch, uniform


def variable(line: Line, stem: str, d: int) -> str:
    return safe_name(line.name) if line.name != "" else f"{stem}{d}"


def decode(k: KernelWriter, lines: list[Line], stem: str, flat: str, indent: str) -> list[str]:
    """A flat index taken apart into the variables of the lines, the last one fastest."""
    out: list[str] = []
    rest = flat
    if len(lines) > 1:
        out.append(f"{indent}var {stem}_rest = {flat};")
        rest = f"{stem}_rest"
    for n in range(len(lines)):
        d = len(lines) - 1 - n
        line = lines[d]
        text = rest
        size = ""
        if d > 0:
            size = size_text(k, f"{stem}_size{d}", line)
            text = f"{rest} % {size}"
        out.append(f"{indent}let {variable(line, stem, d)} = {text if line.name == '' else f'i32({text})'};")
        if d > 0:
            out.append(f"{indent}{rest} /= {size};")
    return out


SHORT = 16  # a window's length up to this is a constant of the text: division by it is cheap


def size_text(k: KernelWriter, name: str, line: Line) -> str:
    """The size of a line in the text: a constant for a short named loop (a window), else a uniform."""
    if line.name != "" and line.size > 0 and line.size <= SHORT:
        return f"{line.size}u"
    return f"p.{uniform_name(k, k.prefix + name, line.size)}"


@dataclass
class ComputedIndex:
    """An index of an access that a formula gives, of an axis with this step and length."""

    axis: int
    formula: Node
    step: int
    length: int


def computed_indices(k: KernelWriter, n: int) -> list[ComputedIndex]:
    """The indices of access n that are no loops of their own."""
    access = k.kernel.accesses[n]
    out: list[ComputedIndex] = []
    place = 0
    for i in range(len(access.axes)):
        if access.axes[i] != "":
            if is_named(k, access.axes[i]):
                place += 1
            continue
        index = k.code.accesses[n].index[i]
        if index is not None:
            out.append(ComputedIndex(i, index, k.r.steps[n][place], k.r.lengths[n][place]))
        place += 1
    return out


def position(k: KernelWriter, n: int, stores: bool = False) -> str:
    """The element of access n, as u32.  stores: where `on_axes` holds."""
    terms: list[str] = [f"p.{uniform_name(k, f'at{n}', k.r.offsets[n])}"]
    for d in range(len(k.outer)):
        terms.extend(term(k, n, k.outer[d], "outer", d))
    for d in range(len(k.reduce)):
        terms.extend(term(k, n, k.reduce[d], "inner", d))
    for computed in computed_indices(k, n):
        i = computed.axis
        index = computed.formula
        step = computed.step
        if is_zero(index):
            continue
        named = len(elements_of(index)) > 0
        if named and not stores and isinstance(index, BoundsCheck) and not index.stores and k.fault >= 0:
            end = uniform_name(k, f"length{n}_{i}", computed.length)
            terms.append(f"check_bounds({printed(index)}, p.{end}) * p.{uniform_name(k, f'step{n}_{i}', step)}")
            continue
        if not named and step == 0:
            continue
        text = unsigned(index)
        if named and not stores:  # stores are left out instead: see on_axes
            if step == 0:
                continue
            last = uniform_name(k, f"last{n}_{i}", max(computed.length - 1, 0))
            text = f"u32(clamp({operand(index)}, 0, i32(p.{last})))"
        terms.append(f"{text} * p.{uniform_name(k, f'step{n}_{i}', step)}")
    return " + ".join(terms)


def is_zero(e: Node) -> bool:
    return isinstance(e, Constant) and e.value == 0


def on_axes(k: KernelWriter, n: int) -> str:
    """Whether the indices that elements give for a store at access n are on their axes; "" where elements give none.  A
    store that is off its axis is left out, and reported where there is room for that."""
    terms: list[str] = []
    for computed in computed_indices(k, n):
        index = computed.formula
        if len(elements_of(index)) == 0:
            continue
        end = f"p.{uniform_name(k, f'length{n}_{computed.axis}', computed.length)}"
        reported = isinstance(index, BoundsCheck) and index.stores and k.fault >= 0
        terms.append(f"in_bounds({printed(index)}, {end})" if reported else f"{unsigned(index)} < {end}")
    return " && ".join(terms)


def patch_position(patch: Patch) -> str:
    """The element of a patch, as i32."""
    terms: list[str] = []
    for i in range(len(patch.indices)):
        text = f"({operand(patch.indices[i])} - {patch.lows[i]})"
        terms.append(text if patch.pitches[i] == 1 else f"{text} * {patch.pitches[i]}")
    return " + ".join(terms)


def is_named(k: KernelWriter, name: str) -> bool:
    for loop in k.kernel.loops + k.kernel.rloops:
        if loop.name == name:
            return loop.named
    return False


def term(k: KernelWriter, n: int, line: Line, stem: str, d: int) -> list[str]:
    if line.strides[n] == 0:
        return []
    name = variable(line, stem, d)
    return [
        f"{name if line.name == '' else f'u32({name})'} * "
        f"p.{uniform_name(k, f'{k.prefix}{stem}_stride{n}_{d}', line.strides[n])}"
    ]


def uniform_name(k: KernelWriter, name: str, value: int) -> str:
    uniform(k, name, "u", value)
    return name
