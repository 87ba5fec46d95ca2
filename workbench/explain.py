"""Says what becomes of one definition, as text: signature, loop programs, gradients, kernels on both devices.

Only prints what the passes give; it derives nothing itself."""

from __future__ import annotations

import numpy as np

from codegen.api import package, report
from codegen.api.notation import Writer
from dsl.gradients.adjoint import complete
from dsl.opdef import Library, OpDef
from dsl.text.show import show, signature

WIDTH = 100


def page(op: OpDef, library: Library) -> str:
    """What `build.py explain NAME` and `workbench.op(NAME).explain()` print."""
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
    kernels = package.programs(op)
    titles = ("forward", "gradient", "second gradient")
    parts.append(
        (
            "kernels",
            "\n".join(f"{t}: {', '.join(n.shape for n in made) or 'none'}" for t, (made, _) in zip(titles, kernels)),
        )
    )
    parts += wgsl(op, library)
    parts.append(("in the package, see codegen/api/notation.py", Writer(package.op_data(op)).programs()))
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


def wgsl(op: OpDef, library: Library) -> list[tuple[str, str]]:
    """The texts of the kernels of a small call, forward and gradient: of floats, with all tensors given, if there is
    one."""
    from dsl.testing.instances import instances

    from .function import Function

    found = sorted(
        instances(op, 12),
        key=lambda w: (
            np.dtype(w.dtype).kind == "f",
            sum(a.ndim > 0 for a in w.views.values()),
            sum(a.size for a in w.views.values()),
        ),
    )
    instance = found[-1] if found else None
    if instance is None:
        return [("WGSL", "no small call of this op was found")]
    f = Function(op, library)
    arguments = {p.name: a for p, a in zip(op.params, instance.arguments()) if a is not None}
    call = ", ".join(f"{n}: {list(a.shape)}" if isinstance(a, np.ndarray) else f"{n}={a}" for n, a in arguments.items())
    parts = []
    for title, gradient in (("WGSL", False), ("WGSL of the gradient", True)):
        if gradient and (op.gradient is None or np.dtype(instance.dtype).kind != "f"):
            continue
        launches = f.launches(gradient=gradient, **arguments)
        texts = [f"// {' x '.join(map(str, x.groups))} workgroups\n{x.code.rstrip()}" for x in launches]
        parts.append((f"{title}, {op.name}({call})", "\n\n".join(texts) or "no launch"))
        kernels = f.wasm(gradient=gradient, **arguments)
        parts.append((title.replace("WGSL", "WebAssembly"), "\n\n".join(kernels) or "no kernel"))
    return parts
