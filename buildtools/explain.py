"""Says what becomes of one definition: `build.py explain NAME`.  Only prints what the compiler's passes give."""

from __future__ import annotations

import difflib

from .environment import SetupError


def page(name: str, library: "dsl.opdef.Library") -> str:  # noqa: F821 - imported inside .venv
    """The text about an op, by its own name or one of PyTorch's.  Raises SetupError for an unknown name."""
    from codegen import ledger, package
    from codegen.cpu.emit import kernels
    from dsl.show import show

    op = find(name, library)
    nests = package.programs(op)
    parts = [("definition", show(op.tree).rstrip()), ("names", ", ".join(op.aliases) or op.name),
             ("forward", str(op.forward))]
    for title, program in (("gradient", op.gradient), ("gradient of the gradient", op.gradient2)):
        if program is not None:
            parts.append((f"{title} ({ledger.gradient(op)})" if title == "gradient" else title, str(program)))
    parts.append(("kernels", "\n".join(f"{title}: {', '.join(nest.shape for nest in made) or 'none'}"
                                       for title, (made, _) in zip(("forward", "gradient", "second gradient"), nests))))
    parts.append(("CPU code", "\n\n".join(text.rstrip() for text in kernels(op, nests).functions)))
    return "\n\n".join(f"── {title} " + "─" * max(3, 90 - len(title)) + f"\n{text}" for title, text in parts)


def find(name: str, library: "dsl.opdef.Library"):  # noqa: F821
    """The op called `name` here or in PyTorch (`conv2d`, `torch.nn.functional.conv2d`)."""
    if name in library.ops:
        return library.ops[name]
    known = {}
    for op in library.ops.values():
        for alias in op.aliases:
            words = alias.split(".")
            for start in range(len(words)):
                known.setdefault(".".join(words[start:]), op)
    if name in known:
        return known[name]
    near = difflib.get_close_matches(name, {*library.ops, *known}, n=3)
    raise SetupError(f"no op is called `{name}`" + (f"; did you mean {' or '.join(f'`{n}`' for n in near)}?" if near else ""))
