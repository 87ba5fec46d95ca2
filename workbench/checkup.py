"""All that can be tried of one definition: its tests, reads outside, gradients by central differences, the GPU
against numpy.  Tried is not proved: everything happens in a few small random instances (dsl/testing/instances.py)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np

from codegen.data.errors import OpError
from dsl.gradients.adjoint import complete
from dsl.opdef import Library, OpDef
from dsl.reference.interpreter import BodyError
from dsl.testing.examples import check_tests
from dsl.testing.gradcheck import check as check_gradient
from dsl.testing.instance import Instance
from dsl.testing.instances import instances
from dsl.testing.trials import check_instances, check_itself, check_reads
from dsl.text.diagnostics import Error, located, render
from dsl.text.source import Source

from .wgpu_runner import KernelError

RELATIVE, ABSOLUTE = 2e-4, 2e-5  # float32 on the GPU against the same in numpy
INSTANCES = 60  # in which reads outside are looked for
REFUSED = (OpError, IndexError, BodyError)  # how a call says that its arguments are wrong


@dataclass
class Finding:
    """One kind of check.  wrong: what is not right, in words."""

    title: str
    done: str
    wrong: list[str] = field(default_factory=list)


@dataclass
class Report:
    """What was checked of an op; true if nothing is wrong."""

    name: str
    findings: list[Finding]

    def __bool__(self) -> bool:
        return not any(f.wrong for f in self.findings)

    def __str__(self) -> str:
        width = max(len(f.title) for f in self.findings)
        lines = [f"{self.name}: {'all is well' if self else 'something is wrong'}"]
        for f in self.findings:
            lines.append(f"  {'ok   ' if not f.wrong else 'WRONG'}  {f.title:{width}}  {f.done}")
            lines += [f"         {line}" for text in f.wrong[:5] for line in text.split("\n")]
            if len(f.wrong) > 5:
                lines.append(f"         ... and {len(f.wrong) - 5} more")
        return "\n".join(lines)

    __repr__ = __str__


def mistakes(
    library: Library,
    sources: list[Source],
    count: int = INSTANCES,
    begin: Callable[[str], None] = lambda step: None,
    ops: list[OpDef] | None = None,
) -> list[Error]:
    """What small random instances and the tests inside definitions show of a library's `ops` (all): reads outside in
    `count` instances of each (0: not looked for), then, for ops without any, tests that fail.  begin: is told each
    step."""
    from .function import Function

    files = {Path(s.path).stem: s for s in sources}
    errors: list[Error] = []
    sound = []
    for op in library.ops.values() if ops is None else ops:
        begin(f"looking for reads outside in `{op.name}`")
        found = (check_instances(op) or check_reads(op, files[op.file], count) or check_itself(op)) if count else []
        errors += located(found, files[op.file].path)
        if not found:
            sound.append(op)
    begin("running the tests inside definitions")
    failed = check_tests(sound, cache(lambda name: Function(library.ops[name], library).numpy), REFUSED)
    return errors + [e for op, error in failed for e in located([error], files[op.file].path)]


def checkup(f, count: int, on_gpu: bool) -> Report:
    """Checks the op of a function.Function; on_gpu: whether there is one to compare with."""
    op = f.op

    def shown(errors: list[Error]) -> list[str]:
        if f.source is None:
            return [f"{e.message}: {e.label}" for e in errors]
        return [render(errors, f.source)] if errors else []

    tests = [e for _, e in check_tests([op], functions(f), REFUSED)]
    number = len(op.tests)
    findings = [Finding("tests", f"{number} in the definition" if number else "the definition has none", shown(tests))]
    findings.append(
        Finding(
            "reads",
            f"looked for in {INSTANCES} small random instances",
            shown(check_reads(op, f.source or Source("", ""), INSTANCES)),
        )
    )
    if none := check_instances(op):
        return Report(op.name, [*findings, Finding("instances", "none", shown(none))])
    findings += gradients(f, count)
    findings.append(against_gpu(f, count) if on_gpu else Finding("gpu", "there is none here"))
    return Report(op.name, findings)


def functions(f) -> Callable[[str], Callable]:
    """The ops that a test may call, by their numpy meaning."""
    return lambda name: f.numpy if name == f.op.name else type(f)(f.library.ops[name], f.library).numpy


def gradients(f, count: int) -> list[Finding]:
    complete(f.op)
    if f.op.gradient is None:
        return [Finding("gradient", "the op has none")]
    found = []
    for title, twice in (("gradient", False), ("gradient of it", True)):
        if twice and f.op.gradient2 is None:
            continue
        checked = check_gradient(f.op, count, twice=twice)
        empty = (
            []
            if checked.places
            else ["no slope was compared: all were at kinks, not finite, or of tensors without elements"]
        )
        found.append(Finding(title, f"{checked.places} slopes compared", checked.wrong + empty))
    return found


def against_gpu(f, count: int) -> Finding:
    """Calls and gradients on the GPU against numpy, both of float32."""
    made = Finding("gpu", "")
    calls = 0
    for n, instance in enumerate(instances(f.op, count, seed=5, largest=150)):
        arguments = {p.name: single(a) for p, a in zip(f.op.params, instance.arguments(n)) if a is not None}
        calls += 1
        results = []
        for target in ("numpy", "gpu"):
            own = {k: a.copy() if isinstance(a, np.ndarray) else a for k, a in arguments.items()}
            twin = type(f)(f.op, f.library, on=target)
            twin.data, twin.seeds = f.data, (instance.env["seed0_"], instance.env["seed1_"], 0)
            try:
                values = twin(**own)
            except KernelError as refused:
                made.wrong.append(str(refused).strip().split("\n\n")[0])
                made.done = "a kernel was refused"
                return made
            values = {**values} if isinstance(values, dict) else {"result": values}
            values |= {p.name: own[p.name] for p in f.op.params if p.mut and p.name in own}
            if f.op.gradient is not None and differentiable(instance):
                values |= {f"gradient of {k}": a for k, a in twin.grad(**own).items()}
            results.append(values)
        for k, want in results[0].items():
            if not close(results[1][k], want):
                made.wrong.append(f"{k} is {results[1][k]!r}\nnot {want!r}\nin {instance.env}")
    made.done = f"{calls} calls as numpy has it"
    if not calls:
        made.wrong.append(
            "no call was compared: no instance of at most 150 elements a tensor stays inside of its tensors"
        )
    return made


def differentiable(instance: Instance) -> bool:
    return np.dtype(instance.dtype).kind == "f"


def single(a):
    return a.astype(np.float32) if isinstance(a, np.ndarray) and a.dtype == np.float64 else a


def close(got: np.ndarray, want: np.ndarray) -> bool:
    if got.shape != want.shape or got.dtype != want.dtype:
        return False
    if want.dtype.kind != "f":
        return bool(np.array_equal(got, want))
    return bool(np.allclose(got, want, RELATIVE, ABSOLUTE, equal_nan=True))
