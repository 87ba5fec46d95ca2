"""Records PyTorch's public names, with torch, from the root of the checkout: `python tests/recorded/names.py`.

A namespace's own `__all__` says what is public; where it has none, all names without a leading `_` that PyTorch defines
itself.  Kept by namespace and kind: function, class, module, value."""

import importlib
import json
import types
from pathlib import Path

import torch

SPACES = """torch Tensor nn nn.functional nn.init nn.utils nn.utils.parametrize nn.utils.parametrizations nn.utils.prune
nn.utils.rnn nn.utils.stateless optim optim.lr_scheduler optim.swa_utils linalg fft special func distributions
distributions.constraints distributions.transforms distributions.kl utils utils.data utils.checkpoint autograd
autograd.function autograd.functional autograd.graph""".split()


def kind(value: object) -> str:
    if isinstance(value, types.ModuleType):
        return "module"
    if isinstance(value, type):
        return "class"
    return "function" if callable(value) else "value"


def public(space: str) -> dict[str, str]:
    """The kind of each public name of a namespace."""
    roots = {"torch": torch, "Tensor": torch.Tensor}
    holder = roots[space] if space in roots else importlib.import_module(f"torch.{space}")
    declared = getattr(holder, "__all__", None)
    whole = [name for name in dir(holder) if not name.startswith("_")]
    names = whole if declared is None or space == "torch" else [name for name in whole if name in declared]
    found = {}
    for name in names:
        value = getattr(holder, name)
        home = value.__name__ if isinstance(value, types.ModuleType) else getattr(value, "__module__", None) or "torch"
        if space == "Tensor" or home.partition(".")[0] == "torch" or name in (declared or ()):
            found[name] = kind(value)
    return found


if __name__ == "__main__":
    record: dict[str, dict[str, str]] = {}
    for space in SPACES:
        by_kind: dict[str, list[str]] = {}
        for name, what in public(space).items():
            by_kind.setdefault(what, []).append(name)
        record[space] = {what: " ".join(sorted(names)) for what, names in sorted(by_kind.items())}
    made = {"torch": torch.__version__.partition("+")[0], "names": record}
    Path(__file__).with_suffix(".json").write_text(json.dumps(made, indent=1) + "\n")
