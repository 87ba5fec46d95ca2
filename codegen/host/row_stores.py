"""The stores of the `row` strategies: once a row, or at every point of the reduced lines as well."""

from __future__ import annotations

from .common import common
from .held import Held, held_store
from .kernel import Kernel, bound_name, decode, element_type, position, read_lines, store_lines
from .conversion import stored
from .map import step_kind
from .model import Step, StepCode
from .quads import quad_reads, quad_values


def outer_store(k: Kernel, i: int, done: list[int], lanes: int) -> list[str]:
    """A store once a row, by its first lane."""
    step = k.nest.steps[i]
    code = k.code.steps[i]
    out = read_lines(k, [code.body, code.pred, *k.code.accesses[step.target].index], done, "", True)
    formula = common(code.body, f"common{i}")
    out.extend(formula.lines)
    text = formula.text
    if step.name != "":
        out.append(f"let {step.name} = {text};")
        text = step.name
    here = "live" if lanes == 1 else "live && lane == 0u"
    if code.pred != "": here = f"{here} && {code.pred}"
    out.append(f"if ({here}) {{")
    out.extend(store_lines(k, step.target, text, step_kind(k, step), step.mode, "  "))
    out.append("}")
    return out


def inner_store(k: Kernel, i: int, done: list[int], lanes: int) -> list[str]:
    """A store at every point of the reduced lines as well."""
    step = k.nest.steps[i]
    code = k.code.steps[i]
    texts = [code.pred, code.body, *k.code.accesses[step.target].index]
    out = read_lines(k, texts, done, "", True)
    out.append("if (live) {")
    out.append(f"  for (var inner = lane; inner < p.inner_points; inner += {lanes}u) {{")
    out.extend(decode(k, k.reduce, "inner", "inner", "    "))
    if len(k.wide) > 0:
        out.extend(quad_store(k, step, code, texts))
        return [*out, "  }", "}"]
    inside = done[:]
    out.extend(read_lines(k, [code.pred], inside, "    ", False))
    indent = "    "
    if code.pred != "":
        out.append(f"    if ({code.pred}) {{")
        indent = "      "
    out.extend(read_lines(k, texts, inside, indent, False))
    formula = common(code.body, f"common{i}")
    for line in formula.lines: out.append(indent + line)
    out.extend(store_lines(k, step.target, formula.text, step_kind(k, step), step.mode, indent))
    if code.pred != "": out.append("    }")
    out.append("  }")
    out.append("}")
    return out


def inner_store_held(k: Kernel, i: int, done: list[int], held: Held) -> list[str]:
    """A store at every point of what is held."""
    step = k.nest.steps[i]
    out = read_lines(k, [k.code.steps[i].body], done, "", True)
    out.append("if (live) {")
    out.extend(held_store(k, held, i, step_kind(k, step)))
    return [*out, "}"]


def quad_store(k: Kernel, step: Step, code: StepCode, texts: list[str]) -> list[str]:
    """The formula at four neighbours, stored at once."""
    out = quad_reads(k, texts, "    ")
    slot = k.nest.accesses[step.target].slot
    dtype = k.call.slots[slot].dtype
    out.append(f"    var four: vec4<{element_type(k, dtype)}>;")
    formula = common(code.body, "common")
    for lane in range(4):
        out.append("    {")
        out.extend(quad_values(k, texts, lane, "      "))
        for line in formula.lines: out.append("      " + line)
        out.append(f"      four[{lane}] = {stored(formula.text, step_kind(k, step), dtype)};")
        out.append("    }")
    out.append(f"    {bound_name(k, slot)}[{position(k, step.target)}] = four;")
    return out
