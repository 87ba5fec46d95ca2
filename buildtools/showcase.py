"""Shows the built package at work: a short training run of examples/digits in Node."""

from __future__ import annotations

from . import gpu, node
from .environment import say
from .paths import ROOT


def train() -> int:
    """Train the example's MLP for 40 steps, printing loss, device and accuracy; 0 if it ran."""
    say(f"training a network on handwritten digits ({gpu.name()})")
    done = node.run([ROOT / "examples" / "digits" / "train.mjs", "mlp", "adam", "webgpu", "40"], env=gpu.variables())
    print(done.stdout.rstrip())
    return 1 if done.returncode else 0
