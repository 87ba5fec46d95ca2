"""Says what becomes of one definition, as text: signature, loop programs, gradients, kernels on both devices.

Only prints what the passes give; it derives nothing itself."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from codegen.api import compiled, report
from codegen.api.notation import Writer
from dsl.gradients.adjoint import complete
from dsl.opdef import Library, OpDef
from dsl.text.show import show, signature

WIDTH = 100


def page(op: OpDef, library: Library, call: Mapping[str, object] = MappingProxyType({})) -> str:
    """What `build.py explain NAME` and `workbench.op(NAME).explain()` print.  call: the arguments of the call whose
    kernels are shown, by their names; without any, it is a small one."""
    complete(op)
    parts = [("definition", show(op.tree).rstrip()), ("signature", described(op))]
    parts.append(("loops", str(op.forward)))
    for title, program in (
        (f"gradient, {report.gradient(op)}", op.gradient),
        ("gradient of the gradient", op.gradient2),
    ):
        if program is not None:
            parts.append((title, str(program)))
    if op.gradient is None:
        parts.append(("gradient", "none"))
    kernels = compiled.programs(op)
    titles = ("forward", "gradient", "second gradient")
    parts.append(
        (
            "kernels",
            "\n".join(f"{t}: {', '.join(n.shape for n in made) or 'none'}" for t, (made, _) in zip(titles, kernels)),
        )
    )
    parts += kernels_of(op, library, call)
    parts.append(("in the package, see codegen/api/notation.py", Writer(compiled.op_data(op)).programs()))
    return joined(parts)


def joined(parts: list[tuple[str, str]]) -> str:
    return "\n\n".join(f"── {title} " + "─" * max(3, WIDTH - 4 - len(title)) + f"\n{text}" for title, text in parts)


def described(op: OpDef) -> str:
    """The op's names, how T follows, and the sizes that the signature computes."""
    lines = [signature(op.tree), "in PyTorch: " + (", ".join(op.aliases) or "-")]
    kinds = {
        "default": "the common type of",
        "float": "the common type, a float, of",
        "sum": "the common type, bools and whole numbers as int64, of",
    }
    if op.promote in kinds and op.promoted:
        lines.append(f"T is {kinds[op.promote]} {', '.join(op.promoted)}")
    lines += [f"{name} = {size}" for name, size in op.sizes]
    lines += [f"requires {r.holds}" for r in op.requires]
    return "\n".join(lines)


def small_call(op: OpDef) -> dict[str, object]:
    """The arguments of a small call: of floats, with all tensors given, if there is one; none without any."""
    from dsl.testing.instances import instances

    found = sorted(
        instances(op, 12),
        key=lambda w: (
            np.dtype(w.dtype).kind == "f",
            sum(a.ndim > 0 for a in w.views.values()),
            sum(a.size for a in w.views.values()),
        ),
    )
    return {p.name: a for p, a in zip(op.params, found[-1].arguments()) if a is not None} if found else {}


def kernels_of(op: OpDef, library: Library, call: Mapping[str, object]) -> list[tuple[str, str]]:
    """The texts of the kernels of a call, forward and gradient."""
    from .function import Function

    arguments = dict(call) or small_call(op)
    if not arguments and op.params:
        return [("WGSL", "no small call of this op was found")]
    f = Function(op, library)
    tensors = {p.name for p in op.params if p.kind == "tensor"}
    shape = lambda a: f"{np.asarray(a).dtype}{list(np.shape(a))}"
    shown = ", ".join(f"{n}: {shape(a)}" if n in tensors else f"{n}={a}" for n, a in arguments.items())
    floats = any(np.asarray(a).dtype.kind == "f" for n, a in arguments.items() if n in tensors)
    parts = []
    for title, gradient in (("WGSL", False), ("WGSL of the gradient", True)):
        if gradient and (op.gradient is None or not floats):
            continue
        launches = f.launches(gradient=gradient, **arguments)
        texts = [f"// {' x '.join(map(str, x.groups))} workgroups\n{x.code.rstrip()}" for x in launches]
        parts.append((f"{title}, {op.name}({shown})", "\n\n".join(texts) or "no launch"))
        kernels = f.wasm(gradient=gradient, **arguments)
        parts.append((title.replace("WGSL", "WebAssembly"), "\n\n".join(kernels) or "no kernel"))
    return parts
