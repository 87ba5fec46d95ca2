"""What has a page in the reference, and under which names it is found."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from buildtools.typescript import BuildError
from codegen.api.aliases import Names, names_of
from dsl.opdef import Library, OpDef

from . import by_hand, defaults, subjects
from .forms import Row
from .typings import Value

# What one of a namespace is called, by the longest that fits, if it is a class; others are functions.
KINDS = {
    "torch.nn": "module",
    "torch.nn.init": "function",
    "torch.nn.attention": "function",
    "torch.nn.utils": "function",
    "torch.nn.functional": "function",
    "torch.optim": "optimizer",
    "torch.optim.lr_scheduler": "scheduler",
    "torch.optim.swa_utils": "function",
    "torch.utils.data": "loader",
    "torch.distributions": "distribution",
}


CALLED = {"function", "method", "op"}
# What a module computes, where PyTorch's function for it does not have the module's name.
STEPS = {
    "FractionalMaxPool2d": "fractional_pool2d",
    "FractionalMaxPool3d": "fractional_pool3d",
    "GRU": "gru_step",
    "GRUCell": "gru_step",
    "LSTM": "lstm_step",
    "LSTMCell": "lstm_step",
    "MultiheadAttention": "scaled_dot_product_attention",
    "RNN": "rnn_step",
    "RNNCell": "rnn_step",
}


@dataclass
class Entry:
    """A page.  name: the one in its title; kind: what it is, in a word; subject: its heading in the index; ops: of
    which it is made, or value: what the typings say of it."""

    name: str
    kind: str
    subject: str
    ops: list[OpDef] = field(default_factory=list)
    value: Value | None = None
    settings: list[Row] | None = None  # of a module that a definition declares
    names: list[str] = field(default_factory=list)
    summary: str = ""

    @property
    def listed(self) -> bool:
        """Whether the index and the search name it; by a leading underscore PyTorch marks what is not for users."""
        return not self.name.rpartition(".")[2].startswith("_") or self.name.endswith("__")

    @property
    def in_place(self) -> bool:
        """Whether some of its names work in place, where its own does not."""
        return not self.name.endswith("_") and any(name.endswith("_") for name in self.names)

    @property
    def copies(self) -> bool:
        """Whether some of its names copy, where its own does not."""
        return not self.name.endswith("_copy") and any(name.endswith("_copy") for name in self.names)

    @property
    def path(self) -> str:
        return f"reference/{self.name}.html"


def entries(library: Library, values: Iterable[Value]) -> list[Entry]:
    """All pages, every public name of the package in one of them."""
    tensor = next(v for v in values if v.name == "torch.Tensor")
    written = frozenset(m.name for m in tensor.members if m.file.startswith("runtime/"))
    names = names_of(library, written)
    found = of_ops(library, names)
    known = {name: entry for entry in found for name in entry.names}
    for value in values:
        entry = next((known[n] for n in (value.name, *value.names) if n in known), None)
        if entry is None:
            found.append(of_value(value, library, names))
        else:
            entry.names += [n for n in (value.name, *value.names) if n not in entry.names]
    for member in tensor.members:
        name = f"Tensor.{member.name}"
        if member.file.startswith("runtime/") and name not in known:
            found.append(of_method(member, name))
    found = joined(found)
    by_name = {name: entry for entry in found for name in entry.names}
    for entry in found:
        entry.subject = entry.subject or subject(entry, by_name)
    return found


def joined(found: list[Entry]) -> list[Entry]:
    """Methods, functions that work in place and those that copy stand on the page of the function that says what they
    do."""
    by_name = {name: entry for entry in found for name in entry.names}
    left = []
    for entry in found:
        function = None if entry.ops else said_by(entry, by_name)
        while function is not None and not function.ops and said_by(function, by_name) is not None:
            function = said_by(function, by_name)  # `Tensor.detach_` is `torch.detach_`, and that stands on another's
        if function is None:
            left.append(entry)
            continue
        function.names += [n for n in entry.names if n not in function.names]
        if not function.summary and function.value is not None and entry.value is not None:
            function.summary, function.value = entry.summary, replace(function.value, doc=entry.value.text)
    return left


def said_by(entry: Entry, by_name: Mapping[str, Entry]) -> Entry | None:
    """The entry of the function that a method, `abs_` or `squeeze_copy` does otherwise."""
    plain = subjects.twin(entry.name)
    for name in (entry.name, plain):
        for space in ("torch.", "Tensor."):
            other = by_name.get(name.replace("Tensor.", space, 1))
            if other is not None and other is not entry and {entry.kind, other.kind} <= CALLED:
                return other
    return None


def subject(entry: Entry, by_name: Mapping[str, Entry]) -> str:
    """Its heading.  Raises BuildError where none is known; a file of definitions of others is a heading itself."""
    if entry.name not in subjects.PLACES:
        other = by_name.get(subjects.twin(entry.name))
        if other is not None and other is not entry:
            return other.subject or subject(other, by_name)
    file = entry.ops[0].file if entry.kind == "op" else ""
    source = f"ops/{file}" if file or entry.value is None else entry.value.file
    found = subjects.known(entry.name, source)
    if found is None and not file:
        raise BuildError(f"{entry.name} of {source} has no heading: website/reference/subjects.py")
    return found or f"{file[0].upper()}{file[1:]}".replace("_", " ")


def of_ops(library: Library, names: Names) -> list[Entry]:
    """Ops that share a name share a page, which has the first one's if half of them have it, else what most have."""
    first: dict[str, str] = {}  # alias -> the first name of its page

    def root(name: str) -> str:
        while first.setdefault(name, name) != name:
            name = first[name]
        return name

    for op in library.ops.values():
        for alias in op.aliases:
            first[root(alias)] = root(op.aliases[0])
    pages: dict[str, Entry] = {}
    for op in library.ops.values():
        if not op.aliases:
            continue
        name = root(op.aliases[0])
        entry = pages.setdefault(name, Entry(name, "op", ""))
        entry.ops.append(op)
        entry.names += [a for a in op.aliases if a not in entry.names]
    by_op = {op.name: entry for entry in pages.values() for op in entry.ops}
    for table in (names.methods, names.inplace):
        for method, ops in table.items():
            for op in ops:
                if op.name in by_op and f"Tensor.{method}" not in by_op[op.name].names:
                    by_op[op.name].names.append(f"Tensor.{method}")
    for entry in pages.values():
        count = {name: sum(name in op.aliases for op in entry.ops) for name in entry.names}
        entry.name = entry.ops[0].aliases[0]
        if 2 * count[entry.name] < len(entry.ops):
            entry.name = max(entry.names, key=count.__getitem__)
        entry.ops.sort(key=lambda op: op.aliases[0] != entry.name)
        entry.summary = sentence(entry.ops[0].doc)
    return list(pages.values())


def of_value(value: Value, library: Library, names: Names) -> Entry:
    space, _, short = value.name.rpartition(".")
    kind = kind_of(value, space)
    ops = [op for op in library.ops.values() if space == "torch.nn" and short in [m.name for m in op.modules]]
    settings = by_hand.settings(ops[0], short, names) if ops else None
    if kind == "optimizer":
        ops = [library.ops[name] for name in defaults.written().ops.get(short, ()) if name in library.ops]
    elif kind == "module" and not ops:
        ops = computed_by(short, library)
    summary = sentence(value.text) or (sentence(ops[0].doc) if ops else "")
    return Entry(value.name, kind, "", ops, value, settings, [value.name, *value.names], summary)


def computed_by(module: str, library: Library) -> list[OpDef]:
    """The op that a module runs on its weights, which is no part of its definition: `conv2d` for `LazyConv2d`."""
    words = re.sub(
        r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})", "_", module.removeprefix("Lazy").strip("_")
    ).lower()
    tried = (words, words.removesuffix("_loss"), words.replace("_", ""), re.sub(r"\dd$", "", words))
    names = [STEPS[module]] if module in STEPS else [name for name in tried if name in library.ops]
    return [library.ops[name] for name in names[:1]]


def of_method(member: Value, name: str) -> Entry:
    return Entry(name, member.kind, "Tensor", [], replace(member, name=name), None, [name], sentence(member.text))


def kind_of(value: Value, space: str) -> str:
    """What a value that is no op is called."""
    while space not in ("torch", "") and space not in KINDS:
        space = space.rpartition(".")[0]
    if value.kind == "class":
        return KINDS.get(space, "class")
    return "constant" if value.kind == "value" else "function"


def sentence(text: str) -> str:
    """The first sentence of a comment."""
    text = " ".join(text.split())
    found = re.match(r"(.*?[.:;])(?= |$)", text)
    return (found[1].rstrip(":;") if found else text).strip()


def by_subject(found: Iterable[Entry]) -> dict[str, list[Entry]]:
    """In the order of the headings, in each alphabetically, names without their namespaces."""
    groups: dict[str, list[Entry]] = defaultdict(list)
    for entry in found:
        if entry.listed:
            groups[entry.subject].append(entry)
    short = lambda e: e.name.rpartition(".")[2].lower()
    order = [*subjects.SUBJECTS, *sorted(groups.keys() - subjects.SUBJECTS.keys())]
    return {subject: sorted(groups[subject], key=short) for subject in order if subject in groups}
