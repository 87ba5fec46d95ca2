"""What is written of a kernel whatever its strategy: its uniforms, what it binds, the functions that it calls.

A kernel is written for one call.  Everything that differs between calls of the same text
(sizes, strides, offsets, options) is a uniform `p`; what is structure (which strides are 0,
how many lines there are, which optional tensors are given) is in the text."""

from __future__ import annotations

from dataclasses import dataclass

from dsl.ir.dtypes import TYPES, is_floating, is_narrow

from ..binding.parts import entry
from ..data.dtypes import compute_class
from ..data.errors import OpError
from ..data.formulas import formulas_of, settled_in
from ..data.functions import CHECKED, may_report
from ..data.model import Access, Call, Code, Kernel, Op, Step
from ..data.names import safe_name
from ..data.nodes import Node
from ..data.unsigned import check_unsigned
from .constants import constant_options, with_constants
from .conversion import rounding
from .lines import Line, Resolved
from .printed import functions_of


@dataclass
class Facts:
    """What a device can do.  max_binding_bytes: of the largest tensor that a kernel may bind; max_bindings: how many of
    them; max_threads: of a workgroup; max_shared: bytes of workgroup memory; software: whether the device is a CPU that
    plays one; matrix_units: whether subgroups of 32 threads multiply matrices of half numbers (matrix_units.py)."""

    f16: bool
    subgroups: bool
    max_binding_bytes: int
    max_bindings: int
    max_threads: int
    max_shared: int
    software: bool
    matrix_units: bool = False


@dataclass
class Patch:
    """What the reads of an access find in workgroup memory: the array `patch` and its number.  indices: its computed
    indices; lows: the names of the least of each; pitches: elements between neighbours along each."""

    access: int
    indices: list[Node]
    lows: list[str]
    pitches: list[int]


@dataclass
class KernelWriter:
    """A kernel being written.  names, kinds, values: the uniforms; kinds "u" "i" "f".  slots: what is bound, -1 for
    scratch memory, -2 for reports of faults; elements: the type of each binding's elements.  prefix: before the
    names of the uniforms of lines, where a text has several sets of lines."""

    op: Op
    kernel: Kernel
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
    fault: int
    wide: list[int]  # accesses that take four neighbours at once
    prefix: str
    patches: list[Patch]  # accesses that read workgroup memory (window.py)


PLAIN_THREADS = 64  # of a workgroup without a schedule, whose threads have nothing to do with each other
MOST_BINDINGS = 8  # storage buffers of a kernel that every device has


def is_wide(step: Step, class_: str) -> bool:
    """Whether a reduction of whole numbers of T is kept in 64 bits until its end."""
    return class_ == "i" and step.value == "T" and (step.red == "sum" or step.red == "prod")


def checks(kernel: Kernel, step: Step, class_: str) -> list[str]:
    """The functions with which a step's values of T are brought together, where those must fit."""
    if is_wide(step, class_):
        return ["wide_sum" if step.red == "sum" else "wide_times", "narrow_checked"]
    if kernel.shape != "scatter" or class_ != "i" or step.value != "T":
        return []
    return ["add_checked"] if step.mode == "+=" else ["multiply_checked"] if step.mode == "*=" else []


def new_kernel(op: Op, kernel: Kernel, call: Call, facts: Facts, r: Resolved) -> KernelWriter:
    """Uniforms of the definition, constants and bindings; `r`: the lines as the strategy orders them."""
    code = kernel.floating if compute_class(call.dtype) == "f" else kernel.integral
    if code is None:
        raise OpError(f"{op.name}: not implemented for {call.dtype}")
    check_unsigned(op.name, kernel, code, call.dtype)
    code = settled_in(code, call.dtype)
    constants = constant_options(op, kernel, call)
    if len(constants) > 0:
        code = with_constants(code, constants)
    k = KernelWriter(
        op, kernel, call, code, facts, r.outer, r.reduce, r, [], [], [], [], [], [], [], [], -1, -1, [], "", []
    )
    cuts: list[str] = []
    for step in kernel.steps:
        if step.target < 0:
            continue
        slot = kernel.accesses[step.target].slot
        bind(k, slot, True)
        stored = call.slots[slot].dtype
        if rounding(stored) != "":
            use(k, rounding(stored))
        if not is_floating(stored) and (step.value == "f" or step.value == "T" and compute_class(call.dtype) == "f"):
            cuts.append("cut_unsigned" if stored == "uint32" else "cut_long" if stored == "int64" else "cut")
    for access in kernel.accesses:
        if call.slots[access.slot].given:
            bind(k, access.slot, False)
    for name in kernel.constants:
        value = call.env[name] if name in call.env else 0
        boolean = is_bool(op, name)
        k.consts.append(
            f"const {safe_name(name)} = {('true' if value != 0 else 'false') if boolean else str(int(value))};"
        )
    can_report = len(k.slots) < (
        MOST_BINDINGS if kernel.shape == "map" or kernel.shape == "scatter" else MOST_BINDINGS - 1
    )  # others may share memory
    helpers = kernel.raw.helpers[:] if kernel.raw is not None else kernel_functions(code)
    for step in kernel.steps:
        helpers.extend(checks(kernel, step, compute_class(call.dtype)))
    stores = [step.target for step in kernel.steps]
    for n in range(len(kernel.accesses)):
        if n not in stores and is_unsigned_beside(k, kernel.accesses[n]) and "signed_checked" not in helpers:
            helpers.append("signed_checked")
        if n not in stores and is_floating_beside(k, kernel.accesses[n]) and "cut_checked" not in helpers:
            helpers.append("cut_checked")
    for helper in cuts:
        if helper == "cut_long":
            helpers.append(helper)
        else:
            use(k, helper)
    for helper in helpers:
        if (helper == "check_bounds" or helper == "in_bounds") and not can_report:
            continue
        k.helpers.append(helper)
        if helper == "invert":
            k.consts.append(f"const is_bool = {'true' if call.dtype == 'bool' else 'false'};")
        if helper in CHECKED and "is_narrow" not in k.helpers:
            k.helpers.append("is_narrow")
            k.consts.append(f"const is_narrow = {'true' if is_narrow(call.dtype) else 'false'};")
        if may_report(helper) and k.fault < 0:
            bind_memory(k, -2, "atomic<u32>")
            k.fault = uniform(k, "fault_at", "u", 0)
        if helper == "uniform_random":
            k.seeds = uniform(k, "seed0", "u", 0)
            uniform(k, "seed1", "u", 0)
            uniform(k, "call", "u", 0)
    for w in kernel.uniforms:
        if w.name in constants:
            continue
        kind = compute_class(call.dtype) if w.kind == "T" else w.kind
        name = w.name if kernel.raw is not None else safe_name(w.name)  # a body writes its uniforms itself
        if w.value is not None:
            uniform(k, name, kind, w.value(call.env))
        else:
            uniform(k, name, kind, call.env[w.name] if w.name in call.env else infinite(w.name))
    return k


def is_unsigned_beside(k: KernelWriter, access: Access) -> bool:
    """Whether an access reads numbers of T out of uint32, and T is not that: what 32 bits with a sign do not hold is an
    error."""
    dtype = k.call.dtype
    is_read = access.kind == "T" and compute_class(dtype) == "i" and dtype != "uint32"
    return is_read and k.call.slots[access.slot].dtype == "uint32" and access.slot in k.slots


def is_floating_beside(k: KernelWriter, access: Access) -> bool:
    """Whether an access reads numbers of T out of floats, and T are whole numbers: an element for others, which takes
    their type.  What that does not hold is an error."""
    is_read = access.kind == "T" and compute_class(k.call.dtype) == "i"
    return is_read and is_floating(k.call.slots[access.slot].dtype) and access.slot in k.slots


def kernel_functions(code: Code) -> list[str]:
    """The functions that the formulas of a kernel call."""
    out: list[str] = []
    for e in formulas_of(code):
        for name in functions_of(e):
            if name not in out:
                out.append(name)
    return out


def is_bool(op: Op, name: str) -> bool:
    """Whether a constant of the text is an option that is a bool, or says whether a tensor is given."""
    for param in op.params:
        if entry(param.name) == name:
            return param.kind == "bool"
        if f"has_{param.name}" == name:
            return True
    return False


INFINITY: float = 1e308 * 10.0  # Python and JavaScript have no literal in common


def infinite(name: str) -> float:
    """The uniforms `inf` and `nan`: as constants a compiler might fold them away."""
    return INFINITY if name == "inf" else INFINITY - INFINITY


def uniform(k: KernelWriter, name: str, kind: str, value: float) -> int:
    """Adds a uniform; answers its place."""
    for n in range(len(k.names)):
        if k.names[n] == name:
            return n
    k.names.append(name)
    k.kinds.append(kind)
    k.values.append(value)
    return len(k.names) - 1


def use(k: KernelWriter, helper: str) -> None:
    if helper not in k.helpers:
        k.helpers.append(helper)


# --- Bindings --------------------------------------------------------------------------------------


def bind(k: KernelWriter, slot: int, written: bool) -> None:
    if slot in k.slots:
        return
    bound = k.call.slots[slot]
    if written and not bound.given:
        return
    k.slots.append(slot)
    k.written.append(written)
    k.elements.append(element_type(k, bound.dtype))


def bind_only(k: KernelWriter, accesses: list[int]) -> None:
    """Takes away the tensors that a text does not need, which is only a part of its kernel."""
    needed = [k.kernel.accesses[n].slot for n in accesses]
    kept = [n for n in range(len(k.slots)) if k.slots[n] < 0 or k.slots[n] in needed]
    k.written = [k.written[n] for n in kept]
    k.elements = [k.elements[n] for n in kept]
    k.slots = [k.slots[n] for n in kept]


def bound_by(k: KernelWriter, accesses: list[int]) -> int:
    """How many of the bound tensors some accesses need; what is no tensor counts too."""
    used = [k.kernel.accesses[n].slot for n in accesses]
    return len([slot for slot in k.slots if slot < 0 or slot in used])


def bind_memory(k: KernelWriter, slot: int, element: str) -> None:
    """Memory that is no tensor's: -1, which the launches of a kernel share, or -2, where faults are
    reported."""
    k.slots.append(slot)
    k.written.append(True)
    k.elements.append(element)


def element_type(k: KernelWriter, dtype: str) -> str:
    """How a dtype's elements lie in memory."""
    if TYPES[dtype].word == "":
        raise OpError(f"{k.op.name}: {dtype} is not available on webgpu; use float32, or the cpu")
    if TYPES[dtype].word == "f16" and not k.facts.f16:
        raise OpError(f"{k.op.name}: this device cannot compute with {dtype}")
    return TYPES[dtype].word


def bound_name(k: KernelWriter, slot: int) -> str:
    return safe_name(k.op.slots[slot].name)


def is_bound(k: KernelWriter, n: int) -> bool:
    return k.kernel.accesses[n].slot in k.slots


def uniform_value(k: KernelWriter, name: str) -> int | None:
    """A whole number of the uniform."""
    for n in range(len(k.names)):
        if k.names[n] == safe_name(name) and k.kinds[n] == "i":
            return int(k.values[n])
    return None


def declarations(k: KernelWriter) -> list[str]:
    """`enable`, constants, the uniform and the tensors."""
    out: list[str] = []
    out.extend(enabled(k.elements))
    out.extend(k.consts)
    out.append(uniforms_struct(k))
    out.append("@group(0) @binding(0) var<uniform> p: Uniforms;")
    for n in range(len(k.slots)):
        access = "read_write" if k.written[n] else "read"
        name = bound_name(k, k.slots[n]) if k.slots[n] >= 0 else "scratch" if k.slots[n] == -1 else "fault"
        out.append(f"@group(0) @binding({n + 1}) var<storage, {access}> {name}: array<{k.elements[n]}>;")
    return out


def enabled(elements: list[str]) -> list[str]:
    """The directive that elements in memory need: of half numbers."""
    return ["enable f16;"] if "f16" in elements or "vec4<f16>" in elements else []


def holds_vec4s(dtype: str) -> bool:
    """Whether four neighbours of the type can be read as a vec4 of numbers that formulas compute with, or stored."""
    return dtype == "float32" or dtype == "float16"


def uniforms_struct(k: KernelWriter) -> str:
    fields = ", ".join([f"{k.names[n]}: {WORD_TYPES[k.kinds[n]]}" for n in range(len(k.names))])
    return f"struct Uniforms {{ {fields} }}"


WORD_TYPES: dict[str, str] = {"u": "u32", "i": "i32", "f": "f32"}
