"""Records random programs with PyTorch's answers: python record.py [--programs 500] [--seed 0] [--light 100] >
programs.jsonl

Needs torch and numpy.  The first `light` programs hold no float64, so that a GPU runs them too."""

from __future__ import annotations

import argparse
import base64
import json
import os
import signal
import sys
import traceback

import numpy as np
import torch
from answers import evaluate
from generate import program

BATCH = 25


def apart(work):
    """What work() answers, from a process of its own: PyTorch itself sometimes dies of a program."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        with os.fdopen(writing, "w") as pipe:
            try:
                json.dump(work(), pipe)
            except BaseException:
                traceback.print_exc()
                os.kill(os.getppid(), signal.SIGTERM)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else None


def small(p: dict) -> dict:
    """A program without what repeats: answers that a tensor gave before, and noise to more than a power of two."""
    last: dict[int, dict] = {}
    for step in p["steps"]:
        if step["f"] == "const":
            last[step["o"]] = {k: step["w"][k] for k in ("shape", "dtype", "b64")}
            continue
        names, answers = numbers(step["a"][0] if step["f"] == "check" else step.get("o")), step.get("w")
        for i, (n, w) in enumerate(zip(names, answers or [])):
            if w is None:
                continue
            plain = {k: w[k] for k in ("shape", "dtype", "b64")}
            if w.get("noise"):
                w["noise"] = powers(w["noise"])
            if step["f"] == "check" and last.get(n) == plain:
                step["w"][i] = {"as": 1, "rg": w["rg"]}
            last[n] = plain
        for key, usual in (("k", {}), ("leaf", None), ("spoils", [])):
            if step.get(key, 0) == usual or step["f"] == "check":
                step.pop(key, None)
        if "v" in step:
            step["v"] = [v and v[:1] for v in step["v"]]
            if step["f"] == "check":
                del step["v"]
    return p


def numbers(o) -> list[int]:
    return [] if o is None else [n for x in o for n in numbers(x)] if isinstance(o, list) else [o["t"]]


def powers(noise: str) -> str:
    """The next power of two above each number, as a byte; 0 for none."""
    a = np.frombuffer(base64.b64decode(noise), np.float32).astype(float)
    up = np.where(a > 0, np.ceil(np.log2(np.where(a > 0, a, 1))) + 150, 0)
    return base64.b64encode(np.clip(up, 0, 255).astype(np.uint8).tobytes()).decode() if up.any() else ""


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--programs", type=int, default=500)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--light", type=int, default=100)
    o = options.parse_args()
    torch.set_num_threads(1)
    for first in range(o.seed, o.seed + o.programs, BATCH):
        seeds = range(first, min(first + BATCH, o.seed + o.programs))
        made = apart(lambda: [one(s, o) for s in seeds]) or [apart(lambda: [one(s, o)]) or [None] for s in seeds]
        for p in made:
            p = p[0] if isinstance(p, list) else p
            if p is not None:
                sys.stdout.write(json.dumps(p, separators=(",", ":")) + "\n")


def one(seed: int, o) -> dict | None:
    """The program of a seed; None if PyTorch takes it once and not twice."""
    try:
        return small(evaluate(program(seed, "webgpu" if seed - o.seed < o.light else "cpu")))
    except RuntimeError:
        return None


if __name__ == "__main__":
    main()
