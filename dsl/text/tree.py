"""Lark's tree to the syntax tree of `dsl.text.syntax`, each node with its span.

Only shape is decided here, no meaning; numbers are read, strings lose their quotes, and texts between
three quotes lose their common indentation."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

from lark import Token, v_args

from .syntax import (
    Assign,
    Binder,
    Branch,
    Count,
    Def,
    Launch,
    Leave,
    Let,
    Module,
    Op,
    Output,
    Param,
    Put,
    Repeat,
    Require,
    Sample,
    Schedule,
    Scratch,
    Setting,
    Size,
    Test,
    Type,
    Variant,
    X,
)
from .tree_formulas import Formulas
from .tree_values import (
    Head,
    Unreadable,
    below,
    bounded,
    named,
    number,
    place,
    quoted,
    run_out,
    speaks_of_tensors,
    text,
    token_place,
    values_of,
    whole_assignment,
)

# Clauses that an op may have only once, and what they are called.
ONCE = {
    "doc": "text",
    "family": "`for`",
    "itself": "`itself`",
    "on_webgpu": "`webgpu`",
    **{word: f"`{word}`" for word in ("nograd", "foreach", "numbers", "modulus", "within")},
}
LISTS = ("ignored", "aliases", "complexes")  # clauses with several names each


@v_args(meta=True)
class Build(Formulas):
    """One method for each rule or alias of grammar/op.lark."""

    def param(self, m, c):
        return Param(str(c[1]), c[2], c[3], c[0] is not None, span=place(m))

    def keyword_only(self, m, c):
        return place(m)

    def output_type(self, m, c):
        own = c[0] if isinstance(c[0], Type) else Type("", c[0], span=place(m))
        return own if c[1] is None else replace(own, like=str(c[1]), span=place(m))

    def output(self, m, c):
        return Output(str(c[0]), c[1], place(m))

    def drop(self, m, c):
        return (str(c[0]), text(c[1]))

    def single(self, m, c):
        return (Output("out", c[0], place(m)),), c[1]

    def several(self, m, c):
        return tuple(c[:-1]), c[-1]

    # Clauses
    def names(self, m, c):
        return tuple(map(str, c))

    def doc(self, m, c):
        return ("doc", quoted(c[0]), place(m))

    def path(self, m, c):
        return ".".join(map(str, c))

    def alias(self, m, c):
        return ("aliases", tuple(c), place(m))

    def complexes(self, m, c):
        return ("complexes", c[0], place(m))

    def setting(self, m, c):
        return Setting(str(c[0]), str(c[1] or c[0]), c[2], place(m))

    def module(self, m, c):
        text = None if c[-1] is None else str(c[-1])[1:-1]
        return ("modules", Module(str(c[0]), tuple(s for s in c[1:-1] if s is not None), text, place(m)), place(m))

    def family(self, m, c):
        return ("family", (str(c[0]), tuple(map(number, c[1:]))), place(m))

    def size(self, m, c):
        return ("sizes", Size(str(c[1]), c[0] is not None, c[2], place(m)), place(m))

    def require(self, m, c):
        return ("requires", Require(c[0], "" if c[1] is None else str(c[1][1:-1]), place(m)), place(m))

    def sample(self, m, c):
        bounds = (c[3], c[5]) if len(c) == 6 else (None, None)
        return ("samples", Sample(str(c[1]), *bounds, place(m)), place(m))

    def target(self, m, c):
        return c[0], c[1]

    def assign(self, m, c):
        return ("body", self.assignment(m, c), place(m))

    def together(self, m, c):
        *names, mode, value = c
        if str(mode) != "=":
            raise Unreadable("several results are plainly assigned", place(m))
        rest = tuple(X("name", (), str(n), token_place(n)) for n in names[1:])
        return ("body", Assign(str(names[0]), None, "=", value, place(m), token_place(names[0]), also=rest), place(m))

    def grad(self, m, c):
        return ("grads", self.assignment(m, c), place(m))

    def nograd(self, m, c):
        return ("nograd", c[0] or (), place(m))

    def test(self, m, c):
        return ("tests", Test(c[0], None if c[1] is None else str(c[1][1:-1]), place(m)), place(m))

    def scratch(self, m, c):
        return ("scratch", Scratch(str(c[0]), c[1], place(m)), place(m))

    def ignore(self, m, c):
        return ("ignored", c[0], place(m))

    def itself(self, m, c):
        return ("itself", c[0], place(m))

    def webgpu(self, m, c):
        return ("on_webgpu", (c[0], c[1]), place(m))

    def foreach(self, m, c):
        return ("foreach", True, place(m))

    def numbers(self, m, c):
        return ("numbers", True, place(m))

    def modulus(self, m, c):
        return ("modulus", True, place(m))

    def within(self, m, c):
        return ("within", c[0], place(m))

    def launch(self, m, c):
        name, step, steps, *over, lanes, block = c
        head = str(name), text(step), steps
        threads = 0 if lanes is None else number(lanes)
        for x in over:
            if x.kind != "<" or x.args[0].kind != "name":
                raise Unreadable("the places of a launch have a name and a number:  i < N", x.span)
        places = tuple(Binder(x.args[0].val, high=x.args[1], span=x.span) for x in over)
        count = reduce(lambda a, b: X("*", (a, b.high), None, (a.span[0], b.high.span[1])), places[1:], places[0].high)
        if isinstance(block, Token):
            return "launches", Launch(*head, count, threads, place(m), places, token_place(block)), place(m)
        return "launches", Launch(*head, count, threads, place(m), places, body=below(block)), place(m)

    # Lines of a body
    def put(self, m, c):
        n = next(n for n, x in enumerate(c) if isinstance(x, Token))
        targets = tuple(named(x) for x in c[:n])
        if len(targets) != len(c) - n - 1:
            raise Unreadable(f"{len(targets)} targets, but {len(c) - n - 1} values", place(m))
        if len(targets) > 1 and c[n] != "=":
            raise Unreadable("several targets are assigned at once with `=`", token_place(c[n]))
        return Put(targets, str(c[n]), tuple(c[n + 1 :]), place(m))

    def leave(self, m, c):
        return Leave(place(m))

    def steps_in_line(self, m, c):
        return tuple(c)

    def counted(self, m, c):
        return Head(Count((bounded(c[0]),), c[1], False, span=place(m)), below(c[2]))

    def shared(self, m, c):
        return Head(Count(tuple(map(bounded, c[:-1])), None, True, span=place(m)), below(c[-1]))

    def branch(self, m, c):
        return Head(Branch(c[0], span=place(m)), below(c[1]))

    def otherwise(self, m, c):
        return Head(Branch(c[0], span=place(m)) if c[0] is not None else None, below(c[1]), True, place(m))

    def assignment(self, m, c):
        (name, index), mode, value = c
        index, extents = run_out(index)
        return Assign(str(name), index, str(mode), value, place(m), token_place(name), extents)

    def indexed(self, m, c):
        name, index, mode, value = c
        return ("tensors", self.assignment(m, ((name, index), mode, value)), place(m))

    # Items
    def params(self, m, c):
        out, keyword = [], False
        for p in c:
            if isinstance(p, tuple):
                if keyword:
                    raise Unreadable("there is a second `*` among the parameters", p)
                keyword = True
            else:
                out.append(p and replace(p, keyword=keyword))
        return tuple(out)

    def op(self, m, c):
        name, params, result, value, *clauses = c
        outputs, drop = result or ((Output("out", None, token_place(name)),), None)
        return Op(
            str(name),
            params or (),
            outputs,
            drop,
            span=place(m),
            name_span=token_place(name),
            **self.clauses(name, value, clauses),
        )

    def kept(self, m, c):
        return Param(str(c[0]), None, span=token_place(c[0]))

    def rest(self, m, c):
        return None

    def variant_params(self, m, c):
        return self.params(m, c)

    def variant(self, m, c):
        name, params, result, value, *clauses = c
        outputs, drop = result or (None, None)
        parts = self.clauses(name, value, clauses)
        return Variant(
            str(name),
            params or (),
            outputs,
            drop,
            parts,
            place(m),
            token_place(name),
        )

    def clauses(self, name, value, clauses) -> dict:
        """What the clauses of an op say, by its fields."""
        parts: dict[str, list] = {}
        if value is not None:
            parts["body"] = [Assign("out", None, "=", value, value.span, token_place(name))]
        for kind, v, where in clauses:
            if kind in ONCE and kind in parts:
                raise Unreadable(f"this definition has a second {ONCE[kind]}", where)
            parts.setdefault(kind, []).append(v)
        fields = {k: v[0] if k in ONCE else tuple(v) for k, v in parts.items()}
        lists = {k: tuple(name for names in parts[k] for name in names) for k in LISTS if k in parts}
        return fields | lists

    def let(self, m, c):
        if str(c[1]) != "=":
            raise Unreadable("a step of a `def` is a plain assignment", place(m))
        if len(c[0]) != len(c) - 2:
            raise Unreadable(f"{len(c[0])} names, but {len(c) - 2} values", place(m))
        return Let(c[0], tuple(c[2:]), place(m))

    def steps(self, m, c):
        return ("steps", tuple(c), place(m))

    def repeat(self, m, c):
        return ("steps", (Repeat(str(c[0]), c[1], c[2], c[3], tuple(c[4:]), place(m)),), place(m))

    def slope(self, m, c):
        if str(c[1]) != "=":
            raise Unreadable("a derivative is a plain assignment", place(m))
        return ("slopes", (str(c[0]), c[2]), place(m))

    def function(self, m, c):
        name, params, value, *clauses = c
        docs = [text for kind, text, _ in clauses if kind == "doc"]
        requires = tuple(r for kind, r, _ in clauses if kind == "requires")
        slopes = tuple(s for kind, s, _ in clauses if kind == "slopes")
        steps = tuple(s for kind, group, _ in clauses if kind == "steps" for s in group)
        over_tensors = any(kind == "tensors" for kind, *_ in clauses) or any(
            speaks_of_tensors(e) for e in (value, *values_of(steps)) if e is not None
        )
        for kind, _, where in clauses:
            if kind in ("steps", "tensors", "requires") and value is not None:
                raise Unreadable("this `def` has a formula already", where)
            if kind == "requires" and len(requires) + len(docs) < len(clauses):
                raise Unreadable("a `def` with requirements has nothing else", where)
            if kind == "slopes" and value is not None:
                raise Unreadable("the derivative of a formula is derived", where)
            if kind == "slopes" and over_tensors:
                raise Unreadable("the derivative of what is over tensors is derived", where)
        if value is None and not (steps or over_tensors or requires):
            raise Unreadable("this `def` says nothing", token_place(name))
        body: tuple[Assign, ...] = ()
        if over_tensors and value is not None:
            body = (Assign("out", None, "=", value, value.span, token_place(name)),)
        elif over_tensors:
            body = tuple(
                a
                for kind, s, _ in clauses
                if kind in ("steps", "tensors")
                for a in ((s,) if kind == "tensors" else map(whole_assignment, s))
            )
        if over_tensors:
            value, steps = None, ()
        return Def(
            str(name),
            params or (),
            value,
            steps,
            slopes,
            docs[0] if docs else "",
            body,
            requires,
            place(m),
            token_place(name),
        )

    def schedule(self, m, c):
        return Schedule(c[0], c[1], tuple(c[2:]), place(m))
