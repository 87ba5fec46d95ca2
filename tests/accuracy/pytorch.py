"""Records PyTorch's own errors at the points of points.py, float32 against float64 on the CPU:
tests/accuracy/pytorch.json.

    python tests/accuracy/pytorch.py FUNCTIONS

Runs where PyTorch is installed, not here: FUNCTIONS is the list that `python -m tests.accuracy.measure --list`
prints."""

from __future__ import annotations

import json
import sys
from functools import reduce
from pathlib import Path

import points
import torch


def main(listing: str) -> None:
    found = {}
    for f in json.loads(Path(listing).read_text(encoding="utf-8")):
        try:
            function = reduce(getattr, f["torch"].split(".")[1:], torch)
        except AttributeError:
            continue
        xs = [torch.from_numpy(x) for x in points.arguments(f["tensors"])]
        if f["degree"]:
            xs[1] = torch.full_like(xs[0], float(f["degree"]))
        with torch.no_grad():
            try:
                got = function(*f["before"], *xs, **f["options"])
                want = function(*f["before"], *(x.double() for x in xs), **f["options"])
            except (RuntimeError, TypeError) as error:
                print(f["label"], str(error).splitlines()[0], file=sys.stderr)
                continue
        ulp, kind = points.largest(got.float().numpy(), want.numpy())
        found[f["label"]] = {"ulp": round(ulp, 3), "kind": kind}
    points.record(
        str(Path(__file__).with_name("pytorch.json")), {"version": torch.__version__.split("+")[0], "functions": found}
    )


main(sys.argv[1])
