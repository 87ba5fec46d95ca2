"""What a schedule may speak of: the shapes of kernels, the facts that are known of each in a call, and the strategies
that run it, with their settings.

Declared here once, with types; `check_schedule` holds every schedule to it, and tests/test_schedules.py the planner
(codegen/planner/strategy.py, plan.py), which must give exactly these facts and read exactly these settings."""

from __future__ import annotations

from dataclasses import dataclass

from ..text.diagnostics import Error, did_you_mean
from ..text.source import Source
from ..text.syntax import Schedule, X
from ..text.vocabulary import names_in, nodes_in, word
from .constants import ARITHMETIC, COMPARISON, SHORT
from .scope import Scope, Vocabulary
from .signature import open_scope

COUNT, FLAG = "a count", "0 or 1"


@dataclass(frozen=True)
class Setting:
    """A whole number from `least` to `most`; powers: of those only powers of two, since a kernel halves it."""

    least: int
    most: int
    powers: bool = False

    def takes(self, n: object) -> bool:
        return isinstance(n, int) and self.least <= n <= self.most and not (self.powers and n & (n - 1))

    def __str__(self) -> str:
        return f"{'a power of two' if self.powers else 'a whole number'} from {self.least} to {self.most}"


@dataclass(frozen=True)
class Shape:
    """A shape of kernels: its facts and their kinds, its strategies and their settings."""

    facts: dict[str, str]
    strategies: dict[str, dict[str, Setting]]


THREADS = Setting(32, 1024, powers=True)  # of a workgroup; a device that has fewer uses as many as it has
TILE = Setting(16, 128, powers=True)
DEPTH = Setting(16, 32, powers=True)  # a strip of a factor is 16 deep
THREAD_TILE = Setting(4, 8, powers=True)
ROW_FACTS = {"outer": COUNT, "inner": COUNT, "unit": FLAG, "vector": FLAG}
SHAPES = {
    "map": Shape({"outer": COUNT, "inner": COUNT, "vector": FLAG}, {"lanes": {}}),
    "scatter": Shape({"outer": COUNT, "inner": COUNT, "vector": FLAG}, {}),
    "reduce": Shape(
        {**ROW_FACTS, "window": COUNT, "software": FLAG},
        {"workgroup": {"threads": THREADS}, "window": {"threads": THREADS, "rows": Setting(1, 16)}},
    ),
    "scan": Shape(ROW_FACTS, {"block": {"threads": THREADS}}),
    "contract": Shape(
        {**ROW_FACTS, "M": COUNT, "N": COUNT, "K": COUNT, "batch": COUNT, "left_deep": FLAG, "right_deep": FLAG},
        {
            "tiled_matmul": {"rows": TILE, "columns": TILE, "depth": DEPTH},
            "exact_tile": {
                "rows": TILE,
                "columns": TILE,
                "depth": DEPTH,
                "thread_rows": THREAD_TILE,
                "thread_columns": THREAD_TILE,
                "slices": Setting(1, 2),
                "parts": Setting(1, 64),
            },
        },
    ),
    "attention": Shape(
        {"M": COUNT, "N": COUNT, "K": COUNT, "columns": COUNT, "batch": COUNT, "software": FLAG},
        {"blocks": {}},
    ),
    "attention_gradient": Shape(
        {"M": COUNT, "N": COUNT, "batch": COUNT, "software": FLAG},
        {"pairs": {"rows": Setting(32, 64, powers=True), "depth": Setting(16, 32, powers=True)}},
    ),
}
ORDER = ("<", "<=", ">", ">=", "==", "!=")


def check_schedule(s: Schedule, source: Source, vocabulary: Vocabulary) -> list[Error]:
    """The target exists, the condition compares facts that are known of it, and each strategy runs it with all of its
    settings."""
    names = {*vocabulary.own, *(o.name for o in vocabulary.own.values())}
    if vocabulary.home and s.target in SHAPES:
        at = word(source, (s.span[0] + 8, s.span[1]), s.target)
        return [Error("name", "kinds of kernels are scheduled in the library", at, "a project schedules its own ops")]
    if s.target not in SHAPES and s.target not in names:
        at = word(source, (s.span[0] + 8, s.span[1]), s.target)
        label = did_you_mean(s.target, {*SHAPES, *names})
        help = ("a schedule is for an op or one of: " + ", ".join(SHAPES),)
        return [Error("name", f"nothing is called `{s.target}`", at, label, help=help), *settings(s, all_strategies())]
    if s.target in SHAPES:
        shape = SHAPES[s.target]
        return [*condition(s, shape.facts, f"a {s.target}"), *settings(s, shape.strategies)]
    op = vocabulary.own.get(s.target) or next(o for o in vocabulary.own.values() if o.name == s.target)
    scope: Scope = open_scope(op, source)[0]  # of an op, its sizes and options are known as well
    known = {n: k for shape in SHAPES.values() for n, k in shape.facts.items()}
    known |= dict.fromkeys(scope.of_kind("size", "pack", "option", "rank"), "")
    return [*condition(s, known, f"`{s.target}`"), *settings(s, all_strategies())]


def all_strategies() -> dict[str, dict[str, Setting]]:
    return {name: known for shape in SHAPES.values() for name, known in shape.strategies.items()}


def condition(s: Schedule, known: dict[str, str], what: str) -> list[Error]:
    """The names and comparisons of a condition; known: the facts and their kinds."""
    errors = []
    wrong = next((n for n in nodes_in(s.when) if n.kind not in ARITHMETIC + COMPARISON), None)
    if wrong:
        label = f"{SHORT.get(wrong.kind, 'this')} is none"
        errors.append(Error("type", "a schedule's condition compares numbers", wrong.span, label))
    for n in names_in(s.when):
        if n.val not in known:
            help = ("a condition compares: " + ", ".join(known),)
            label = did_you_mean(str(n.val), known)
            errors.append(Error("name", f"no fact of {what} is called `{n.val}`", n.span, label, help=help))
    flags = {n for n, kind in known.items() if kind == FLAG}
    for n in (n for n in nodes_in(s.when) if n.kind in ORDER):
        for fact, number in (n.args, n.args[::-1]):
            if fact.kind == "name" and fact.val in flags and number.kind == "num" and number.val not in (0, 1):
                errors.append(Error("type", f"`{fact.val}` is 0 or 1", number.span, "it is never this"))
    return errors


def settings(s: Schedule, known: dict[str, dict[str, Setting]]) -> list[Error]:
    """The strategies and their settings: each declared one once, a number that it takes."""
    errors = []
    for call in s.strategies:
        name = str(call.val)
        if name not in known:
            shape = next((k for k, shape in SHAPES.items() if name in shape.strategies), "")
            label = f"`{name}` is for {shape}" if shape else did_you_mean(name, known)
            help = ("there are: " + ", ".join(known or all_strategies()),)
            at = (call.span[0], call.span[0] + len(name))
            text = f"no strategy for {s.target} is called `{name}`" if shape else f"no strategy is called `{name}`"
            errors.append(Error("name", text, at, label, help=help))
            continue
        errors += arguments(call, name, known[name])
    return errors


def arguments(call: X, name: str, known: dict[str, Setting]) -> list[Error]:
    errors, seen = [], set()
    for a in call.args:
        if a.kind != "kw":
            errors.append(Error("option", "a setting of a strategy has a name", a.span, "write  name=..."))
        elif a.val not in known:
            help = (f"it reads: {', '.join(known) or 'none'}",)
            at = (a.span[0], a.span[0] + len(str(a.val)))
            label = did_you_mean(str(a.val), known)
            errors.append(Error("option", f"`{name}` has no setting `{a.val}`", at, label, help=help))
        elif a.val in seen:
            errors.append(Error("option", f"`{a.val}` is given twice", a.span))
        elif a.args[0].kind != "num" or not known[str(a.val)].takes(a.args[0].val):
            label = f"it is {known[str(a.val)]}"
            errors.append(Error("option", f"`{a.val}` of `{name}` cannot be this", a.args[0].span, label))
        seen.add(a.val)
    missing = [n for n in known if n not in seen]
    if missing and all(a.kind == "kw" and a.val in known for a in call.args):
        at = (call.span[0], call.span[0] + len(name))
        errors.append(Error("option", f"`{name}` needs `{'`, `'.join(missing)}`", at, "not given"))
    return errors
