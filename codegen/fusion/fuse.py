"""Which steps of a captured program are joined.

A map goes after the step that stores what it reads, if it reads all of that at its own points; then what it reads
need not be stored. Else a map that only one or two steps read goes into these. Steps keep their order as far as one
writes what the other reads or writes; what is no work of kernels stays where it is."""

from __future__ import annotations

from ..data.model import Kernel
from ..planner.lines import points, resolve
from .join import appended, beside, inserted
from .joining import code_of, tells
from .pointwise import Pointwise, pointwise
from .rows import row_inserted, rows_of
from .work import Item, Work, item_of

TILE = 128  # columns of a product whose rows are read once
MOST_READERS = 2  # steps that compute anew what was stored for them
NEAR = 16  # steps between two that run side by side


def fused(items: list[Item], lasting: list[int], contractions: bool) -> list[Item]:
    """The steps of a program, joined.  lasting: the values that are read after it.  contractions: whether kernels of
    products take formulas of others."""
    out = after(without_dead(items, lasting), lasting, contractions)
    out = before(out, lasting, contractions)
    return abreast(rows_inside(out, lasting) if contractions else out)


def without_dead(items: list[Item], lasting: list[int]) -> list[Item]:
    """The steps whose values somebody reads, and those that may refuse some."""
    read = lasting[:]
    out: list[Item] = []
    for n in range(len(items)):
        item = items[len(items) - 1 - n]
        if (
            item.work is not None
            and not any(v in read for v in item.writes)
            and not any(tells(code_of(k)) for k in item.work.kernels)
        ):
            continue
        read.extend([v for v in [*item.reads, *item.writes] if v not in read])
        out.append(item)
    out.reverse()
    return out


def open_to(work: Work, contractions: bool) -> bool:
    return contractions or all(k.shape != "contract" for k in work.kernels)


# --- Maps after what they read ---------------------------------------------------------------------


def after(items: list[Item], lasting: list[int], contractions: bool) -> list[Item]:
    out: list[Item] = []
    for n in range(len(items)):
        item = items[n]
        p = None if item.work is None else pointwise(item.work)
        if p is None or item.work is None or not joined_before(out, items[n + 1 :], item, p, lasting, contractions):
            out.append(item)
    return out


def joined_before(
    done: list[Item], rest: list[Item], item: Item, p: Pointwise, lasting: list[int], contractions: bool
) -> bool:
    """Whether a map became part of one of the steps before it."""
    i = len(done) - 1
    while i >= 0 and not any(v in item.reads for v in done[i].writes):
        i -= 1
    if i < 0:
        return False
    base = done[i].work
    work = item.work
    if base is None or work is None or not open_to(base, contractions):
        return False
    between = done[i + 1 :]
    unread = [v for v in done[i].writes if v not in lasting and not read_later(v, between + rest)]
    up = not any(disturbs(x, item) for x in between)
    down = not any(disturbs(x, done[i]) for x in between)
    if not up and not down:
        return False
    made = appended(base, work, p, unread)
    if made is None:
        return False
    joined = item_of(done[i].step if up else item.step, made)
    if up:
        done[i] = joined
    else:
        del done[i]
        done.append(joined)
    return True


def read_later(value: int, items: list[Item]) -> bool:
    """Whether steps read a value, or write a part of it."""
    return any(value in x.reads or value in x.writes for x in items)


def disturbs(a: Item, b: Item) -> bool:
    """Whether two steps may not change places."""
    for v in a.writes:
        if v in b.reads or v in b.writes:
            return True
    return any(v in b.writes for v in a.reads)


# --- Maps where they are read ----------------------------------------------------------------------


def before(items: list[Item], lasting: list[int], contractions: bool) -> list[Item]:
    out = items[:]
    i = len(out) - 1
    while i >= 0:
        work = out[i].work
        p = None if work is None else pointwise(work)
        if work is not None and p is not None:
            readers = readers_of(out, i, lasting, p, contractions)
            made: list[Item] = []
            for n in readers:
                base = out[n].work
                new = None if base is None else inserted(base, work, p)
                if new is not None:
                    made.append(item_of(out[n].step, new))
            if len(readers) > 0 and len(made) == len(readers):
                for n in range(len(readers)):
                    out[readers[n]] = made[n]
                del out[i]
        i -= 1
    return out


def readers_of(items: list[Item], i: int, lasting: list[int], p: Pointwise, contractions: bool) -> list[int]:
    """The steps that read what a map stores; none where it must be stored."""
    mine = items[i]
    if any(v in lasting or v in mine.reads for v in mine.writes):
        return []
    for n in range(len(items)):
        if n != i and any(v in items[n].writes for v in mine.writes):
            return []
    out: list[int] = []
    for n in range(len(items)):
        if any(v in items[n].reads for v in mine.writes):
            out.append(n)
    if len(out) == 0 or out[0] < i or len(out) > (1 if p.costly else MOST_READERS):
        return []
    for n in out:
        work = items[n].work
        if work is None or not open_to(work, contractions) or not worth(work, mine, p):
            return []
    for n in range(i + 1, out[len(out) - 1] + 1):
        if any(v in mine.reads for v in items[n].writes):
            return []
    return out


def worth(work: Work, item: Item, p: Pointwise) -> bool:
    """Whether what a map computes may be computed at every read of a step's kernels."""
    if not p.costly:
        return True
    for kernel in work.kernels:
        if not any(work.values[a.slot] in item.writes for a in kernel.accesses):
            continue
        again = reads_at(kernel, work) // points(p.lines)
        if again > (TILE if kernel.shape == "contract" else 1):
            return False
    return True


def reads_at(kernel: Kernel, work: Work) -> int:
    r = resolve(kernel, work.call)
    return points(r.outer) * points(r.reduce)


# --- Rows where products read them --------------------------------------------------------------------


def rows_inside(items: list[Item], lasting: list[int]) -> list[Item]:
    """Rows (norms, softmax) that only one product of few rows reads become part of it."""
    out = items[:]
    i = len(out) - 1
    while i >= 0:
        mine = out[i]
        rows = None if mine.work is None else rows_of(mine.work)
        reader = -1 if rows is None else only_reader(out, i, lasting)
        if mine.work is not None and rows is not None and reader >= 0:
            base = out[reader].work
            made = None if base is None else row_inserted(base, mine.work, rows)
            if made is not None:
                out[reader] = item_of(out[reader].step, made)
                del out[i]
        i -= 1
    return out


def only_reader(items: list[Item], i: int, lasting: list[int]) -> int:
    """The one step that reads what a step stores, where it may as well run; -1 for none."""
    mine = items[i]
    found = -1
    for n in range(len(items)):
        if n == i or not any(v in items[n].reads or v in items[n].writes for v in mine.writes):
            continue
        if found >= 0 or n < i or any(v in items[n].writes for v in mine.writes):
            return -1
        found = n
    if any(v in lasting or v in mine.reads for v in mine.writes):
        return -1
    for n in range(i + 1, found):
        if any(v in mine.reads for v in items[n].writes):
            return -1
    return found


# --- Maps side by side -----------------------------------------------------------------------------


def abreast(items: list[Item]) -> list[Item]:
    """Maps over as many points that have nothing to do with each other, as one."""
    out: list[Item] = []
    for item in items:
        p = None if item.work is None else pointwise(item.work)
        if p is None or item.work is None or not joined_beside(out, item, p):
            out.append(item)
    return out


def joined_beside(done: list[Item], item: Item, p: Pointwise) -> bool:
    i = len(done) - 1
    while i >= 0 and i >= len(done) - NEAR:
        base = done[i].work
        if disturbs(done[i], item) or any(v in done[i].writes for v in item.reads):
            return False
        q = None if base is None else pointwise(base)
        if base is not None and q is not None and item.work is not None:
            made = beside(base, q, item.work, p)
            if made is not None:
                done[i] = item_of(done[i].step, made)
                return True
        i -= 1
    return False
