"""The compile report: what was compiled from what, committed as docs/compile-report.md so that its diff is the review.

Counts of ops, how each one's gradient came about, kernels by shape and bytes; it decides nothing."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from dsl.opdef import OpDef

SHAPES = ("map", "reduce", "contract", "scan", "scatter", "raw")


@dataclass(frozen=True)
class Entry:
    """One op.  named: whether PyTorch has it; way: how its gradient came about; forward, backward: kernels by shape;
    size: bytes of data with WGSL texts, and of bodies of steps on the CPU."""

    op: str
    file: str
    named: bool
    raw: bool
    way: str
    forward: Counter
    backward: Counter
    size: int


def gradient(op: OpDef) -> str:
    """How the gradient came about: derived, given (by a `grad` clause), both, none."""
    inputs = [p.name for p in op.params if p.kind == "tensor" and p.cls not in ("Int", "Bits", "Bool") and not p.mut]
    if op.gradient is None or not op.gradient.stmts:
        return "none"
    derived = [n for n in inputs if n not in op.grads and (op.nograd is None or n not in op.nograd)]
    if not op.grads:
        return "derived"
    return "given and derived" if derived else "given"


def compile_report(entries: list[Entry]) -> str:
    """The text of docs/compile-report.md."""
    ways = Counter(e.way for e in entries)
    shapes = sum((e.forward + e.backward for e in entries), Counter())
    scattered = [e.op for e in entries if e.backward["scatter"]]
    lines = [
        "# What the build made",
        "",
        "Written by `build.py`; the diff of this file shows what a change of the definitions or the compiler does.",
        "",
        f"- ops: {len(entries)}, in {len({e.file for e in entries})} files; with a PyTorch name: "
        f"{sum(e.named for e in entries)}",
        f"- gradients: derived {ways['derived']}, given by a `grad` clause {ways['given']}, partly given "
        f"{ways['given and derived']}, none {ways['none']}",
        f"- bodies of steps: {sum(e.raw for e in entries)}",
        "- kernels: " + ", ".join(f"{s} {shapes[s]}" for s in SHAPES if shapes[s]),
        f"- bytes of op data and bodies of steps: {sum(e.size for e in entries):,}",
        f"- gradients that scatter: {', '.join(scattered) or 'none'}",
        "",
        "| op | file | gradient | forward | gradient's kernels | bytes |",
        "|---|---|---|---|---|---:|",
    ]
    for e in entries:
        lines.append(f"| {e.op} | {e.file} | {e.way} | {counts(e.forward)} | {counts(e.backward)} | {e.size:,} |")
    return "\n".join(lines) + "\n"


def counts(kernels: Counter) -> str:
    return ", ".join(f"{s} {kernels[s]}" if kernels[s] > 1 else s for s in SHAPES if kernels[s])
