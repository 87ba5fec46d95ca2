"""Records PyTorch's defaults of the parameters that ops have, too: python tests/recorded/defaults.py, with torch, from
the root of the checkout.

Asks the signatures of Python functions, and for the others every overload's schema that has the parameter."""

import inspect
import json
import sys
from pathlib import Path

import torch

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent.parent), str(HERE.parent)]


def defaults(path: str) -> dict[str, list]:
    """By parameter, the defaults that some overload of a function has."""
    found: dict[str, list] = {}
    function = torch
    for word in path.split(".")[1:]:
        function = getattr(function, word, None)
    try:
        pairs = [
            (p.name, p.default) for p in inspect.signature(function).parameters.values() if p.default is not p.empty
        ]
    except (TypeError, ValueError):
        begin = "aten::" + path.removeprefix("torch.").removeprefix("nn.functional.").replace(".", "_")
        pairs = [
            (a.name, a.default_value)
            for s in torch._C._jit_get_all_schemas()
            if s.name == begin
            for a in s.arguments
            if a.has_default_value()
        ]
    for name, value in pairs:
        if isinstance(value, (bool, int, float)) and value not in found.setdefault(name, []):
            found[name].append(value)
    return found


if __name__ == "__main__":
    aliases = json.loads(sys.stdin.read())  # what tests/test_defaults.py prints when run
    recorded = {
        path: kept
        for path, names in sorted(aliases.items())
        if (kept := {n: v for n, v in defaults(path).items() if n in names and v})
    }
    (HERE / "defaults.json").write_text(json.dumps(recorded, indent=1) + "\n")
