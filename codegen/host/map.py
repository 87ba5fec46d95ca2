"""The `map` strategy: one thread stores at each point, or at four neighbours with 128-bit loads.

Also the text of `scatter` nests, whose stores add atomically."""

from __future__ import annotations

from dataclasses import dataclass

from .kernel import (Kernel, access_kind, bound_name, converted, declarations, decode, element_type, holes, is_bound, needed,
                     position, read_lines, store_lines, stored, use, word)
from .lines import Line, points
from .model import Step

THREADS = 256


@dataclass
class MapText:
    """What map.wgsl.j2 shows.  lanes: 1 or 4 points a thread; body: statements; helpers: the prelude's text."""
    title: str
    declarations: list[str]
    helpers: str
    threads: int
    body: list[str]


def map_text(k: Kernel, title: str, lanes: int) -> MapText:
    """The text for a nest without a reduction, `lanes` neighbours along the last line to a thread."""
    word(k, "points", "u", points(k.outer) // lanes)
    body: list[str] = []
    if lanes == 1:
        body.extend(decode(k, k.outer, "outer", "flat", ""))
        body.extend(place_lines(k, ""))
        body.extend(step_lines(k, ""))
    else: body.extend(lane_lines(k))
    return MapText(title, declarations(k), "", THREADS, body)


def place_lines(k: Kernel, indent: str) -> list[str]:
    """The place of this point among all, for random draws."""
    if "uniform_random" not in k.helpers: return []
    n = len(k.nest.accesses)
    terms: list[str] = []
    for d in range(len(k.outer)):
        line = k.outer[d]
        word(k, f"place{d}", "u", line.strides[n])
        terms.append(f"{f'outer{d}' if line.name == '' else f'u32({line.name})'} * p.place{d}")
    return [f"{indent}let place = {' + '.join(terms) if len(terms) > 0 else '0u'};"]


def step_lines(k: Kernel, indent: str) -> list[str]:
    """The stores of one point, in order."""
    out: list[str] = []
    done: list[int] = []
    for i in range(len(k.nest.steps)):
        step = k.nest.steps[i]
        code = k.code.steps[i]
        kind = step_kind(k, step)
        inside = indent
        out.extend(read_lines(k, [code.pred], done, indent, False))
        own = done
        if code.pred != "":
            out.append(f"{indent}if ({code.pred}) {{")
            inside = indent + "  "
            own = done[:]
        out.extend(read_lines(k, [code.body, *k.code.accesses[step.target].index], own, inside, False))
        text = code.body
        if step.name != "":
            out.append(f"{inside}let {step.name} = {text};")
            text = step.name
        out.extend(put(k, step, text, kind, inside))
        if code.pred != "": out.append(f"{indent}}}")
    return out


def put(k: Kernel, step: Step, text: str, kind: str, indent: str) -> list[str]:
    if k.nest.shape == "scatter": return atomic_lines(k, step, text, kind, indent)
    return store_lines(k, step.target, text, kind, step.mode, indent)


def step_kind(k: Kernel, step: Step) -> str:
    if step.value != "T": return step.value
    return "f" if k.call.dtype.startswith("float") else "i"


# --- Four points a thread --------------------------------------------------------------------------


def lanes_possible(k: Kernel) -> bool:
    """Whether every access takes four neighbours along the last line at once: stride 1 and aligned, or stride 0."""
    if len(k.outer) == 0 or k.nest.shape != "map" or k.call.dtype == "float16": return False
    last = k.outer[len(k.outer) - 1]
    if last.name != "" or last.size % 4 != 0: return False
    for code in k.code.steps:
        if code.pred != "": return False
    for code in k.code.accesses:
        if len(holes(code.guard)) > 0: return False
        for text in code.index:
            if text != "": return False
    for n in range(len(k.nest.accesses)):
        if not is_bound(k, n): continue
        slot = k.nest.accesses[n].slot
        if k.call.slots[slot].dtype == "float16": return False
        stride = last.strides[n]
        if stride != 0 and stride != 1: return False
        for m in range(len(k.nest.accesses)):           # one binding has one type of elements
            if k.nest.accesses[m].slot == slot and k.outer[len(k.outer) - 1].strides[m] != stride: return False
        if stride == 0: continue
        if k.code.accesses[n].guard != "" or k.r.offsets[n] % 4 != 0: return False
        for line in k.outer:
            if line.name != "" or line.strides[n] % 4 != 0 and line.strides[n] != 1: return False
    for step in k.nest.steps:
        if last.strides[step.target] != 1 or step.mode != "=": return False
    return True


def lane_lines(k: Kernel) -> list[str]:
    """Reads of four, the formulas for each of them, stores of four."""
    last = k.outer[len(k.outer) - 1]
    quarter: list[Line] = []
    for line in k.outer: quarter.append(line)
    quarter[len(quarter) - 1] = Line("", last.size // 4, last.strides)
    k.outer = quarter
    wide: list[int] = []
    for n in range(len(k.nest.accesses)):
        if is_bound(k, n) and last.strides[n] == 1: wide.append(n)
    for n in wide:
        at = k.slots.index(k.nest.accesses[n].slot)
        if not k.elements[at].startswith("vec4"): k.elements[at] = f"vec4<{k.elements[at]}>"
    for line in k.outer:
        for n in wide:
            if line.strides[n] % 4 == 0: line.strides[n] = line.strides[n] // 4
    for n in wide: k.r.offsets[n] = k.r.offsets[n] // 4
    out = decode(k, k.outer, "outer", "flat", "")
    targets: list[int] = []
    texts: list[str] = []
    for i in range(len(k.nest.steps)):
        targets.append(k.nest.steps[i].target)
        texts.append(k.code.steps[i].body)
        texts.append(k.code.steps[i].pred)
    order = needed(k, texts)
    scalar: list[int] = []
    for n in order:
        if n in wide: out.append(f"let v{n} = {bound_name(k, k.nest.accesses[n].slot)}[{position(k, n)}];")
    out.extend(read_lines(k, [f"r{n}" for n in order if n not in wide], scalar, "", False))
    for n in targets: out.append(f"var v{n}: vec4<{element_type(k, k.call.slots[k.nest.accesses[n].slot].dtype)}>;")
    out.extend(place_base(k, last))
    for lane in range(4): out.extend(one_lane(k, lane, order, wide))
    for n in targets: out.append(f"{bound_name(k, k.nest.accesses[n].slot)}[{position(k, n)}] = v{n};")
    return out


def place_base(k: Kernel, last: Line) -> list[str]:
    if "uniform_random" not in k.helpers: return []
    n = len(k.nest.accesses)
    lines = place_lines(k, "")
    d = len(k.outer) - 1
    return [lines[0].replace("let place =", "let first_place =").replace(f"outer{d} * p.place{d}", f"outer{d} * 4u * p.place{d}")]


def one_lane(k: Kernel, lane: int, order: list[int], wide: list[int]) -> list[str]:
    """The formulas at one of four neighbours."""
    out: list[str] = ["{"]
    for n in order:
        if n not in wide: continue
        slot = k.nest.accesses[n].slot
        out.append(f"  let r{n} = {converted(f'v{n}[{lane}]', element_type(k, k.call.slots[slot].dtype), access_kind(k, n))};")
    if "uniform_random" in k.helpers: out.append(f"  let place = first_place + {lane}u * p.place{len(k.outer) - 1};")
    for i in range(len(k.nest.steps)):
        step = k.nest.steps[i]
        text = k.code.steps[i].body
        if step.name != "":
            out.append(f"  let {step.name} = {text};")
            text = step.name
        out.append(f"  v{step.target}[{lane}] = {stored(text, step_kind(k, step), k.call.slots[k.nest.accesses[step.target].slot].dtype)};")
    out.append("}")
    return out


# --- Scatters --------------------------------------------------------------------------------------


def atomic_lines(k: Kernel, step: Step, text: str, kind: str, indent: str) -> list[str]:
    """An atomic `+=`, `max=` or `min=` at a place that other threads may change too."""
    slot = k.nest.accesses[step.target].slot
    if slot not in k.slots: return []
    dtype = k.call.slots[slot].dtype
    name = bound_name(k, slot)
    at = k.slots.index(slot)
    out = [f"{indent}{{", f"{indent}  let at = {position(k, step.target)};"]
    if dtype.startswith("float"):
        k.elements[at] = "atomic<u32>"
        half = dtype == "float16"
        word_at = "at / 2u" if half else "at"
        old = "unpack2x16float(old)[at % 2u]" if half else "bitcast<f32>(old)"
        value = f"f32({text})" if kind != "f" else text
        if step.mode == "max=": use(k, "larger")
        if step.mode == "min=": use(k, "smaller")
        new = f"{old} + {value}" if step.mode == "+=" else f"larger({old}, {value})" if step.mode == "max=" else f"smaller({old}, {value})"
        bits = f"pack2x16float(select(vec2(halves.x, {new}), vec2({new}, halves.y), at % 2u == 0u))" if half else f"bitcast<u32>({new})"
        out.append(f"{indent}  var old = atomicLoad(&{name}[{word_at}]);")
        out.append(f"{indent}  loop {{")
        if half: out.append(f"{indent}    let halves = unpack2x16float(old);")
        out.append(f"{indent}    let swap = atomicCompareExchangeWeak(&{name}[{word_at}], old, {bits});")
        out.append(f"{indent}    if (swap.exchanged) {{ break; }}")
        out.append(f"{indent}    old = swap.old_value;")
        out.append(f"{indent}  }}")
    else:
        function = "atomicAdd" if step.mode == "+=" else "atomicMax" if step.mode == "max=" else "atomicMin"
        if dtype == "bool": function = "atomicOr"
        k.elements[at] = f"atomic<{'u32' if dtype == 'bool' else 'i32'}>"
        out.append(f"{indent}  {function}(&{name}[at], {stored(text, kind, dtype)});")
    out.append(f"{indent}}}")
    return out
