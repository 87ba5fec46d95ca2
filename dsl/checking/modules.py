"""The `module` clauses: classes of torch.nn that keep some parameters of an op and call it with them.

A module calls its op by PyTorch's name, so what it keeps may belong to any op that shares that name."""

from __future__ import annotations

import re
from dataclasses import replace

from ..text.diagnostics import did_you_mean
from ..text.syntax import Module, Op, Param
from ..text.vocabulary import LISTS
from .scope import Vocabulary

CONSTANTS = ("num", "str", "neg")  # kinds of formulas that a fixed value may be; names: true, false, none
FUNCTIONS = "torch.nn.functional."
INPLACE = "inplace"  # kept by a module whose result may go into its input; no op has such a parameter
HOLE = re.compile(r"\{([*=]?)(\w+)\}")


def called(op: Op) -> str:
    """The name by which a module calls its op: that in torch.nn.functional, else the first; "" without any."""
    return next((a for a in op.aliases if a.startswith(FUNCTIONS)), op.aliases[0] if op.aliases else "")


def sharing(op: Op, vocabulary: Vocabulary) -> list[Op]:
    """The op, then the others that are called by the same name."""
    own = set(names(op))
    others = {id(o): o for o in vocabulary.own.values() if o is not op}
    return [op, *(o for o in others.values() if own & set(names(o)))]


def names(op: Op) -> list[str]:
    return [n for a in op.aliases for n in of_family(op, a)]


def classes(op: Op, m: Module) -> list[str]:
    return of_family(op, m.name)


def of_family(op: Op, name: str) -> list[str]:
    """A name of an op, or of each member of a family."""
    if not op.family:
        return [name]
    variable, values = op.family
    return [name.replace(f"{{{variable}}}", str(n)) for n in values]


def of_member(op: Op, number: int) -> tuple[Module, ...]:
    """The modules of an op's only member, or of one of a family: `AvgPool1d`, written out beside `AvgPool{D}d`, stands
    in its place."""
    n = op.family[1].index(number) if op.family else 0
    written = {m.name for m in op.modules}
    made = []
    for m in op.modules:
        name, others = of_family(op, m.name)[n], [of_family(op, x.name) for x in op.modules if x is not m]
        replaced = name != m.name and name in written
        of_another = any(name in names and names[n] != name for names in others)
        if not replaced and not of_another:
            made.append(replace(m, name=name))
    return tuple(made)


def check_modules(walk, op: Op, vocabulary: Vocabulary):
    """walk: the op's `Formulas`, which takes the errors."""
    seen: set[str] = set()
    for m in op.modules:
        if not op.aliases and not vocabulary.home:
            walk.error(
                "name",
                f"`{m.name}` has nothing to call",
                m.span,
                f"`{op.name}` has no PyTorch name",
                help=("write one:  as torch...",),
            )
        if m.name in seen:
            walk.error("name", f"the module `{m.name}` is declared twice", m.span)
        seen.add(m.name)
        first = next(
            o
            for o in (*vocabulary.own.values(), op)
            if o is op or any(set(classes(o, x)) & set(classes(op, m)) for x in o.modules)
        )
        if first is not op:
            walk.error("name", f"the module `{m.name}` is declared twice", m.span, f"`{first.name}` declares it, too")
        for hole in sorted(set(re.findall(r"\{(\w)\}", m.name)) - ({op.family[0]} if op.family else set())):
            walk.error("name", f"`{{{hole}}}` in this name stands for nothing", m.span)
        check_settings(walk, op, m, {p.name: p for o in sharing(op, vocabulary) for p in o.params})


def check_settings(walk, op: Op, m: Module, known: dict[str, Param]):
    kept: set[str] = set()
    for s in m.settings:
        if s.name == INPLACE and s.value is None:
            continue
        if s.name not in known:
            walk.error("name", f"`{op.name}` has no parameter `{s.name}`", s.span, did_you_mean(s.name, known))
        if {s.name, s.kept} & kept:
            walk.error("name", f"`{s.kept if s.kept in kept else s.name}` is kept twice", s.span)
        kept |= {s.name, s.kept}
        if s.value is not None and s.value.kind not in CONSTANTS and s.value.val not in ("true", "false"):
            walk.error("name", f"`{m.name}` fixes `{s.name}` to something that is no constant", s.value.span)
    shown = {s.kept: known.get(s.name) for s in m.settings if s.value is None}
    for mark, name in HOLE.findall(m.prints or ""):
        if name not in shown:
            walk.error(
                "name", f"`{m.name}` prints `{{{name}}}`, which it does not keep", m.span, did_you_mean(name, shown)
            )
        elif mark == "*" and (shown[name] is None or shown[name].type.name not in LISTS):
            walk.error(
                "name",
                f"`{m.name}` prints `{{*{name}}}`, but `{name}` is no list of numbers",
                m.span,
                help=(f"write:  {{{name}}}",),
            )
