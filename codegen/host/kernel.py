"""Parts of a kernel's text that all strategies share: words, bindings, positions, reads and stores.

A kernel is written for one nest in one call.  Everything that differs between calls of the same text
(sizes, strides, offsets, options) is a word of the uniform `p`; what is structure (which strides are 0,
how many lines there are, which optional tensors are given) is in the text."""

from __future__ import annotations

from dataclasses import dataclass

from .constants import constant_options, with_constants
from .conversion import KIND_TYPES, ZEROS, converted, stored
from .dtypes import compute_class
from .errors import OpError
from .lines import Line, Resolved
from .model import Call, Code, Nest, Op, Step, formulas_of
from .names import safe_name
from .nodes import Binary, BoundsCheck, Constant, Local, Node, Select, elements_of, uses_loop
from .parts import entry
from .printed import functions_of, operand, printed


@dataclass
class Facts:
    """What a device can do.  max_binding: bytes of the largest tensor a kernel may bind; max_threads: of a workgroup;
    max_shared: bytes of workgroup memory; software: whether the device is a CPU that plays one."""
    f16: bool
    subgroups: bool
    max_binding: int
    max_threads: int
    max_shared: int
    software: bool


@dataclass
class Patch:
    """What the reads of an access find in workgroup memory: the array `patch` and its number.  indices: its computed indices; lows: the
    names of the least of each; pitches: elements between neighbours along each."""
    access: int
    indices: list[Node]
    lows: list[str]
    pitches: list[int]


@dataclass
class Kernel:
    """A kernel being written.  names, kinds, values: the words; kinds "u" "i" "f".  slots: what is bound, -1 for scratch memory,
    -2 for what the device is told; elements: the type of each binding's elements.  prefix: before the names of the words of
    lines, where a text has several sets of lines."""
    op: Op
    nest: Nest
    call: Call
    code: Code
    facts: Facts
    outer: list[Line]
    reduce: list[Line]
    r: Resolved
    names: list[str]
    kinds: list[str]
    values: list[float]
    slots: list[int]
    written: list[bool]
    elements: list[str]
    helpers: list[str]
    consts: list[str]
    seeds: int
    teller: int
    wide: list[int]                     # accesses that take four neighbours at once
    prefix: str
    patches: list[Patch]                # accesses that read workgroup memory (window.py)


MOST_BINDINGS = 8                          # storage buffers of a kernel that every device has


def is_wide(step: Step, class_: str) -> bool:
    """Whether a reduction of whole numbers of T is kept in 64 bits until its end."""
    return class_ == "i" and step.value == "T" and (step.red == "sum" or step.red == "prod")


def checks(nest: Nest, step: Step, class_: str) -> list[str]:
    """The functions with which a step's values of T are brought together, where those must fit."""
    if is_wide(step, class_): return ["wide_sum" if step.red == "sum" else "wide_times", "narrow_checked"]
    if nest.shape != "scatter" or class_ != "i" or step.value != "T": return []
    return ["add_checked"] if step.mode == "+=" else ["multiply_checked"] if step.mode == "*=" else []


def new_kernel(op: Op, nest: Nest, call: Call, facts: Facts, r: Resolved) -> Kernel:
    """Words of the definition, constants and bindings; `r`: the lines as the strategy orders them."""
    code = nest.floating if compute_class(call.dtype) == "f" else nest.integral
    if code is None: raise OpError(f"{op.name}: not implemented for {call.dtype}")
    constants = constant_options(op, nest, call)
    if len(constants) > 0: code = with_constants(code, constants)
    k = Kernel(op, nest, call, code, facts, r.outer, r.reduce, r, [], [], [], [], [], [], [], [], -1, -1, [], "", [])
    for step in nest.steps:
        if step.target < 0: continue
        slot = nest.accesses[step.target].slot
        bind(k, slot, True)
        whole = call.slots[slot].dtype.find("int") >= 0
        if whole and (step.value == "f" or step.value == "T" and compute_class(call.dtype) == "f"): use(k, "cut")
    for access in nest.accesses:
        if call.slots[access.slot].given or call.slots[access.slot].fresh: bind(k, access.slot, False)
    for name in nest.statics:
        value = call.env[name] if name in call.env else 0
        boolean = is_bool(op, name)
        k.consts.append(f"const {safe_name(name)} = {('true' if value != 0 else 'false') if boolean else str(int(value))};")
    tells = len(k.slots) < (MOST_BINDINGS if nest.shape == "map" or nest.shape == "scatter" else MOST_BINDINGS - 1)     # others may share memory
    helpers = nest.raw.helpers[:] if nest.raw is not None else kernel_functions(code)
    for step in nest.steps: helpers.extend(checks(nest, step, compute_class(call.dtype)))
    for helper in helpers:
        if (helper == "reached" or helper == "inside") and not tells: continue
        k.helpers.append(helper)
        if helper == "invert": k.consts.append(f"const is_bool = {'true' if call.dtype == 'bool' else 'false'};")
        checked = helper.endswith("_checked")
        if checked and "is_narrow" not in k.helpers:
            k.helpers.append("is_narrow")
            k.consts.append(f"const is_narrow = {'false' if call.dtype == 'int32' else 'true'};")
        if (helper == "reached" or helper == "inside" or helper == "allowed" or checked) and k.teller < 0:
            bind_memory(k, -2, "atomic<u32>")
            k.teller = word(k, "teller", "u", 0)
        if helper == "uniform_random":
            k.seeds = word(k, "seed0", "u", 0)
            word(k, "seed1", "u", 0)
            word(k, "call", "u", 0)
    for w in nest.words:
        if w.name in constants: continue
        kind = compute_class(call.dtype) if w.kind == "T" else w.kind
        name = w.name if nest.raw is not None else safe_name(w.name)        # a raw body writes its words itself
        if w.value is not None: word(k, name, kind, w.value(call.env))
        else: word(k, name, kind, call.env[w.name] if w.name in call.env else infinite(w.name))
    return k


def kernel_functions(code: Code) -> list[str]:
    """The functions that the formulas of a nest call."""
    out: list[str] = []
    for e in formulas_of(code):
        for name in functions_of(e):
            if name not in out: out.append(name)
    return out


def is_bool(op: Op, name: str) -> bool:
    """Whether a constant of the text is an option that is a bool, or says whether a tensor is given."""
    for param in op.params:
        if entry(param.name) == name: return param.kind == "bool"
    return name.startswith("has_")


INFINITY: float = 1e308 * 10.0


def infinite(name: str) -> float:
    """The words `inf` and `nan`: as constants a compiler might fold them away."""
    return INFINITY if name == "inf" else INFINITY - INFINITY


def word(k: Kernel, name: str, kind: str, value: float) -> int:
    """Adds a word; answers its place."""
    for n in range(len(k.names)):
        if k.names[n] == name: return n
    k.names.append(name)
    k.kinds.append(kind)
    k.values.append(value)
    return len(k.names) - 1


def use(k: Kernel, helper: str) -> None:
    if helper not in k.helpers: k.helpers.append(helper)


# --- Bindings --------------------------------------------------------------------------------------


def bind(k: Kernel, slot: int, written: bool) -> None:
    if slot in k.slots: return
    bound = k.call.slots[slot]
    if written and not bound.given and not bound.fresh: return
    k.slots.append(slot)
    k.written.append(written)
    k.elements.append(element_type(k, bound.dtype))


def bind_memory(k: Kernel, slot: int, element: str) -> None:
    """Memory that is no tensor's: -1, which the launches of a nest share, or -2, where the device is told what went wrong."""
    k.slots.append(slot)
    k.written.append(True)
    k.elements.append(element)


def element_type(k: Kernel, dtype: str) -> str:
    """How a dtype's elements lie in memory: 8-bit types and bool take 32 bits."""
    if dtype == "float64": raise OpError(f"{k.op.name}: float64 is not available on webgpu; use float32, or the cpu")
    if dtype == "float32": return "f32"
    if dtype == "float16":
        if not k.facts.f16: raise OpError(f"{k.op.name}: this device cannot compute with float16")
        return "f16"
    return "u32" if dtype == "bool" else "i32"


def bound_name(k: Kernel, slot: int) -> str: return safe_name(k.op.slots[slot].name)


def is_bound(k: Kernel, n: int) -> bool: return k.nest.accesses[n].slot in k.slots


def declarations(k: Kernel) -> list[str]:
    """`enable`, constants, the uniform and the tensors."""
    out: list[str] = []
    if "f16" in k.elements: out.append("enable f16;")
    out.extend(k.consts)
    out.append(words_struct(k))
    out.append("@group(0) @binding(0) var<uniform> p: Words;")
    for n in range(len(k.slots)):
        access = "read_write" if k.written[n] else "read"
        name = bound_name(k, k.slots[n]) if k.slots[n] >= 0 else "scratch" if k.slots[n] == -1 else "fault"
        out.append(f"@group(0) @binding({n + 1}) var<storage, {access}> {name}: array<{k.elements[n]}>;")
    return out


def words_struct(k: Kernel) -> str:
    fields = ", ".join([f"{k.names[n]}: {WORD_TYPES[k.kinds[n]]}" for n in range(len(k.names))])
    return f"struct Words {{ {fields} }}"


WORD_TYPES: dict[str, str] = {"u": "u32", "i": "i32", "f": "f32"}


# --- Positions -------------------------------------------------------------------------------------


def variable(line: Line, stem: str, d: int) -> str:
    return safe_name(line.name) if line.name != "" else f"{stem}{d}"


def decode(k: Kernel, lines: list[Line], stem: str, flat: str, indent: str) -> list[str]:
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
        if d > 0: out.append(f"{indent}{rest} /= {size};")
    return out


SHORT = 16                              # a window's length up to this is a constant of the text: division by it is cheap


def size_text(k: Kernel, name: str, line: Line) -> str:
    """The size of a line in the text: a constant for a short named loop (a window), else a word."""
    if line.name != "" and line.size > 0 and line.size <= SHORT: return f"{line.size}u"
    return f"p.{word_name(k, k.prefix + name, line.size)}"


def position(k: Kernel, n: int, stores: bool = False) -> str:
    """The element of access n, as u32.  stores: where `on_axes` holds."""
    access = k.nest.accesses[n]
    terms: list[str] = [f"p.{word_name(k, f'at{n}', k.r.offsets[n])}"]
    for d in range(len(k.outer)): terms.extend(term(k, n, k.outer[d], "outer", d))
    for d in range(len(k.reduce)): terms.extend(term(k, n, k.reduce[d], "inner", d))
    place = 0
    for i in range(len(access.axes)):
        if access.axes[i] != "":
            if is_named(k, access.axes[i]): place += 1
            continue
        index = k.code.accesses[n].index[i]
        step = k.r.steps[n][place]
        length = k.r.lengths[n][place]
        place += 1
        if index is None or is_zero(index): continue
        named = len(elements_of(index)) > 0
        text = printed(index)
        if named and not stores and isinstance(index, BoundsCheck) and not index.stores and k.teller >= 0:
            terms.append(f"reached({text}, p.{word_name(k, f'length{n}_{i}', length)}) * p.{word_name(k, f'step{n}_{i}', step)}")
            continue
        if not named and step == 0: continue
        if named and not stores:                            # stores are left out instead: see on_axes
            if step == 0: continue
            text = f"clamp({operand(index)}, 0, i32(p.{word_name(k, f'last{n}_{i}', max(length - 1, 0))}))"
        terms.append(f"u32({text}) * p.{word_name(k, f'step{n}_{i}', step)}")
    return " + ".join(terms)


def is_zero(e: Node) -> bool: return isinstance(e, Constant) and e.value == 0


def on_axes(k: Kernel, n: int) -> str:
    """Whether the places that elements name for a store at access n are on their axes; "" where elements name none.  A store
    that is off its axis is left out, and told of where there is room for that."""
    access = k.nest.accesses[n]
    terms: list[str] = []
    place = 0
    for i in range(len(access.axes)):
        if access.axes[i] != "":
            if is_named(k, access.axes[i]): place += 1
            continue
        index = k.code.accesses[n].index[i]
        length = k.r.lengths[n][place]
        place += 1
        if index is None or len(elements_of(index)) == 0: continue
        end = f"p.{word_name(k, f'length{n}_{i}', length)}"
        told = isinstance(index, BoundsCheck) and index.stores and k.teller >= 0
        terms.append(f"inside({printed(index)}, {end})" if told else f"u32({printed(index)}) < {end}")
    return " && ".join(terms)


def patch_position(patch: Patch) -> str:
    """The element of a patch, as i32."""
    terms: list[str] = []
    for i in range(len(patch.indices)):
        text = f"({operand(patch.indices[i])} - {patch.lows[i]})"
        terms.append(text if patch.pitches[i] == 1 else f"{text} * {patch.pitches[i]}")
    return " + ".join(terms)


def is_named(k: Kernel, name: str) -> bool:
    for loop in k.nest.loops + k.nest.rloops:
        if loop.name == name: return loop.named
    return False


def term(k: Kernel, n: int, line: Line, stem: str, d: int) -> list[str]:
    if line.strides[n] == 0: return []
    name = variable(line, stem, d)
    return [f"{name if line.name == '' else f'u32({name})'} * p.{word_name(k, f'{k.prefix}{stem}_stride{n}_{d}', line.strides[n])}"]


def word_name(k: Kernel, name: str, value: int) -> str:
    word(k, name, "u", value)
    return name


# --- Reads and stores ------------------------------------------------------------------------------


def formulas_at(k: Kernel, n: int) -> list[Node | None]:
    """What decides where access n is and when it is read."""
    a = k.code.accesses[n]
    return [*a.index, a.guard, a.fallback]


def needed(k: Kernel, formulas: list[Node | None]) -> list[int]:
    """The accesses that formulas need, those inside another's index first."""
    out: list[int] = []
    for e in formulas:
        for n in elements_of(e):
            for m in needed(k, formulas_at(k, n)):
                if m not in out: out.append(m)
            if n not in out: out.append(n)
    return out


def varies(k: Kernel, n: int) -> bool:
    """Whether what access n reads changes along the reduced lines."""
    for line in k.reduce:
        if line.strides[n] != 0: return True
        if line.name != "" and any(uses_loop(e, line.name) for e in formulas_at(k, n)): return True
    for e in formulas_at(k, n):
        for m in elements_of(e):
            if varies(k, m): return True
    return False


def access_kind(k: Kernel, n: int) -> str:
    kind = k.nest.accesses[n].kind
    return compute_class(k.call.dtype) if kind == "T" else kind


def load(k: Kernel, n: int) -> str:
    """The element of access n as its kind."""
    for patch in k.patches:
        if patch.access == n: return f"patch{n}[{patch_position(patch)}]"
    slot = k.nest.accesses[n].slot
    text = f"{bound_name(k, slot)}[{position(k, n)}]"
    return converted(text, element_type(k, k.call.slots[slot].dtype), access_kind(k, n))


def read_lines(k: Kernel, formulas: list[Node | None], done: list[int], indent: str, still: bool) -> list[str]:
    """Statements that make what formulas read known.  still: only those that do not change along the reduced lines."""
    out: list[str] = []
    for n in needed(k, formulas):
        if n in done or still and varies(k, n): continue
        done.append(n)
        a = k.code.accesses[n]
        kind = access_kind(k, n)
        other = printed(a.fallback) if a.fallback is not None else ZEROS[kind]
        if not is_bound(k, n): out.append(f"{indent}let r{n}: {KIND_TYPES[kind]} = {other};")
        elif a.guard is None: out.append(f"{indent}let r{n} = {load(k, n)};")
        else:
            out.append(f"{indent}var r{n}: {KIND_TYPES[kind]} = {other};")
            out.append(f"{indent}if ({printed(a.guard)}) {{ r{n} = {load(k, n)}; }}")
    return out


def store_lines(k: Kernel, target: int, value: Node, kind: str, mode: str, indent: str) -> list[str]:
    """The store of a value at access `target`."""
    if not is_bound(k, target): return []
    lines = plain_store(k, target, value, kind, mode)
    holds = on_axes(k, target)
    if holds != "": lines = [f"if ({holds}) {{", *["  " + line for line in lines], "}"]
    return [indent + line for line in lines]


def plain_store(k: Kernel, target: int, value: Node, kind: str, mode: str) -> list[str]:
    slot = k.nest.accesses[target].slot
    dtype = k.call.slots[slot].dtype
    name = bound_name(k, slot)
    if mode == "=": return [f"{name}[{position(k, target, True)}] = {stored(value, kind, dtype)};"]
    old = converted(f"{name}[at]", element_type(k, dtype), "i" if dtype == "bool" else kind)
    total = Binary("+", Local(old), value) if dtype != "bool" else Binary("|", Local(old), Select(value, Constant("i", 1), Constant("i", 0)))
    return ["{", f"  let at = {position(k, target, True)};", f"  {name}[at] = {stored(total, 'i' if dtype == 'bool' else kind, dtype)};", "}"]
