"""Replays PyTorch's recorded answers (tests/oracle) against dist/ and says which operators are all right.

The checker itself is JavaScript, in tests/oracle/checker; this unpacks the corpus and reads the results."""

from __future__ import annotations

import json
import tarfile
import tempfile
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import coverage, gpu, node
from .archives import unpack
from .environment import SetupError
from .package import NODE
from .paths import CACHE, DIST, ROOT

ORACLE = ROOT / "tests" / "oracle"
RIGHT = ORACLE / "right.json"
DEGENERATE = ORACLE / "degenerate.json"


# The variables of a process that replays, by device.
VARIABLES: dict[str, Callable[[], dict[str, str] | None]] = {
    "cpu": lambda: None,
    "webgpu": gpu.variables,
    "interpreter": lambda: {"NODE_OPTIONS": f"--import {(ROOT / 'tests/node/without_webassembly.mjs').as_uri()}"},
}


@dataclass(frozen=True)
class Replay:
    """report: the checker's text.  right, wrong: names (`conv2d`, its variants taken together) of which every
    scored forward and gradient is right, or not; a name with nothing scored is in neither.  items: every result."""

    report: str
    right: frozenset[str]
    wrong: frozenset[str]
    items: list[dict[str, Any]]


def replay(
    device: str,
    *,
    tier: str = "1",
    names: str | None = None,
    fail_list: bool = False,
    jobs: int = 2,
    dist: Path = DIST,
    modules: bool = False,
    methods: bool = False,
    degenerate: bool = False,
) -> Replay:
    """Run the checker on `device` ("cpu", "webgpu", or "interpreter": the CPU without WebAssembly): operators of a
    tier, or torch.nn's modules.  methods: the same
    calls as methods, also in place.  degenerate: operators at zeros, equal numbers, infinities and NaN.  Raises
    SetupError if it could not run."""
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results.json"
        words: list[str | Path] = [
            ORACLE / "checker" / "check.mjs",
            "--dist",
            dist / NODE,
            "--corpus",
            corpus("nn" if modules else "degenerate" if degenerate else "opinfo"),
            "--device",
            "cpu" if device == "interpreter" else device,
            "--tier",
            "all" if modules else tier,
            "--jobs",
            str(jobs),
            "--json",
            results,
        ]
        if device == "webgpu":
            words += ["--webgpu-from", ROOT]
        words += ["--inplace", "--methods"] * methods + ["--fail-list"] * fail_list
        if names:
            words += ["--ops", names]
        done = node.run(words, env=VARIABLES[device]())
        if done.returncode not in (0, 1) or not results.exists():
            raise SetupError(f"the conformance check did not run:\n{done.stdout}")
        items = json.loads(results.read_text())["items"]
    return Replay(done.stdout.rstrip(), *_verdict(items), items)


def show(device: str, *, tier: str, names: str | None, fail_list: bool) -> int:
    """Print the checker's report and the count of names; 1 if a name of right.json is no longer right."""
    result = replay(device, tier=tier, names=names, fail_list=fail_list)
    print(result.report)
    print(f"\nnames all right on {device}, tier {tier}: {len(result.right)} of {len(result.right | result.wrong)}")
    if result.wrong:
        print("not yet: " + " ".join(sorted(result.wrong)))
    if lost := set(expected()["cpu" if device == "interpreter" else device]) & result.wrong:
        print("no longer right: " + " ".join(sorted(lost)))
    return 1 if lost else 0


def cover() -> int:
    """Rewrite docs/coverage.md and right.json from all tiers on both devices."""
    results = {device: replay(device, tier="all") for device in ("cpu", "webgpu")}
    coverage.write({device: result.items for device, result in results.items()})
    RIGHT.write_text(
        json.dumps({device: sorted(result.right) for device, result in results.items()}, indent=1, sort_keys=True)
        + "\n"
    )
    print(f"wrote {coverage.COVERAGE.relative_to(ROOT)} and {RIGHT.relative_to(ROOT)}")
    return 0


def of_tiers(*tiers: int) -> set[str]:
    """The operators that have a variant in one of these tiers."""
    known = json.loads((ORACLE / "checker" / "tiers.json").read_text())["ops"]
    return {name.split("@")[0] for name, (tier, _) in known.items() if tier in tiers}


def expected() -> dict[str, list[str]]:
    """The committed names by device."""
    return json.loads(RIGHT.read_text()) if RIGHT.exists() else {}


def corpus(name: str = "opinfo") -> Path:
    """An unpacked recording; unpacked on the first call."""
    archive, folder = ORACLE / f"{name}.tar.xz", CACHE / ("oracle" if name == "opinfo" else f"oracle-{name}")
    stamp = folder / "stamp"
    wanted = str(archive.stat().st_size)
    if not (stamp.exists() and stamp.read_text() == wanted):
        with tarfile.open(archive) as tar:
            unpack(tar, folder)
        stamp.write_text(wanted)
    return folder / ("public" if name == "opinfo" else name)


def modules() -> set[str]:
    """The names of the recorded modules of torch.nn."""
    return {file.stem.split("@")[0] for file in (corpus("nn") / "module").glob("*.json")}


def odd(items: list[dict[str, Any]]) -> tuple[set[str], int]:
    """The calls of which something is not as recorded, and how many were compared."""
    asked = [x for x in items if not x.get("skip") and not x["forward"].get("skip")]
    right = [x for x in asked if x["forward"]["ok"]]
    fine = {x["id"] for x in right if not x.get("grad") or x["grad"].get("skip") or x["grad"]["ok"]}
    return {x["id"] for x in asked} - fine, len(asked)


# A software GPU takes minutes for more than the most used ones.
DEGENERATE_TIERS = {"cpu": "all", "webgpu": "1"}


def degenerate_known(device: str) -> dict[str, str]:
    """The calls at degenerate points that are known not to be as PyTorch's -> why."""
    return {name: why for why, names in json.loads(DEGENERATE.read_text())[device].items() for name in names}


def degenerate_cover() -> None:
    """Rewrites the list of calls at degenerate points that are not as PyTorch's, by device and reason, from what is so
    now; what it adds has none yet."""
    listed = json.loads(DEGENERATE.read_text())
    for device, tier in DEGENERATE_TIERS.items():
        known, groups = degenerate_known(device), defaultdict(list)
        for name in sorted(odd(replay(device, tier=tier, degenerate=True).items)[0]):
            groups[known.get(name, "")].append(name)
        listed[device] = groups
    DEGENERATE.write_text(json.dumps(listed, indent=1) + "\n")


def _verdict(items: list[dict[str, Any]]) -> tuple[frozenset[str], frozenset[str]]:
    good: dict[str, bool] = defaultdict(lambda: True)
    for item in items:
        if item["kind"] != "sample" or item.get("skip") or item["forward"].get("skip"):
            continue
        name = item["op"].split("@")[0]
        gradient = item.get("grad") or {"ok": False}
        owes_gradient = item["hasGrad"] and not item["forward"].get("shapeOnly") and not gradient.get("skip")
        good[name] &= item["forward"]["ok"] and (gradient["ok"] or not owes_gradient)
    return frozenset(n for n, ok in good.items() if ok), frozenset(n for n, ok in good.items() if not ok)
