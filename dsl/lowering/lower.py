"""One op: from its checked tree to `OpDef`, statement by statement.

Index notation and whole-tensor formulas become the same statements.  A whole tensor's axes are the domain:
one pack `I`, or, when a `dim` option is reduced over, two packs `kept` and `dropped`.  An `if` on options at
the top of a formula makes alternative statements with `when`, so shapes may differ; any reduction inside a
formula becomes a statement of its own.  Calls of other ops were put in place before (dsl/lowering/inline.py)."""

from __future__ import annotations

from dataclasses import replace

from ..checking.elements import groups
from ..checking.modules import of_member
from ..ir.axes import stretches
from ..ir.builders import FALSE, conj
from ..ir.conditions import either, narrowed
from ..ir.expression import E, RawResult, Read, walk
from ..ir.program import Program, Stmt, Tensor
from ..opdef import OnWebGPU, OpDef, Owned
from ..text.syntax import Own, X
from ..text.vocabulary import is_tensor
from .body_statements import body_statements, own
from .context import Context, Mistake
from .renaming import arguments
from .signature_ir import parameters, requirements, sizes_of
from .statements import Statements
from .types import output_dtype, promotion


class Lowering(Statements):
    """Lowers one op for one value of its family variable."""

    def run(self) -> OpDef | None:
        """The op, or None if a mistake in its signature leaves nothing to go on with; see `errors`."""
        try:
            return self.lowered()
        except Mistake as m:
            self.fail(m)
        return None

    def lowered(self) -> OpDef:
        op = self.op
        kind, promoted = promotion(op)
        self.whole_T = kind != "float"  # whether T may be a type of whole numbers
        self.computed: list[tuple[str, E]] = []
        for p in op.params:
            if not is_tensor(p):
                continue
            dims, items = self.patterns.of(p.type.dims) if p.type.dims is not None else self.whole.domain()
            dtype = "T" if p.name in promoted or p.type.name == "Any" else "bool" if p.type.name == "Bool" else "own"
            self.declare(Tensor(p.name, "input", dims, dtype, optional=p.type.optional, mut=p.mut), items)
        self.computed = sizes_of(self)
        for o in op.outputs:
            if o.type is not None and o.type.dims is not None:
                dims, items = self.patterns.of(o.type.dims, result=True)
                self.declare(Tensor(o.name, "output", dims, output_dtype(o.type.name, op), o.type.like), items)
        if op.launches:
            self.guarded(body_statements, self)
        for a in op.body:
            self.guarded(self.assign, a)
            if self.errors:
                break  # what follows may read what is missing now
        for o in op.outputs:
            if o.name not in self.tensors and not self.errors and not op.launches and not any(p.mut for p in op.params):
                self.fail(Mistake("name", f"the result `{o.name}` is never assigned", op.name_span))
        forward = self.stmts
        given = [p.name for p in op.params if is_tensor(p)]
        outputs = [o.name for o in op.outputs if o.name in self.tensors]
        mutated = [p.name for p in op.params if p.mut]
        body_tensors = dict(self.tensors)
        results = outputs + [m for m in mutated if any(s.target == m for s in forward)]
        program = Program(
            self.opname,
            dict(body_tensors.items()),
            guard_temps(forward, results, self.choices),
            given,
            results,
        )
        doc_family = next(iter(self.families.items()), None)
        hole = lambda s: s.replace(f"{{{doc_family[0]}}}", str(doc_family[1])) if doc_family else s
        made = OpDef(
            self.opname,
            hole(op.doc),
            tuple(hole(a) for a in op.aliases),
            parameters(self),
            self.tensors,
            kind,
            promoted,
            self.computed,
            requirements(self) + self.required,
            outputs,
            op.drop[0] if op.drop else "",
            (op.drop[1] or "") if op.drop else "",
            program,
            {},
            None if op.nograd is None else frozenset(op.nograd),
            op.launches,
            op.foreach,
            op.numbers,
            self.sites > 0,
            self.pointwise(forward),
            [],
            op.tests,
            op.samples,
            of_member(op, doc_family[1] if doc_family else 0),
            op,
            doc_family,
        )
        made.spared = tuple(self.spared(asked) for _, asked in groups(op, op.asked))
        if op.itself is not None:
            made.itself = self.formulas.lower(op.itself, Context())
        if op.on_webgpu is not None:
            made.on_webgpu = self.on_webgpu(*op.on_webgpu)
        for s in forward:
            if isinstance(s.body, RawResult) and s.body.raw.inlined.op is None:
                own(s.body.raw.inlined, made)
        self.begun(made)  # a gradient may call the op itself
        if not self.errors:
            made.owned = [self.owned(own) for own in op.owns if all(t in self.tensors for t in own.results)]
            made.owned += self.placed_gradients
        if not self.errors:
            made.grads = self.gradients()
        return made

    def pointwise(self, stmts: list[Stmt]) -> bool:
        return (
            not self.op.launches
            and len(self.op.outputs) == 1
            and all(p.type.dims is None for p in self.op.params if is_tensor(p))
            and bool(stmts)
            and not any(s.red for s in stmts)
            and not any(p.mut for p in self.op.params)
        )

    def on_webgpu(self, call: X, when: X) -> OnWebGPU | None:
        """What WebGPU runs instead; None where that is never, as of another member of the family."""
        holds = self.condition(when, Context())
        if holds is None or (holds := narrowed(holds, self.choices)) == FALSE:
            return None
        names = [p.name for p in self.op.params]
        callee = self.trees[str(call.val)]
        args = tuple(
            names.index(value.val) if is_tensor(p) else self.formulas.lower(value, Context())
            for p, value in arguments(call, callee)
        )
        return OnWebGPU(callee.name, args, holds)

    # --- Gradients that the definition gives -----------------------------------------------------

    def spared(self, asked: tuple) -> E | None:
        """Where none of these requirements over elements need be asked; None: nowhere."""
        return (
            conj(*(self.formulas.lower(r.unless, Context()) for r in asked)) if all(r.unless for r in asked) else None
        )

    def owned(self, own: Own) -> Owned:
        """The gradients that a called op says, over the tensors of the call."""
        for t in own.results:
            self.declare(replace(self.tensors[t], name=f"g_{t}"), self.items[t])
        before, self.stmts, targets = self.stmts, [], {}
        for a in own.grads:
            if a.name not in own.args:
                self.guarded(self.assign, a)  # a part of those that follow
            elif a.name in self.tensors:
                d = f"d_{own.results[0]}_{len(targets)}_"
                targets[d] = a.name
                self.declare(
                    replace(self.tensors[a.name], name=d, role="temp", like="", optional=False, mut=False),
                    self.items[a.name],
                )
                self.guarded(self.assign, replace(a, name=d))
        made, self.stmts = self.stmts, before
        return Owned(own.results, own.inner, own.args, own.complete, made, targets)

    def gradients(self) -> dict[str, list[Stmt]]:
        out: dict[str, list[Stmt]] = {}
        for a in self.op.grads:
            for o in self.op.outputs:
                if o.name in self.tensors and f"g_{o.name}" not in self.tensors:
                    self.declare(
                        replace(self.tensors[o.name], name=f"g_{o.name}", role="cotangent", like=o.name),
                        self.items[o.name],
                    )
            if a.name not in self.tensors or self.tensors[a.name].role == "temp":  # a part of those that follow
                before, self.stmts = self.stmts, []
                self.guarded(self.assign, a)
                out.setdefault("", []).extend(self.stmts)
                self.stmts = before
                continue
            d = f"d_{a.name}"
            self.declare(
                replace(self.tensors[a.name], name=d, role="gradient", like=a.name, optional=False), self.items[a.name]
            )
            before, self.stmts = self.stmts, []
            self.guarded(self.assign, replace(a, name=d))
            for s in self.stmts:
                if s.target == d:
                    s = replace(
                        s,
                        spread=stretches(t := self.tensors[a.name], self.tensors)
                        or a.index is None
                        and not any(x.kind == "domain" for x in t.dims),
                    )
                out.setdefault(a.name, []).append(s)
            self.stmts = before
        return out


def guard_temps(stmts: list[Stmt], results: list[str], counts: dict[str, int]) -> list[Stmt]:
    """A temporary that only conditional statements use is made only under their condition."""
    out: list[Stmt] = []
    needs: dict[str, list[E | None]] = {}
    for s in reversed(stmts):
        if s.target not in results and s.when is None and s.target in needs and not isinstance(s.body, RawResult):
            s = replace(s, when=either(needs[s.target], counts))
        for e in (s.body, s.pred, *s.idx):
            for n in walk(e):
                if isinstance(n, Read):
                    needs.setdefault(n.tensor, []).append(s.when)
        out.append(s)
    return out[::-1]
