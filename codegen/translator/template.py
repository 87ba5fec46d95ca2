"""Jinja templates -> TypeScript functions that make the identical text.

`environment()` is the one place that says how templates are read, so both hosts agree about white
space: trim_blocks, lstrip_blocks, a kept last newline, an error for an unknown name.  Only texts and
whole numbers may be printed (Python and JavaScript write other values differently): `plain_text`
refuses the rest when Python renders.

    translate_template("map.wgsl.j2", "map_kernel", "MapContext") -> an exported function (c: MapContext): string
    templates_module([...])                                       -> a whole file of them

Covered: output, if/elif/else, for (with `loop.index0 index first last length`, filter, else), set,
namespace, macros (also imported from a file of macros), attributes, items, slices, arithmetic,
comparison, `in`, conditional expressions, `~`, the tests and filters listed below.  Anything else
raises `Refused` with file:line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import jinja2
from jinja2 import meta, nodes

from .precedence import CALL, safe
from .template_expressions import Expressions, literal

FOLDER = Path(__file__).parents[1] / "wgsl"
# Operations that the functions import from ./text.js.
TEXT_TS = """\
// What Jinja's tests, filters and truth mean, for the translated templates.

export { mod, range } from "../host/python.js";

/** Whether Jinja takes a value as true: not 0, "", [], {}, null. */
export function truthy(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (typeof value === "object" && value !== null) return Object.keys(value).length > 0;
  return Boolean(value);
}

/** `item in list`, `part in text`, `key in object`. */
export function has(where: readonly unknown[] | string | object, what: unknown): boolean {
  if (typeof where === "string") return where.includes(String(what));
  return Array.isArray(where) ? where.includes(what) : Object.hasOwn(where, String(what));
}

/** Puts `width` spaces before every line but empty ones and, unless `first`, the first. */
export function indent(text: string, width: number, first = false): string {
  const lines = text.split("\\n").map((s, i) => ((s === "" || i === 0) ? s : " ".repeat(width) + s));
  return (first ? " ".repeat(width) : "") + lines.join("\\n");
}
"""


def plain_text(value):
    """What a template may print: text and whole numbers."""
    if isinstance(value, str) or isinstance(value, int) and not isinstance(value, bool):
        return value
    raise TypeError(f"a template prints texts and whole numbers, not {value!r}")


def environment(folder: str | Path = FOLDER) -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
        finalize=plain_text,
        autoescape=False,
    )


def templates_module(
    templates: list[tuple[str, str, str]],
    types_from: dict[str, str],
    libraries: Sequence[str] = (),
    folder: str | Path = FOLDER,
) -> str:
    """One TypeScript file.  templates: (file, function, type of its context); types_from: type -> module it is
    imported from; libraries: files of macros, which must come before those that import them."""
    env = environment(folder)
    parts = [Template(env, f).library() for f in libraries]
    parts += [Template(env, f).function(name, context) for f, name, context in templates]
    body = "\n".join(parts)
    helpers = [h for h in ("has", "indent", "mod", "range", "truthy") if h + "(" in body]
    head = ["// The kernels' texts: translated from the templates in codegen/wgsl; change them there.", ""]
    if helpers:
        head.append(f'import {{ {", ".join(helpers)} }} from "./text.js";')
    for where in sorted(set(types_from.values())):
        names = sorted(t for t, w in types_from.items() if w == where)
        head.append(f'import type {{ {", ".join(names)} }} from "{where}";')
    return "\n".join(head) + "\n\n" + body


def translate_template(file: str, function: str, context: str, folder: str | Path = FOLDER) -> str:
    """The exported TypeScript function of one template."""
    return Template(environment(folder), file).function(function, context)


class Template(Expressions):
    def __init__(self, env: jinja2.Environment, file: str):
        self.file, self.stem = file, file.split(".")[0].replace("-", "_")
        source, *_ = env.loader.get_source(env, file)
        self.tree = env.parse(source)
        # A name set in some branch counts as undeclared for Jinja; here it belongs to the template.
        own = {"range", "namespace", *self.sets(self.tree.body)}
        self.free = sorted(meta.find_undeclared_variables(self.tree) - own)
        self.lines: list[str] = []
        self.depth = 1
        self.count = 0
        self.macros: dict[str, str] = {}  # name in the template -> function
        self.loops: list[tuple[str, str]] = []  # (index, items) of the loops around, innermost last
        self.scopes: list[set[str]] = [set(self.free)]

    def put(self, line):
        self.lines.append("  " * self.depth + line)

    def function(self, name: str, context: str) -> str:
        c = "c_" if "c" in self.free else "c"
        if self.free:
            self.put(f"const {{ {', '.join(n if safe(n) == n else f'{n}: {safe(n)}' for n in self.free)} }} = {c};")
        self.put('let out_ = "";')
        self.body(self.tree.body)
        self.put("return out_;")
        parameter = f"{c}: {context}" if self.free else ""
        return (
            f"/** The text of {self.file}. */\nexport function {name}({parameter}): string {{\n"
            + "\n".join(self.lines)
            + "\n}\n"
        )

    def library(self) -> str:
        """The macros of a file that has nothing else, as functions `file_macro`."""
        if self.free:
            self.no(self.tree, f"a file of macros uses {self.free[0]}")
        self.depth = 0
        for n in self.tree.body:
            if isinstance(n, nodes.Macro):
                self.macro(n, library=True)
            elif isinstance(n, nodes.FromImport):
                self.statement(n)
        return "\n".join(self.lines) + "\n"

    # --- Statements ---------------------------------------------------------------------------------

    def body(self, body: list[nodes.Node]):
        sets = list(self.sets(body))
        for name in dict.fromkeys(sets):
            if any(name in s for s in self.scopes):
                self.no(body[0], f"`{name}` is set here and outside")
        direct = [n.target.name for n in body if isinstance(n, nodes.Assign) and isinstance(n.target, nodes.Name)]
        self.scopes.append(set(sets))
        self.once = getattr(self, "once", set()) | {n for n in sets if sets.count(n) == 1 and n in direct}
        # eslint-style `any`: what branches set may be of several types.
        for name in dict.fromkeys(n for n in sets if n not in self.once):
            self.put(f"let {safe(name)}: any;")
        for n in body:
            self.statement(n)
        self.scopes.pop()

    def sets(self, body):
        """Names set in this scope: `if` shares it, `for` and `macro` have their own."""
        for n in body:
            if isinstance(n, nodes.Assign) and isinstance(n.target, nodes.Name):
                yield n.target.name
            elif isinstance(n, nodes.If):
                yield from self.sets(n.body)
                for e in n.elif_:
                    yield from self.sets(e.body)
                yield from self.sets(n.else_)

    def statement(self, n: nodes.Node):
        match n:
            case nodes.Output():
                self.output(n.nodes)
            case nodes.If():
                self.branch(n)
            case nodes.For():
                self.loop(n)
            case nodes.Assign(target=nodes.Name(name=name)):
                self.put(f"{'const ' if name in self.once else ''}{safe(name)} = {self.text(n.node)};")
            case nodes.Assign(target=nodes.NSRef(name=name, attr=attr)):
                self.put(f"{safe(name)}.{attr} = {self.text(n.node)};")
            case nodes.Macro():
                self.macro(n)
            case nodes.FromImport(template=nodes.Const(value=file)):
                stem = file.split(".")[0].replace("-", "_")
                for name in n.names:
                    macro, here = name if isinstance(name, tuple) else (name, name)
                    self.macros[here] = f"{stem}_{macro}"
            case _:
                self.no(n, f"{type(n).__name__} is not covered")

    def branch(self, n: nodes.If):
        self.put(f"if ({self.truth(n.test)}) {{")
        for e in [None, *n.elif_]:
            if e is not None:
                self.put(f"}} else if ({self.truth(e.test)}) {{")
            self.inside((e or n).body)
        if n.else_:
            self.put("} else {")
            self.inside(n.else_)
        self.put("}")

    def inside(self, body):
        """The statements of a branch; what it sets belongs to the scope around."""
        self.depth += 1
        for s in body:
            self.statement(s)
        self.depth -= 1

    def output(self, parts: list[nodes.Node]):
        out = ""
        for p in parts:
            if isinstance(p, nodes.TemplateData):
                out += literal(p.data)
            else:
                out += "${" + self.text(p) + "}"
        self.put(f"out_ += `{out}`;")

    def loop(self, n: nodes.For):
        if n.recursive:
            self.no(n, "recursive loops")
        self.count += 1
        i, xs = f"i{self.count}_", f"items{self.count}_"
        target = self.target(n.target)
        source = self.text(n.iter, CALL)
        names = {t.name for t in n.target.find_all(nodes.Name)} | (
            {n.target.name} if isinstance(n.target, nodes.Name) else set()
        )
        if n.test is not None:
            self.scopes.append(names)
            source += f".filter(({target}) => {self.truth(n.test)})"
            self.scopes.pop()
        uses = any(isinstance(x, nodes.Name) and x.name == "loop" for s in n.body for x in [s, *s.find_all(nodes.Name)])
        if uses or n.else_:
            self.put(f"const {xs} = {source};")
        if uses:
            self.put(f"for (let {i} = 0; {i} < {xs}.length; {i}++) {{")
            self.put(f"  const {target} = {xs}[{i}]!;")
        else:
            self.put(f"for (const {target} of {xs if n.else_ else source}) {{")
        self.depth += 1
        self.loops.append((i, xs))
        self.scopes.append(names)
        self.body(n.body)
        self.scopes.pop()
        self.loops.pop()
        self.depth -= 1
        self.put("}")
        if n.else_:
            self.put(f"if ({xs}.length === 0) {{")
            self.inside(n.else_)
            self.put("}")

    def target(self, t: nodes.Node) -> str:
        if isinstance(t, nodes.Name):
            return safe(t.name)
        return f"[{', '.join(self.target(e) for e in t.items)}]"

    def macro(self, n: nodes.Macro, library=False):
        name = f"{self.stem}_{n.name}" if library else safe(n.name)
        self.macros[n.name] = name
        first = len(n.args) - len(n.defaults)
        params = ", ".join(
            safe(a.name) + (": any" if i < first else f": any = {self.text(n.defaults[i - first])}")
            for i, a in enumerate(n.args)
        )
        self.put(
            f"export function {name}({params}): string {{" if library else f"const {name} = ({params}): string => {{"
        )
        self.depth += 1
        self.put('let out_ = "";')
        loops, self.loops = self.loops, []
        self.scopes.append({a.name for a in n.args})
        self.body(n.body)
        self.scopes.pop()
        self.loops = loops
        self.put("return out_;")
        self.depth -= 1
        self.put("}" if library else "};")
