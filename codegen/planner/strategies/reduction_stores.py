"""The stores of the `reduce` strategies: once a row, or at every point of the reduced lines as well."""

from __future__ import annotations

from ...data.model import Step, StepCode
from ...data.nodes import Node
from ..common import common
from ..conversion import stored
from ..memory import read_lines, store_lines
from ..positions import decode, position
from ..printed import operand, printed
from ..vec4 import vec4_reads, vec4_values
from ..writer import KernelWriter, bound_name, element_type
from .map import named, step_kind
from .register_cache import RegisterCache, cache_store


def outer_store(k: KernelWriter, i: int, done: list[int], lanes: int, condition: str) -> list[str]:
    """A store once a row, by its first lane.  condition: where, "" everywhere."""
    step = k.kernel.steps[i]
    code = k.code.steps[i]
    out = read_lines(k, [code.body, code.pred, *k.code.accesses[step.target].index], done, "", True)
    value = common(code.body, f"common{i}")
    out.extend(value.lines)
    result = named(step, value.formula, out, "")
    here = "live" if lanes == 1 else "live && lane == 0u"
    if condition != "":
        here = f"{here} && {condition}"
    if code.pred is not None:
        here = f"{here} && {operand(code.pred)}"
    out.append(f"if ({here}) {{")
    out.extend(store_lines(k, step.target, result, step_kind(k, step), step.mode, "  "))
    out.append("}")
    return out


def inner_store(k: KernelWriter, i: int, done: list[int], lanes: int, begin: str, end: str) -> list[str]:
    """A store at every point of the reduced lines as well, from `begin` to `end`."""
    step = k.kernel.steps[i]
    code = k.code.steps[i]
    formulas: list[Node | None] = [code.pred, code.body, *k.code.accesses[step.target].index]
    out = read_lines(k, formulas, done, "", True)
    out.append("if (live) {")
    out.append(f"  for (var inner = {begin}; inner < {end}; inner += {lanes}u) {{")
    out.extend(decode(k, k.reduce, "inner", "inner", "    "))
    if len(k.wide) > 0:
        out.extend(vec4_store(k, step, code, formulas))
        return [*out, "  }", "}"]
    inside = done[:]
    out.extend(read_lines(k, [code.pred], inside, "    ", False))
    indent = "    "
    if code.pred is not None:
        out.append(f"    if ({printed(code.pred)}) {{")
        indent = "      "
    out.extend(read_lines(k, formulas, inside, indent, False))
    value = common(code.body, f"common{i}")
    for line in value.lines:
        out.append(indent + line)
    out.extend(store_lines(k, step.target, value.formula, step_kind(k, step), step.mode, indent))
    if code.pred is not None:
        out.append("    }")
    out.append("  }")
    out.append("}")
    return out


def inner_store_cached(k: KernelWriter, i: int, done: list[int], cache: RegisterCache) -> list[str]:
    """A store at every point of what is in registers."""
    step = k.kernel.steps[i]
    out = read_lines(k, [k.code.steps[i].body], done, "", True)
    out.append("if (live) {")
    out.extend(cache_store(k, cache, i, step_kind(k, step)))
    return [*out, "}"]


def vec4_store(k: KernelWriter, step: Step, code: StepCode, formulas: list[Node | None]) -> list[str]:
    """The formula at four neighbours, stored at once."""
    out = vec4_reads(k, formulas, "    ")
    slot = k.kernel.accesses[step.target].slot
    dtype = k.call.slots[slot].dtype
    out.append(f"    var four: vec4<{element_type(k, dtype)}>;")
    value = common(code.body, "common")
    for lane in range(4):
        out.append("    {")
        out.extend(vec4_values(k, formulas, lane, "      "))
        for line in value.lines:
            out.append("      " + line)
        out.append(f"      four[{lane}] = {stored(value.formula, step_kind(k, step), dtype)};")
        out.append("    }")
    out.append(f"    {bound_name(k, slot)}[{position(k, step.target)}] = four;")
    return out
