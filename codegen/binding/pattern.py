"""Shape patterns against shapes: ranks of packs, sizes, broadcasting; and back, from patterns to shapes.

A tensor without axes where a pattern names an axis by an option counts as one axis of length 1."""

from __future__ import annotations

from ..data.errors import OpError, decimal
from ..data.model import Axis, Bound, Dim, Env, Meta, Op, Slot
from .parts import Parts


def shape_text(shape: list[int]) -> str:
    """[2, 3], as PyTorch writes it."""
    return "[" + ", ".join([str(n) for n in shape]) + "]"


def has_kind(dims: list[Dim], kind: str) -> bool:
    for d in dims:
        if d.kind == kind:
            return True
    return False


def present(d: Dim, env: Env) -> bool:
    """Whether an axis that only some options give exists here."""
    return d.when is None or d.when(env) != 0


def physical(slot: Slot, meta: Meta) -> tuple[list[int], list[int]]:
    """(shape, strides) to match: a tensor without axes counts as one element along a chosen axis."""
    if len(meta.shape) == 0 and has_kind(slot.dims, "chosen"):
        return [1], [1]
    return meta.shape, meta.strides


# --- Ranks -----------------------------------------------------------------------------------------


def bind_ranks(op: Op, slot: Slot, rank: int, ranks: dict[str, int]) -> bool:
    """Finds the ranks of the packs of one tensor; False if another tensor must come first."""
    unknown: list[str] = []
    known = 0
    for d in slot.dims:
        if d.kind != "pack":
            known += 1
        elif d.name in ranks and not d.broadcast:
            known += ranks[d.name]
        else:
            unknown.append(d.name)
    if len(unknown) > 1:
        return False
    if len(unknown) == 0:
        if rank != known:
            raise OpError(
                f"{op.name}: '{slot.name}' must have {known} dimensions ({pattern_text(slot)}), but got {rank}"
            )
        return True
    n = rank - known
    if n < 0:
        raise OpError(
            f"{op.name}: '{slot.name}' must have at least {known} dimensions ({pattern_text(slot)}), but got {rank}"
        )
    name = unknown[0]
    ranks[name] = max(ranks.get(name, 0), n)
    return True


def pattern_text(slot: Slot) -> str:
    """[*B, M, K]"""
    parts: list[str] = []
    for d in slot.dims:
        if d.kind == "pack":
            parts.append("*" + d.name)
        elif len(d.factors) > 0:
            parts.append("(" + " ".join(d.factors) + ")")
        elif d.name != "":
            parts.append(d.name)
        else:
            parts.append("_")
    return "[" + ", ".join(parts) + "]"


# --- Sizes -----------------------------------------------------------------------------------------


def bind_sizes(
    op: Op,
    slot: Slot,
    metas: list[Meta | None],
    shape: list[int],
    env: Env,
    ranks: dict[str, int],
    packs: dict[str, list[int]],
    parts: Parts | None,
) -> None:
    """Binds the sizes and packs that a tensor's shape says, and checks those that are known."""
    at, last = 0, ""
    for d in slot.dims:
        if d.kind == "pack":
            rank = ranks[d.name]
            if d.broadcast:
                rank = len(shape) - (len(slot.dims) - 1)
            own = shape[at : at + rank]
            at += rank
            if d.name in packs:
                packs[d.name] = (
                    stretched(op, packs[d.name], own) if d.broadcast else same_pack(op, slot, packs[d.name], own)
                )
            else:
                packs[d.name] = own
        else:
            n = shape[at]
            if len(d.factors) > 0 and parts is not None:
                parts.factors(op, slot, d, n, at, env)
            elif d.size is not None:
                want = d.size(env)
                if want == want and want != n:
                    raise OpError(
                        f"{op.name}: '{slot.name}' must have size {decimal(want)} along dimension {at}, but has {n} "
                        f"({shape_text(shape)})"
                    )
            elif d.name in env:
                if env[d.name] != n:
                    if last == d.name:
                        raise OpError(
                            f"{op.name}: {slot.name} must be batches of square matrices, but they are {shape[at - 1]} "
                            f"by {n} matrices"
                        )
                    raise OpError(mismatch(op, slot, metas, shape, env[d.name], n, at))
            else:
                env[d.name] = n
            at += 1
        last = d.name


def mismatch(op: Op, slot: Slot, metas: list[Meta | None], shape: list[int], want: float, got: int, at: int) -> str:
    """mm: mat1 and mat2 shapes cannot be multiplied (3x4 and 5x2): 'mat2' should have size 4 along dimension 0, but
    has 5"""
    shapes = " and ".join(["x".join([str(n) for n in m.shape]) for m in metas if m is not None])
    product = product_of(op, slot, metas, shape, at)
    said = f"'{slot.name}' should have size {decimal(want)} along dimension {at}, but has {got}"
    if product != "":
        return f"{op.name}: {product}: {said}"
    return f"{op.name}: {said}: these shapes do not go together ({shapes})"


def product_of(op: Op, slot: Slot, metas: list[Meta | None], right: list[int], at: int) -> str:
    """What PyTorch says of matrices that cannot be multiplied; "" where no axis of theirs is summed over."""
    names = [d.name for d in slot.dims]
    row = len(names) - 2
    if op.promote != "default" or row < 0 or len(right) > 3:
        return ""
    for i, other in enumerate(op.slots):
        left: Meta | None = metas[i]
        if left is None or len(left.shape) == 0:
            continue
        theirs = [d.name for d in other.dims]
        summed = theirs[len(theirs) - 1]
        turned = names[row] != summed
        kept = names[row] if turned else names[row + 1]
        if (
            (turned and names[row + 1] != summed)
            or kept in theirs
            or in_results(op, summed)
            or not in_results(op, kept)
        ):
            continue
        last = len(left.shape) - 1
        if len(right) == 2 and at == (1 if turned else 0):
            rows = 1
            for n in left.shape[:last]:
                rows *= n
            return (
                f"mat1 and mat2 shapes cannot be multiplied ({rows}x{left.shape[last]} and {right[at]}x{right[1 - at]})"
            )
        if len(right) == 3 and last == 2 and not turned:
            return (
                f"Expected size for first two dimensions of batch2 tensor to be: [{left.shape[0]}, {left.shape[2]}] "
                f"but got: [{right[0]}, {right[1]}]"
            )
    return ""


def in_results(op: Op, name: str) -> bool:
    for at in op.outputs:
        for d in op.slots[at].dims:
            if d.name == name:
                return True
    return False


def stretched(op: Op, a: list[int], b: list[int]) -> list[int]:
    """The shape that two broadcast to."""
    rank = max(len(a), len(b))
    out: list[int] = []
    for i in range(rank):
        x = a[len(a) - rank + i] if len(a) - rank + i >= 0 else 1
        y = b[len(b) - rank + i] if len(b) - rank + i >= 0 else 1
        if x != y and x != 1 and y != 1:
            raise OpError(
                f"{op.name}: The size of tensor a ({x}) must match the size of tensor b ({y}) at non-singleton "
                f"dimension {i}"
            )
        out.append(y if x == 1 else x)
    return out


def same_pack(op: Op, slot: Slot, want: list[int], got: list[int]) -> list[int]:
    same = len(want) == len(got)
    if same:
        for i in range(len(want)):
            if want[i] != got[i]:
                same = False
    if not same:
        raise OpError(f"{op.name}: '{slot.name}' should have {shape_text(want)} where it has {shape_text(got)}")
    return want


# --- Logical axes ----------------------------------------------------------------------------------


def aligned(sizes: list[int], strides: list[int], full: list[int]) -> Axis:
    """The strides of axes stretched to `full`: 0 where an axis is missing or has length 1."""
    out: list[int] = []
    shift = len(sizes) - len(full)
    for i in range(len(full)):
        j = i + shift
        out.append(0 if j < 0 or (sizes[j] == 1 and full[i] != 1) else strides[j])
    return Axis(full, out)


def logical(
    slot: Slot,
    shape: list[int],
    strides: list[int],
    env: Env,
    packs: dict[str, list[int]],
    kept: list[int],
    dropped: list[int],
    parts: Parts | None,
) -> list[Axis]:
    """What each index of an access to this tensor stands for.  kept, dropped: places of the domain's axes."""
    out: list[Axis] = []
    at = 0
    for d in slot.dims:
        if not present(d, env):
            out.append(Axis([], []) if d.kind == "pack" or d.kind == "domain" else Axis([1], [0]))
        elif d.kind == "domain":
            full = packs["I"]
            if d.option == "":
                out.append(aligned(shape, strides, full))
            elif d.part == "all":
                whole = aligned(shape, strides, full)
                out.append(Axis([full[i] for i in kept], [whole.strides[i] for i in kept]))
                out.append(Axis([full[i] for i in dropped], [whole.strides[i] for i in dropped]))
            elif len(shape) == len(full):
                out.append(Axis([full[i] for i in kept], [strides[i] for i in kept]))
            else:
                out.append(Axis([full[i] for i in kept], strides))
        elif d.kind == "pack":
            full = packs[d.name]
            rank = len(full)
            if d.broadcast:
                rank = len(shape) - (len(slot.dims) - 1)
            out.append(aligned(shape[at : at + rank], strides[at : at + rank], full))
            at += rank
        elif len(d.factors) > 0 and parts is not None:
            out.extend(parts.pieces(d, strides[at], env))
            at += 1
        else:
            out.append(Axis([shape[at]], [strides[at]]))
            at += 1
    return out


def shape_of(
    op: Op, slot: Slot, env: Env, packs: dict[str, list[int]], kept: list[int], keepdim: bool, parts: Parts | None
) -> list[int]:
    """The shape of a fresh tensor.  keepdim: a result keeps its dropped axes with length 1."""
    out: list[int] = []
    for d in slot.dims:
        if not present(d, env):
            continue
        if d.kind == "domain":
            full = packs["I"]
            if d.option == "" or d.part == "all":
                out.extend(full)
            elif keepdim:
                out.extend([full[i] if i in kept else 1 for i in range(len(full))])
            else:
                out.extend([full[i] for i in kept])
        elif d.kind == "pack":
            out.extend(packs[d.name])
        elif len(d.factors) > 0 and parts is not None:
            out.append(parts.length(d, env))
        else:
            size = d.size(env) if d.size is not None else env[d.name]
            if not size >= 0:
                raise OpError(
                    f"{op.name}: the result would have a negative size: {shape_text(out)} and then {decimal(size)}"
                )
            out.append(int(size))
    return out


def contiguous_strides(shape: list[int]) -> list[int]:
    """Row-major strides."""
    out: list[int] = []
    n = 1
    for size in reversed(shape):
        out.insert(0, n)
        n *= max(size, 1)
    return out


def numel(shape: list[int]) -> int:
    n = 1
    for size in shape:
        n *= size
    return n


def fresh(dtype: str, shape: list[int], axes: list[Axis]) -> Bound:
    """A tensor to be allocated."""
    return Bound(dtype, shape, contiguous_strides(shape), 0, axes, True, True)
