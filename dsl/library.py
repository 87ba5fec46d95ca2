"""All definitions of a folder, checked and lowered: the one door to the front end."""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

from .catalogue import Catalogue
from .checking.elements import apart, companions
from .checking.groups import groups_in, with_groups
from .checking.names import check_library
from .checking.reach import dead_overloads, unknown_complexes
from .checking.recurrences import with_recurrences
from .checking.schedules import SHAPES
from .checking.tables import with_tables
from .ir.expression import E
from .ir.intrinsics import ROUTINES
from .ir.verify import verify
from .lowering import routines
from .lowering.context import Context
from .lowering.inline import put_in_place
from .lowering.lower import Lowering
from .lowering.scalar_formulas import Formulas
from .opdef import Library, OpDef, Schedule
from .text.diagnostics import Error, located
from .text.home import at_home, routines_of, with_routines
from .text.parse import parse_file, parse_text
from .text.places import OPS
from .text.source import Source
from .text.syntax import Def, Op, X
from .text.syntax import Schedule as ScheduleTree

WORD = re.compile(r"[A-Za-z_]\w*")


def load(paths, beside: Iterable[Path] = ()) -> tuple[Library, list[Error], list[Source]]:
    """Reads every .op file of a folder, or the files given, in the order of their names.  beside: other files, of whose
    definitions those that are named can be called; they are no part of the library."""
    files = definition_files(paths)
    parsed = [parse_file(f) for f in files]
    return lower([*parsed, *named_by(parsed, map(parse_file, beside))], [f.stem for f in files])


def named_by(parsed: list, others: Iterable) -> list:
    """Of other files the definitions that the files `parsed` name and lack, and those that these name."""
    own = {name for items, *_ in parsed for item in items for name in names_of(item)}
    others, there = list(others), {}
    for n, (items, _, _) in enumerate(others):
        there |= {name: (n, item) for item in items for name in names_of(item) if name not in own | there.keys()}
    todo, named = [source.text for *_, source in parsed], {}
    while todo:
        for name in WORD.findall(todo.pop()):
            if name in there and name not in named:
                n, item = named[name] = there[name]
                todo.append(others[n][2].text[item.span[0] : item.span[1]])
    wanted = {id(item) for _, item in named.values()}
    return [([i for i in items if id(i) in wanted], [], source) for items, _, source in others]


def names_of(item) -> list[str]:
    """The names that a definition gives."""
    return [item.name] if isinstance(item, Def) else [n for n, _ in members(item)] if isinstance(item, Op) else []


def definition_files(paths) -> list[Path]:
    """The .op files of a folder by name, or the files given."""
    return (
        sorted(Path(paths).glob("*.op"))
        if isinstance(paths, (str, Path)) and Path(paths).is_dir()
        else [Path(p) for p in ([paths] if isinstance(paths, (str, Path)) else paths)]
    )


@cache
def standard() -> Catalogue:
    """The definitions of the library."""
    return Catalogue(definition_files(OPS))


def load_text(
    text: str, path: str = "definition.op", beside: Library | Catalogue | None = None, home: str = ""
) -> tuple[Library, list[Error], list[Source]]:
    """Definitions in a text; those of `beside` can be called.  home: the project whose they are."""
    return lower([parse_text(text, path)], [Path(path).stem], beside, home=home)


def lower_item(
    item: Op, trees: dict[str, Op], defs: dict[str, Def], file: str, begun: dict[str, OpDef] | None = None
) -> tuple[list[OpDef], list[Error]]:
    """The ops that a definition makes, or its mistakes.  trees, defs: all definitions that it may call; begun: ops of
    which only the gradients are still to be made, and which call this one there."""
    begun = {} if begun is None else begun
    tree, errors = put_in_place(item, trees, defs)
    ops: list[OpDef] = []

    def called(name: str) -> OpDef | None:
        if name in begun:
            return begun[name]
        made = lower_item(trees[name], trees, defs, file, dict(begun))[0] if name in trees else []
        return next((op for op in made if op.name == name), None)

    for name, family in members(item) if not errors else ():
        work = Lowering(tree, family, name, defs, trees, called, lambda made: begun.update({made.name: made}))
        made = work.run()
        if work.errors:
            return [], work.errors
        made.file = file
        made.value_checks = companions(replace(tree, name=name))
        verify(made.forward, "lower", made)
        ops.append(made)
    return ops, errors


def lower(
    parsed,
    stems: list[str],
    beside: Library | Catalogue | None = None,
    one=lower_item,
    before=lambda tasks: None,
    passed=lambda op: False,
    checked: bool = False,
    home: str = "",
) -> tuple[Library, list[Error], list[Source]]:
    """(library, errors, sources); ops with mistakes are left out of the library.  stems: of the files whose ops it
    has, which come first; of others, and of `beside`, definitions can be called.  one: lowers one definition; before:
    is given what `one` will be called with; passed: whether an op is known to be without mistakes; checked: all are;
    home: whose definitions these are if not the library's (dsl/text/home.py)."""
    sources = [source for *_, source in parsed]
    if isinstance(beside, Catalogue):
        for source in sources:
            beside.bring(source.text)
    parsed = [(*with_recurrences(*with_tables(items, found)), source) for items, found, source in parsed]
    groups = groups_in([*(items for items, *_ in parsed), *([[*beside.defs.values()]] if beside else [])])
    parsed = apart([(with_groups(items, groups), found, source) for items, found, source in parsed])
    errors = [e for _, found, source in parsed for e in located(found, source.path)]
    if not checked:
        errors += check_library(
            [(items, source) for items, _, source in parsed], beside.trees if beside else {}, passed, home
        )
    if home:
        names = routines_of([items for items, *_ in parsed], home)
        parsed = [
            ([with_routines(i, names) for i in at_home(items, home)], found, source) for items, found, source in parsed
        ]
    own: dict[str, Op] = {}
    defs: dict[str, Def] = {}
    for items, _, _ in parsed:
        for item in items:
            if isinstance(item, Def):
                defs[item.name] = item
            elif isinstance(item, Op):
                own.update({name: item for name, _ in members(item)})
    trees: Mapping[str, Op] = ChainMap(own, beside.trees) if beside else own
    broken = {(e.path, e.span) for e in errors}
    stepped = {d.name: d for d in defs.values() if d.steps}
    mine = defs
    if beside:  # what is called from there may call these, by names that nothing here has
        # Functions with steps are called by their names, and lowered already.
        known = {n for n, d in beside.defs.items() if d.steps and n in ROUTINES}
        defs = {**{n: d for n, d in beside.defs.items() if n not in known and n not in own}, **mine}
    mistaken = any(
        s.path == p and d.span[0] <= at[0] <= d.span[1]
        for items, _, s in parsed
        for d in items
        if isinstance(d, Def)
        for p, at in broken
    )
    if mistaken:
        return Library({}), errors, sources  # what calls it cannot be lowered
    routines.register(stepped, defs)
    ops: dict[str, OpDef] = {}
    sound = [
        (item, stem, source)
        for (items, _, source), stem in zip(parsed, stems)
        for item in items
        if not any(p == source.path and item.span[0] <= s[0] <= item.span[1] for p, s in broken)
    ]
    before([(item, trees, defs, stem) for item, stem, _ in sound if isinstance(item, Op)])
    for item, stem, source in sound:
        if not isinstance(item, Op):
            continue
        made, found = one(item, trees, defs, stem)
        errors += located(found, source.path)
        ops |= {op.name: op for op in made}
    ops = {n: op for n, op in ops.items() if all(name in ops for name, _ in op.value_checks)}
    if not checked:
        errors += dead_overloads(ops.values(), dict(zip(stems, sources)))
        errors += unknown_complexes(ops.values(), {*trees}, dict(zip(stems, sources)))
    rules = [item for item, *_ in sound if isinstance(item, ScheduleTree)]
    library = Library(ops, routines={n: ROUTINES[n] for n in stepped}, defs=mine)
    schedules(library, rules)
    return library, errors, sources


def members(op: Op) -> list[tuple[str, dict[str, int]]]:
    """(name, value of the family variable) of each op that a definition makes."""
    if not op.family:
        return [(op.name, {})]
    variable, values = op.family
    return [(op.name.replace(f"{{{variable}}}", str(n)), {variable: n}) for n in values]


def schedules(library: Library, rules: list[ScheduleTree]):
    """Gives every rule to its op, or to the library when it is for a shape of kernel."""
    for rule in rules:
        for call in rule.strategies:
            numbers = tuple((a.val, a.args[0].val) for a in call.args if a.kind == "kw")
            made = Schedule(rule.target, facts(rule.when), call.val, numbers)
            if rule.target in SHAPES:
                library.schedules.append(made)
            elif rule.target in library.ops:
                library.ops[rule.target].schedules.append(made)


class Facts:
    """What a schedule's condition may name: a kernel's facts, which only a call knows."""

    scalars: dict = {}
    options: dict = {}
    families: dict = {}
    defs: dict = {}

    class patterns:
        rank: dict = {}

    def is_tensor(self, n: str) -> bool:
        return False


def facts(when: X | None) -> E | None:
    if when is None:
        return None
    f = Formulas(Facts())
    return f.lower(when, Context())
