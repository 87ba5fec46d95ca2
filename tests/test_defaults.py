"""The defaults of every op's parameters are PyTorch's (tests/recorded/defaults.json; tests/recorded/defaults.py says
how they were asked).

To ask anew: python tests/test_defaults.py | python-with-torch tests/recorded/defaults.py"""

import json
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parent.parent)]
from definitions import LIBRARY  # noqa: E402 - this file also runs by itself

from dsl.ir.expression import Constant  # noqa: E402

RECORDED = Path(__file__).parent / "recorded" / "defaults.json"


def ours() -> list[tuple[str, str, float]]:
    """(path in torch, parameter, default) of every op's numbers and booleans; texts are choices, which the oracle
    sees."""
    return [
        (path, p.name, float(p.default.value))
        for op in LIBRARY.ops.values()
        for path in op.aliases
        for p in op.params
        if p.kind != "choice" and isinstance(p.default, Constant)
    ]


def test_defaults_are_those_of_torch():
    recorded = json.loads(RECORDED.read_text())
    compared = [
        (path, name, value, recorded[path][name]) for path, name, value in ours() if name in recorded.get(path, {})
    ]
    assert len(compared) > 200
    wrong = [
        f"{path}: {name} is {value}, in torch {theirs}"
        for path, name, value, theirs in compared
        if value not in map(float, theirs)
    ]
    assert not wrong, "\n".join(wrong)


if __name__ == "__main__":
    names: dict[str, list[str]] = {}
    for path, name, _ in ours():
        names.setdefault(path, []).append(name)
    print(json.dumps(names))
