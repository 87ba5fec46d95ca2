"""However the names of a definition and of the compiler are spelled, its kernels are the same: all are changed at
random in the loop programs, consistently.  On the CPU the bytes are equal, on a GPU the texts but for names, and
strategies, numbers and bindings.  (What is spelled with other brackets and blanks: test_formulas.py.)"""

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain

import pytest
from definitions import LIBRARY, data_of
from test_same_kernels import DEVICES, tensor
from test_wgsl import single

from codegen.api.opdata import all_tensors, context, rules
from codegen.binding.bind import bind
from codegen.data import model
from codegen.data.errors import OpError
from codegen.data.names import safe_name
from codegen.kernels.bounds_checks import watched
from codegen.kernels.carried import kernel
from codegen.kernels.fused import kernels
from codegen.planner import plan as plan_
from codegen.planner.plan import plan
from codegen.wasm.module import kernel_bytes, wasm_kernel
from codegen.wasm.planning.plan import plan_wasm
from codegen.wgsl import prelude
from dsl.ir.builders import idx, pack, sym
from dsl.ir.expression import E, Index, Inside, Pack, Read, Symbol, walk
from dsl.ir.program import Dim, Loop, Presence, Program, Stmt, Tensor, is_made
from dsl.ir.rewriting import transform
from dsl.opdef import OpDef
from dsl.testing.instances import instances
from workbench.numpy_runner import meta

GROUPS = 4  # of the library's ops, side by side
FIXED = {"I", "kept", "dropped", "inf", "nan", "inf_", "nan_", "pi", "true", "false"}  # packs of whole tensors, numbers
RULES = rules(LIBRARY)
# Uniforms stand in the order of their names, so that other names have the same order, also beside those that stay.
ENDS = (Presence, Presence + "\x7f", "host", "inf", "nan")
BETWEEN = ("a b c d e f g".split(), [Presence], ["hb", "hm"], ["hq", "hz"], ["j", "k", "l", "m"], ["o", "q", "y"])


def spelled(names: set[str], chance: random.Random, taken: set[str]) -> dict[str, str]:
    """Other names of any length and beginning, which sort as these do; one that the compiler made ends in `_`."""
    out = {}
    for n, starts in enumerate(BETWEEN):
        mine = sorted(
            (x for x in names if sum(safe_name(x) > end for end in ENDS) == n and x not in FIXED), key=safe_name
        )
        made: set[str] = set()
        while len(made) < len(mine):
            letters = "".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randrange(3, 9)))
            made.add(chance.choice(starts) + letters)
            made -= taken
        out |= dict(zip(mine, sorted(made, key=safe_name)))
        taken |= made
    return {old: f"{new}_" if is_made(old) else new for old, new in out.items()}


@dataclass
class Spelling:
    """names: of tensors, sizes, options and packs; loops: of loops."""

    names: dict[str, str]
    loops: dict[str, str]

    def of(self, name: str) -> str:
        return self.names.get(name, name)

    def e(self, e: E) -> E:
        return transform(e, self.node)

    def maybe(self, e: E | None) -> E | None:
        return None if e is None else self.e(e)

    def node(self, n: E) -> E | None:
        match n:
            case Symbol(name):
                return sym(self.of(name))
            case Index(loop):
                return idx(self.loops[loop])
            case Pack(loop):
                return pack(self.loops[loop])
            case Read():
                return self.read(n)
            case Inside(read):
                return Inside(self.read(read))
        return None

    def read(self, r: Read) -> Read:
        return Read(self.of(r.tensor), r.index, r.fallback)

    def loop(self, l: Loop) -> Loop:
        return Loop(self.loops[l.name], self.maybe(l.extent), self.of(l.pack) if l.pack else None)

    def stmt(self, s: Stmt) -> Stmt:
        return replace(
            s,
            target=self.of(s.target),
            idx=tuple(map(self.e, s.idx)),
            loops=tuple(map(self.loop, s.loops)),
            rloops=tuple(map(self.loop, s.rloops)),
            body=self.e(s.body),
            pred=self.maybe(s.pred),
            when=self.maybe(s.when),
        )

    def dim(self, d: Dim) -> Dim:
        return replace(
            d,
            name=self.of(d.name),
            size=self.maybe(d.size),
            factors=tuple(map(self.e, d.factors)),
            option=self.of(d.option),
            when=self.maybe(d.when),
        )

    def tensors(self, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
        return {
            self.of(n): replace(t, name=self.of(n), like=self.of(t.like), dims=tuple(map(self.dim, t.dims)))
            for n, t in tensors.items()
        }

    def program(self, p: Program) -> Program:
        names = [[*map(self.of, x)] for x in (p.inputs, p.outputs)]
        return Program(p.name, self.tensors(p.tensors), [*map(self.stmt, p.stmts)], *names)


def programs(op: OpDef) -> list[Program]:
    return [p for p in (op.forward, op.gradient, op.gradient2) if p is not None]


def spelling(op: OpDef, call: model.Call, chance: random.Random) -> Spelling:
    stmts = [s for p in programs(op) for s in p.stmts]
    dims = [d for p in programs(op) for t in p.tensors.values() for d in t.dims]
    loops = {l.name for s in stmts for l in s.loops + s.rloops}
    exprs = [e for s in stmts for e in (*s.expressions, s.when, *(l.extent for l in s.loops + s.rloops)) if e]
    exprs += [e for d in dims for e in (d.size, d.when, *d.factors) if e]
    names = {n.name for e in exprs for n in walk(e) if isinstance(n, Symbol)}
    names |= {*chain.from_iterable(p.tensors for p in programs(op)), *(p.name for p in op.params), *call.env}
    names |= {*call.packs, *(d.name for d in dims), *(d.option for d in dims)} - {""}
    presences = {Presence + p.name for p in op.params}
    taken: set[str] = set()
    out = spelled(names - presences, chance, taken)
    out |= {Presence + p.name: Presence + out.get(p.name, p.name) for p in op.params}
    for p in op.params:  # numbers of a list, by its name
        out |= {f"{p.name}{n}": f"{out.get(p.name, p.name)}{n}" for n in range(9) if f"{p.name}{n}" in out}
    return Spelling(out, spelled(loops - FIXED, chance, taken) | {n: f"loop{n}" for n in loops & FIXED})


def respelled(op: OpDef, data: model.Op, call: model.Call, x: Spelling) -> tuple[model.Op, model.Call]:
    """The op and the call with other names, its kernels made anew."""
    known = context(op)
    there = replace(
        known,
        options={x.of(n): kind for n, kind in known.options.items()},
        reals=frozenset(map(x.of, known.reals)),
        classes={x.of(n): cls for n, cls in known.classes.items()},
        asked=[*map(x.of, known.asked)],
        presences=frozenset(map(x.of, known.presences)),
    )
    tensors = x.tensors(all_tensors(op))
    number = {x.of(s.name): n for n, s in enumerate(data.slots)}
    made = []
    for mine, p in zip(data.programs, programs(op)):
        report = watched if p is op.forward else None
        found = [kernel(there, n, i, tensors, number, report) for i, n in enumerate(kernels(x.program(p)))]
        made.append(replace(mine, kernels=found))
    return (
        replace(
            data,
            programs=made,
            params=[replace(p, name=x.of(p.name), pack=x.of(p.pack)) for p in data.params],
            slots=[replace(s, name=x.of(s.name)) for s in data.slots],
        ),
        replace(
            call,
            env={x.of(n): v for n, v in call.env.items()},
            packs={x.of(n): v for n, v in call.packs.items()},
        ),
    )


WORD = re.compile(r"[A-Za-z_]\w*|\S")
OWN = {*prelude.functions(), *"u32 i32 f32 f16 bool vec4 array atomic select min max abs if for let var".split()}


def same_text(a: str, b: str) -> bool:
    """Whether two texts of WGSL differ in names only, and not in those of functions.  A routine, which is the same in
    both, may have a variable of the same name."""
    there: dict[str, str] = {}
    back: dict[str, str] = {}
    first, second = WORD.findall(a), WORD.findall(b)
    return len(first) == len(second) and all(
        m == n or m not in OWN and there.setdefault(m, n) == n and back.setdefault(n, m) == m
        for m, n in zip(first, second)
    )


def planned(data: model.Op, call: model.Call, program: int) -> list[model.Launch]:
    """The launches; none for what this GPU cannot."""
    try:
        return plan(data, program, call, data.programs[program].outputs, DEVICES[0], RULES)
    except OpError:
        return []


def modules(data: model.Op, call: model.Call, program: int) -> list:
    """The bytes of a program's kernels, and the numbers that they get."""
    out: list = []
    for x in plan_wasm(data, program, call, data.programs[program].outputs, [s.dtype for s in call.slots]):
        if x is not None:
            made = bytes(kernel_bytes(wasm_kernel(x, False), False)) if x.plan is not None else b""
            out.append((made, repr((x.kinds, x.values, x.shifts, x.slots)), bool(x.why)))
    return out


def test_texts_are_compared_but_for_names():
    assert same_text("let a = larger(b, a);", "let x = larger(y, x);")
    assert not same_text("let a = larger(b, a);", "let x = larger(y, y);")
    assert not same_text("let a = larger(b, a);", "let x = smaller(y, x);")


def differences(op: OpDef, data: model.Op, call: model.Call, on_cpu: bool) -> Iterator[str | None]:
    """What differs of each launch where names are spelled otherwise; None: nothing."""
    other, other_call = respelled(op, data, call, spelling(op, call, random.Random(op.name)))
    for program in range(len(data.programs) if call.dtype.startswith("float") else 1):
        mine, theirs = planned(data, call, program), planned(other, other_call, program)
        if len(mine) != len(theirs):
            yield f"{op.name}: {mine} {theirs}"
        for a, b in zip(mine, theirs):
            alike = same_text(a.code, b.code) and repr(replace(a, code="")) == repr(replace(b, code=""))
            yield None if alike else f"{op.name}:\n{a}\n{b}"
        if on_cpu and program < 2 and modules(data, call, program) != modules(other, other_call, program):
            yield f"{op.name}: WebAssembly of program {program}"


@pytest.mark.parametrize("group", range(GROUPS))
def test_names_decide_nothing(group, figure):
    count = 0
    for n, name in enumerate([*LIBRARY.ops][group::GROUPS]):
        data, op = data_of(name), LIBRARY.ops[name]
        if op.raw or op.schedules or any(k.raw for p in data.programs for k in p.kernels):
            continue  # bodies have names of their own; an op's own schedule names its options
        for instance in instances(op, 1, seed=3, largest=150):
            given = zip(op.params, map(single, instance.arguments(0)))
            call = bind(data, [meta(a) if p.kind == "tensor" and a is not None else a for p, a in given])
            found = [*differences(op, data, call, n % 3 == 0)]
            assert not any(found), "\n".join(filter(None, found))
            count += len(found)
    assert count > 700
    figure(f"{count} launches whose names were changed")


def test_a_name_that_decides_is_noticed(monkeypatch):
    op, data = LIBRARY.ops["relu"], data_of("relu")
    call = bind(data, [tensor([4096])])
    assert not any(differences(op, data, call, True))
    sound = plan_.lanes_possible
    monkeypatch.setattr(plan_, "lanes_possible", lambda k: k.op.slots[0].name.startswith("in") and sound(k))
    assert any(differences(op, data, call, True))
