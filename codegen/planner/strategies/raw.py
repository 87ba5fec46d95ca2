"""Kernels with a body: its uniforms, and its launches.

A body's function runs once for each place, by a thread or by a workgroup; launches that a definition counts
differ in one number.  Tensors are bound under the body's own names."""

from __future__ import annotations

from dataclasses import dataclass

from dsl.ir.dtypes import is_floating

from ...data.model import Call, Env, Kernel, Op, Raw, RawLaunch
from ..lines import Resolved
from ..writer import Facts, KernelWriter, element_type, enabled, new_kernel, uniform, uniforms_struct


@dataclass
class RawBody:
    """What raw.wgsl.j2 shows.  lanes: threads of a place's workgroup, 0 where a place is one thread."""

    title: str
    declarations: list[str]
    helpers: str
    text: str
    name: str
    lanes: int
    threads: int


THREADS = 64  # of a workgroup whose threads share nothing: bodies have few places, so that more groups get some


def raw_uniforms(kernel: Kernel, env: Env) -> Env:
    """The numbers that a body takes, by its own names."""
    out: Env = {}
    for w in kernel.uniforms:
        if w.value is not None:
            out[w.name] = w.value(env)
    return out


def raw_steps(launch: RawLaunch, env: Env) -> int:
    """How often a function is launched."""
    return 1 if launch.steps is None else int(launch.steps(env))


def raw_kernel_of(op: Op, kernel: Kernel, call: Call, facts: Facts) -> KernelWriter:
    """Bindings and uniforms: one binding for each access, in their order."""
    k = new_kernel(op, kernel, call, facts, Resolved([], [], [], [], []))
    k.slots = []
    k.written = []
    k.elements = []
    written: list[int] = []
    for step in kernel.steps:
        written.append(step.target)
    for n in range(len(kernel.accesses)):
        k.slots.append(kernel.accesses[n].slot)
        k.written.append(n in written)
        k.elements.append(element_type(k, call.slots[kernel.accesses[n].slot].dtype))
    return k


def raw_text(k: KernelWriter, launch: RawLaunch, raw: Raw, title: str, count: int) -> RawBody:
    """count: places."""
    uniform(k, "points", "u", count)
    dtype = k.call.dtype if raw.dtype == "T" else raw.dtype
    element = element_type(k, dtype)
    out = enabled([*k.elements, element])
    out.append(f"alias T = {element};")
    out.append(f"const floating = {'true' if is_floating(dtype) else 'false'};")
    out.append(uniforms_struct(k))
    out.append("@group(0) @binding(0) var<uniform> p: Uniforms;")
    for n in range(len(k.slots)):
        access = "read_write" if k.written[n] else "read"
        out.append(f"@group(0) @binding({n + 1}) var<storage, {access}> {raw.names[n]}: array<{k.elements[n]}>;")
    return RawBody(title, out, "", raw.text, launch.name, launch.lanes, launch.lanes if launch.lanes > 0 else THREADS)
