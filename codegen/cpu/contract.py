"""Contractions: sums of products of two factors, as blocks for runtime/gemm.ts.

`Contract` splits the product and says which named loops each factor uses; conditions of the sum go to
the factor that can decide them.  It writes four functions: pack the left factor, pack the right one,
store finished sums, and the kernel that hands them over.  What it cannot split, and sizes too narrow to
gain, run as plain loops (loops.py)."""

from __future__ import annotations

from dataclasses import dataclass

from dsl.expression import E, conj, conjuncts, indices, symbols
from dsl.ir import Loop
from dsl.opdef import OpDef
from codegen.nests import Nest, Step

from .access import Place, parts_of, reads_of
from .expr import Hole
from .loops import LoopKernel
from .text import describe, listed, open_kernel
from .words import word_value


@dataclass
class Factor:
    """One side of the product: the reads it multiplies, the conditions it decides."""
    parts: list[E]
    reads: list[int]
    conditions: list[E]
    loops: set[str]


class Contract(LoopKernel):
    """The TypeScript of a contraction.  `possible`: whether the product falls into two factors."""

    FIXED = LoopKernel.FIXED | {"block", "panel", "rows", "columns", "depth", "batch", "from", "to", "next", "sum", "sums", "width",
                                "firstRow", "lastRow", "firstColumn", "lastColumn", "blocked", "contract", "panelStart"}

    def __init__(self, nest: Nest, op: OpDef, name: str, tensors=None):
        super().__init__(nest, op, name, False, tensors)
        self.left, self.right = Factor([], [], [], set()), Factor([], [], [], set())
        self.possible = self.split()

    # --- Splitting ---

    def split(self) -> bool:
        steps = self.nest.steps
        if len(steps) < 2 or steps[0].red != "sum" or any(s.kind != "store" or s.inner for s in steps[1:]): return False
        for f in factors(steps[0].body):
            reads = self.needed([Step("reduce", "", f)])
            side = self.left if not reads or set(reads) & set(self.nest.left) else self.right
            if side is self.left and not set(reads) <= set(self.nest.left) | self.only_within(reads): return False
            side.parts.append(f)
            side.reads += [r for r in reads if r not in side.reads]
            side.loops |= self.loops_of(f, reads)
        if not self.left.reads or not self.right.reads or set(self.left.reads) & set(self.right.reads): return False
        outer = {l.name for l in self.nest.loops}
        for c in conjuncts(steps[0].pred):
            reads = self.needed([Step("reduce", "", c)])
            loops = self.loops_of(c, reads) & outer
            if not loops & (self.right.loops - self.left.loops): side = self.left
            elif not loops & (self.left.loops - self.right.loops): side = self.right
            else: return False
            side.conditions.append(c)
            side.loops |= loops
            side.reads += [r for r in reads if r not in side.reads]
        return any(not self.places[r].checked for r in self.left.reads + self.right.reads)

    def only_within(self, reads: list[int]) -> set[int]:
        """Reads that stand only in the index of another."""
        return {r for q in reads for r in reads_of(*parts_of(self.nest.accesses[q]))}

    def loops_of(self, e: E, reads: list[int]) -> set[str]:
        return set(indices(e)).union(*(self.places[r].loops for r in reads))

    # --- The functions ---

    def write_all(self, plain: str) -> list[str]:
        """The kernel, last, and its helpers; `plain`: the name of the same nest as loops."""
        return [self.write_pack(self.left, "Left", "rows"), self.write_pack(self.right, "Right", "columns"),
                 self.write_store(), self.write_kernel(plain)]

    def write_kernel(self, plain: str) -> str:
        t = self.fresh_text()
        words = sorted({s for l in self.nest.loops + self.nest.rloops if l.name in self.named for s in self.symbols_of(l.extent)})
        open_kernel(t, self.name, describe(self.nest))
        for line in listed("const", [f"{self.words[w]} = {word_value(self.op, w, False)}" for w in words]): t.add(line)
        t.open("const blocked = contract(nest,")
        t.add(f"left: [{', '.join(map(str, self.left.reads))}], right: [{', '.join(map(str, self.right.reads))}],")
        t.add(f"loops: [{', '.join(map(self.named_loop, self.outer_named))}],")
        t.add(f"depth: [{', '.join(self.named_loop(l) for l in self.nest.rloops if l.name in self.named)}],")
        t.add(f"packLeft: {self.name}Left, packRight: {self.name}Right, store: {self.name}Store,")
        t.close(");")
        t.add(f"if (!blocked) {plain}(nest);")
        t.close()
        return str(t)

    def named_loop(self, l: Loop) -> str:
        side = lambda f: "true" if l.name in f.loops else "false"
        return f'{{ name: "{l.name}", extent: {self.printer.number(l.extent)}, left: {side(self.left)}, right: {side(self.right)} }}'

    def write_pack(self, factor: Factor, side: str, along: str) -> str:
        """Fills a panel with a block of one factor; 0 where a condition fails."""
        t = self.fresh_text()
        first, last = (("firstRow", "lastRow") if along == "rows" else ("firstColumn", "lastColumn"))
        own = {"batch": [], along: [], "depth": [l for l in self.nest.rloops if l.name in self.named]}
        for l in self.outer_named: own[self.kind_of(l)].append(l) if self.kind_of(l) in own else None
        places = [self.places[r] for r in dict.fromkeys(factor.reads)]
        used = self.used_in(factor.parts + factor.conditions, places)
        t.add("/** @param {Block} block @param {Float64Array} panel */")
        t.open(f"function {self.name}{side}(block, panel)")
        t.add(f"const {{ nest, {along}, depth, {first}, {last}, from, to }} = block;")
        self.open_function(t, places, used)
        t.add_all(listed("const", [f"{p.stem}Points = {along}.at[{p.number}], {p.stem}Depth = depth.at[{p.number}]" for p in places]))
        self.loop_tables(t, own, along, used)
        i, k = self.i, self.k
        t.open(f"for (let {i} = {first}; {i} < {last}; {i}++)")
        t.add_all(listed("const", [f"{p.at} = block.at[{p.number}] + {p.stem}Points[{i}]" for p in places]))
        t.add_all(listed("const", [f"{self.loop(l)} = {self.loop(l)}Values[{i}]" for l in own[along] if l.name in used]))
        t.add(f"let next = panelStart({i} - {first}, to - from);")
        t.open(f"for (let {k} = from; {k} < to; {k}++, next += 4)")
        t.add_all(listed("const", [f"{self.loop(l)} = {self.loop(l)}Values[{k}]" for l in own["depth"] if l.name in used]))
        for p in places: p.at = f"{p.stem}At + {p.stem}Depth[{k}]"
        self.text, self.inside = t, False
        step = Step("reduce", "", product(factor.parts), pred=conj(*factor.conditions))
        self.open_reads([step])
        value = self.printer.number(step.body, 4)
        if step.pred is not None: value = f"{self.printer.truth(step.pred, 4)} ? {self.printer.number(step.body, 4)} : 0"
        t.add(f"panel[next] = {value};")
        for p in places: p.at = f"{p.stem}At"
        self.indices = {}
        t.close()
        t.close()
        t.close()
        return str(t)

    def write_store(self) -> str:
        """Takes finished sums and runs the steps that follow the sum."""
        t = self.fresh_text()
        steps = list(self.nest.steps[1:])
        numbers = dict.fromkeys(self.needed(steps) + [s.target for s in steps])
        places = [self.places[r] for r in sorted(numbers)]
        own = {"batch": [], "rows": [], "columns": []}
        for l in self.outer_named: own[self.kind_of(l)].append(l)
        used = self.used_in([s.body for s in steps] + [s.pred for s in steps if s.pred is not None], places)
        t.add("/** @param {Block} block @param {Float64Array} sums @param {number} width */")
        t.open(f"function {self.name}Store(block, sums, width)")
        t.add("const { nest, rows, columns, firstRow, lastRow, firstColumn, lastColumn } = block;")
        self.open_function(t, places, used)
        t.add_all(listed("const", [f"{p.stem}Rows = rows.at[{p.number}], {p.stem}Columns = columns.at[{p.number}]" for p in places]))
        self.loop_tables(t, own, "", used)
        i, j = self.i, self.j
        t.open(f"for (let {i} = firstRow; {i} < lastRow; {i}++)")
        t.add_all(listed("const", [f"{p.stem}Row = block.at[{p.number}] + {p.stem}Rows[{i}]" for p in places]))
        t.add_all(listed("const", [f"{self.loop(l)} = {self.loop(l)}Values[{i}]" for l in own["rows"] if l.name in used]))
        t.add(f"let next = ({i} - firstRow) * width;")
        t.open(f"for (let {j} = firstColumn; {j} < lastColumn; {j}++)")
        t.add_all(listed("const", [f"{self.loop(l)} = {self.loop(l)}Values[{j}]" for l in own["columns"] if l.name in used]))
        t.add("const sum = sums[next++];")
        self.printer.holes[self.nest.steps[0].name] = Hole("sum", "f")
        for p in places: p.at = f"{p.stem}Row + {p.stem}Columns[{j}]"
        self.text, self.inside = t, False
        for s in steps:
            self.open_reads([s])
            self.store(s)
        for p in places: p.at = f"{p.stem}At"
        self.indices = {}
        t.close()
        t.close()
        t.close()
        return str(t)

    # --- Pieces ---

    def fresh_text(self):
        self.text = type(self.text)()
        return self.text

    def loop(self, l: Loop) -> str: return self.printer.holes[l.name].text

    def kind_of(self, l: Loop) -> str:
        left, right = l.name in self.left.loops, l.name in self.right.loops
        return "rows" if left and not right else "columns" if right and not left else "batch"

    def used_in(self, exprs: list[E], places: list[Place]) -> set[str]:
        """Loops and words that a function's texts name."""
        parts = [e for e in exprs if e is not None]
        for p in places: parts += [*(i for i, _, _ in p.terms), *(e for e in (p.access.guard, p.access.fallback) if e is not None)]
        return set().union(*map(indices, parts), *map(self.symbols_of, parts))

    def symbols_of(self, e: E) -> set[str]:
        return symbols(e) & set(self.words)

    def open_function(self, t, places: list[Place], used: set[str]):
        t.add_all(listed("const", [f"{p.array} = nest.arrays[{p.number}]" for p in unique(places)]))
        t.add_all(listed("const", [f"{s} = nest.strides[{p.number}][{k}]" for p in places for k, (i, s, _) in enumerate(p.terms) if i.args or i.op != "const" or i.val]))
        t.add_all(listed("const", [f"{n} = nest.lengths[{p.number}][{k}]" for p in places for k, (i, _, n) in enumerate(p.terms) if reads_of(i)]))
        t.add_all(listed("const", [f"{self.words[w]} = {word_value(self.op, w, False)}" for w in self.words if w in used]))

    def loop_tables(self, t, own: dict[str, list[Loop]], along: str, used: set[str]):
        for where, loops in own.items():
            for l in loops:
                if l.name not in used: continue
                t.add(f"const {self.loop(l)} = block.batch.{l.name};" if where == "batch" else f"const {self.loop(l)}Values = {where}.loops.{l.name};")


def factors(e: E) -> list[E]:
    if e.op == "*": return factors(e.args[0]) + factors(e.args[1])
    if e.op == "neg": return [E("const", (), -1), *factors(e.args[0])]
    return [e]


def product(parts: list[E]) -> E:
    out = parts[0]
    for p in parts[1:]: out = E("*", (out, p))
    return out


def unique(places: list[Place]) -> list[Place]:
    """One place for each array."""
    return list({p.array: p for p in reversed(places)}.values())[::-1]
