"""Definitions of files, found by name: each is parsed when it is first asked for, and lowered when it is first run.

What definitions in another text may call, and what a face shows of one op, costs what is named and not the whole
library: files are only cut into items (dsl/text/source.py), whose names their first lines say.  The definitions are
taken to be right; `dsl.library.load` checks them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from .checking.elements import with_questions
from .checking.groups import groups_in, with_groups
from .checking.recurrences import with_recurrences
from .checking.schedules import SHAPES
from .checking.tables import with_tables
from .lowering.routines import register
from .opdef import Library, OpDef
from .text.diagnostics import Error
from .text.parse import parse_item
from .text.source import Source, read
from .text.syntax import Def, Op, Variant
from .text.syntax import Schedule as ScheduleTree
from .text.variants import completed
from .text.vocabulary import expanded

WORD = re.compile(r"[A-Za-z_]\w*")
HEAD = re.compile(r"(op|or|def|schedule)\s+([\w{}.]+)")
FAMILY = re.compile(r"^ {4}for (\w+) in ([\d, ]+)", re.M)
NAMES = re.compile(r"^ {4}as ([^\n]*(?:\n {5,}[^\n]*)*)", re.M)
# What of a definition calls nothing: texts, comments, tests and names.
TOLD = re.compile(r'""".*?"""|"[^"\n]*"|#[^\n]*|^ {4}(?:test|as) [^\n]*(?:\n {5,}[^\n]*)*', re.M | re.S)
ASKED = re.compile(r"_(allows|made)$")  # what dsl/checking/elements.py makes of an op

Value = TypeVar("Value")


class Named(Mapping[str, Value]):
    """Names, and what makes the value of one when it is first looked at."""

    def __init__(self, names: Iterable[str], make: Callable[[str], Value]):
        self.names, self.make, self.made = dict.fromkeys(names), make, dict[str, Value]()

    def __getitem__(self, name: str) -> Value:
        if name not in self.made:
            if name not in self.names:
                raise KeyError(name)
            self.made[name] = self.make(name)
        return self.made[name]

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


class Item:
    """An op with its variants, a `def` or a schedule: a stretch of a file."""

    def __init__(self, source: Source, kind: str, start: int, end: int):
        self.source, self.kind, self.spans = source, kind, [(start, end)]

    @property
    def text(self) -> str:
        return self.source.text[self.spans[0][0] : self.spans[-1][1]]

    @cached_property
    def trees(self) -> list[Op | Def | ScheduleTree]:
        found: list[Op | Def | ScheduleTree] = []
        for start, end in self.spans:
            tree = parse_item(self.source, start, end)
            if isinstance(tree, Variant):
                tree = completed(tree, found[0])
            found.append(tree)
        return found

    def parts(self) -> Iterator[tuple[str, re.Match | None, str]]:
        """Of the op and of each variant its name, its family and its text; a variant without one has the op's
        family."""
        first: re.Match | None = None
        for n, (start, end) in enumerate(self.spans):
            text = self.source.text[start:end]
            family = FAMILY.search(text) or first
            first = family if n == 0 else first
            yield HEAD.match(text)[2], family, text

    def names(self) -> list[str]:
        """The names that it defines."""
        return [name for own, family, _ in self.parts() for name in members(own, family)]

    def called(self) -> list[tuple[str, str]]:
        """(name in PyTorch, the op's own name) of each name that it has."""
        found: list[tuple[str, str]] = []
        first: list[str] = []
        for n, (own, family, text) in enumerate(self.parts()):
            said = [w.strip() for m in NAMES.finditer(text) for w in m[1].split(",")]
            first = said if n == 0 else first
            for word in said or first:  # a variant is called as its op
                found += zip(members(word, family), members(own, family))
        return found


def members(name: str, family: re.Match | None) -> list[str]:
    """The names of a family's members."""
    if family is None or "{" not in name:
        return [name]
    return [name.replace(f"{{{family[1]}}}", n.strip()) for n in family[2].split(",")]


def items(source: Source) -> list[Item]:
    """The items of a file, an op's variants with their op."""
    found: list[Item] = []
    for start, end in source.items():
        head = HEAD.match(source.text, start)
        if head and head[1] == "or" and found:
            found[-1].spans.append((start, end))
        elif head:
            found.append(Item(source, head[1], start, end))
    return found


class Catalogue:
    """The definitions of some files.

    trees, defs: by the names by which formulas call them; ops: lowered, by the names of ops, those of the ops that
    look at elements included (dsl/checking/elements.py)."""

    def __init__(self, files: Iterable[Path]):
        self.sources = {file.stem: read(file) for file in files}
        self.stems = {source.path: stem for stem, source in self.sources.items()}
        found = [item for source in self.sources.values() for item in items(source)]
        self.schedules = [item for item in found if item.kind == "schedule"]
        self.items = {name: item for item in found if item.kind != "schedule" for name in item.names()}
        self.trees = Named((n for n, i in self.items.items() if i.kind == "op"), self.tree)
        self.ops = Named([m for n in self.trees for m in (n, f"{n}_allows", f"{n}_made")], self.lowered)
        self.defs: dict[str, Def] = {}  # those that have been called for
        self.seen: set[str] = set()

    def bring(self, text: str) -> None:
        """Makes the `def`s ready that definitions in a text call, directly or through others."""
        todo, steps = [text], {}
        while todo:
            for name in WORD.findall(todo.pop()):
                item = self.items.get(name)
                if item is None or name in self.seen:
                    continue
                self.seen.add(name)
                todo.append(item.text)
                if item.kind == "def":
                    (made,) = item.trees
                    self.defs[name] = made
                    steps |= {name: made} if made.steps else {}
        register(steps, self.defs)

    def tree(self, name: str) -> Op:
        """The op that formulas call so, as `dsl.library.lower` takes it."""
        self.bring(self.items[name].text)
        made = self.lowerable(self.items[name])
        return next(op for op in made if isinstance(op, Op) and name in expanded(op))

    def lowerable(self, item: Item) -> list[Op | Def | ScheduleTree]:
        trees, _ = with_recurrences(*with_tables(item.trees, []))
        return with_questions(with_groups(trees, groups_in([list(self.defs.values())])))

    def lowered(self, name: str) -> OpDef:
        """Raises KeyError for what asks an op's elements where nothing is asked."""
        from .library import lower

        item = self.items[name if name in self.items else ASKED.sub("", name)]
        self.bring(item.text)
        stem = self.stems[item.source.path]
        asked = [s for s in self.schedules for t in s.trees if t.target in item.names()]
        parsed = [([*self.lowerable(item), *(t for s in asked for t in s.trees)], [], item.source)]
        library, errors, _ = lower(parsed, [stem], self, checked=True)
        assert not errors, errors
        self.ops.made.update({n: op for n, op in library.ops.items() if n not in self.ops.made})
        return self.ops.made[name]

    @cached_property
    def called(self) -> dict[str, str]:
        """The op behind each of PyTorch's names, with its module or without: the first that has it."""
        found: dict[str, str] = {}
        for item in dict.fromkeys(i for i in self.items.values() if i.kind == "op"):
            for alias, own in item.called():
                parts = alias.split(".")
                for start in range(len(parts)):
                    found.setdefault(".".join(parts[start:]), own)
        return found | {n: n for n in self.trees}

    @cached_property
    def library(self) -> Library:
        """The definitions as a library, whose ops are lowered when they are looked up."""
        from .library import schedules

        made = Library(self.ops)
        schedules(made, [t for s in self.schedules for t in s.trees if t.target in SHAPES])
        return made


def hidden(parsed: list, shelf: Catalogue) -> list[Error]:
    """Definitions that have the name of one of the library which is called, in the end, by what they call."""
    own = {i.name: (i, source) for items, _, source in parsed for i in items if isinstance(i, (Op, Def))}
    reached: dict[str, Item] = {}
    todo = [source.text for *_, source in parsed]
    while todo:
        for name in WORD.findall(TOLD.sub("", todo.pop())):
            if name in shelf.items and name not in own and name not in reached:
                reached[name] = shelf.items[name]
                todo.append(reached[name].text)
    called = {name for item in reached.values() for name in WORD.findall(TOLD.sub("", item.text))}
    return [
        Error(
            "name",
            f"the library has a `{name}`, which ops that are called here call in their turn",
            item.name_span,
            "they would call this one",
            help=("take another name",),
            path=source.path,
        )
        for name, (item, source) in own.items()
        if name in called and name in shelf.items
    ]
