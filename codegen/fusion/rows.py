"""A row (a norm, a softmax) as part of the product that reads it: each sum of the product reduces its row, too.

That pays where the product reads its other factor only once anyway, as for one row of tokens: then it is bound by
memory, and what it computes again is in caches."""

from __future__ import annotations

from ..data.functions import CHECKED
from ..data.model import Axis, Bound, Code, Kernel, ReadCode, Step, StepCode
from ..data.nodes import Apply, BoundsCheck, Element, Item, Local, Node, Random, Result, nodes_of
from ..planner.lines import Line, collapsed, points, resolve
from .joining import Joining, code_of
from .pointwise import Pointwise, along
from .substitute import as_read, numbered, put_in, renamed
from .work import Work, reads_of

MOST_POINTS = 1 << 22  # of a product that reduces its rows again for each sum: more takes longer than a launch


def rows_of(work: Work) -> Pointwise | None:
    """A step of one kernel of rows: reductions, then stores.  Its lines: the rows', then those along them."""
    if len(work.kernels) != 1:
        return None
    kernel = work.kernels[0]
    code = kernel.floating
    if kernel.shape != "reduce" or kernel.spread or code is None or any(x.named for x in kernel.loops + kernel.rloops):
        return None
    used: list[int] = []
    for n in range(len(kernel.steps)):
        s = kernel.steps[n]
        if s.mode != "=" or code.steps[n].pred is not None or s.kind == "reduce" and s.red not in ("sum", "max", "min"):
            return None
        for x in nodes_of(code.steps[n].body):
            if isinstance(x, (Random, BoundsCheck, Item, Local)):
                return None
            match x:
                case Apply(name=name) if name in CHECKED:
                    return None
                case Element(access=a):
                    if a not in used:
                        used.append(a)
                case _:
                    pass
    for n in range(len(kernel.accesses)):
        if any(axis == "" for axis in kernel.accesses[n].axes) or code.accesses[n].guard is not None:
            return None
    r = resolve(kernel, work.call)
    if points(r.outer) * points(r.reduce) == 0:
        return None
    return Pointwise(kernel, collapsed(r.outer) + collapsed(r.reduce), r.offsets, code.steps, used, True)


class Course:
    """Where the lines of rows go in the loops of a product: of each loop, of each of its axes, a line (-1 for none) and
    how many points at a time."""

    def __init__(self, kernel: Kernel, sizes: list[list[int]]):
        self.names = [x.name for x in kernel.loops + kernel.rloops]
        self.sizes = sizes
        self.which = [[-1 for _ in own] for own in sizes]
        self.by = [[0 for _ in own] for own in sizes]

    def goes(self, loop: int, d: int, line: int, step: int) -> bool:
        """Notes that an axis goes along a line; whether that is not against what is known."""
        if self.which[loop][d] >= 0 and (self.which[loop][d] != line or self.by[loop][d] != step):
            return False
        self.which[loop][d] = line
        self.by[loop][d] = step
        return True

    def takes(self, read: Course, outer: int) -> bool:
        """Adds where the lines of one more read go; whether its rows are those of the reads before.  A product of rows
        with each other reads two at a time."""
        for loop in range(len(self.names)):
            if loop < outer and (self.which[loop] != read.which[loop] or self.by[loop] != read.by[loop]):
                return False
            for d in range(len(self.sizes[loop])):
                if read.which[loop][d] >= 0 and not self.goes(loop, d, read.which[loop][d], read.by[loop][d]):
                    return False
        return True


def row_inserted(base: Work, row: Work, p: Pointwise) -> Work | None:
    """A product with the rows that it reads computed where it reads them."""
    if len(base.kernels) != 1:
        return None
    kernel = base.kernels[0]
    if kernel.shape != "contract" or kernel.spread or any(x.named for x in kernel.loops + kernel.rloops):
        return None
    r = resolve(kernel, base.call)
    if points(r.outer) * points(r.reduce) > MOST_POINTS:
        return None
    stores = stores_of(row, p)
    reads = [n for n in range(len(kernel.accesses)) if base.values[kernel.accesses[n].slot] in stores]
    course = course_of(base, row, p, reads)
    if course is None or not reads_once(base, row, reads):
        return None
    code = code_of(kernel)
    j = Joining(base, 0, row, p, len(base.parts))
    elements: dict[int, Node] = {}
    for n in p.used:
        own = row.kernels[0].accesses[n]
        there = Bound(row.call.slots[own.slot].dtype, [], [], p.offsets[n], axes_at(course, p.lines, n), True)
        at = j.take(n, there, course.names[:], ReadCode([None for _ in course.names], None, None), False)
        elements[n] = Element(at)
    # The reductions of the row come first.
    steps: list[Step] = []
    bodies: list[StepCode] = []
    results: list[Node] = []
    formulas: dict[int, Node] = {}
    for n in range(len(p.steps)):
        s = p.kernel.steps[n]
        body = renamed(p.steps[n].body, elements, results, j.prefix)
        if s.kind == "reduce":
            results.append(Result(len(steps)))
            steps.append(Step(s.kind, f"acc{len(steps)}", s.red, s.value, False, -1, "=", s.compared))
            bodies.append(StepCode(None, body))
            continue
        own = p.kernel.accesses[s.target]
        kind = "f" if s.value == "T" else s.value
        read = as_read(body, kind, row.call.slots[own.slot].dtype, "f")
        if read is None:
            return None
        results.append(read)
        formulas[row.values[own.slot]] = read
    first = len(steps)
    moved_steps = [first + n for n in range(len(kernel.steps))]
    same = list(range(len(j.accesses)))
    for n in range(len(kernel.steps)):
        s = kernel.steps[n]
        name = f"acc{first + n}" if s.name != "" else ""
        steps.append(Step(s.kind, name, s.red, s.value, s.inner, s.target, s.mode, s.compared))
        pred = code.steps[n].pred
        bodies.append(
            StepCode(
                None if pred is None else numbered(pred, same, moved_steps),
                numbered(code.steps[n].body, same, moved_steps),
            )
        )
    whole = Code(code.accesses + j.reads, bodies)
    for n in reads:
        if code.accesses[n].guard is not None or kernel.accesses[n].kind not in ("T", "f"):
            return None
        whole = put_in(whole, n, formulas[base.values[kernel.accesses[n].slot]])
    j.shape = "reduce"
    return j.done(whole, steps, [], -1)


def stores_of(row: Work, p: Pointwise) -> dict[int, int]:
    """The accesses by which rows store values."""
    out: dict[int, int] = {}
    for s in p.kernel.steps:
        if s.target >= 0:
            out[row.values[p.kernel.accesses[s.target].slot]] = s.target
    return out


def course_of(base: Work, row: Work, p: Pointwise, reads: list[int]) -> Course | None:
    """The lines of rows in the loops of the product that reads them: each row along the whole of what is summed."""
    kernel = base.kernels[0]
    own = resolve(p.kernel, row.call)
    rows = len(collapsed(own.outer))
    course: Course | None = None
    stores = stores_of(row, p)
    outer = len(kernel.loops)
    for n in reads:
        read = Course(kernel, sizes_of(base, kernel))
        access = kernel.accesses[n]
        bound = base.call.slots[access.slot]
        target = stores[base.values[access.slot]]
        inner = any(s.target == target and s.inner for s in p.kernel.steps)
        lines = p.lines if inner else p.lines[:rows]
        where = along(bound.axes, bound.offset, lines, target, p.offsets[target])
        if where is None or any(at != 0 for at in where.starts):
            return None
        for i in range(len(access.axes)):
            if access.axes[i] == "":
                return None
            loop = read.names.index(access.axes[i])
            for d in range(len(bound.axes[i].sizes)):
                line = where.which[i][d]
                at = d + len(read.sizes[loop]) - len(bound.axes[i].sizes)
                if line < 0:
                    continue
                if at < 0 or (line >= rows) != (loop >= outer) or not read.goes(loop, at, line, where.by[i][d]):
                    return None
        if course is None:
            course = read
        elif not course.takes(read, outer):
            return None
    return None if course is None else whole_rows(course, p.lines, rows, outer)


def whole_rows(course: Course, lines: list[Line], rows: int, outer: int) -> Course | None:
    """A course whose sums go through rows as a whole, once."""
    free: list[int] = []
    loops: list[int] = []
    axes: list[int] = []
    taken: list[int] = []
    for loop in range(outer, len(course.names)):
        for d in range(len(course.sizes[loop])):
            line = course.which[loop][d]
            if line >= 0:
                if line in taken or course.by[loop][d] != 1 or lines[line].size != course.sizes[loop][d]:
                    return None
                taken.append(line)
            elif course.sizes[loop][d] > 1:
                loops.append(loop)
                axes.append(d)
    for line in range(rows, len(lines)):
        if line not in taken and lines[line].size > 1:
            free.append(line)
    # What is reduced and not stored: as long as what is summed.
    if len(free) != len(loops) or len(free) > 1:
        return None
    for n in range(len(free)):
        if lines[free[n]].size != course.sizes[loops[n]][axes[n]] or not course.goes(loops[n], axes[n], free[n], 1):
            return None
    return course


def sizes_of(base: Work, kernel: Kernel) -> list[list[int]]:
    out: list[list[int]] = []
    for loop in kernel.loops + kernel.rloops:
        out.append(base.call.packs[loop.pack] if loop.extent is None else [int(loop.extent(base.call.env))])
    return out


def axes_at(course: Course, lines: list[Line], n: int) -> list[Axis]:
    """The elements of access n of rows by the loops of a product."""
    out: list[Axis] = []
    for loop in range(len(course.names)):
        strides: list[int] = []
        for d in range(len(course.sizes[loop])):
            line = course.which[loop][d]
            strides.append(0 if line < 0 else course.by[loop][d] * lines[line].strides[n])
        out.append(Axis(course.sizes[loop], strides))
    return out


def reads_once(base: Work, row: Work, reads: list[int]) -> bool:
    """Whether a product reads what stands beside the rows, and what they are made of, at one point only each."""
    kernel = base.kernels[0]
    r = resolve(kernel, base.call)
    own = reads_of(row, row.kernels[0])
    for n in range(len(kernel.accesses)):
        if n in reads or base.values[kernel.accesses[n].slot] in own or any(s.target == n for s in kernel.steps):
            continue
        if any(x.size > 1 and x.strides[n] != 0 for x in r.reduce):
            if any(x.size > 1 and x.strides[n] == 0 for x in r.outer):
                return False
    return True
