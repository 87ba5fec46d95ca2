"""One reversal of a list of statements: the machinery behind dsl.gradients.adjoint.

Goes through the statements from the last to the first, collects for every tensor what its readers
contribute to its gradient, and writes that down once nothing can be added any more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..ir.axes import Axis, axes, loop_dim, loop_index, stretches
from ..ir.builders import ONE, TRUE, ZERO, add, cond, conj, div, idx, is_binary, loop_of, mul, pack, read, sym
from ..ir.conditions import either, narrowed
from ..ir.expression import Binary, Call, E, Inside, Random, RawResult, Read, Symbol, walk
from ..ir.program import (
    CONSTANTS,
    Dtype,
    Loop,
    Owned,
    Presence,
    Role,
    Stmt,
    Tensor,
    made_by,
    overwrites,
    unused,
)
from ..ir.rewriting import maybe_subst, reads, subst, transform
from ..ir.row_calls import Inlined
from ..ir.tidy import restored, simplify, statement_reads
from .contributions import redirected, total
from .derive import NoDerivative, Partials, masked, partials
from .deviations import vanishes
from .pairing import shortened
from .solve import Sizes, gather

# Functions that, as a division and a power do, can make a number that is not finite, which times zero is no zero.
ENDLESS = ("log", "log2", "log1p", "exp", "exp2", "lgamma", "digamma")
SMOOTH = (None, "sum", "prod", "max", "min")


class Reverse:
    """`results` names the gradient of each wanted tensor that has one; new tensors go into `tensors`.

    seeds: the cotangents that are given.  explicit: statements written by hand for `<prefix><name>`.
    sizes: see dsl.gradients.solve.  owned: calls whose gradients are not derived."""

    def __init__(
        self,
        stmts: list[Stmt],
        tensors: dict[str, Tensor],
        seeds: dict[str, str],
        wanted: list[str],
        prefix: str,
        explicit: dict[str, list[Stmt]],
        sizes: Sizes,
        owned: Sequence[Owned] = (),
    ):
        self.stmts, self.tensors, self.seeds, self.prefix, self.sizes = stmts, tensors, dict(seeds), prefix, sizes
        self.given = seeds
        # Of several cotangents a caller may send one: the others are zero, and what they weigh counts for nothing.
        self.unsent = set(seeds) if prefix != "d_" and len(seeds) > 1 else set()
        self.wanted = [n for n in wanted if n not in explicit]
        self.explicit = {n: explicit[n] for n in wanted if n in explicit}
        self.shared = explicit.get("", [])
        inside = {t for own in owned if own.complete for t in own.inner if t not in own.results}
        self.owned = {t: own for own in owned for t in own.results if t not in inside}
        # What is not reversed: a call's own gradient stands for it; and which of the tensors there get no other one.
        self.passed = inside | {t for own in owned if own.complete for t in own.results}
        self.said = {t: set(own.args) for own in owned for t in own.inner}
        self.fresh = unused(stmts, tensors)
        # What loops made here are not called: their names, small letters of sizes' names, may mean something else.
        self.spoken = {*tensors, *CONSTANTS}.union(
            *(
                n.symbols
                for s in stmts
                for n in (s.body, s.pred, s.when, *s.idx, *(v.extent for v in s.loops + s.rloops))
                if n is not None
            )
        )
        self.pending: dict[str, list[Stmt]] = {}
        self.aux: list[Stmt] = []
        self.out: list[Stmt] = []
        self.results: dict[str, str] = {}
        self.ran: set[str] = set()  # bodies of steps reversed, by their first output
        self.answered: set[str] = set()  # results of calls whose own gradients are there
        # Tensors made by `*=`: their factors that are zero, the product of the others.
        self.products: dict[str, tuple[str, str]] = {}
        self.alive = set(self.wanted)
        for s in stmts:
            if (
                s.red in SMOOTH
                and tensors[s.target].dtype not in ("int", "int32", "bool")
                and any(r.tensor in self.alive for r in reads(s.body))
            ):
                self.alive.add(s.target)

    def run(self) -> list[Stmt]:
        """The statements, auxiliary ones first; they may read any forward tensor."""
        for s in reversed(self.stmts):
            t = s.target
            for made in made_by(s):
                if made in self.owned and made not in self.answered and self.reached(made):
                    self.own(self.owned[made])
            if t in self.passed:
                continue
            if isinstance(s.body, RawResult):
                self.reverse_raw(s.body, s)
                continue
            if t in self.wanted or not self.reached(t):
                continue
            if s.mode == "*=":
                self.multiplied(s)
            elif s.mode not in ("=", "+="):
                raise NoDerivative(s.mode)
            self.reverse(s)
            if overwrites(s):
                self.lose(s)
        for n in self.wanted:
            if n in self.pending:
                self.results[n] = self.settle(n, "gradient")
        self.out += self.shared
        for n, stmts in self.explicit.items():
            name = self.results[n] = self.declare(n, "gradient")
            for s in stmts:
                self.out.append(replace(s, spread=stretches(self.tensors[n], self.tensors)) if s.target == name else s)
        return self.aux + self.out

    def reached(self, t: str) -> bool:
        """Whether a gradient comes to t and goes on from it."""
        return t in self.alive and (t in self.seeds or t in self.pending)

    # --- Tensors ---

    def declare(self, t: str, role: Role) -> str:
        """The tensor that holds the gradient of t."""
        name = self.prefix + t
        self.tensors[name] = replace(
            self.tensors[t], name=name, role=role, like=t if role == "gradient" else "", optional=False, mut=False
        )
        return name

    def helper(self, stem: str, like: str, dtype: Dtype = "T") -> str:
        """A temporary with one element for each of `like`."""
        name = self.fresh(stem)
        self.tensors[name] = replace(
            self.tensors[like], name=name, role="temp", like="", dtype=dtype, optional=False, mut=False
        )
        return name

    def settle(self, t: str, role: Role) -> str:
        """Writes the collected contributions to t's gradient as statements; answers the tensor."""
        name = self.declare(t, role)
        self.out += total(name, self.pending.pop(t), self.tensors, self.fresh, stretches(self.tensors[t], self.tensors))
        return name

    def cotangent(self, t: str) -> str:
        """The tensor that holds what reaches t: what was given, plus what later readers contributed."""
        if t not in self.pending:
            return self.seeds[t]
        if t in self.seeds:
            there = axes(self.tensors[t])
            names = self.names(there, (), {})
            loops: list[Loop] = []
            at: list[E] = []
            for n, a in zip(names, there):
                if n is not None:
                    loops.append(Loop(n, a.extent, a.pack or None))
                at.append(ZERO if n is None else loop_index(loops[-1]))
            self.contribute(t, Stmt("", tuple(at), tuple(loops), read(self.seeds[t], at)))
        self.seeds[t] = self.settle(t, "temp")
        return self.seeds[t]

    def contribute(self, t: str, s: Stmt) -> None:
        has = Presence + t  # whoever asks for this gradient gave t

        def known(e: E) -> E:
            return transform(e, lambda n: TRUE if isinstance(n, Symbol) and n.name == has else None)

        pred = None if s.pred is None else simplify(known(s.pred))
        when = None if s.when is None else narrowed(known(s.when))
        s = replace(s, body=simplify(known(s.body)), pred=None if pred is TRUE else pred, when=when)
        if not vanishes(s, t, self.stmts):
            self.pending.setdefault(t, []).append(s)

    def names(self, there: list[Axis], at: tuple[E, ...], original: dict[str, str]) -> list[str | None]:
        """Loops over the elements of these axes, named after the index that stands alone in an axis, or after the
        axis."""
        out: list[str | None] = []
        for i, axis in enumerate(there):
            if axis.extent == ONE:
                out.append(None)
                continue
            name = original.get(loop_of(at[i]), "") if at else ""
            if not name:
                name = (
                    axis.pack.lower()
                    if axis.pack
                    else axis.extent.name.lower()
                    if isinstance(axis.extent, Symbol)
                    else ""
                )
            out.append(name if name and name not in out and name not in self.spoken else self.fresh(name or "i"))
        return out

    # --- Statements ---

    def reverse(self, s: Stmt) -> None:
        """Adds what s contributes to the gradients of the tensors it reads."""
        found = self.contributions(s)
        if any(isinstance(n, Random) for n in walk(s.body)) and any(c.loops != s.loops or c.red for _, c in found):
            found = self.contributions(self.drawn(s))
        for t, c in found:
            self.contribute(t, replace(c, when=s.when))

    def reverse_raw(self, body: RawResult, s: Stmt) -> None:
        """A body's own gradients, put in the place of it, once for all its results."""
        raw, at = body.raw, body.raw.inlined
        assert at is not None
        names = {**dict(raw.outputs), **dict(zip(raw.inputs, body.tensors, strict=True))}
        outputs = [o for o in at.op.outputs if self.tensors[names[o]].dtype not in ("int", "int32", "bool")]
        arriving = [
            o for o in outputs if names[o] in self.alive and (names[o] in self.seeds or names[o] in self.pending)
        ]
        if raw.outputs[0][1] in self.ran or not arriving:
            return
        inputs = [
            n
            for n in raw.inputs
            if names[n] in self.alive and self.tensors[names[n]].dtype not in ("int", "int32", "bool")
        ]
        heard = {r.tensor for stmts in at.op.grads.values() for x in stmts for r in statement_reads(x)}
        if inputs and any(f"g_{o}" not in heard for o in arriving):
            raise NoDerivative(at.op.name)  # rather than a gradient without this part
        self.ran.add(raw.outputs[0][1])
        names |= {f"g_{o}": self.cotangent(names[o]) if o in arriving else self.nothing(names[o]) for o in outputs}
        there = Inlined(at.op, names, at.packs, at.env, at.T)
        gradients = {f"d_{p}" for p in at.op.grads}
        wanted = {f"d_{p}": names[p] for p in at.op.grads if p in names and names[p] in self.alive}
        for stmts in at.op.grads.values():
            for n in dict.fromkeys(t for x in stmts for t in made_by(x)):
                if n in there.names or n in gradients:
                    continue
                there.names[n] = self.fresh(n)
                self.tensors[there.names[n]] = there.tensor(at.op.tensors[n], there.names[n])
        for stmts in at.op.grads.values():
            for x in stmts:
                made = there.statement(x, self.fresh)
                if made.target in there.names.values():
                    self.out.append(made)
                elif made.target in wanted:
                    self.contribute(
                        wanted[made.target], replace(made, target="", spread=False, when=conj(s.when, made.when))
                    )

    def own(self, own: Owned) -> None:
        """The gradients that a called op says, in the place of its statements: once, for all its results."""
        self.answered.update(own.results)
        when = either([s.when for s in self.stmts if any(t in own.results for t in made_by(s))])
        arriving = {f"g_{t}": self.cotangent(t) if self.reached(t) else self.nothing(t) for t in own.results}
        first = arriving[f"g_{own.results[0]}"]
        for s in own.stmts:
            s = redirected(s, arriving)
            if s.target not in own.targets:
                self.out.append(shortened(s, first, self.stmts, self.given, self.fresh) or s)
            elif own.targets[s.target] in self.alive:
                self.contribute(own.targets[s.target], replace(s, target="", spread=False, when=conj(when, s.when)))

    def nothing(self, t: str) -> str:
        """A cotangent that nobody sent."""
        name = self.helper("none", t)
        loops = tuple(Loop(self.fresh("i"), a.extent, a.pack or None) for a in axes(self.tensors[t]))
        self.out.append(Stmt(name, tuple(map(loop_index, loops)), loops, ZERO))
        return name

    def lose(self, s: Stmt) -> None:
        """What reaches the elements that s replaced does not reach what was there before."""
        t = s.target
        kept = self.helper("kept", t, self.tensors[t].dtype)
        loops = [Loop(self.fresh("k"), a.extent, a.pack or None) for a in axes(self.tensors[t])]
        at = tuple(map(loop_index, loops))
        self.out.append(Stmt(kept, at, tuple(loops), read(self.cotangent(t), at), when=s.when))
        self.out.append(replace(s, target=kept, body=ZERO))
        self.seeds[t] = kept

    def contributions(self, s: Stmt) -> list[tuple[str, Stmt]]:
        kernel = s.loops + s.rloops
        rename = {v.name: self.fresh(v.name) for v in kernel}
        env = {v.name: (pack if v.pack else idx)(rename[v.name]) for v in kernel}
        original = {new: old for old, new in rename.items()}
        loops = [replace(v, name=rename[v.name], extent=maybe_subst(v.extent, env)) for v in kernel]
        at = tuple(subst(e, env) for e in s.idx)
        body, pred, g = subst(s.body, env), maybe_subst(s.pred, env), read(self.cotangent(s.target), at)
        parts, winner = self.parts(s, body, at, g, env)
        like = self.tensors.get(self.tensors[s.target].like)
        if like is not None and like.optional:
            parts = masked(sym(Presence + like.name), parts, {})  # no d_bias without a bias
        out = []
        for r, p in parts.items():
            t = r.tensor
            if t not in self.alive or t in self.said.get(s.target, set()):
                continue
            if s.target in self.unsent and any(
                is_binary(n, "/", "**") or isinstance(n, Call) and n.name in ENDLESS for n in walk(p)
            ):
                # NaN alone, as of 0 / 0, is to become 0: a finite part has its derivative by g where g is 0, too.
                p = cond(conj(Binary("==", g, ZERO), Call("isnan", (p,))), ZERO, p)
            inside = Inside(read(t, r.index)) if r.fallback is not None else None
            there = axes(self.tensors[t]) if r.index else []  # no index: none of the axes exists here
            c = gather(
                "",
                r.index,
                self.names(there, r.index, original),
                there,
                loops,
                conj(pred, winner),
                p,
                self.fresh,
                inside,
                self.sizes,
            )
            out.append((t, restored(c, original)))
        return out

    def parts(self, s: Stmt, body: E, at: tuple[E, ...], g: E, env: dict[str, E]) -> tuple[Partials, E | None]:
        """What g is for each read of the body, and a filter on the points that get any."""
        t = read(s.target, at)
        if s.target in self.products:
            return partials(body, mul(g, self.quotient(*self.products[s.target], body, t, at))), None
        if s.red is None:
            # What is stored is the body's value, unless others are added to it: to another statement's, to a broadcast
            # tensor's gradient. A quotient of an input is made from that anew, as in PyTorch: then the result may be
            # changed in place.
            quotient = (
                is_binary(body, "/") and isinstance(body.left, Read) and self.tensors[body.left.tensor].role == "input"
            )
            single = (
                s.mode == "=" and not s.spread and not quotient and sum(o.target == s.target for o in self.stmts) == 1
            )
            return partials(body, g, {body: t} if single else None), None
        if s.red == "sum":
            return partials(body, g), None
        if s.red == "prod":
            return partials(body, mul(g, self.others(s, body, at))), None
        if any(v.pack for v in s.rloops):  # equal ones share
            count = self.helper("ties", s.target)
            tie = Binary("==", s.body, read(s.target, s.idx))
            self.aux.append(replace(s, target=count, body=cond(tie, ONE, ZERO), red="sum"))
            return masked(Binary("==", body, t), partials(body, div(g, read(count, at))), {}), None
        arg = self.helper("arg", s.target, "int")  # the first one takes all
        self.aux.append(replace(s, target=arg, red="argmax" if s.red == "max" else "argmin"))
        place: E = ZERO
        for v in s.rloops:
            place = add(mul(place, v.length), env[v.name])
        return partials(body, g), Binary("==", place, read(arg, at))

    def others(self, s: Stmt, body: E, at: tuple[E, ...]) -> E:
        """The product of all factors but one, also where factors are zero."""
        zeros, rest = self.helper("zeros", s.target), self.helper("rest", s.target)
        zero = Binary("==", s.body, ZERO)
        self.aux.append(replace(s, target=zeros, body=cond(zero, ONE, ZERO), red="sum"))
        self.aux.append(replace(s, target=rest, body=cond(zero, ONE, s.body)))
        return self.quotient(zeros, rest, body, read(s.target, at), at)

    def quotient(self, zeros: str, rest: str, body: E, t: E, at: tuple[E, ...]) -> E:
        """Of the product t all factors but `body`: with no other zero it is the product of the factors that
        are not, and with no zero at all the quotient."""
        alone = Binary("==", read(zeros, at), ONE)
        return cond(Binary("==", body, ZERO), cond(alone, read(rest, at), ZERO), div(t, body))

    def multiplied(self, last: Stmt) -> None:
        """Prepares the reversal of a tensor that is assigned as a whole and then multiplied: all these are factors."""
        t = last.target
        if t in self.products:
            return
        factors = [s for s in self.stmts if s.target == t]
        if any(s.red is not None or overwrites(s) or s.mode != ("*=" if n else "=") for n, s in enumerate(factors)):
            raise NoDerivative(last.mode)
        zeros, rest = self.helper("zeros", t), self.helper("rest", t)
        self.products[t] = zeros, rest
        for n, s in enumerate(factors):
            zero = Binary("==", s.body, ZERO)
            self.aux.append(replace(s, target=zeros, body=cond(zero, ONE, ZERO), mode="+=" if n else "="))
            self.aux.append(replace(s, target=rest, body=cond(zero, ONE, s.body)))

    def drawn(self, s: Stmt) -> Stmt:
        """s with its random numbers in temporaries: a draw depends on its place in the statement's loops,
        and the statements made from s have other loops."""
        at = tuple(map(loop_index, s.loops))
        draws: dict[E, E] = {}
        for n in walk(s.body):
            if not isinstance(n, Random) or n in draws:
                continue
            name = self.fresh("draw")
            self.tensors[name] = Tensor(name, "temp", tuple(map(loop_dim, s.loops)), "float")
            self.aux.append(Stmt(name, at, s.loops, n, when=s.when))
            draws[n] = read(name, at)
        return replace(s, body=transform(s.body, lambda n: draws.get(n)))
