"""Joins the JSON lines of run.mjs and torch_cuda.py into a table: python3 bench/table.py FILE... (or on standard
input).

A share is torch's time over ours: the part of torch's speed that is reached."""

import fileinput
import json


def main():
    lines = [json.loads(line) for line in fileinput.input() if line.startswith("{")]
    by_name = {}
    for line in lines:
        by_name.setdefault(line["workload"], {})[line["lib"]] = line
    print(
        "| workload | tensorloom, waiting / pipelined (ms) | torch, waiting / pipelined (ms) | share of torch's speed |"
    )
    print("| --- | ---: | ---: | ---: |")
    for name, of in by_name.items():
        ours, theirs = of.get("tensorloom", {}), of.get("torch", {})
        print(
            f"| {name} | {times(ours)} | {times(theirs)} | {share(ours, theirs, 'median_ms')} / "
            f"{share(ours, theirs, 'pipelined_ms')} |"
        )


def times(line):
    return line.get("error") or " / ".join(
        f"{line[key]:.3g}" if key in line else "-" for key in ("median_ms", "pipelined_ms")
    )


def share(ours, theirs, key):
    return f"{100 * theirs[key] / ours[key]:.0f} %" if key in ours and key in theirs else "-"


if __name__ == "__main__":
    main()
