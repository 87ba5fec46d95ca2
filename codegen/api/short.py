"""Op data written short: slots and programs in the notation of notation.py, and of the rest what is neither usual nor
follows.

The usual values are stated here once; `complete_module` prints them for the package.  What follows from the rest is
`derived`, and `whole` in templates/complete.ts.j2."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ..data import model
from .literal import Identifier, literal
from .loop_programs import formula
from .names import camel
from .notation import Writer

# The fields that may be left out, and what they are then.
USUAL: dict[type, dict[str, object]] = {
    model.Schedule: {},
    model.Op: {
        "promote": "default",
        "drop": "",
        "keepdim": "",
        "random": False,
        "schedules": [],
        "numbers": False,
        "routines": [],
        "elementwise": False,
    },
}


def short(
    op: model.Op,
    whole: model.Op | None = None,
    loops: str = "",
    callees: Sequence[str] = (),
    own: Collection[str] = (),
) -> dict:
    """An op's data without what is usual or follows; its slots and programs in the notation.  whole: with the programs
    that the package derives, loops: from which it does (kernels/loop_notation.py), callees: how it names the data of
    the ops whose bodies these run, own: the routines that stand beside it (codegen/api/project.py)."""
    rest = without(op, derived(op))
    if op.sizes:
        rest["sizes"] = " ".join(f"{s.name}={host(s.value)}" for s in op.sizes)
    if op.requires:
        rest["requires"] = [required(r) for r in op.requires]
    writer = Writer(op)
    rest |= {"params": writer.params(), "slots": writer.slots(), "programs": Identifier(f"`{writer.programs()}`")}
    classes = "".join(T for T, there in zip("fi", classes_of(op)) if there)
    optional = {
        "more": Identifier("more_") if more(op) else None,
        "classes": classes if classes != "f" else "",
        "values": " ".join(writer.values),
        "bodies": list(map(Identifier, writer.bodies)),
        "routines": routine_names(op, own),
        "reals": reals(whole or op),
        "loops": Identifier(f"`{loops}`") if loops else "",
        "callees": Identifier(f"() => [{', '.join(callees)}]") if callees else "",
    }
    return rest | {name: v for name, v in optional.items() if v}


def host(f: model.Fn) -> str:
    """A host formula as runtime/program/host-formula.ts reads it."""
    return formula(f.e, {})


def required(r: model.Require) -> list[str]:
    values = [" ".join(map(host, r.values))] if r.values else []
    return [host(r.holds), r.message, *values]


def derived(op: model.Op) -> dict[int, dict[str, object]]:
    """For objects of an op's data (by their `id`) the values of fields that follow from the rest: tensor
    parameters are the first slots, results the next."""
    tensors = sum(p.kind == "tensor" for p in op.params)
    return {
        id(op): {
            "output_names": [op.slots[o].name for o in op.outputs],
            "promoted": list(range(tensors)),
            "outputs": [tensors],
            "params": op.params,
            "slots": op.slots,
            "programs": op.programs,
            "sizes": op.sizes,
            "requires": op.requires,
            "routines": op.routines,
        }
    }


def without(value, follows: dict[int, dict[str, object]]):
    """A dataclass as a dict without the values that are usual or follow."""
    if isinstance(value, list):
        return [without(v, follows) for v in value]
    if type(value) not in USUAL:
        return value
    known = USUAL[type(value)] | follows.get(id(value), {})
    return {k: without(v, follows) for k, v in value.__dict__.items() if k not in known or v != known[k]}


def routine_names(op: model.Op, own: Collection[str]) -> list[Identifier]:
    """An op's routines as they stand in ops/data/routines.ts, or beside it."""
    return [Identifier(own_name(f.name) if f.name in own else f"routines_.{camel(f.name)}") for f in op.routines]


def own_name(name: str) -> str:
    """What a routine or a body is called in a project's module: as no op is."""
    return f"{camel(name)}_"


def classes_of(op: model.Op) -> tuple[bool, bool]:
    """Whether T may be a floating type, and whether a whole-number one."""
    kernels = [n for p in op.programs[:1] for n in p.kernels]
    return all(n.floating is not None for n in kernels), any(n.integral is not None for n in kernels)


def more(op: model.Op) -> bool:
    """Whether a parameter or dim has what runtime/program/notation-parts.ts reads."""
    return any(p.flat or p.choices or p.rank >= 0 or p.pack for p in op.params) or any(
        d.factors or d.option or d.when for s in op.slots for d in s.dims
    )


def reals(op: model.Op) -> list[str]:
    """The sizes that kernels compute with as floats."""
    known = {p.name for p in op.params} | {"inf", "nan"}
    return sorted(
        {
            w.name
            for p in op.programs
            for n in p.kernels
            for w in n.uniforms
            if n.raw is None and w.kind == "f" and w.value is None
        }
        - known
    )


def usual_text() -> str:
    """The usual values of an op's fields, as an object literal."""
    return literal(USUAL[model.Op])
