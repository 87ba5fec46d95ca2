"""Arguments against a signature: everything about a call that shapes, types and options decide.

`bind` runs when a call is made with types, shapes or options not seen before; its answer is kept."""

from __future__ import annotations

from .dtypes import DTYPES, FLOAT_CATEGORY, INT_CATEGORY, accepts, category, named_dtype, promoted_type, result_type
from .errors import OpError, decimal
from .model import Axis, Bound, Call, Env, Meta, Op, Param, Slot
from .pattern import (bind_ranks, bind_sizes, contiguous_strides, fresh, has_kind, logical, numel, physical, present,
                      shape_of, shape_text, stretched)

Arg = Meta | list[float] | float | bool | str | None

MOST_ELEMENTS = 2147483647
MOST_AXES = 64
MISSING = -2147483648           # a number of an optional list that is left out


def bind(op: Op, args: list[Arg]) -> Call:
    """args: one for each of op.params, None where the caller gave nothing.

    Raises OpError, in PyTorch's words where it has some, for anything that does not fit."""
    env: Env = {}
    packs: dict[str, list[int]] = {}
    ranks: dict[str, int] = {}
    metas: list[Meta | None] = tensors(op, args, env)
    options(op, args, env, ranks)
    dtype = promotion(op, args, metas, env)
    types(op, metas, dtype, env)
    choose_axes(op, metas, args, env)
    for i, slot in enumerate(op.slots):
        meta: Meta | None = metas[i]
        if meta is not None and has_kind(slot.dims, "chosen"): bind_ranks(op, slot, len(physical(slot, meta)[0]), env, ranks, chosen_axis(slot, env))
    waiting = True
    for turn in range(3):
        if not waiting: break
        waiting = False
        for i, slot in enumerate(op.slots):
            meta = metas[i]
            if meta is None or has_kind(slot.dims, "domain") or has_kind(slot.dims, "chosen"): continue
            if not bind_ranks(op, slot, len(meta.shape), env, ranks, -1): waiting = True
    if waiting: raise OpError(f"{op.name}: the ranks of its arguments do not say which axes are which")
    for i, slot in enumerate(op.slots):
        meta = metas[i]
        if meta is not None and not has_kind(slot.dims, "domain"): bind_sizes(op, slot, metas, physical(slot, meta)[0], env, ranks, packs)
    listed_sizes(op, args, env, packs)
    kept, dropped = domain(op, metas, args, env, packs)
    for name in packs:
        env["count_" + name] = numel(packs[name])
        env["rank_" + name] = len(packs[name])
        for other in packs: env["fits_" + name + "_" + other] = fits(packs[name], packs[other])
    late_defaults(op, args, env)
    for size in op.sizes: env[size.name] = size.value(env)
    for r in op.requires:
        if r.holds(env) == 0: raise OpError(op.name + ": " + filled(r.message, [v(env) for v in r.values]))
    return Call(env, packs, dtype, slots(op, metas, dtype, env, packs, kept, dropped))


def listed_sizes(op: Op, args: list[Arg], env: Env, packs: dict[str, list[int]]):
    """A list with the rank of a pack that tensors have says that pack's sizes: normalized_shape."""
    for i, p in enumerate(op.params):
        if p.kind != "ints" or p.rank >= 0 or p.pack not in packs or args[i] is None: continue
        want: list[int] = [int(env[f"{entry(p.name)}{j}"]) for j in range(len(packs[p.pack]))]
        if shape_text(want) != shape_text(packs[p.pack]):
            raise OpError(f"{op.name}: Given {p.name}={shape_text(want)}, expected input with shape [*, {shape_text(want)[1:]}, but got {shape_text(packs[p.pack])} for these dimensions")


def fits(a: list[int], b: list[int]) -> int:
    """Whether every axis of a pack is at most as long as that of another."""
    if len(a) != len(b): return 0
    for i in range(len(a)):
        if a[i] > b[i]: return 0
    return 1


# --- Arguments -------------------------------------------------------------------------------------

def tensors(op: Op, args: list[Arg], env: Env) -> list[Meta | None]:
    """For each slot the tensor given for it."""
    metas: list[Meta | None] = [None for s in op.slots]
    asked = asked_dtype(op, args)
    for i, p in enumerate(op.params):
        if p.slot < 0: continue
        arg = args[i]
        if isinstance(arg, Meta):
            if not arg.weak and asked == "" and not accepts(p.cls, arg.dtype) and not promotes(op, p.slot):
                raise OpError(f"{op.name}: '{p.name}' must be {words_for(p.cls)}, but is {arg.dtype}")
            if len(arg.shape) > MOST_AXES: raise OpError(f"{op.name}: only tensors with up to {MOST_AXES} dims are supported, but '{p.name}' has {len(arg.shape)}")
            metas[p.slot] = arg
            env["rank_" + p.name] = len(arg.shape)
            if len(arg.shape) > 0: env["size_" + p.name + "_0"] = arg.shape[0]
        elif arg is not None: raise OpError(f"{op.name}: '{p.name}' must be a tensor")
        elif not p.optional: raise OpError(f"{op.name}: missing argument '{p.name}'")
        if p.optional: env["has_" + p.name] = 0 if arg is None else 1
    if not op.numbers: some_tensor(op, metas)
    return metas


def some_tensor(op: Op, metas: list[Meta | None]):
    """Refuses a call with numbers for all tensors that are given, where numbers may stand for some."""
    kinds: list[str] = []
    for p in op.params:
        meta: Meta | None = metas[p.slot] if p.slot >= 0 else None
        if meta is None: continue
        if not meta.weak or p.instead != "num": return
        kinds.append("float" if category(meta.dtype) == FLOAT_CATEGORY else "bool" if meta.dtype == "bool" else "int")
    if len(kinds) > 0: raise OpError(f"{op.name}: {op.name}() received an invalid combination of arguments - got ({', '.join(kinds)}), but expected at least one Tensor")


def promotes(op: Op, slot: int) -> bool:
    """Whether a tensor is turned into the common type of several that broadcast: then that one must be of its class."""
    return len(op.promoted) > 1 and slot in op.promoted and has_kind(op.slots[slot].dims, "domain")


def words_for(cls: str) -> str:
    if cls == "Float": return "a floating point tensor"
    if cls == "Int": return "an integer tensor"
    if cls == "Bits": return "an integer or bool tensor"
    return "a bool tensor"


def entry(name: str) -> str:
    """The environment's name of an option; inf and nan are constants there."""
    return name + "_" if name == "inf" or name == "nan" else name


def options(op: Op, args: list[Arg], env: Env, ranks: dict[str, int]):
    """Options that are given, and defaults that do not depend on tensors."""
    for i, p in enumerate(op.params):
        if p.slot >= 0: continue
        arg: Arg = None if left_out(p, args[i]) else args[i]
        if p.optional: env["has_" + p.name] = 0 if arg is None else 1
        if arg is not None: option(op, p, arg, env, ranks)
        elif p.has_default:
            if p.default is not None and p.kind != "num" and p.kind != "real": take_default(op, p, env)
        elif p.optional: env[entry(p.name)] = 0
        else: raise OpError(f"{op.name}: missing argument '{p.name}'")


def left_out(p: Param, arg: Arg) -> bool:
    """Whether an empty list stands for the default of a list of numbers."""
    given: list[float] = arg if isinstance(arg, list) else [0]
    return p.rank > 0 and p.has_default and len(given) == 0


def option(op: Op, p: Param, arg: Arg, env: Env, ranks: dict[str, int]):
    name = entry(p.name)
    if p.kind == "ints":
        values = whole_list(op, p, arg)
        if p.rank < 0:
            if p.pack != "": ranks[p.pack] = len(values)
            for j, n in enumerate(values): env[f"{name}{j}"] = n
            return
        if len(values) == 1: values = [values[0] for j in range(p.rank)]
        if len(values) != p.rank: raise OpError(f"{op.name}: '{p.name}' must be a number or {p.rank} numbers, but got {len(values)}")
        for j, n in enumerate(values): env[f"{name}{j}"] = n
    elif p.kind == "choice":
        if isinstance(arg, bool): arg = "true" if arg == True else "false"
        if not isinstance(arg, str): raise OpError(f"{op.name}: '{p.name}' must be one of {', '.join(p.choices)}")
        text: str = arg
        if text not in p.choices: raise OpError(f"{op.name}: '{p.name}' must be one of {', '.join(p.choices)}, but got '{text}'")
        env[name] = p.choices.index(text)
    elif p.kind == "bool":
        if isinstance(arg, str) or isinstance(arg, list) or isinstance(arg, Meta): raise OpError(f"{op.name}: '{p.name}' must be a bool")
        env[name] = 1 if number(arg) != 0 else 0
    elif p.kind != "dims" and p.kind != "dtype":
        if isinstance(arg, str) or isinstance(arg, list) or isinstance(arg, Meta): raise OpError(f"{op.name}: '{p.name}' must be a number")
        v = number(arg)
        if (p.kind == "int" or p.kind == "dim") and v != int(v): raise OpError(f"{op.name}: '{p.name}' must be a whole number, but got {decimal(v)}")
        env[name] = v


def number(arg: Arg) -> float:
    """A number or a bool as a number; 0 for anything else."""
    if isinstance(arg, bool): return 1 if arg == True else 0
    if isinstance(arg, (int, float)): return arg
    return 0


def whole_list(op: Op, p: Param, arg: Arg) -> list[float]:
    """A list of whole numbers, from one or several."""
    if isinstance(arg, str) or isinstance(arg, Meta): raise OpError(f"{op.name}: '{p.name}' must be whole numbers")
    given: list[float | None] = arg if isinstance(arg, list) else [number(arg)]
    values: list[float] = [MISSING if v is None else v for v in given]
    for v in values:
        if v == MISSING and not p.optional: raise OpError(f"{op.name}: '{p.name}' must be whole numbers, but got null")
        if v == MISSING: continue
        if not abs(v) < MOST_ELEMENTS or v != int(v): raise OpError(f"{op.name}: '{p.name}' must be whole numbers, but got {decimal(v)}")
    return values


def take_default(op: Op, p: Param, env: Env):
    """The default of an option; for a list component by component, where another list's name means its component."""
    if p.default is None: return
    if p.kind != "ints":
        env[entry(p.name)] = p.default(env)
        return
    for j in range(p.rank):
        for q in op.params:
            if q.kind == "ints" and f"{q.name}{j}" in env: env[q.name] = env[f"{q.name}{j}"]
        env[f"{p.name}{j}"] = p.default(env)


def late_defaults(op: Op, args: list[Arg], env: Env):
    """Defaults of numbers, which may be computed from sizes."""
    for i, p in enumerate(op.params):
        if p.slot < 0 and args[i] is None and p.default is not None and (p.kind == "num" or p.kind == "real"): env[entry(p.name)] = p.default(env)


def filled(message: str, values: list[float]) -> str:
    """The message with {0}, {1} replaced, and {type 0} by the type of that number."""
    for i, v in enumerate(values):
        name = "{type " + str(i) + "}"
        message = message.replace(name, DTYPES[int(v)]) if name in message else message.replace("{" + str(i) + "}", decimal(v))
    return message


# --- Types -----------------------------------------------------------------------------------------

def promotion(op: Op, args: list[Arg], metas: list[Meta | None], env: Env) -> str:
    """T of the call.  Numbers that it cannot hold are cut in env."""
    given: list[Meta] = []
    for i in op.promoted:
        meta: Meta | None = metas[i]
        if meta is not None: given.append(meta)
    dtype = asked_dtype(op, args)
    if dtype == "":
        common = result_type(given)
        for p in op.params:
            if common != "" and p.slot >= 0 and metas[p.slot] is not None and promotes(op, p.slot) and not accepts(p.cls, common):
                q = to_blame(op, p, metas)
                raise OpError(f"{op.name}: not implemented for '{common}': '{q.name}' must be {words_for(q.cls)}")
        dtype = promoted_type(op.promote, given)
    elif op.promote == "float" and category(dtype) <= INT_CATEGORY: raise OpError(f"{op.name}: could not infer output dtype. Optional dtype must be a floating point dtype. Got: {dtype}")
    if category(dtype) > INT_CATEGORY: return dtype
    for i, p in enumerate(op.params):
        arg = args[i]
        if p.kind == "num" and not isinstance(arg, str) and not isinstance(arg, list) and not isinstance(arg, Meta) and arg is not None:
            # As PyTorch: a number beside whole ones is cut, except the factor of a sum or a difference.
            v = number(arg)
            if v == int(v): continue
            if p.name == "alpha" and has_kind(op.slots[op.outputs[0]].dims, "domain"):
                raise OpError(f"{op.name}: For integral input tensors, argument {p.name} must not be a floating point number.")
            env[entry(p.name)] = 1 if dtype == "bool" else int(v)
    return dtype


def asked_dtype(op: Op, args: list[Arg]) -> str:
    """The type that an option asks for: the arguments are computed as that; "" if none does."""
    for i, p in enumerate(op.params):
        if p.kind != "dtype": continue
        arg = args[i]
        if arg is None: return ""
        if not isinstance(arg, str): raise OpError(f"{op.name}: '{p.name}' must be a dtype")
        return named_dtype(arg)
    return ""


def to_blame(op: Op, p: Param, metas: list[Meta | None]) -> Param:
    """The argument because of which the common type of all is none that `p` takes: the first one with such a type."""
    for q in op.params:
        meta: Meta | None = metas[q.slot] if q.slot >= 0 else None
        if meta is not None and not accepts(p.cls, meta.dtype): return q
    return p


def types(op: Op, metas: list[Meta | None], dtype: str, env: Env):
    """The numbers in DTYPES of the arguments' types; that of a plain number, or of a dtype not asked for, is T."""
    for p in op.params:
        meta: Meta | None = metas[p.slot] if p.slot >= 0 else None
        if meta is not None: env["type_" + p.name] = DTYPES.index(dtype if meta.weak else meta.dtype)
        elif p.kind == "dtype" or p.slot >= 0: env["type_" + p.name] = DTYPES.index(dtype)


# --- Axes ------------------------------------------------------------------------------------------

def normal_dim(op: Op, dim: float, rank: int) -> int:
    """An axis counted from 0."""
    n = max(rank, 1)
    if dim < -n or dim >= n:
        raise OpError(f"{op.name}: Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {decimal(dim)})")
    return int(dim) + n if dim < 0 else int(dim)


def chosen_axis(slot: Slot, env: Env) -> int:
    for d in slot.dims:
        if d.kind == "chosen": return int(env[d.option])
    return -1


def choose_axes(op: Op, metas: list[Meta | None], args: list[Arg], env: Env):
    """Makes every `dim` option that names an axis of a pattern count from 0."""
    done: list[str] = []
    for i, slot in enumerate(op.slots):
        meta: Meta | None = metas[i]
        if meta is None: continue
        for d in slot.dims:
            if d.kind != "chosen": continue
            if d.option in done:
                if len(meta.shape) > 0 and env[d.option] >= len(meta.shape):
                    raise OpError(f"{op.name}: '{slot.name}' has {len(meta.shape)} dimensions, too few for dimension {decimal(env[d.option])}")
                continue
            done.append(d.option)
            for size in op.sizes:
                if size.name == d.option: env[d.option] = size.value(env)
            env[d.option] = normal_dim(op, env[d.option], len(meta.shape))


def domain(op: Op, metas: list[Meta | None], args: list[Arg], env: Env, packs: dict[str, list[int]]) -> tuple[list[int], list[int]]:
    """The axes of whole tensors together, and the places of those that a `dim` option keeps and drops."""
    shape: list[int] = []
    found = False
    name = ""
    for i, slot in enumerate(op.slots):
        if not has_kind(slot.dims, "domain"): continue
        name = slot.dims[0].option
        meta: Meta | None = metas[i]
        if meta is not None:
            found = True
            shape = stretched(op, shape, meta.shape)
    if not found: return [], []
    packs["I"] = shape
    if name == "": return [], []
    if len(shape) > 64: raise OpError(f"{op.name}: only tensors with up to 64 dims are supported")
    marks = [False for n in shape]
    everything = True
    for i, p in enumerate(op.params):
        if entry(p.name) != name: continue
        arg = args[i]
        values: list[float] = []
        if arg is not None: values = whole_list(op, p, arg)
        elif p.default is not None: values = [p.default(env)]
        everything = len(values) == 0
        seen: list[int] = []
        for v in values:
            k = normal_dim(op, v, len(shape))
            if k in seen: raise OpError(f"{op.name}: dim {k} appears multiple times in the list of dims")
            seen.append(k)
            if k < len(shape): marks[k] = True
    kept = [i for i in range(len(shape)) if not everything and not marks[i]]
    dropped = [i for i in range(len(shape)) if everything or marks[i]]
    packs["kept"] = [shape[i] for i in kept]
    packs["dropped"] = [shape[i] for i in dropped]
    return kept, dropped


# --- Slots -----------------------------------------------------------------------------------------

def slots(op: Op, metas: list[Meta | None], dtype: str, env: Env, packs: dict[str, list[int]], kept: list[int],
          dropped: list[int]) -> list[Bound]:
    """Where every tensor's elements are: those given, and fresh ones for the rest."""
    out: list[Bound] = []
    keepdim = op.keepdim != "" and env[op.keepdim] != 0
    for i, slot in enumerate(op.slots):
        own = dtype if slot.dtype == "T" else slot.dtype
        meta: Meta | None = metas[i]
        if meta is not None:
            shape, strides = physical(slot, meta)
            out.append(Bound(meta.dtype, meta.shape, meta.strides, meta.offset,
                             logical(slot, shape, strides, env, packs, kept, dropped), True, False))
        elif slot.role == "input": out.append(Bound(own, [], [], 0, [], False, False))
        elif slot.like >= 0 and op.slots[slot.like].role == "input" and not out[slot.like].given: out.append(Bound(own, [], [], 0, [], False, False))
        elif slot.like >= 0: out.append(alike(slot, out[slot.like], dtype if own == "own" else own, env, packs, kept, dropped))
        else:
            shape = shape_of(op, slot, env, packs, kept, keepdim and slot.role == "output")
            if numel(shape) > MOST_ELEMENTS: raise OpError(f"{op.name}: a tensor of shape {shape_text(shape)} has too many elements")
            axes = logical(slot, shape, contiguous_strides(shape), env, packs, kept, dropped)
            if slot.role == "output" and without_axes(op, slot, metas): shape = without_chosen(slot, shape, env, packs)
            out.append(fresh(own, shape, axes))
    return out


def without_axes(op: Op, result: Slot, metas: list[Meta | None]) -> bool:
    """Whether a tensor that gives a result its other axes has no axes at all where one is chosen: then the result has none, too."""
    if has_kind(result.dims, "domain"): return False
    for i, slot in enumerate(op.slots):
        meta: Meta | None = metas[i]
        if meta is None or len(meta.shape) > 0 or not has_kind(slot.dims, "chosen"): continue
        for d in slot.dims:
            for e in result.dims:
                if d.kind == "pack" and e.kind == "pack" and d.name == e.name: return True
    return False


def without_chosen(slot: Slot, shape: list[int], env: Env, packs: dict[str, list[int]]) -> list[int]:
    """A result's shape without the axis of length 1 that stands for the chosen one, if it has just one axis besides its packs."""
    single: list[int] = []
    at = 0
    for d in slot.dims:
        if not present(d, env): continue
        if d.kind != "pack": single.append(at)
        at += len(packs[d.name]) if d.kind == "pack" else 1
    if len(single) != 1 or shape[single[0]] != 1: return shape
    return shape[:single[0]] + shape[single[0] + 1:]


def alike(slot: Slot, model: Bound, dtype: str, env: Env, packs: dict[str, list[int]], kept: list[int], dropped: list[int]) -> Bound:
    """A fresh tensor of another's shape: a gradient, a cotangent."""
    shape = model.shape
    if len(shape) == 0 and len(model.axes) > 0 and not has_kind(slot.dims, "domain"):
        axes: list[Axis] = [Axis(a.sizes, [0 for n in a.sizes]) for a in model.axes]
        return fresh(dtype, shape, axes)
    return fresh(dtype, shape, logical(slot, shape, contiguous_strides(shape), env, packs, kept, dropped))
