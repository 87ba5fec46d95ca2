"""Loads definitions: parsed, lowered, tried out and with their gradients, as the package is made of them.

What passed in an earlier build is taken from there, and what is new is done on all cores."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import dsl.library
from codegen.ahead import ahead
from codegen.api.by_hand import NEEDED, ByHand, taken
from codegen.api.compiled import made_of
from codegen.earlier import Earlier, Sources
from dsl.checking.elements import apart
from dsl.checking.reach import uncalled, uncalled_errors
from dsl.checking.recurrences import RUNS
from dsl.gradients import adjoint
from dsl.opdef import Library, OpDef
from dsl.text.diagnostics import DefinitionError, render
from dsl.text.parse import parse_file
from dsl.text.places import OPS

from .checkup import mistakes


def load(
    folder: Path | list[Path] = OPS,
    instances: int = 0,
    earlier: Earlier = Earlier(None),
    whole: Collection[Path] = (),
    by_hand: ByHand | None = None,
) -> Library:
    """The definitions with their gradients; raises `DefinitionError` with all messages if there are mistakes.

    The tests inside definitions are run; reads outside are looked for in so many small random instances of each op.
    A definition that passed in an earlier build is taken from there.  whole: files in which every op must be one that
    somebody can call.  by_hand: what the hand-written TypeScript has, whose names no definition can have."""
    files = dsl.library.definition_files(folder)
    parse = lambda f: earlier.get(lambda: parse_file(f), "parsed", str(f), f.read_text(encoding="utf-8"))
    if earlier.folder:
        ahead(parse, [f for f in files if not earlier.has("parsed", str(f), f.read_text(encoding="utf-8"))])
    parsed = apart([parse(f) for f in files])
    texts = Sources(parsed, [f.stem for f in files])
    written = [source for *_, source in parsed]

    def one(item, trees, defs, file):
        source = texts.of(item)
        if found := earlier.find("ops", source):
            return found, []
        made, errors = dsl.library.lower_item(item, trees, defs, file)
        for op in made:
            op.source = source
        return made, errors

    def early(task):
        made, errors = one(*task)
        if errors or mistakes(Library({op.name: op for op in made}), written, instances, ops=made):
            return
        finish(made, earlier)
        for op in made:
            made_of(op, earlier)

    passed = lambda item: earlier.has("ops", texts.of(item))

    def before(tasks):
        ahead(early, [t for t in tasks if not passed(t[0])])

    library, errors, _ = dsl.library.lower(
        parsed, [f.stem for f in files], one=one, before=before if earlier.folder else lambda tasks: None, passed=passed
    )
    fresh = [op for op in library.ops.values() if not op.complete]
    errors += mistakes(library, written, instances, ops=fresh)
    stems = {f.stem: source for f, source in zip(files, written)}
    if by_hand:
        errors += taken(library.ops.values(), stems, by_hand)
    unfinished = {f.stem for f in whole} if not errors else ()  # what is wrong may be what calls it
    if unfinished:
        called = {RUNS, *(by_hand.called if by_hand else NEEDED)}
        errors += uncalled_errors([op for op in uncalled(library.ops, called) if op.file in unfinished], stems)
    if errors:
        raise DefinitionError(render(errors, written))
    finish(fresh, earlier)
    return library


def finish(ops: list[OpDef], earlier: Earlier):
    """Gives sound ops their gradients, and keeps them."""
    for op in ops:
        adjoint.complete(op)
    for source, made in groupby(ops, lambda op: op.source):
        earlier.keep([replace(op, schedules=[]) for op in made], "ops", source)
