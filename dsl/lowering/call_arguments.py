"""What the arguments of a call mean for the callee: its numbers, its axes, its sizes.

An axis that an option chooses (`K@dim`) is known where the option is a number; a split axis (`(groups C)`) is one axis
of the caller's; packs take the axes that are left."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ..ir.axes import Axis, loop_index
from ..ir.builders import FALSE, ONE, TRUE, ZERO, conj, floordiv, integer, is_const, mul, read, sym
from ..ir.expression import Binary, E, Symbol
from ..ir.program import Dim, Loop
from ..ir.row_calls import NotInlined, counted, ranked
from ..opdef import OpDef, Param, Presence, Require, symbol
from ..text.syntax import X
from .call_axes import Placed
from .context import Context, Mistake
from .dims import Item
from .renaming import ABSENT, arguments
from .scalar_formulas import part


def bind(work, e: X, callee: OpDef) -> Placed:
    """The callee as it stands at a call; work: the caller's Lowering.  Raises Mistake for arguments that do not fit."""
    found = Binding(work, e, callee)
    given = {p.name: value for p, value in arguments(e, callee.tree)}
    for p in callee.params:
        if p.kind != "tensor":
            found.option(p, given[p.name], named(e, p.name, callee))
    for p in callee.params:
        if p.kind == "tensor":
            found.tensor(p, given[p.name])
    return found.placed()


def named(e: X, name: str, callee: OpDef) -> bool:
    """Whether a call gives a parameter."""
    places = [p.name for p in callee.tree.params if not p.keyword]
    by_place = sum(a.kind != "kw" for a in e.args)
    return name in places[:by_place] or any(a.kind == "kw" and a.val == name for a in e.args)


@dataclass(eq=False)
class Binding:
    """chosen: the numbers of options that choose axes; ranks: of packs whose rank an option tells; later: options whose
    defaults speak of sizes."""

    work: object
    call: X
    callee: OpDef
    names: dict[str, str] = field(default_factory=dict)
    env: dict[str, E] = field(default_factory=dict)
    packs: dict[str, tuple[Axis, ...]] = field(default_factory=dict)
    chosen: dict[str, int] = field(default_factory=dict)
    ranks: dict[str, int] = field(default_factory=dict)
    later: list[Param] = field(default_factory=list)
    spans: dict[str, X] = field(default_factory=dict)
    T: str = "T"

    def refused(self, code: str, label: str, at: X | None = None) -> Mistake:
        return Mistake(code, f"`{self.callee.name}` cannot be called in a formula", (at or self.call).span, label)

    # --- Options ---

    def option(self, p: Param, value: X, given: bool) -> None:
        """given: whether the call says the value, else it is the default."""
        if value == ABSENT:
            if not p.optional:
                raise self.refused("option", f"`{p.name}` has no value")
            self.env[Presence + p.name] = FALSE
            for suffix in range(p.rank) if p.rank >= 0 else ("",):
                self.env[f"{symbol(p.name)}{suffix}"] = ZERO  # which nothing asks for
            return
        if p.optional:
            self.env[Presence + p.name] = TRUE
        if p.kind in ("dtype", "dims"):
            raise self.refused("type", f"`{p.name}` is no number", value)
        if p.kind == "dim":
            n = self.number(p, value)
            if not is_const(n):
                raise self.refused("type", f"`{p.name}` chooses an axis: only a number tells which", value)
            self.chosen[p.name] = int(n.value)
            self.env[symbol(p.name)] = n
        elif p.kind in ("ints", "reals"):
            self.numbers(p, value)
        elif not given and p.default is not None and not is_const(p.default):
            self.later.append(p)  # of the callee's sizes: 1 / sqrt(E)
        else:
            self.env[symbol(p.name)] = self.number(p, value)

    def numbers(self, p: Param, value: X) -> None:
        """A list, or one number for all of its places."""
        if value.kind == "list":
            values = [self.number(p, v) for v in value.args]
            if p.pack and p.rank < 0:
                self.ranks[p.pack] = len(values)
            if p.rank >= 0 and len(values) not in (1, p.rank):
                raise self.refused("option", f"`{p.name}` has {p.rank} numbers", value)
        elif p.rank < 0:
            raise self.refused("type", f"`{p.name}` is a list whose length tells the axes: write it out", value)
        elif value.kind == "name" and (rank := self.work.patterns.rank.get(value.val)) is not None:
            values = [sym(f"{symbol(value.val)}{n}") for n in range(rank)]  # a list of the caller's
        else:
            values = [self.number(p, value)]
        for n in range(max(p.rank, len(values))):
            self.env[f"{symbol(p.name)}{n}"] = values[n] if len(values) > 1 else values[0]

    def number(self, p: Param, value: X) -> E:
        if value.kind == "str":
            return integer(p.choices.index(value.val))
        return self.work.formulas.lower(value, Context())

    # --- Tensors ---

    def tensor(self, p: Param, value: X) -> None:
        work = self.work
        if value == ABSENT:
            self.env[Presence + p.name] = FALSE
            return
        if p.optional:
            self.env[Presence + p.name] = TRUE
        t = ""
        if value.kind in ("name", "field"):
            t = work.tensor(value.val) if value.kind == "name" else part(value)
        if t not in work.items:
            raise Mistake(
                "type",
                f"`{p.name}` is a tensor, which has a name in index notation",
                value.span,
                "assign this to a name first",
            )
        if p.flat:
            t = self.in_a_row(t, value)
        self.names[p.name] = t
        self.spans[p.name] = value
        self.env[f"rank_{p.name}"] = ranked(self.axes(t))
        if p.name in self.callee.promoted:
            self.T = {"own": "int", "int32": "int"}.get(work.tensors[t].dtype, work.tensors[t].dtype)

    def in_a_row(self, t: str, value: X) -> str:
        """All elements of a tensor on one axis, which is read by its places."""
        there = self.axes(t)
        if len(there) == 1 and not there[0].pack:
            return t
        if pack := next((x.pack for x in there if x.pack), ""):
            raise self.refused("rank", f"how many axes `*{pack}` has is not known: give `{t}` its axes", value)
        loop = Loop(self.work.loop("i"), counted(tuple(there)))
        place, index, inner = loop_index(loop), [], ONE
        for n, x in reversed(list(enumerate(there))):
            part = floordiv(place, inner)
            index.insert(0, part if n == 0 else Binary("%", part, x.length))
            inner = mul(inner, x.length)
        row = self.work.temp()
        tensor = replace(self.work.tensors[t], name=row, role="temp", dims=(Dim("one", size=loop.extent),), mut=False)
        self.work.declare(replace(tensor, optional=False), [Item("one", (Axis(extent=loop.extent),))])
        self.work.emit(row, (place,), [loop], read(t, tuple(index)), "=", None)
        return row

    def axes(self, t: str) -> list[Axis]:
        return [x for item in self.work.items[t] for x in item.axes]

    def placed(self) -> Placed:
        at = Placed(self.callee, self.names, self.packs, self.env, self.T)
        for name, size in self.callee.sizes:  # those that ranks alone decide choose axes: `C@axis`
            try:
                found = at.expression(size, {})
            except NotInlined:
                continue
            if is_const(found):
                self.chosen.setdefault(name, int(found.value))
        for t in self.names.values():
            if any(d.factors for d in self.work.tensors[t].dims):
                raise self.refused("type", f"`{t}` has an axis of several parts: give that axis a size of its own")
        found = [(name, d, x) for name in self.names for d, x in self.matched(name)]
        for name, d, x in found:
            if not d.factors and isinstance(d.size, Symbol):
                self.size(d.size.name, x, name)
        for name, d, x in found:
            if d.factors:
                self.divided(at, d, x, name)
        for pack, axes in self.packs.items():
            self.env |= {f"count_{pack}": counted(axes), f"rank_{pack}": ranked(axes)}
            self.env |= {f"fits_{pack}_{p}": fits for p, other in self.packs.items() if (fits := fitting(axes, other))}
        given = [(n, [x.pack or x.length for x in self.axes(t)]) for n, t in self.names.items()]
        self.env |= {f"same_{a}_{b}": TRUE for a, x in given for b, y in given if x == y}
        for p in self.later:
            assert p.default is not None
            self.env[symbol(p.name)] = at.expression(p.default, {})
        for name, size in self.callee.sizes:
            self.env[name] = at.expression(size, {})
        return at

    def matched(self, name: str) -> list[tuple[Dim, Axis]]:
        """The callee's single axes and what they are of the caller's; its packs are noted."""
        dims, axes = self.callee.tensors[name].dims, self.axes(self.names[name])
        choice = next((n for n, d in enumerate(dims) if d.kind == "chosen"), None)
        if choice is None:
            return self.stretch(name, dims, axes)
        option = dims[choice].option
        if option not in self.chosen:
            raise self.refused("type", f"which axis `{option}` chooses is not known here")
        at = self.chosen[option]
        around = axes[: at + 1] if at >= 0 else axes[at:]
        if not -len(axes) <= at < len(axes) or any(x.pack for x in around):
            raise self.misfit(name, f"it has no single axis {at}")
        at %= len(axes)
        before = self.stretch(name, dims[:choice], axes[:at])
        return [*before, (dims[choice], axes[at]), *self.stretch(name, dims[choice + 1 :], axes[at + 1 :])]

    def stretch(self, name: str, dims: tuple[Dim, ...], axes: list[Axis]) -> list[tuple[Dim, Axis]]:
        """Axes in a row, of which at most one pack of unknown rank takes what is left."""
        known = {d.name: self.length(d.name) for d in dims if d.kind == "pack"}
        singles = sum(d.kind != "pack" for d in dims)
        left = len(axes) - singles - sum(n for n in known.values() if n is not None)
        open_ = [n for n, length in known.items() if length is None]
        if len(open_) > 1:
            raise self.refused("type", f"how many axes `*{open_[0]}` has is not known here")
        if left != 0 and not open_ and (pack := next((n for n in known if n in self.packs), "")):
            raise self.apart(pack)
        if left < 0 or left > 0 and not open_:
            raise self.misfit(
                name, f"it must {'end in' if known else 'have'} {singles} single ax{'is' if singles == 1 else 'es'}"
            )
        out, n = [], 0
        for d in dims:
            if d.kind != "pack":
                if axes[n].pack:
                    raise self.misfit(name, f"`*{axes[n].pack}` stands where a single axis is wanted")
                out.append((d, axes[n]))
                n += 1
                continue
            length = known[d.name]
            taken = axes[n : n + (left if length is None else length)]
            n += len(taken)
            there = tuple([Axis(x.extent, x.pack, False, x.when) for x in taken])
            for x, y in zip(self.packs.setdefault(d.name, there), there, strict=True):
                if x == y:
                    continue
                if x.pack or y.pack or self.work.sizes_differ(x.length, y.length):
                    raise self.apart(d.name)
                self.require(Binary("==", y.length, x.length), name, "an axis has {0} elements, not {1}", y, x.length)
        return out

    def length(self, pack: str) -> int | None:
        return len(self.packs[pack]) if pack in self.packs else self.ranks.get(pack)

    def apart(self, pack: str) -> Mistake:
        return Mistake("rank", f"the arguments of `{self.callee.name}` have different axes `*{pack}`", self.call.span)

    def misfit(self, name: str, label: str) -> Mistake:
        return Mistake(
            "rank",
            f"`{self.names[name]}` does not fit `{name}` of `{self.callee.name}`",
            self.spans[name].span,
            label,
        )

    # --- Sizes ---

    def size(self, size: str, x: Axis, name: str) -> None:
        if self.env.setdefault(size, x.length) != x.length and self.work.sizes_differ(self.env[size], x.length):
            raise Mistake(
                "size",
                f"`{size}` of `{self.callee.name}` is two different sizes here",
                self.spans[name].span,
                f"{self.names[name]} has {x.extent}, another argument {self.env[size]}",
            )

    def divided(self, at: Placed, d: Dim, x: Axis, name: str) -> None:
        """A split axis tells the one factor of it that is not known."""
        unknown = [f for f in d.factors if isinstance(f, Symbol) and f.name not in self.env]
        rest = ONE
        for f in d.factors:
            if f not in unknown:
                rest = mul(rest, at.expression(f, {}))
        if len(unknown) == 1:
            assert isinstance(unknown[0], Symbol)
            self.env[unknown[0].name] = floordiv(x.length, rest)
            self.require(Binary("==", Binary("%", x.length, rest), ZERO), name, "{0} cannot be divided by {1}", x, rest)
        elif unknown:
            raise self.misfit(name, "the parts of an axis are not known")
        else:
            self.require(Binary("==", x.length, rest), name, "an axis has {0} elements, not {1}", x, rest)

    def require(self, holds: E, name: str, message: str, x: Axis, rest: E) -> None:
        """A condition that only a call can tell."""
        if rest not in (ONE, x.length):
            self.work.required.append(Require(holds, f"{self.names[name]}: {message}", (x.length, rest)))


def fitting(axes: tuple[Axis, ...], other: tuple[Axis, ...]) -> E | None:
    """Whether no axis is longer than the other's of its place; None where only a call of the caller can tell."""
    if axes == other:
        return TRUE
    if len(axes) != len(other):
        return FALSE if not any(x.pack for x in (*axes, *other)) else None
    pairs = [(x, y) for x, y in zip(axes, other) if x != y]
    if any(x.pack or y.pack for x, y in pairs):
        return None
    return conj(*(Binary("<=", x.length, y.length) for x, y in pairs))
