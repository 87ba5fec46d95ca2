"""The `map` strategy: one thread stores at each point, or at four neighbours with 128-bit loads.

Also the text of `scatter` kernels, whose stores add atomically."""

from __future__ import annotations

from dataclasses import dataclass

from dsl.ir.dtypes import TYPES, is_floating, is_narrow

from ...data.dtypes import compute_class
from ...data.model import Step
from ...data.names import safe_name
from ...data.nodes import Apply, Binary, Element, Local, Node, Random, mapped, nodes_of
from ..common import common
from ..conversion import WORD_BITS, rounding, stored
from ..lines import points
from ..memory import needed, read_lines, store_lines
from ..positions import decode, on_axes, position
from ..printed import operand, printed
from ..vec4 import take_vec4, vec4_possible, vec4_reads, vec4_values
from ..writer import KernelWriter, bound_name, declarations, element_type, uniform, use

THREADS = 256  # of a workgroup: as many as every device has, since they share nothing


@dataclass
class MapText:
    """What map.wgsl.j2 shows.  lanes: 1 or 4 points a thread; body: statements; helpers: the prelude's text."""

    title: str
    declarations: list[str]
    helpers: str
    threads: int
    body: list[str]


def map_text(k: KernelWriter, title: str, lanes: int) -> MapText:
    """The text for a kernel without a reduction, `lanes` neighbours along the last line to a thread."""
    uniform(k, "points", "u", points(k.outer) // lanes)
    body: list[str] = []
    if lanes == 1:
        body.extend(decode(k, k.outer, "outer", "flat", ""))
        body.extend(place_lines(k, ""))
        body.extend(step_lines(k, ""))
    else:
        body.extend(lane_lines(k))
    return MapText(title, declarations(k), "", THREADS, body)


def place_lines(k: KernelWriter, indent: str) -> list[str]:
    """The place of this point among all, for random draws."""
    return [f"{indent}let place = {place_text(k, 1)};"] if "uniform_random" in k.helpers else []


def place_text(k: KernelWriter, lanes: int) -> str:
    """lanes: the points that the last line counts as one."""
    n = len(k.kernel.accesses)
    terms: list[str] = []
    for d in range(len(k.outer)):
        line = k.outer[d]
        uniform(k, f"place{d}", "u", line.strides[n])
        many = f" * {lanes}u" if lanes > 1 and d == len(k.outer) - 1 else ""
        terms.append(f"{f'outer{d}' if line.name == '' else f'u32({safe_name(line.name)})'}{many} * p.place{d}")
    return " + ".join(terms) if len(terms) > 0 else "0u"


def step_lines(k: KernelWriter, indent: str) -> list[str]:
    """The stores of one point, in order."""
    out: list[str] = []
    done: list[int] = []
    for i in range(len(k.kernel.steps)):
        step = k.kernel.steps[i]
        code = k.code.steps[i]
        kind = step_kind(k, step)
        inside = indent
        out.extend(read_lines(k, [code.pred], done, indent, False))
        own = done
        if code.pred is not None:
            out.append(f"{indent}if ({printed(code.pred)}) {{")
            inside = indent + "  "
            own = done[:]
        out.extend(read_lines(k, [code.body, *k.code.accesses[step.target].index], own, inside, False))
        value = common(code.body, f"common{i}")
        for line in value.lines:
            out.append(inside + line)
        out.extend(put(k, step, named(step, value.formula, out, inside), kind, inside))
        if code.pred is not None:
            out.append(f"{indent}}}")
    return out


def named(step: Step, value: Node, out: list[str], indent: str) -> Node:
    """What a step stores, as a variable where later steps use it, too."""
    if step.name == "":
        return value
    out.append(f"{indent}let {step.name} = {printed(value)};")
    return Local(step.name)


def put(k: KernelWriter, step: Step, value: Node, kind: str, indent: str) -> list[str]:
    if k.kernel.shape == "scatter":
        return atomic_lines(k, step, value, kind, indent)
    return store_lines(k, step.target, value, kind, step.mode, indent)


def step_kind(k: KernelWriter, step: Step) -> str:
    if step.value != "T":
        return step.value
    return compute_class(k.call.dtype)


# --- Four points a thread --------------------------------------------------------------------------


def lanes_possible(k: KernelWriter) -> bool:
    """Whether a thread can take four neighbours along the last line: reads and stores are vec4s, or the same for all
    four."""
    if len(k.outer) == 0 or k.kernel.shape != "map" or not vec4_possible(k, k.outer):
        return False
    for code in k.code.steps:
        if code.pred is not None:
            return False
    last = k.outer[len(k.outer) - 1]
    for step in k.kernel.steps:
        if last.strides[step.target] != 1 or step.mode != "=":
            return False
    return True


def lane_lines(k: KernelWriter) -> list[str]:
    """Reads of four, the formulas for each of them, stores of four."""
    take_vec4(k, k.outer)
    out = decode(k, k.outer, "outer", "flat", "")
    bodies: list[Node | None] = [code.body for code in k.code.steps]
    out.extend(vec4_reads(k, bodies, ""))
    scalar: list[int] = []
    out.extend(read_lines(k, [Element(n) for n in needed(k, bodies) if n not in k.wide], scalar, "", False))
    targets = [step.target for step in k.kernel.steps]
    for n in targets:
        out.append(f"var v{n}: vec4<{element_type(k, k.call.slots[k.kernel.accesses[n].slot].dtype)}>;")
    draws = shared_draws(k, bodies)
    out.extend(place_base(k, draws))
    for lane in range(4):
        out.extend(one_lane(k, lane, bodies, draws))
    for n in targets:
        out.append(f"{bound_name(k, k.kernel.accesses[n].slot)}[{position(k, n)}] = v{n};")
    return out


def shared_draws(k: KernelWriter, bodies: list[Node | None]) -> list[int]:
    """The random draws whose bits four neighbours share, as a generator makes them: all, or none where the places of a
    thread are not four in a row from a multiple of four on."""
    n = len(k.kernel.accesses)
    last = len(k.outer) - 1
    for d in range(len(k.outer)):
        if k.outer[d].strides[n] != 1 if d == last else k.outer[d].strides[n] % 4 != 0:
            return []
    out: list[int] = []
    for body in bodies:
        for e in nodes_of(body):
            match e:
                case Random(draw=draw):
                    if draw not in out:
                        out.append(draw)
    return out


def place_base(k: KernelWriter, draws: list[int]) -> list[str]:
    if "uniform_random" not in k.helpers:
        return []
    out = [f"let first_place = {place_text(k, 4)};"]
    if len(draws) > 0:
        k.helpers = [helper for helper in k.helpers if helper != "uniform_random"]
        use(k, "random_bits")
        use(k, "fraction")
    for draw in draws:
        out.append(f"let bits{draw} = random_bits({draw}u, first_place);")
    return out


def one_lane(k: KernelWriter, lane: int, bodies: list[Node | None], draws: list[int]) -> list[str]:
    """The formulas at one of four neighbours."""
    out: list[str] = ["{"]
    out.extend(vec4_values(k, bodies, lane, "  "))
    if "uniform_random" in k.helpers:
        out.append(f"  let place = first_place + {lane}u * p.place{len(k.outer) - 1};")
    for draw in draws:
        out.append(f"  let draw{draw} = fraction(bits{draw}[{lane}]);")
    for i in range(len(k.kernel.steps)):
        step = k.kernel.steps[i]
        body = k.code.steps[i].body
        value = common(body if len(draws) == 0 else drawn(body), f"common{i}")
        for line in value.lines:
            out.append("  " + line)
        result = named(step, value.formula, out, "  ")
        out.append(
            f"  v{step.target}[{lane}] = "
            f"{stored(result, step_kind(k, step), k.call.slots[k.kernel.accesses[step.target].slot].dtype)};"
        )
    out.append("}")
    return out


def drawn(e: Node) -> Node:
    """A formula that reads its random numbers from variables."""
    match e:
        case Random(draw=draw):
            return Local(f"draw{draw}")
        case _:
            return mapped(e, lambda operand: drawn(operand))


# --- Scatters --------------------------------------------------------------------------------------


def atomic_lines(k: KernelWriter, step: Step, value: Node, kind: str, indent: str) -> list[str]:
    """An atomic `+=`, `*=`, `max=` or `min=` at a place that other threads may change too."""
    slot = k.kernel.accesses[step.target].slot
    if slot not in k.slots:
        return []
    dtype = k.call.slots[slot].dtype
    name = bound_name(k, slot)
    at = k.slots.index(slot)
    holds = on_axes(k, step.target)
    out = [
        f"{indent}{{" if holds == "" else f"{indent}if ({holds}) {{",
        f"{indent}  let at = {position(k, step.target, True)};",
    ]
    if is_floating(dtype):
        k.elements[at] = "atomic<u32>"
        half = TYPES[dtype].word == "f16"
        word_at = "at / 2u" if half else "at"
        old = "unpack2x16float(old)[at % 2u]" if half else "bitcast<f32>(old)"
        number = f"f32({operand(value)})" if kind != "f" else operand(value)
        if step.mode == "max=":
            use(k, "larger")
        if step.mode == "min=":
            use(k, "smaller")
        new = (
            f"{old} + {number}"
            if step.mode == "+="
            else f"{old} * {number}"
            if step.mode == "*="
            else f"larger({old}, {number})"
            if step.mode == "max="
            else f"smaller({old}, {number})"
        )
        if rounding(dtype) != "":
            new = f"{rounding(dtype)}({new})"
        bits = (
            f"pack2x16float(select(vec2(halves.x, {new}), vec2({new}, halves.y), at % 2u == 0u))"
            if half
            else f"bitcast<u32>({new})"
        )
        out.append(f"{indent}  var old = atomicLoad(&{name}[{word_at}]);")
        out.append(f"{indent}  loop {{")
        if half:
            out.append(f"{indent}    let halves = unpack2x16float(old);")
        out.append(f"{indent}    let swap = atomicCompareExchangeWeak(&{name}[{word_at}], old, {bits});")
        out.append(f"{indent}    if (swap.exchanged) {{ break; }}")
        out.append(f"{indent}    old = swap.old_value;")
        out.append(f"{indent}  }}")
    elif (
        step.mode == "*=" and dtype != "bool" or step.mode == "+=" and TYPES[dtype].bits < WORD_BITS and dtype != "bool"
    ):
        k.elements[at] = "atomic<i32>"
        other = Local(stored(value, kind, "int32"))
        new = stored(
            Apply("multiply_checked", [Local("old"), other])
            if step.value == "T" and step.mode == "*="
            else Binary("*" if step.mode == "*=" else "+", Local("old"), Local(f"({other.name})")),
            "i",
            dtype if dtype != "uint32" else "int32",
        )
        out.append(f"{indent}  var old = atomicLoad(&{name}[at]);")
        out.append(f"{indent}  loop {{")
        out.append(f"{indent}    let swap = atomicCompareExchangeWeak(&{name}[at], old, {new});")
        out.append(f"{indent}    if (swap.exchanged) {{ break; }}")
        out.append(f"{indent}    old = swap.old_value;")
        out.append(f"{indent}  }}")
    else:
        checked = step.value == "T" and step.mode == "+=" and not is_narrow(dtype)
        function = "atomicAdd" if step.mode == "+=" else "atomicMax" if step.mode == "max=" else "atomicMin"
        if dtype == "bool":
            function = "atomicOr" if step.mode == "+=" or step.mode == "max=" else "atomicAnd"
        k.elements[at] = f"atomic<{TYPES[dtype].word}>"
        added = stored(value, kind, dtype)
        out.append(
            f"{indent}  _ = add_checked(atomicAdd(&{name}[at], {added}), {added});"
            if checked
            else f"{indent}  {function}(&{name}[at], {added});"
        )
    out.append(f"{indent}}}")
    return out
