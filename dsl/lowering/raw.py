"""Raw bodies: ops that are texts in WGSL, JavaScript and numpy, checked and lowered.

The statements copy every input into a temporary, row-major and of its full shape, and then name the raw body once
for each result (`RawResult`, see dsl.ir.expression).  What the texts say is their author's business; here are the names
in them."""

from __future__ import annotations

import re
from dataclasses import replace
from textwrap import dedent

from ..checking.body_names import check_steps
from ..checking.scope import Thing
from ..ir.axes import Axis, axes, loop_dim, loop_index
from ..ir.expression import E, RawResult, Symbol, read, sym, symbols, walk
from ..ir.program import Body, BodyLaunch, Loop, Raw, Stmt, Tensor
from ..ir.row_calls import Placed
from ..opdef import symbol
from ..text.diagnostics import did_you_mean, either
from ..text.source import Source
from ..text.syntax import Code, Op, Span
from ..text.vocabulary import is_tensor, word
from .bodies import BodyLowering, natural_sizes, symbols_of, tensors_of
from .dims import Item
from .scalar_formulas import Context
from .types import output_dtype, whole

LANGUAGES = ("wgsl", "js", "numpy")
OWN = {"Bool": "bool"}
KINDS = {"num": "T", "real": "f"}
MOST_LANES = 256  # of a workgroup that every device has


# --- Checks ----------------------------------------------------------------------------------------


def check_raw(walk, op: Op, number):
    """`walk`: the op's Formulas; `number` checks a formula of sizes and options."""
    if any(x.places for x in op.launches):
        return check_launched(walk, op, number)
    if not op.code:
        for x in (*op.launches, *op.scratch):
            walk.error(
                "syntax",
                f"a {'scratch tensor' if x in op.scratch else 'launch'} belongs to a raw body",
                x.span,
                "this op has none",
            )
        return
    if op.body:
        walk.error("syntax", f"`{op.name}` has a formula and raw bodies", op.body[0].span, "an op is one or the other")
    check_bodies(walk, op)
    shapes(walk, op)
    wgsl = next((c for c in op.code if c.language == "wgsl"), None)
    if wgsl is None:
        return
    functions = re.findall(r"\bfn\s+(\w+)", wgsl.text)
    if not op.launches:
        walk.error(
            "syntax",
            f"nothing launches the `wgsl` body of `{op.name}`",
            op.name_span,
            help=("say how often a function of it runs:  launch fill over N",),
        )
    steps = {x.step for x in op.launches if x.step}
    for x in op.launches:
        launch(walk, x, functions, number)
    known = [n for n, t in walk.scope.things.items() if t.kind in ("size", "option")]
    for m in re.finditer(r"\bp\.(\w+)", wgsl.text):
        if m[1] in known or m[1] in steps or m[1] in ("inf", "nan"):
            continue
        walk.error(
            "name",
            f"the `wgsl` body has no word `p.{m[1]}`",
            word(walk.source, wgsl.span, f"p.{m[1]}"),
            did_you_mean(m[1], known) or "sizes, options and the number of a launch are its words",
            name=m[1],
        )
    check_slopes(walk, op)


def check_launched(walk, op: Op, number):
    """An op whose body is steps."""
    for c in op.code:
        walk.error("syntax", f"`{op.name}` has steps and a text", c.span, "an op is one or the other")
    if op.body:
        walk.error("syntax", f"`{op.name}` has a formula and steps", op.body[0].span, "an op is one or the other")
    shapes(walk, op)
    for d in (d for p in (*op.params, *op.outputs, *op.scratch) if p.type is not None for d in p.type.dims or ()):
        if d.kind == "pack" and d.rank is not None:
            walk.error("rank", "a body takes a leading pack and plain sizes", d.span, "this is another kind of axis")
    for x in op.launches:
        if not x.places:
            walk.error(
                "syntax",
                f"nothing stands below `launch {x.name}`",
                x.span,
                help=("write  over b < R:  and what each place does",),
            )
        group(walk, x, number)
    if not walk.errors:
        check_steps(walk, op)
    check_slopes(walk, op)


def check_slopes(walk, op: Op):
    """Gradients of a body are not derived."""
    floats = [p for p in op.params if is_tensor(p) and p.type.name in ("Float", "Num", "Any")]
    if all(o.type is not None and o.type.name in ("Int", "Bool") for o in op.outputs) or op.nograd == ():
        return
    given = {a.name for a in op.grads} | set(op.nograd or ())
    for p in floats:
        if p.name not in given:
            walk.error(
                "grad",
                f"the gradient of `{p.name}` cannot be derived from a raw body",
                word(walk.source, p.span, p.name),
                help=(f"write  grad {p.name} = ...,  or  nograd {p.name}",),
            )


def check_bodies(walk, op: Op):
    """One body for each language."""
    languages = [c.language for c in op.code]
    for n, c in enumerate(op.code):
        if c.language in languages[:n]:
            walk.error("syntax", f"a second `{c.language}` body", (c.span[0], c.span[0] + len(c.language)))
        if c.language != "numpy":
            continue
        try:
            compile(c.text, "<numpy>", "exec")
        except SyntaxError as e:
            walk.error(
                "syntax",
                f"the `numpy` body of `{op.name}` is no Python",
                code_place(walk.source, c, e.lineno - 1, (e.offset or 1) - 1),
                e.msg,
            )
    missing = [f"`{language}`" for language in LANGUAGES if language not in languages]
    if missing:
        walk.error(
            "syntax",
            f"`{op.name}` has no {either(missing)} body",
            op.name_span,
            help=("an op that is not a formula needs a body for each target",),
        )


def code_place(source: Source, code: Code, line: int, column: int, length: int = 1) -> Span:
    """Where a place of a body's text stands in its file, lines and columns counted from 0; of what lies outside, its
    language or its end."""
    whole = source.text[code.span[0] : code.span[1]]
    begin, end = whole.index('"""') + 3, whole.rindex('"""')
    lines, bare = whole[begin:end].split("\n"), dedent(whole[begin:end])
    if line < 0:
        return code.span[0], code.span[0] + len(code.language)
    if line > code.text.count("\n"):
        line, column = code.text.count("\n"), len(code.text)
    n = line + len(bare) - len(bare.lstrip("\n"))
    start = code.span[0] + begin + sum(len(text) + 1 for text in lines[:n]) + len(lines[n]) - len(bare.split("\n")[n])
    at = min(start + column, start + len(code.text.split("\n")[line]))
    return at, at + max(min(length, start + len(code.text.split("\n")[line]) - at), 1)


def shapes(walk, op: Op):
    """A body sees rows: any number of leading axes as one, then axes of known sizes."""
    for what, name, t, at in [
        *(("parameter", p.name, p.type, p.span) for p in op.params if is_tensor(p)),
        *(("result", o.name, o.type, o.span) for o in op.outputs),
        *(("scratch tensor", s.name, s.type, s.span) for s in op.scratch),
    ]:
        if t is None or t.dims is None or not t.name:
            walk.error(
                "rank",
                f"the {what} `{name}` of a raw body needs a type and a shape",
                at,
                help=(f"write  {name}: Num[*B, N]",),
            )
        elif t.optional:
            walk.error("type", f"the {what} `{name}` of a raw body cannot be left out", at, "leave the `?` out")
        for n, d in enumerate(t.dims or () if t is not None else ()):
            if d.when is not None or d.kind not in ("size", "pack") or d.kind == "pack" and n and d.rank is None:
                walk.error(
                    "rank", "a raw body takes a leading pack and plain sizes", d.span, "this is another kind of axis"
                )
    for p in op.params:
        if p.mut:
            walk.error("type", "a raw body does not change its arguments", p.span, "leave `mut` out")


def launch(walk, x, functions: list[str], number):
    at = word(walk.source, x.span, x.name)
    if x.name not in functions:
        walk.error(
            "name", f"the `wgsl` body has no function `{x.name}`", at, did_you_mean(x.name, functions), name=x.name
        )
    group(walk, x, number)


def group(walk, x, number):
    """How many threads a launch has, and how often it runs."""
    if x.lanes and not 1 <= x.lanes <= MOST_LANES:
        walk.error("size", f"a workgroup has 1 to {MOST_LANES} threads, not {x.lanes}", x.span)
    if x.steps is not None:
        number(walk, x.steps, "the number of launches")
    if x.step and x.step in walk.scope.things:
        walk.error(
            "name",
            f"`{x.step}` means something already",
            word(walk.source, x.span, x.step),
            "here it counts the launches",
        )
    elif x.step:
        walk.things[x.step] = Thing("size", x.step, x.span)
    number(walk, x.over, "the size of a launch")
    if x.step:
        walk.things.pop(x.step, None)


# --- Statements ------------------------------------------------------------------------------------


def body_of(work) -> Body:
    """The texts of an op with its launches; `work` is its Lowering."""
    if any(x.places for x in work.op.launches):
        tensors = tensors_of(work, [p.name for p in work.op.params if is_tensor(p)])
        made = [BodyLowering(work, tensors) for _ in work.op.launches]
        launches = tuple(w.launch(x) for w, x in zip(made, work.op.launches))
        symbols = symbols_of(launches, made[0].kinds.symbols, tensors)
        natural = natural_sizes(work, tensors, launches)
        return Body(work.opname, "", "", "", launches, tensors, tuple(symbols.items()), natural)
    text = {c.language: c.text for c in work.op.code}
    lower = lambda e: None if e is None else work.formulas.lower(e, Context())
    made = tuple(BodyLaunch(x.name, x.step or "", lower(x.steps), lower(x.over), x.lanes) for x in work.op.launches)
    return Body(work.opname, text["wgsl"], text["js"], text["numpy"], made)


def words_of(work, body: Body) -> list[tuple[str, str]]:
    """(name, kind) of each size and option that the body speaks of: "i" whole, "f" real, "T" of the op's type."""
    kinds = {symbol(p.name): p.type.name for p in work.op.params if not is_tensor(p)}
    steps = {x.step for x in body.launches}
    found: dict[str, str] = {n: kind if kind == "f" else "i" for n, kind in body.symbols}
    for n in (m for x in body.launches for e in (x.over, x.steps) if e is not None for m in sorted(symbols(e))):
        if n not in steps:
            found[n] = "i"
    if body.tensors:
        return list(found.items())
    sizes = {s for t in work.tensors.values() for a in axes(t) if a.extent is not None for s in symbols(a.extent)}
    mentioned = set(re.findall(r"\w+", "\n".join((body.wgsl, body.js, body.numpy))))
    for n in [*sorted(sizes), *(n for n, _ in work.computed), *kinds]:
        if n in mentioned:
            found[n] = KINDS.get(
                kinds.get(n, ""), "i" if n in kinds or whole(dict(work.computed).get(n, sym(n)), kinds) else "f"
            )
    return list(found.items())


def body_statements(work):
    """Adds the statements of an op with raw bodies to `work.stmts`."""
    op, reads = work.op, []
    for p in (p for p in op.params if is_tensor(p)):
        given, name = work.tensors[p.name], f"{p.name}_rows_"
        loops = [Loop(f"i{n}_", a.extent, a.pack or None) for n, a in enumerate(axes(given))]
        at = tuple(map(loop_index, loops))
        dtype = OWN.get(p.type.name, "int") if given.dtype == "own" else given.dtype
        items = [Item("pack" if v.pack else "one", (a,), v.pack or "") for v, a in zip(loops, axes(given))]
        work.declare(Tensor(name, "temp", tuple(map(loop_dim, loops)), dtype), items)
        work.stmts.append(Stmt(name, at, tuple(loops), read(p.name, at)))
        reads.append((p.name, name))
    for s in op.scratch:
        dims, items = work.patterns.of(s.type.dims, result=True)
        work.declare(Tensor(s.name, "temp", dims, output_dtype(s.type.name, op)), items)
    body = body_of(work)
    outputs = [o.name for o in op.outputs] + [s.name for s in op.scratch]
    words = words_of(work, body)
    args = tuple(read(t, ()) for _, t in reads) + tuple(sym(n) for n, _ in words)
    raw = Raw(
        body, tuple(n for n, _ in reads), tuple((n, n) for n in outputs), tuple(words), placed=Placed(None, {}, {})
    )
    work.stmts += raw_statements(raw, args, len(op.outputs))


def own(placed: Placed, op):
    """Says of a raw body that it stands in its own op."""
    placed.op = op
    placed.packs.update({a.pack: (Axis(pack=a.pack),) for t in op.tensors.values() for a in axes(t) if a.pack})
    placed.env.update(
        {
            e.name: e
            for t in op.tensors.values()
            for a in axes(t)
            if a.extent is not None
            for e in walk(a.extent)
            if isinstance(e, Symbol)
        }
    )
    placed.env.update(
        {
            n: sym(n)
            for n in [
                *(f"count_{pack}" for pack in placed.packs),
                *(n for n, _ in op.sizes),
                *(symbol(p.name) for p in op.params if p.kind != "tensor"),
            ]
        }
    )


def raw_statements(raw: Raw, args: tuple[E, ...], results: int) -> list[Stmt]:
    """One statement for each result of a body that runs."""
    return [Stmt(t, (), (), RawResult(replace(raw, n=n), args)) for n, (_, t) in enumerate(raw.outputs[:results])]
