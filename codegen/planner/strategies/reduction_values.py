"""Values that reductions come to: how they begin, take a point, and are combined among the threads of a row."""

from __future__ import annotations

from ...data.dtypes import compute_class
from ...data.model import is_arg
from ...data.nodes import uses_result
from ..common import common
from ..conversion import KIND_TYPES
from ..memory import read_lines
from ..printed import operand, printed
from ..writer import KernelWriter, is_wide, uniform, use
from .map import step_kind


def independent(k: KernelWriter, first: int, end: int) -> bool:
    """Whether the steps from `first` on are reductions whose values step `end` does not use, so that they share a
    loop."""
    for n in range(first, end):
        if k.kernel.steps[n].kind != "reduce":
            return False
        if uses_result(k.code.steps[end].body, n) or uses_result(k.code.steps[end].pred, n):
            return False
    return True


def side_by_side(k: KernelWriter, first: int) -> int:
    """The step after the reductions from `first` on that stand beside each other and do not use each other."""
    end = first + 1
    while end < len(k.kernel.steps) and k.kernel.steps[end].kind == "reduce" and independent(k, first, end):
        end += 1
    return end


def value_kind(k: KernelWriter, n: int) -> str:
    """The kind of what step n compares or adds: argmax compares numbers and answers a place."""
    step = k.kernel.steps[n]
    if is_wide(step, compute_class(k.call.dtype)):
        return "w"
    if not is_arg(step):
        return step_kind(k, step)
    if step.compared != "T":
        return step.compared
    return compute_class(k.call.dtype)


def so_far(k: KernelWriter, n: int) -> str:
    """The variable in which reduction n is under way."""
    name = k.kernel.steps[n].name
    return name + "_wide" if value_kind(k, n) == "w" else name


def narrowed(k: KernelWriter, n: int) -> list[str]:
    """The value of a reduction that was kept in 64 bits, once it is known: where it does not fit, that
    is reported."""
    if value_kind(k, n) != "w":
        return []
    return [f"let {k.kernel.steps[n].name} = narrow_checked({so_far(k, n)});"]


def start(k: KernelWriter, red: str, kind: str) -> str:
    """The value of a reduction over nothing."""
    if kind == "w":
        return "vec2<u32>(0u, 0u)" if red == "sum" else "vec2<u32>(1u, 0u)"
    if red == "sum":
        return "0.0" if kind == "f" else "0"
    if red == "prod":
        return "1.0" if kind == "f" else "1"
    if red == "any":
        return "false"
    if red == "all":
        return "true"
    least = red == "max" or red == "argmax"
    if kind == "f":
        uniform(k, "inf", "f", 1e308 * 10.0)
        return "-p.inf" if least else "p.inf"
    return "-2147483647 - 1" if least else "2147483647"


def joined(k: KernelWriter, red: str, kind: str, a: str, b: str) -> str:
    """Two values of a reduction as one."""
    if kind == "w":
        return f"{'wide_sum' if red == 'sum' else 'wide_times'}({a}, {b})"
    if red == "sum":
        return f"{a} + {b}"
    if red == "prod":
        return f"{a} * {b}"
    if red == "any":
        return f"{a} || {b}"
    if red == "all":
        return f"{a} && {b}"
    if kind == "i":
        return f"{red}({a}, {b})"
    use(k, "larger" if red == "max" else "smaller")
    return f"{'larger' if red == 'max' else 'smaller'}({a}, {b})"


def better(k: KernelWriter, red: str, kind: str, a: str, b: str) -> str:
    """Whether a value wins an argmax or argmin over the best so far; NaN wins over numbers."""
    order = f"{a} {'>' if red == 'argmax' else '<'} {b}"
    if kind != "f":
        return order
    use(k, "is_nan")
    return f"(!is_nan({b}) && ({order} || is_nan({a})))"


def is_float_sum(k: KernelWriter, n: int) -> bool:
    return k.kernel.steps[n].red == "sum" and value_kind(k, n) == "f"


def accumulate(k: KernelWriter, n: int, done: list[int], indent: str, chunks: bool) -> list[str]:
    step = k.kernel.steps[n]
    code = k.code.steps[n]
    kind = value_kind(k, n)
    out = read_lines(k, [code.pred], done, indent, False)
    inside = indent
    own = done
    if code.pred is not None:
        out.append(f"{indent}if ({printed(code.pred)}) {{")
        inside = indent + "  "
        own = done[:]
    out.extend(read_lines(k, [code.body], own, inside, False))
    value = common(code.body, f"common{n}")
    for line in value.lines:
        out.append(inside + line)
    if is_arg(step):
        out.append(f"{inside}let value{n} = {printed(value.formula)};")
        out.append(
            f"{inside}if ({better(k, step.red, kind, f'value{n}', f'best{n}')}) "
            f"{{ best{n} = value{n}; {step.name} = i32(inner); }}"
        )
    elif chunks and is_float_sum(k, n):
        out.append(f"{inside}part{n} += {printed(value.formula)};")
    else:
        out.append(f"{inside}{so_far(k, n)} = {joined(k, step.red, kind, so_far(k, n), operand(value.formula))};")
    if code.pred is not None:
        out.append(f"{indent}}}")
    return out


def combine_call(k: KernelWriter, n: int) -> list[str]:
    step = k.kernel.steps[n]
    if is_arg(step):
        return [f"{step.name} = combine{n}(best{n}, {step.name}, local, lane);"]
    return [f"{so_far(k, n)} = combine{n}({so_far(k, n)}, local, lane);"]


def combine(k: KernelWriter, n: int, lanes: int, columns: int, adjacent: bool) -> list[str]:
    """A function that makes the values of a row's lanes one, in workgroup memory."""
    step = k.kernel.steps[n]
    kind = value_kind(k, n)
    type_ = KIND_TYPES[kind]
    gap = 1 if adjacent else columns
    far = "half" if gap == 1 else f"half * {gap}u"
    home = "local - lane" if gap == 1 else f"local - lane * {gap}u"
    out = [f"var<workgroup> shared{n}: array<{type_}, {lanes * columns}>;"]
    if is_arg(step):
        out.append(f"var<workgroup> places{n}: array<i32, {lanes * columns}>;")
        out.append(f"fn combine{n}(best: {type_}, where_: i32, local: u32, lane: u32) -> i32 {{")
        out.append(f"  places{n}[local] = where_;")
        out.append(f"  shared{n}[local] = best;")
    else:
        out.append(f"fn combine{n}(own: {type_}, local: u32, lane: u32) -> {type_} {{")
        out.append(f"  shared{n}[local] = own;")
    out.append("  workgroupBarrier();")
    out.append(f"  for (var half = {lanes // 2}u; half > 0u; half /= 2u) {{")
    if is_arg(step):
        out.append("    if (lane < half) {")
        out.append(f"      let a = shared{n}[local];")
        out.append(f"      let b = shared{n}[local + {far}];")
        out.append(f"      let i = places{n}[local];")
        out.append(f"      let j = places{n}[local + {far}];")
        same = "a == b"
        if kind == "f":
            use(k, "is_nan")
            same = "(a == b || (is_nan(a) && is_nan(b)))"
        out.append(
            f"      if ({better(k, step.red, kind, 'b', 'a')} || ({same} && j < i)) "
            f"{{ shared{n}[local] = b; places{n}[local] = j; }}"
        )
        out.append("    }")
    else:
        out.append(
            "    if (lane < half) "
            f"{{ shared{n}[local] = {joined(k, step.red, kind, f'shared{n}[local]', f'shared{n}[local + {far}]')}; }}"
        )
    out.append("    workgroupBarrier();")
    out.append("  }")
    out.append(f"  let total = {'places' if is_arg(step) else 'shared'}{n}[{home}];")
    out.append("  workgroupBarrier();")
    out.append("  return total;")
    out.append("}")
    return out
