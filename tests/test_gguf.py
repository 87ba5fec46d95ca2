"""tensorloom/gguf: files that are no GGUF, and damaged ones.  What whole ones hold is asked by tests/checks/quantised.mjs."""

import json
from pathlib import Path

from buildtools import node
from buildtools.paths import ROOT


def test_damaged_files_end_in_an_error_or_an_answer(dist):
    done = node.run([Path(__file__).parent / "gguf" / "damaged.mjs", 7, 400], cwd=ROOT, timeout=300)
    assert done.returncode == 0, done.stdout
    results = json.loads(done.stdout.splitlines()[-1])
    failures = [f"{name}: {error}" for name, error in results.items() if error]
    assert len(results) >= 20 and not failures, "\n".join(failures)
