"""Joins lines of run.mjs, programs.mjs, torch_cuda.py and models_cuda.py into a table: python3 bench/table.py FILE...
(or on standard input).

A share is eager torch's time over ours, compiled where that was measured: the part of torch's speed that is reached."""

import fileinput
import json

OURS = ("tensorloom-compiled", "tensorloom")


def main():
    lines = [json.loads(line) for line in fileinput.input() if line.startswith("{")]
    by_name = {}
    for line in lines:
        by_name.setdefault(line["workload"], {})[line["lib"]] = line
    libs = sorted({line["lib"] for line in lines})
    print(f"| workload | {' | '.join(f'{lib}, waiting / pipelined (ms)' for lib in libs)} | share of torch's speed |")
    print(f"| --- |{' ---: |' * (len(libs) + 1)}")
    for name, of in by_name.items():
        ours, theirs = next((of[lib] for lib in OURS if lib in of), {}), of.get("torch", {})
        shares = " / ".join(share(ours, theirs, key) for key in ("median_ms", "pipelined_ms"))
        print(f"| {name} | {' | '.join(times(of.get(lib, {})) for lib in libs)} | {shares} |")


def times(line):
    return line.get("error") or " / ".join(
        f"{line[key]:.3g}" if key in line else "-" for key in ("median_ms", "pipelined_ms")
    )


def share(ours, theirs, key):
    return f"{100 * theirs[key] / ours[key]:.0f} %" if key in ours and key in theirs else "-"


if __name__ == "__main__":
    main()
