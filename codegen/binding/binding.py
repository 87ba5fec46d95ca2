"""Arguments against a signature: everything about a call that shapes, types and options decide.

`bind_with` runs when a call is made with types, shapes or options not seen before; its answer is kept.  Here is what
every op needs: tensors, their types, patterns and broadcasting, options that are numbers.  The rest is in parts
(parts.py)."""

from __future__ import annotations

from ..data.dtypes import DTYPES, FLOAT_CATEGORY, INT_CATEGORY, accepts, category, fitting, promoted_type, result_type
from ..data.errors import OpError, decimal, warned
from ..data.model import Axis, Bound, Call, Env, Meta, Op, Param, Slot
from .parts import Arg, Parts, entry, number
from .pattern import (
    bind_ranks,
    bind_sizes,
    contiguous_strides,
    fresh,
    has_kind,
    logical,
    numel,
    physical,
    shape_of,
    shape_text,
    stretched,
)

MOST_ELEMENTS = 2147483647
MOST_AXES = 64


def bind_with(op: Op, args: list[Arg], parts: Parts | None) -> Call:
    """args: one for each of op.params, None where the caller gave nothing.  parts: None for an op that needs none.

    Raises OpError, in PyTorch's words where it has some, for anything that does not fit."""
    env: Env = {}
    packs: dict[str, list[int]] = {}
    ranks: dict[str, int] = {}
    asked = "" if parts is None else parts.asked(op, args)
    metas: list[Meta | None] = tensors(op, args, env, asked)
    options(op, args, env, ranks, parts)
    dtype = promotion(op, args, metas, env, asked)
    types(op, metas, dtype, env)
    env["floating"] = 1 if category(dtype) == FLOAT_CATEGORY else 0
    if parts is not None:
        parts.chosen(op, metas, env, ranks)
    waiting = True
    for _turn in range(3):
        if not waiting:
            break
        waiting = False
        for i, slot in enumerate(op.slots):
            meta: Meta | None = metas[i]
            if meta is None or has_kind(slot.dims, "domain"):
                continue
            if not bind_ranks(op, slot, len(physical(slot, meta)[0]), ranks):
                waiting = True
    if waiting:
        raise OpError(f"{op.name}: the ranks of its arguments do not say which axes are which")
    for i, slot in enumerate(op.slots):
        meta = metas[i]
        if meta is not None and not has_kind(slot.dims, "domain"):
            bind_sizes(op, slot, metas, physical(slot, meta)[0], env, ranks, packs, parts)
    if parts is not None:
        parts.lists(op, args, env, packs)
    kept, dropped = domain(op, metas, args, env, packs, parts)
    for name in packs:
        env["count_" + name] = numel(packs[name])
        env["rank_" + name] = len(packs[name])
        for other in packs:
            env["fits_" + name + "_" + other] = fits(packs[name], packs[other])
    late_defaults(op, args, env)
    for size in op.sizes:
        env[size.name] = size.value(env)
    for r in op.requires:
        if r.holds(env) == 0:
            said = filled(r.message, [v(env) for v in r.values])
            if not warned(said):
                raise OpError(op.name + ": " + said)
    call = Call(env, packs, dtype, [], kept, dropped)
    bind_slots(op, call, metas, parts)
    return call


def fits(a: list[int], b: list[int]) -> int:
    """Whether every axis of a pack is at most as long as that of another."""
    if len(a) != len(b):
        return 0
    for i in range(len(a)):
        if a[i] > b[i]:
            return 0
    return 1


# --- Arguments -------------------------------------------------------------------------------------


def tensors(op: Op, args: list[Arg], env: Env, asked: str) -> list[Meta | None]:
    """For each slot the tensor given for it."""
    metas: list[Meta | None] = [None for s in op.slots]
    for i, p in enumerate(op.params):
        if p.slot < 0:
            continue
        arg = args[i]
        if isinstance(arg, Meta):
            if not arg.weak and asked == "" and not accepts(p.cls, arg.dtype) and not promotes(op, p.slot):
                raise OpError(f"{op.name}: '{p.name}' must be {words_for(p.cls)}, but is {arg.dtype}")
            if len(arg.shape) > MOST_AXES:
                raise OpError(
                    f"{op.name}: only tensors with up to {MOST_AXES} dims are supported, but '{p.name}' has "
                    f"{len(arg.shape)}"
                )
            metas[p.slot] = arg
            env["rank_" + p.name] = len(arg.shape)
            env["number_" + p.name] = 1 if arg.weak else 0
            env["size_" + p.name + "_0"] = [*arg.shape, 1][0]
            env["size_" + p.name + "_last"] = [1, *arg.shape][len(arg.shape)]
        elif arg is not None:
            raise OpError(f"{op.name}: '{p.name}' must be a tensor")
        elif not p.optional:
            raise OpError(f"{op.name}: missing argument '{p.name}'")
        if p.optional:
            env["has_" + p.name] = 0 if arg is None else 1
    if not op.numbers:
        some_tensor(op, metas)
    if len(op.requires) > 0:
        compared(op, metas, env)
    return metas


def compared(op: Op, metas: list[Meta | None], env: Env) -> None:
    """Which tensors have the same shape, one that is absent has any; and along how many axes one is stretched."""
    for p in op.params:
        for q in op.params:
            a: Meta | None = metas[p.slot] if p.slot >= 0 else None
            b: Meta | None = metas[q.slot] if q.slot >= 0 else None
            pair = p.name + "_" + q.name
            n = ones_for_more(a.shape, b.shape) if a is not None and b is not None else 0
            env["stretched_" + pair] = n
            env["same_" + pair] = 1 if n == 0 and (a is None or b is None or len(a.shape) == len(b.shape)) else 0


def ones_for_more(a: list[int], b: list[int]) -> int:
    """How many axes of `a`, counted from the first, have length 1 where those of `b` have another; -1 where they differ
    otherwise, or `b` has fewer."""
    n = 0
    for i in range(len(a)):
        if i >= len(b) or (a[i] != b[i] and a[i] != 1):
            return -1
        n += 0 if a[i] == b[i] else 1
    return n


def some_tensor(op: Op, metas: list[Meta | None]) -> None:
    """Refuses a call with numbers for all tensors that are given, where numbers may stand for some."""
    kinds: list[str] = []
    for p in op.params:
        meta: Meta | None = metas[p.slot] if p.slot >= 0 else None
        if meta is None:
            continue
        if not meta.weak or p.instead != "num":
            return
        kinds.append("float" if category(meta.dtype) == FLOAT_CATEGORY else "bool" if meta.dtype == "bool" else "int")
    if len(kinds) > 0:
        raise OpError(
            f"{op.name}: {op.name}() received an invalid combination of arguments - got ({', '.join(kinds)}), but "
            "expected at least one Tensor"
        )


def promotes(op: Op, slot: int) -> bool:
    """Whether a tensor is turned into the common type of several that broadcast: then that one must be of its class."""
    return len(op.promoted) > 1 and slot in op.promoted and has_kind(op.slots[slot].dims, "domain")


def words_for(cls: str) -> str:
    if cls == "Float":
        return "a floating point tensor"
    if cls == "Int":
        return "an integer tensor (torch.long)"
    if cls == "Bits":
        return "an integer or bool tensor"
    return "a bool tensor"


def left_out(p: Param, arg: Arg) -> bool:
    """Whether an empty list stands for the default of a list of numbers."""
    given: list[float | None] = arg if isinstance(arg, list) else [0]
    return p.rank > 0 and p.has_default and len(given) == 0


def options(op: Op, args: list[Arg], env: Env, ranks: dict[str, int], parts: Parts | None) -> None:
    """Options that are given, and defaults that do not depend on tensors."""
    for i, p in enumerate(op.params):
        if p.slot >= 0:
            continue
        plain = p.kind == "num" or p.kind == "real"
        arg: Arg = None if left_out(p, args[i]) else args[i]
        if p.optional:
            env["has_" + p.name] = 0 if arg is None else 1
        if arg is not None:
            if not plain and parts is not None:
                parts.option(op, p, arg, env, ranks)
            elif isinstance(arg, str) or isinstance(arg, list) or isinstance(arg, Meta):
                raise OpError(f"{op.name}: '{p.name}' must be a number")
            else:
                env[entry(p.name)] = number(arg)
        elif p.has_default:
            if not plain and parts is not None:
                parts.default(op, p, env)
        elif p.optional:
            env[entry(p.name)] = 0
        else:
            raise OpError(f"{op.name}: missing argument '{p.name}'")


def late_defaults(op: Op, args: list[Arg], env: Env) -> None:
    """Defaults of numbers, which may be computed from sizes."""
    for i, p in enumerate(op.params):
        if p.slot < 0 and args[i] is None and p.default is not None and (p.kind == "num" or p.kind == "real"):
            env[entry(p.name)] = p.default(env)


def filled(message: str, values: list[float]) -> str:
    """The message with {0}, {1} replaced, and {type 0} by the type of that number."""
    for i, v in enumerate(values):
        name = "{type " + str(i) + "}"
        message = (
            message.replace(name, DTYPES[int(v)])
            if name in message
            else message.replace("{" + str(i) + "}", decimal(v))
        )
    return message


# --- Types -----------------------------------------------------------------------------------------


def promotion(op: Op, args: list[Arg], metas: list[Meta | None], env: Env, asked: str) -> str:
    """T of the call.  Numbers that it cannot hold are cut in env."""
    given: list[Meta] = []
    for i in op.promoted:
        meta: Meta | None = metas[i]
        if meta is not None:
            given.append(meta)
    dtype = asked
    if dtype == "":
        common = result_type(given)
        for p in op.params:
            if (
                common != ""
                and p.slot >= 0
                and metas[p.slot] is not None
                and promotes(op, p.slot)
                and not accepts(p.cls, common)
            ):
                q = to_blame(op, p, metas)
                raise OpError(f"{op.name}: not implemented for '{common}': '{q.name}' must be {words_for(q.cls)}")
        dtype = promoted_type(op.promote, given)
    pointwise = has_kind(op.slots[op.outputs[0]].dims, "domain") if len(op.outputs) > 0 else False
    for i, p in enumerate(op.params):
        arg = args[i]
        if pointwise and p.kind == "num" and p.name == "alpha" and dtype != "bool" and isinstance(arg, bool):
            raise OpError(f"{op.name}: Boolean alpha only supported for Boolean results.")
        if category(dtype) <= INT_CATEGORY and p.kind == "num" and isinstance(arg, (int, float)):
            # As PyTorch: a number beside whole ones is cut, except the factor of a sum or a difference.
            v = fitting(op.name, dtype, number(arg))
            if dtype == "bool" and v != 0:
                env[entry(p.name)] = 1
            if v == int(v):
                continue
            if p.name == "alpha" and pointwise:
                raise OpError(
                    f"{op.name}: For integral input tensors, argument {p.name} must not be a floating point number."
                )
            if dtype != "bool":
                env[entry(p.name)] = int(v)
    return dtype


def to_blame(op: Op, p: Param, metas: list[Meta | None]) -> Param:
    """The argument because of which the common type of all is none that `p` takes: the first one with such a type."""
    for q in op.params:
        meta: Meta | None = metas[q.slot] if q.slot >= 0 else None
        if meta is not None and not accepts(p.cls, meta.dtype):
            return q
    return p


def types(op: Op, metas: list[Meta | None], dtype: str, env: Env) -> None:
    """The numbers in DTYPES of the arguments' types; that of a plain number, or of a dtype not asked for, is T."""
    for p in op.params:
        meta: Meta | None = metas[p.slot] if p.slot >= 0 else None
        if meta is not None:
            env["type_" + p.name] = DTYPES.index(dtype if meta.weak else meta.dtype)
        elif p.kind == "dtype" or p.slot >= 0:
            env["type_" + p.name] = DTYPES.index(dtype)


# --- Axes ------------------------------------------------------------------------------------------


def domain(
    op: Op, metas: list[Meta | None], args: list[Arg], env: Env, packs: dict[str, list[int]], parts: Parts | None
) -> tuple[list[int], list[int]]:
    """The axes of whole tensors together, and the places of those that a `dim` option keeps and drops."""
    shape: list[int] = []
    found = False
    name = ""
    for i, slot in enumerate(op.slots):
        if not has_kind(slot.dims, "domain"):
            continue
        name = slot.dims[0].option
        meta: Meta | None = metas[i]
        if meta is not None:
            found = True
            shape = stretched(op, shape, meta.shape)
    if not found:
        return [], []
    packs["I"] = shape
    if name == "" or parts is None:
        return [], []
    kept, dropped = parts.marked(op, args, env, name, shape)
    packs["kept"] = [shape[i] for i in kept]
    packs["dropped"] = [shape[i] for i in dropped]
    return kept, dropped


# --- Slots -----------------------------------------------------------------------------------------


def bind_slots(op: Op, call: Call, metas: list[Meta | None], parts: Parts | None) -> None:
    """Where every tensor's elements are that the call lacks so far: those given, and fresh ones for the rest.  Gradient
    programs that are derived after the call was bound add slots."""
    env = call.env
    packs = call.packs
    kept = call.kept
    dropped = call.dropped
    out = call.slots
    keepdim = op.keepdim != "" and env[op.keepdim] != 0
    for i in range(len(out), len(op.slots)):
        slot = op.slots[i]
        own = call.dtype if slot.dtype == "T" else slot.dtype
        if slot.role == "temp" and (own == "float16" or own == "bfloat16"):
            own = "float32"  # a sum of halves is often no half: the largest is 65,504
        meta: Meta | None = metas[i] if i < len(metas) else None
        if meta is not None:
            shape, strides = physical(slot, meta)
            out.append(
                Bound(
                    meta.dtype,
                    meta.shape,
                    meta.strides,
                    meta.offset,
                    logical(slot, shape, strides, env, packs, kept, dropped, parts),
                    True,
                )
            )
        elif slot.role == "input":
            out.append(Bound(own, [], [], 0, [], False))
        elif slot.role == "cotangent" or slot.role == "gradient":
            model = out[slot.like]
            theirs = op.slots[slot.like]
            if theirs.role == "input" and not model.given:
                out.append(Bound(own, [], [], 0, [], False))
                continue
            dtype = model.dtype if theirs.role == "output" and theirs.like >= 0 else call.dtype if own == "own" else own
            out.append(alike(slot, model, dtype, env, packs, kept, dropped, parts))
        else:
            own = out[slot.like].dtype if slot.like >= 0 else own
            shape = shape_of(op, slot, env, packs, kept, keepdim and slot.role == "output", parts)
            if numel(shape) > MOST_ELEMENTS:
                raise OpError(f"{op.name}: a tensor of shape {shape_text(shape)} has too many elements")
            axes = logical(slot, shape, contiguous_strides(shape), env, packs, kept, dropped, parts)
            if slot.role == "output" and parts is not None:
                shape = parts.without(op, slot, metas, shape, env, packs)
            out.append(fresh(own, shape, axes))


def alike(
    slot: Slot,
    model: Bound,
    dtype: str,
    env: Env,
    packs: dict[str, list[int]],
    kept: list[int],
    dropped: list[int],
    parts: Parts | None,
) -> Bound:
    """A fresh tensor of another's shape: a gradient, a cotangent."""
    shape = model.shape
    if len(shape) == 0 and len(model.axes) > 0 and not has_kind(slot.dims, "domain"):
        axes: list[Axis] = [Axis(a.sizes, [0 for n in a.sizes]) for a in model.axes]
        return fresh(dtype, shape, axes)
    return fresh(dtype, shape, logical(slot, shape, contiguous_strides(shape), env, packs, kept, dropped, parts))
