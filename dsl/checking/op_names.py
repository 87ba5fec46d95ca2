"""The names of one op: in its body, its gradients, and those that nothing uses."""

from __future__ import annotations

from ..lowering.inline import given_by, taken_by
from ..text.diagnostics import Error, did_you_mean
from ..text.syntax import NUMBERS, Assign, Op, Span
from ..text.vocabulary import LISTS, expanded, names_in, nodes_in, word
from .assignments import apart, axis_text, callee, placed, results, scattered, uses
from .bodies import check_body
from .constants import check_clauses, check_test
from .def_names import cycle
from .formulas import Formulas
from .modules import check_modules
from .public_names import check_public_names
from .reach import clause_word
from .scope import CONSTANTS, Scope, Thing, Vocabulary, compared, derived
from .shapes import KINDS, RESERVED


class OpNames:
    """The clauses of one op, in an order in which every name is defined before it is used."""

    def __init__(self, scope: Scope, vocabulary: Vocabulary):
        self.scope, self.op, self.source, self.vocabulary = scope, scope.op, scope.source, vocabulary
        self.walk = Formulas(scope, vocabulary)
        self.error = self.walk.error

    def check(self, clean: bool) -> list[Error]:
        """`clean`: the signature has no mistakes."""
        check_public_names(self.walk, self.op, self.source, self.vocabulary)
        if not self.op.body and not self.op.launches:
            self.error("syntax", f"`{self.op.name}` has no formula", self.op.name_span, help=("write one:  out = ...",))
        check_clauses(self.walk, self.op, self.source, clean)
        check_modules(self.walk, self.op, self.vocabulary)
        if clean:
            check_body(self.walk, self.op)
        self.body()
        self.grads()
        self.ignored()
        self.derived()
        if op_without_numbers(self.op):
            self.error(
                "option",
                f"`numbers` stands for nothing: no tensor of `{self.op.name}` may be a number",
                self.op.name_span,
                "a type like `Num | num` says so",
            )
        if clean and not self.walk.errors:
            self.unused()  # a misspelt name would leave the right one unused
        self.walk.errors += cycle(expanded(self.op)[0], self.op.name_span, self.vocabulary)
        for t in self.op.tests:
            check_test(self.walk, t.condition, t.raises is not None, expanded(self.op))
        return self.walk.errors

    def clause_word(self, first: str, text: str, skip: int = 0) -> Span:
        return clause_word(self.op, self.source, first, text, skip)

    # --- Body -------------------------------------------------------------------------------------

    def body(self):
        op, walk = self.op, self.walk
        outputs = {o.name for o in op.outputs}
        assigned = {t.name for a in op.body for t in a.targets()}
        walk.later = (assigned - set(self.scope.things)) | (outputs & assigned)
        for name in outputs:
            walk.things.pop(name, None)
        done: dict[str, Span] = {}
        for a in op.body:
            thing = self.scope.things.get(a.name)
            if a.name_span != op.name_span and not self.target(a, thing, done):
                continue
            if (
                (a.mode != "=" or scattered(a))
                and a.name not in done
                and (thing is None or thing.kind == "output" and a.mode != "+=")
            ):
                self.error(
                    "name",
                    f"`{a.name}` is changed before it is assigned",
                    a.name_span,
                    help=(f"first write  {a.name}[...] = ...",),
                    name=a.name,
                )
            walk.assignment(a, walk.things.get(a.name) if a.name in done else thing)
            if a.also:
                self.together(a)
            for t in a.targets():
                thing = self.scope.things.get(t.name)
                walk.later.discard(t.name)
                if t is not a and not self.target(t, thing, done):
                    continue
                if t.name not in done and (thing is None or thing.kind == "output"):
                    self.defined(t, thing)
                done.setdefault(t.name, t.name_span)
        self.changed_later()
        changes = any(p.mut for p in op.params)
        for o in op.outputs:
            if o.name in self.scope.things:
                walk.things.setdefault(o.name, self.scope.things[o.name])
            if o.name not in done and op.body and not op.launches and not (changes and o.type is None):
                self.error(
                    "name",
                    f"nothing assigns the result `{o.name}`",
                    word(self.source, o.span, o.name),
                    help=(f"write  {o.name} = ...",),
                )

    def defined(self, a: Assign, thing: Thing | None):
        """What a name means that is assigned for the first time; thing: a result."""
        axes = None if a.index is None else tuple(map(axis_text, a.index))
        if thing and (thing.axes is not None or placed(a, self.vocabulary)):
            axes = thing.axes
        kind, type = (thing.kind, thing.type) if thing else ("local", None)
        parts = () if a.also else results(a, self.vocabulary)
        self.walk.things[a.name] = Thing(kind, a.name, a.name_span, type, axes, parts)

    def together(self, a: Assign):
        """`U, S, V = svd_rows(a, full)`: as many names as the op that is called has results."""
        op, count = callee(a, self.vocabulary), 1 + len(a.also)
        span = (a.name_span[0], a.also[-1].span[1])
        if op is None:
            self.error("syntax", f"{count} names stand for one formula", span, "several are the results of a call")
        elif taken_by(a, op) is None:
            own, changed = given_by(op)
            more = f", and changes  {', '.join(changed)}" if own and changed else ""
            message = f"`{op.name}` has {len(own or changed)} result{'s' * (len(own or changed) > 1)}, not {count}"
            self.error("rank", message, span, f"it gives  {', '.join(own or changed)}{more}")

    def target(self, a, thing: Thing | None, done: dict[str, Span]) -> bool:
        """Whether the left side may be assigned."""
        if a.name.endswith("_"):
            self.error(
                "name", f"`{a.name}` ends in `_`", a.name_span, "such names are kept for generated code", name=a.name
            )
        if a.name in CONSTANTS + RESERVED:
            self.error(
                "name",
                f"`{a.name}` is a {'constant' if a.name in CONSTANTS else 'word of the language'}",
                a.name_span,
                "take another name",
            )
            return False
        mutable = {p.name for p in self.op.params if p.mut}
        if thing and thing.kind == "tensor" and a.name not in mutable:
            self.error(
                "name",
                f"the parameter `{a.name}` is assigned",
                a.name_span,
                "it is not marked `mut`",
                ((thing.span, "defined here"),),
                (f"to change the caller's tensor write  mut {a.name}  in the signature",),
            )
            return False
        if thing and thing.kind not in ("tensor", "output"):
            self.error(
                "name",
                f"`{a.name}` means something already",
                a.name_span,
                "here it is assigned",
                ((thing.span, f"{KINDS[thing.kind]} here"),),
                name=a.name,
            )
            return False
        if (
            a.mode == "="
            and a.name in done
            and not (thing and thing.kind == "tensor")
            and not scattered(a)
            and not apart(a, self.op.body)
        ):
            self.error(
                "name",
                f"`{a.name}` is assigned twice",
                a.name_span,
                "the second time here",
                ((done[a.name], "the first time here"),),
                ()
                if a.index is None
                else ("a formula says all of it:  ... if CONDITION else ...", "or call one of them otherwise"),
                name=a.name,
            )
            return False
        return True

    def changed_later(self):
        """Names that are read before their last change: a gradient that is derived would read what they hold in the
        end."""
        op = self.op
        if op.grads or op.nograd is not None:
            return  # those say what they read
        mutable = {p.name for p in op.params if p.mut}
        for n, a in enumerate(op.body):
            changes = {
                b.name: b.name_span
                for b in op.body[n + (a.mode == "=" and not scattered(a)) :]
                if b.mode != "=" or scattered(b)
            }
            for x in (
                x for e in (a.value, *(a.index or ())) for x in names_in(e) if x.val in changes and x.val not in mutable
            ):
                self.error(
                    "name",
                    f"`{x.val}` is read before its last change",
                    x.span,
                    "what it holds here is lost",
                    ((changes[x.val], "changed here"),),
                    (f"call what is changed otherwise:  changed[...] = {x.val}[...]",),
                    name=x.val,
                )

    # --- Gradients --------------------------------------------------------------------------------

    def grads(self):
        op, walk = self.op, self.walk
        tensors = self.scope.of_kind("tensor")
        names = [o.name for o in op.outputs]
        first = walk.things.get(names[0]) if names else None
        walk.things["g"] = Thing(
            "gradient",
            "g",
            (0, 0),
            first.type if first and len(names) == 1 else None,
            first.axes if first and len(names) == 1 else None,
            tuple(names) if len(names) > 1 else (),
        )
        walk.later = set()
        done: set[str] = set()
        for n, a in enumerate(op.grads):
            if a.name in {s.name for s in op.scratch}:
                self.error(
                    "name",
                    f"`{a.name}` is scratch memory of the body",
                    a.name_span,
                    help=("call this part of the gradient otherwise",),
                )
                self.part_of_gradient(a)
                continue
            if (
                a.name not in self.scope.things
                and a.name not in walk.things
                and any(uses(b, a.name) for b in op.grads[n + 1 :])
            ):
                self.part_of_gradient(a)
                continue
            if a.name not in tensors:
                thing = self.scope.things.get(a.name)
                self.error(
                    "grad",
                    f"`{op.name}` has no tensor `{a.name}` to differentiate by",
                    a.name_span,
                    did_you_mean(a.name, tensors) if not thing else f"it is {KINDS[thing.kind]}",
                    help=(f"its tensors are: {', '.join(tensors)}" if tensors else "it has no tensors",),
                )
                continue
            if self.scope.things[a.name].type.name in ("Int", "Bits", "Bool"):
                self.error(
                    "grad",
                    f"`{a.name}` has no gradient",
                    a.name_span,
                    f"its type is {self.scope.things[a.name].type.name}",
                )
            if a.name in done and a.index is None:
                self.error("grad", f"a second gradient of `{a.name}`", a.name_span)
            if op.nograd is not None and (not op.nograd or a.name in op.nograd):
                self.error("grad", f"`{a.name}` has a gradient, but `nograd` says it has none", a.name_span)
            done.add(a.name)
            walk.assignment(a, self.scope.things[a.name])
        for i, name in enumerate(op.nograd or ()):
            at = self.clause_word("nograd", name, op.nograd[:i].count(name))
            if name not in tensors:
                self.error(
                    "grad",
                    f"`{op.name}` has no tensor `{name}`",
                    at,
                    did_you_mean(name, tensors),
                    help=(f"its tensors are: {', '.join(tensors)}",) if tensors else (),
                )

    def part_of_gradient(self, a: Assign):
        """A name for a part of the gradients that follow."""
        self.walk.assignment(a, None)
        axes = None if a.index is None else tuple(map(axis_text, a.index))
        self.walk.things[a.name] = Thing("local", a.name, a.name_span, None, axes, results(a, self.vocabulary))

    def derived(self):
        """Names that mean something already, though nobody wrote them."""
        taken = derived(self.op)
        found = [(t.name, t.span) for t in self.scope.things.values()] + [(a.name, a.name_span) for a in self.op.body]
        for a in (*self.op.body, *self.op.grads):
            found += [(n.val, n.span) for i in a.index or () for n in nodes_in(i) if n.kind == "name"]
            found += [(b.name, b.span) for n in nodes_in(a.value) if n.kind == "reduce" for b in n.val[1]]
        for name, at in found:
            meant = taken.get(name) or compared(name, self.op)
            if meant:
                self.error(
                    "name",
                    f"`{name}` means something already",
                    at,
                    f"it is {meant}",
                    help=("take another name",),
                    name=name,
                )

    # --- What is left over ------------------------------------------------------------------------

    def ignored(self):
        """`ignore` names options that nothing uses."""
        options = self.scope.of_kind("option")
        for i, name in enumerate(self.op.ignored):
            at = self.clause_word("ignore", name, self.op.ignored[:i].count(name))
            thing = self.scope.things.get(name)
            if name not in options:
                self.error(
                    "name",
                    f"`{self.op.name}` has no option `{name}`",
                    at,
                    f"it is {KINDS[thing.kind]}" if thing else did_you_mean(name, options),
                )
            elif name in self.walk.used:
                self.error("option", f"`{name}` is used, but `ignore` says that it changes nothing", at)

    def unused(self):
        """Options and parts that nothing uses, `mut` parameters that nothing changes."""
        op, used = self.op, {*self.walk.used, *self.op.ignored}
        if op.launches:
            return
        shapes = [p.type.dims for p in op.params] + [o.type.dims for o in op.outputs if o.type]
        for d in [d for dims in shapes for d in dims or ()]:
            used |= {d.at, d.name, *(d.factors or ()), *(d.of.factors if d.of else ())} | {
                n.val for n in [*names_in(d.when), *names_in(d.expr), *names_in(d.of.expr if d.of else None)]
            }
        for e in (
            [s.value for s in op.sizes]
            + [p.default for p in op.params if p.default]
            + [r.condition for r in op.asked]
            + [op.itself, *(op.on_webgpu or ())]
        ):
            used |= {n.val for n in names_in(e)}
        used |= set(op.drop or ())
        assigned = {t.name for a in op.body for t in a.targets()}
        for p in op.params:
            thing = self.scope.things.get(p.name)
            one = p.type.name == "choice" and len(p.type.choices) <= 1  # names an overload, not a value
            if (
                thing
                and thing.kind == "option"
                and p.name not in used
                and p.type.name not in (*LISTS, "dtype")
                and not one
            ):
                self.error("name", f"the option `{p.name}` is never used", thing.span, name=p.name)
            if p.mut and thing and p.name not in assigned:
                self.error("name", f"`{p.name}` is marked `mut`, but never assigned", thing.span, name=p.name)
        outputs = {o.name for o in op.outputs}
        for a in op.body:
            if a.name not in used and a.name not in outputs and a.name not in self.scope.things:
                self.error(
                    "name",
                    f"`{a.name}` is assigned, but never used",
                    a.name_span,
                    did_you_mean(a.name, outputs),
                    name=a.name,
                )


def op_without_numbers(op: Op) -> bool:
    return op.numbers and not any(p.type.instead in NUMBERS for p in op.params)
