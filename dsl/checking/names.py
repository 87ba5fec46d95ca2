"""Every name means something, once.

`check` looks at the items of one file, `check_library` at all files together.  Signatures are checked in
dsl/checking/signature.py, formulas in dsl/checking/formulas.py and those with a name in dsl/checking/def_names.py, what
is known before an op runs in dsl/checking/constants.py; here are bodies, gradients, and what concerns several
definitions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from ..text.diagnostics import Error, located
from ..text.source import Source
from ..text.syntax import Def, Op, Output, Schedule, Span
from ..text.vocabulary import expanded
from .def_names import check_def, check_heading, cycle
from .elements import with_questions
from .formulas import Formulas
from .groups import check_group, groups_in, with_groups
from .modules import check_modules
from .op_names import OpNames
from .schedules import check_schedule
from .scope import Scope, Vocabulary
from .signature import open_scope


def camel(name: str) -> str:
    """A name without its underscores, as JavaScript's are compared."""
    return re.sub(r"(?<=[A-Za-z0-9])_+([A-Za-z0-9])", lambda m: m[1].upper(), name).rstrip("_")


def check_library(
    files: Iterable[tuple[list, Source]],
    beside: Mapping[str, Op] = MappingProxyType({}),
    passed: Callable[[Op], bool] = lambda op: False,
    home: str = "",
) -> list[Error]:
    """Checks all files: (items, source) pairs.  beside: ops that they may call and redefine, by their names; passed:
    whether an op is known to be without mistakes beside the definitions that it names; home: the project whose
    definitions these are, "" for the library's."""
    files = list(files)
    groups = groups_in(items for items, _ in files)
    files = [(with_questions(with_groups(items, groups)), source) for items, source in files]
    vocabulary = Vocabulary.of((item for items, _ in files for item in items), beside, home)
    errors = duplicates(files)
    for items, source in files:
        errors += check(items, source, vocabulary, passed)
    return errors


def check(
    items: list, source: Source, vocabulary: Vocabulary, passed: Callable[[Op], bool] = lambda op: False
) -> list[Error]:
    """Checks the items of one file against all definitions."""
    errors: list[Error] = []
    for item in items:
        match item:
            case Op() if passed(item):
                errors += check_kept(item, source, vocabulary)
            case Op():
                errors += check_op(item, source, vocabulary)
            case Def() if item.body:
                errors += check_over_tensors(item, source, vocabulary)
            case Def() if item.requires:
                errors += check_group(item, source, vocabulary)
            case Def():
                errors += check_def(item, source, vocabulary)
            case Schedule():
                errors += check_schedule(item, source, vocabulary)
    return located(errors, source.path)


def duplicates(files) -> list[Error]:
    """Definitions with one name, ops and `def`s alike: every one after the first is a mistake."""
    seen: dict[str, tuple[str, Source, Span]] = {}
    errors = []
    for items, source in files:
        for item in items:
            if isinstance(item, Schedule):
                continue
            for name in expanded(item) if isinstance(item, Op) else [item.name]:
                first, *old = seen.setdefault(camel(name), (name, source, item.name_span))
                if old == [source, item.name_span]:
                    continue
                here = old[0] is source
                what = (
                    f"`{name}` is defined twice"
                    if first == name
                    else f"`{name}` and `{first}` are one name in JavaScript"
                )
                errors.append(
                    Error(
                        "name",
                        what,
                        item.name_span,
                        "the second time here",
                        ((old[1], "the first time here"),) if here else (),
                        () if here else (f"the first is in {old[0].path}, line {old[0].place(old[1][0])[0] + 1}",),
                        source.path,
                    )
                )
                break
    return errors


# --- Ops -------------------------------------------------------------------------------------------


def check_op(op: Op, source: Source, vocabulary: Vocabulary) -> list[Error]:
    scope, errors = open_scope(op, source)
    return once_each(errors + OpNames(scope, vocabulary).check(clean=not errors))


def check_over_tensors(d: Def, source: Source, vocabulary: Vocabulary) -> list[Error]:
    """A `def` over tensors: its statements as an op's, whose parameters may be anything."""
    op = Op(d.name, (), (Output("out", None, d.name_span),), body=d.body, span=d.span, name_span=d.name_span)
    work = OpNames(Scope(op, source), vocabulary)
    check_heading(work.walk, d, "local")
    work.scope.things |= work.walk.things
    work.walk.untyped = set(d.params)
    work.body()
    for name in (*d.params, *(a.name for a in d.body)) if not work.walk.errors else ():
        if name in work.walk.used or name == "out":
            continue
        what = f"the parameter `{name}` is never used" if name in d.params else f"`{name}` is assigned, but never used"
        work.error("name", what, work.walk.things[name].span, name=name)
    work.walk.errors += cycle(d.name, d.name_span, vocabulary)
    return once_each(work.walk.errors)


def check_kept(op: Op, source: Source, vocabulary: Vocabulary) -> list[Error]:
    """Of an op that passed: its modules, which may keep parameters of ops that it does not name."""
    if not op.modules:
        return []
    walk = Formulas(open_scope(op, source)[0], vocabulary)
    check_modules(walk, op, vocabulary)
    return once_each(walk.errors)


def once_each(errors: list[Error]) -> list[Error]:
    """A name is reported once per item: the first error that says a name is unknown stands for the others."""
    seen, out = set(), []
    for e in errors:
        m = re.fullmatch(r"unknown \w+ (`.*`)", e.message)
        key = m[1] if m and e.code == "name" else (e.code, e.message, e.span)
        if key not in seen:
            out.append(e)
        seen.add(key)
    return out
