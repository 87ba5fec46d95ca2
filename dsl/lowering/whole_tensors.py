"""Whole-tensor formulas: `out = e / sum[dim] e`.

Every axis of a formula has a key: ("I",), ("kept",), ("dropped",), or a pack or size of a pattern.  A formula
has the axes of all its tensors; a reduction takes some away.  There is one loop per key, so a tensor without
an axis simply is not indexed by that loop."""

from __future__ import annotations

from dataclasses import replace

from ..checking.scope import CONSTANTS
from ..ir.axes import Axis
from ..ir.builders import mul, sym
from ..ir.conditions import either
from ..ir.expression import E, Index, Pack, Reduce, Symbol
from ..ir.program import Dim, Loop, Tensor
from ..text.syntax import Assign, X
from ..text.vocabulary import REDUCERS, names_in, nodes_in
from .context import Context, Mistake
from .dims import Item
from .scalar_formulas import part
from .scalar_nodes import reduce_node, strip
from .types import element, output_dtype

Key = tuple


def keys_of(items: list[Item]) -> list[Key]:
    """The keys of a tensor's logical axes; equal ones differ by their position."""
    out: list[Key] = []
    for item in items:
        for a in item.axes:
            k: Key = (a.pack,) if a.pack else ("one", repr(a.extent))
            while k in out:
                k = (*k, "again")
            out.append(k)
    return out


def alternatives(e: X, op, when: X | None = None) -> list[tuple[X | None, X]]:
    """The cases of `a if COND else b` whose condition only options decide."""
    if e.kind == "if" and is_constant(e.args[0], op):
        c, a, b = e.args
        no = X("not", (c,), None, c.span)
        return alternatives(a, op, both(when, c)) + alternatives(b, op, both(when, no))
    return [(when, e)]


def both(a: X | None, b: X) -> X:
    return b if a is None else X("and", (a, b), None, b.span)


def is_constant(e: X, op) -> bool:
    """Whether options and sizes alone decide e."""
    if any(n.kind in ("read", "reduce", "field") or n.kind == "call" and n.val == "rand" for n in nodes_in(e)):
        return False
    measured = {
        id(a)
        for n in nodes_in(e)
        if n.kind == "call" and n.val in ("given", "rank", "numel", "size", "same", "stretched")
        for a in n.args
    }
    return all(
        id(n) in measured
        or n.val in op.options
        or n.val[:1].isupper()
        or n.val in ("inf", "nan", "true", "false", "pi")
        or n.val in op.families
        or n.val in op.scalars
        for n in names_in(e)
    )


class Whole:
    """`op` is the lowering of one op."""

    def __init__(self, op):
        self.op = op
        self.waiting: list[tuple] = []  # assignments whose target is not declared yet

    def reduced_option(self) -> str:
        """The `dim` option, or `where` size, over which the op's whole-tensor formulas reduce."""
        sizes = {s.name for s in self.op.op.sizes if not s.pack}
        for a in (*self.op.op.body, *self.op.op.grads):
            for n in nodes_in(a.value):
                if n.kind == "reduce" and len(n.val[1]) == 1:
                    name = n.val[1][0].name
                    t = self.op.options.get(name)
                    if t is not None and t.name in ("dim", "dims") or name in sizes:
                        return name
        return ""

    def domain(self, part: str = "all"):
        d = Dim("domain", "I", option=self.op.option, part=part)
        packs = ("I",) if not self.op.option else ("kept", "dropped") if part == "all" else ("kept",)
        return (d,), [Item("pack", (Axis(pack=p, broadcast=True),), p) for p in packs]

    def is_scalar(self, a: Assign) -> bool:
        """Whether an assignment involves no tensor, so that its formula is put where it is used."""
        op = self.op
        if a.name in op.tensors or a.name in {o.name for o in op.op.outputs}:
            return False
        return not any(
            n.kind in ("read", "field")
            or n.kind == "reduce"
            and (n.val[0] != "sum" or n.val[2] is not None)
            or n.kind == "call"
            and (n.val == "rand" or n.val in REDUCERS and len(n.args) == 1)
            or n.kind == "name"
            and op.is_tensor(n.val)
            for n in nodes_in(a.value)
        )

    # --- Axes ------------------------------------------------------------------------------------

    def axes(self, e: X) -> list[tuple[Key, Axis]]:
        """The axes of a whole-tensor formula."""
        op = self.op
        if e.kind == "name":
            if not op.is_tensor(e.val) or e.val in op.scalars:
                return self.scalar_axes(e)
            return self.tensor_axes(op.tensor(e.val))
        if e.kind == "field":
            return self.tensor_axes(part(e))
        if e.kind == "read":
            return []
        if e.kind == "reduce":
            taken = self.taken(e)
            return [x for x in self.under(e) if x[0] not in taken]
        if e.kind == "call" and e.val in REDUCERS and len(e.args) == 1 and e.val not in op.defs:
            return []
        if e.kind == "call" and e.val == "rand":
            return self.everything()
        if e.kind == "call" and e.val in ("given", "rank", "numel", "size", "same", "stretched"):
            return []
        out: list[tuple[Key, Axis]] = []
        for a in e.args:
            out = self.join(out, self.axes(a), e)
        return out

    def under(self, e: X) -> list[tuple[Key, Axis]]:
        """The axes of what a reduction runs over: its formula and its filter."""
        found = self.axes(e.args[0])
        return found if e.kind == "call" or e.val[2] is None else self.join(found, self.axes(e.val[2]), e)

    def scalar_axes(self, e: X):
        return self.axes(self.op.scalars[e.val]) if e.val in self.op.scalars else []

    def tensor_axes(self, t: str):
        return list(zip(keys_of(self.op.items[t]), [a for i in self.op.items[t] for a in i.axes]))

    def everything(self):
        """The axes of all tensor parameters together: those of a formula that only draws numbers."""
        out: list = []
        for t in self.op.tensors.values():
            if t.role == "input":
                out = self.join(out, self.tensor_axes(t.name), None)
        return out

    def join(self, a: list, b: list, e: X | None) -> list:
        ka, kb = [k for k, _ in a], [k for k, _ in b]
        if set(kb) <= set(ka):
            return a
        if set(ka) <= set(kb):
            return b
        if {*ka, *kb} == {("kept",), ("dropped",)}:
            return a + b
        raise Mistake("rank", "these tensors have different axes", e.span if e else (0, 0), "use index notation here")

    def taken(self, e: X) -> list[Key]:
        """The axes that a reduction takes away."""
        if e.kind == "call":
            return [k for k, _ in self.under(e)]
        _, binders, _ = e.val
        name = binders[0].name
        if name == self.op.option:
            if any(k not in (("kept",), ("dropped",)) for k, _ in self.under(e)):
                raise Mistake(
                    "rank",
                    f"`{name}` names axes of tensors without a shape of their own, and this has one",
                    e.args[0].span,
                    "use index notation here, or leave the shapes of parameters out",
                )
            return [("dropped",)]
        if name.lstrip("-").isdigit():  # a constant axis, from a call put in place
            found = self.under(e)
            n = int(name)
            if not -len(found) <= n < len(found) or any(a.pack for _, a in (found[: n + 1] if n >= 0 else found[n:])):
                raise Mistake("rank", f"which axis {n} is depends on the number of axes", e.span)
            return [found[n][0]]
        if self.op.options.get(name) and self.op.options[name].name in ("dim", "dims"):
            raise Mistake(
                "option",
                "an op can reduce over the axes of one option only",
                binders[0].span,
                f"`{self.op.option}` is another one",
            )
        raise Mistake("name", f"unknown axis `{name}`", binders[0].span)

    def loops(self, found: list[tuple[Key, Axis]]) -> dict[Key, Loop]:
        out: dict[Key, Loop] = {}
        for key, a in found:
            stem = a.pack.lower() if a.pack else (a.extent.name.lower() if isinstance(a.extent, Symbol) else "n")
            taken = {v.name for v in out.values()}
            name = (
                stem
                if stem not in {*taken, *self.op.tensors, *self.op.options, *CONSTANTS}
                else next(f"{stem}{n}_" for n in range(99) if f"{stem}{n}_" not in taken)
            )
            out[key] = Loop(name, None, a.pack) if a.pack else Loop(name, a.extent)
        return out

    # --- Statements ------------------------------------------------------------------------------

    def assign(self, a: Assign, value: X, when: E | None) -> list[tuple[Key, Axis]]:
        """Queues the statement; answers the axes of the value."""
        declared = self.op.items.get(a.name)
        found = self.axes(value)
        if declared is not None:
            target = self.tensor_axes(a.name)
            if {k for k, _ in found} <= {k for k, _ in target}:
                found = target
            elif self.may_be_alike(found, target):
                found = [(key, axis) for (key, _), (_, axis) in zip(found, target)]
            else:
                raise Mistake("rank", f"this has axes that `{a.name}` has not", value.span, "reduce over them")
        elif not found and self.constant(a.name, value):
            found = self.everything()
        self.waiting.append((a, value, when, found))
        return found

    def may_be_alike(self, a: list[tuple[Key, Axis]], b: list[tuple[Key, Axis]]) -> bool:
        """Whether axes are of the same kinds, and no two of them two sizes that a signature names."""
        return len(a) == len(b) and all(
            x.pack == y.pack and (x.pack or x.extent == y.extent or not self.op.sizes_differ(x.extent, y.extent))
            for (_, x), (_, y) in zip(a, b)
        )

    def constant(self, name: str, value: X) -> bool:
        """Whether a formula without axes fills a tensor of all axes: a result that no tensor is read for, or random
        numbers."""
        return any(n.kind == "call" and n.val == "rand" for n in nodes_in(value)) or (
            name in {o.name for o in self.op.op.outputs}
            and not any(
                n.kind in ("read", "reduce", "field")
                or n.kind == "call"
                and n.val in REDUCERS
                and len(n.args) == 1
                or n.kind == "name"
                and self.op.is_tensor(n.val)
                for n in nodes_in(value)
            )
        )

    def declare_result(self, name: str, shapes: list[tuple[E | None, list]]):
        """The target of an assignment: as many axes as its largest alternative; those that only some have get
        `when`."""
        op = self.op
        output = next((o for o in op.op.outputs if o.name == name), None)
        largest = max((s for _, s in shapes), key=len)
        dims, items = self.dims(largest)
        if any(len(s) != len(largest) for _, s in shapes):
            if output is None:
                raise Mistake(
                    "rank",
                    "an option decides which axes this has",
                    self.waiting[0][0].value.span,
                    "only a result can have more axes or fewer: write the value of the option here",
                )
            here = [w for w, s in shapes if len(s) == len(largest)]
            dims = tuple(replace(d, when=either(here, op.choices)) for d in dims)
        dtype = self.dtype(name, output)
        like = output.type.like if output is not None and output.type is not None else ""
        op.declare(Tensor(name, "output" if output else "temp", dims, dtype, like), items)

    def dtype(self, name: str, output) -> str:
        if output is not None and output.type is not None and output.type.name:
            return output_dtype(output.type.name, self.op.op)
        kinds = []
        for a, value, _when, found in self.waiting:
            if a.name != name:
                continue
            c = Context(whole=self.loops(self.widest(value, found)))
            before = self.op.sites
            body = self.op.formulas.lower(value, c)
            self.op.sites = before
            kinds.append(element(strip(body), self.op.tensors, body.reduction if isinstance(body, Reduce) else None))
        if output is not None:
            return "T" if "T" in kinds or "int" in kinds else kinds[0]
        return "T" if "T" in kinds else kinds[0]

    def flush(self, name: str):
        """Emits the queued statements of a target that is declared now."""
        op = self.op
        for a, value, when, found in self.waiting:
            target = self.tensor_axes(name)
            mine = target if {k for k, _ in found} <= {k for k, _ in target} and len(found) == len(target) else found
            loops = self.loops(self.widest(value, mine))
            body = op.formulas.lower(value, Context(whole=loops))
            outer = [loops[k] for k, _ in mine]
            at = tuple(Pack(v.name) if v.pack else Index(v.name) for v in outer)
            op.emit(name, at, outer, body, a.mode, when)
        self.waiting = []

    def widest(self, value: X, found: list) -> list:
        """The axes of a formula and of everything under its reductions."""
        out = list(found)
        for n in nodes_in(value):
            if n.kind in ("name", "field") and not (
                n.kind == "name" and not self.op.is_tensor(n.val) and n.val not in self.op.scalars
            ):
                for key, a in self.axes(n):
                    if key not in [k for k, _ in out]:
                        out.append((key, a))
        return out

    def reduction(self, e: X, c: Context) -> E:
        red, where = (e.val, None) if e.kind == "call" else (e.val[0], e.val[2])
        inner = self.under(e)
        gone = [(k, a) for k, a in inner if k in self.taken(e)] if inner or e.kind == "call" else []
        body = self.op.formulas.lower(e.args[0], c)
        if not gone:
            if e.kind == "call" or red in ("max", "min", "mean", "any", "all"):
                return body
            if red == "sum":
                return mul(body, sym("count_dropped"))  # the same number, once for each dropped element
            raise Mistake("rank", "this is the same for every element that is reduced", e.args[0].span)
        pred = self.op.formulas.lower(where, c) if where is not None else None
        return reduce_node(red, body, pred, tuple(c.whole[k] for k, _ in gone))

    # --- Patterns of what a formula makes --------------------------------------------------------

    def dims(self, found: list[tuple[Key, Axis]]):
        keys = [k for k, _ in found]
        if keys in ([("I",)], [("kept",), ("dropped",)]):
            return self.domain()
        if keys == [("kept",)]:
            return self.domain("kept")
        return (
            tuple(Dim("pack", a.pack) if a.pack else Dim("one", size=a.extent) for _, a in found),
            [Item("pack" if a.pack else "one", (a,), a.pack) for _, a in found],
        )

    def dims_of_loops(self, loops: list[Loop]) -> tuple[Dim, ...]:
        """The pattern of a temporary indexed by these loops."""
        packs = [v.pack for v in loops]
        if packs in (["I"], ["kept", "dropped"]):
            return self.domain()[0]
        if packs == ["kept"]:
            return self.domain("kept")[0]
        return tuple(Dim("pack", v.pack) if v.pack else Dim("one", size=v.extent) for v in loops)
