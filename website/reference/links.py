"""Where PyTorch's own documentation has a name.  By its rule for addresses; which names it has was recorded
(tests/recorded/names.json)."""

from __future__ import annotations

import json
from functools import cache

from buildtools.paths import ROOT

BASE = "https://docs.pytorch.org/docs/stable/"
# Namespaces that PyTorch documents on one page each; all others have a page for each name.
TOGETHER = {
    "torch.special": "special.html",
    "torch.nn.init": "nn.init.html",
    "torch.utils.data": "data.html",
    "torch.distributions": "distributions.html",
    "torch.distributions.constraints": "distributions.html",
    "torch.distributions.kl": "distributions.html",
    "torch.masked": "masked.html",
    "torch.testing": "testing.html",
    "torch.profiler": "profiler.html",
    "torch.random": "random.html",
    "torch.utils.checkpoint": "checkpoint.html",
    "torch.export": "export.html",
    "torch.onnx": "onnx.html",
    "torch.compiler": "torch.compiler_api.html",
    "torch.optim.swa_utils": "optim.html",
}


@cache
def recorded() -> frozenset[str]:
    """PyTorch's public names, as `torch.nn.Linear` and `Tensor.view`."""
    names = json.loads((ROOT / "tests" / "recorded" / "names.json").read_text(encoding="utf-8"))["names"]
    prefixes = {space: space if space in ("torch", "Tensor") else f"torch.{space}" for space in names}
    return frozenset(
        f"{prefixes[space]}.{name}"
        for space, kinds in names.items()
        for text in kinds.values()
        for name in text.split()
    )


def pytorch(name: str) -> str:
    """The address of PyTorch's page for a name, or nothing where PyTorch has none."""
    if name not in recorded():
        return ""
    space = name.rpartition(".")[0]
    if space in TOGETHER:
        return f"{BASE}{TOGETHER[space]}#{name}"
    return f"{BASE}generated/{'torch.' if space == 'Tensor' else ''}{name}.html"
