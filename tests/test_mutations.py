"""build.py mutate: what is changed is code, a mutation that hangs or fails is noticed, and the tests that are likeliest
to notice it run first."""

import json
import sys
import time

import pytest

from buildtools.mutation import mutate, nearest
from buildtools.mutation.mutate import (
    NOTICED,
    UNFINISHED,
    UNNOTICED,
    Clean,
    copy,
    diff,
    failed,
    parts,
    selection,
    tried,
)
from buildtools.mutation.mutate import mutate as try_all
from buildtools.mutation.mutations import draw, mutations, sources
from buildtools.paths import ROOT

TYPESCRIPT = """\
// a + b
const s = "a + b" + t, u = new Map<string, number>();
  this.count += 1;
  if (a < b && -c) return Math.min(a, b);
  total(a);
"""
OP = """\
op f(x: Float) = x * 2
    "a + b"
    require N > 0, "none"     # N > 0
"""


def shown(file: str, text: str) -> list[str]:
    return [str(m).partition(": ")[2] for m in mutations(file, text)]


def test_only_code_is_changed():
    assert shown("a.ts", TYPESCRIPT) == [
        "`+` becomes `-`",
        "`+=` becomes `-=`",
        "`1` becomes `2`",
        "`<` becomes `<=`",
        "`&&` becomes `||`",
        "`min` becomes `max`",
        "without `this.count += 1;`",
        "without `total(a);`",
    ]
    assert shown("a.op", OP) == [
        "`*` becomes `+`",
        "`2` becomes `3`",
        "`>` becomes `>=`",
        "`0` becomes `1`",
        'without `require N > 0, "none"     # N > 0`',
    ]
    assert shown("a.py", "x = f(1)  # 2\nif x:\n    x += 'a + b'\n") == ["`1` becomes `2`", "without `x += 'a + b'`"]


def test_a_seed_draws_the_same_from_all_kinds_of_sources():
    drawn = draw(300, 5)
    assert drawn == draw(300, 5) and len({(m.file, m.line) for m in drawn}) == 300
    assert {m.file.rpartition(".")[2] for m in drawn} >= {"py", "ts", "op"} and {m.file for m in drawn} <= set(
        sources()
    )
    assert all(m.file.startswith("dsl/") for m in draw(20, 1, "dsl/"))


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A checkout of one module with two tests, one of which sees its number, and none its sign: 0 + 0 is 0 - 0."""
    (tmp_path / "buildtools").mkdir()
    (tmp_path / "tests").mkdir()
    (tmp_path / "buildtools" / "__init__.py").touch()
    (tmp_path / "buildtools" / "package.py").write_text("def build(): pass\n")
    (tmp_path / "calc.py").write_text("def f(x): return x + 0\n")
    (tmp_path / "tests" / "test_calc.py").write_text(
        "import sys; sys.path.insert(0, '.')\ndef test_f():\n    from calc import f\n    assert f(0) == 0\n"
    )
    (tmp_path / "tests" / "test_other.py").write_text("def test_fine(): pass\ndef test_broken(): assert 0\n")
    for module in (mutate, nearest):
        monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(mutate, "FOLDER", tmp_path / ".build" / "mutants")
    monkeypatch.setattr(mutate, "SET_UP", ())
    monkeypatch.setattr(nearest, "SEE_MOST", {})
    return tmp_path


NEVER = float("inf")
OF_CALC, FINE = (["tests/test_calc.py::test_f"], 0.2), (["tests/test_other.py::test_fine"], 0.1)


def test_a_mutation_is_tried_in_a_copy_that_stays_while_nothing_notices_it(project):
    sign, number = mutations("calc.py", (project / "calc.py").read_text())
    noticed = tried(number, project / ".a", [FINE, OF_CALC], 0, NEVER)
    assert (noticed.outcome, noticed.by, noticed.passed) == (NOTICED, "FAILED tests/test_calc.py::test_f", 1)
    assert not (project / ".a").exists()
    assert tried(sign, project / ".b", [OF_CALC], 0, NEVER).outcome == UNNOTICED
    assert "x - 0" in (project / ".b" / "calc.py").read_text()
    # There is no such test: that says nothing.
    assert tried(number, project / ".c", [(["tests/test_calc.py::test_g"], 1)], 0, NEVER).by == ""
    assert tried(number, project / ".c", [OF_CALC], 1, NEVER).by == ""  # it passed before
    assert (project / "calc.py").read_text() == "def f(x): return x + 0\n"
    assert "-def f(x): return x + 0\n+def f(x): return x + 1\n" in diff(number)


def test_what_the_likeliest_tests_do_not_notice_meets_all_others(project):
    number = mutations("calc.py", (project / "calc.py").read_text())[1]
    clean = Clean(
        {"tests/test_calc.py::test_f": 90.0, "tests/test_other.py::test_fine": 0.1},
        ["tests/test_other.py::test_broken"],
    )
    others = [(["tests/test_other.py::test_fine"], 0.1), (["tests/test_calc.py::test_f"], 90.0)]
    assert selection(number, clean) == ([], others)  # its test takes too long to be among the first


def test_when_time_is_over_a_mutation_is_unfinished(project):
    number = mutations("calc.py", (project / "calc.py").read_text())[1]
    assert tried(number, project / ".a", [OF_CALC], 0, time.monotonic()).outcome == UNFINISHED
    (project / "tests" / "test_calc.py").write_text("import time\ndef test_f(): time.sleep(60)\n")
    late = tried(number, project / ".b", [FINE, OF_CALC], 0, time.monotonic() + 6)
    assert (late.outcome, late.passed) == (UNFINISHED, 1)


def test_tests_run_together_for_as_long_as_a_process_may_take():
    seconds = {"b::test[1]": 20.0, "a::test": 9.0, "b::test[2]": 20.0, "c::test": 2.0}
    assert list(parts(["b::test[1]", "a::test", "c::test"], Clean(seconds, []))) == [
        (["a::test", "b::test[1]"], 29.0),  # file by file
        (["c::test"], 2.0),
    ]
    assert list(parts(["b::test"], Clean(seconds, []))) == [(["b::test"], 40.0)]  # all cases of a test


def test_verdicts_stay_and_what_fails_anyway_says_nothing(project, capsys):
    chosen = mutations("calc.py", (project / "calc.py").read_text())
    report = project / ".build" / "trial.jsonl"
    assert try_all(chosen, 2, report) == 1
    said = capsys.readouterr().out
    assert "noticed: 1 of 2" in said and f"unnoticed: {chosen[0]}" in said and "2 tests, 1 left out" in said
    lines = [json.loads(line) for line in report.read_text().splitlines()]
    assert {(line["mutation"], line["outcome"]) for line in lines} >= {
        (str(chosen[0]), UNNOTICED),
        (str(chosen[1]), NOTICED),
    }
    assert try_all(chosen, 1, report) == 1
    assert report.read_text().splitlines() == [json.dumps(line) for line in lines]  # neither was tried again
    assert not (copy(project / ".build" / "mutants" / "0") / ".build" / "mutants").exists()


def test_the_nearest_tests_come_first():
    cases = [
        "node.py::test_checks[linalg-cpu]",
        "node.py::test_checks[linalg-webgpu]",
        "gradients.py::test_gradient[softmax]",
        "gradients.py::test_gradient[sinh]",
        "wgsl.py::test_op[softmax]",
        "adjoint.py::test_mistakes[op f(x)\\n    out = x]",
        "memory.py::test_using",
        "gradients.py::test_gradient[log_softmax]",
    ]
    seconds = {f"tests/test_{case}": float(n) for n, case in enumerate(cases)}

    def near(file: str, definition: str) -> list[str]:
        m = next(m for m in mutations(file, (ROOT / file).read_text()) if definition in nearest.subjects(m))
        return [test.removeprefix("tests/test_") for test in nearest.first(m, seconds)]

    assert near("ops/reduce.op", "softmax") == [
        "node.py::test_checks[linalg-cpu]",
        "gradients.py::test_gradient[softmax]",
        "wgsl.py::test_op[softmax]",
    ]
    assert near("runtime/devices/webgpu/quantity.ts", "quantity") == [
        "node.py::test_checks[linalg-cpu]",
        "node.py::test_checks[linalg-webgpu]",
    ]
    assert near("dsl/gradients/adjoint.py", "adjoint") == ["adjoint.py::test_mistakes"]  # no plain words: all cases
    failed = ["tests/test_adjoint.py::test_mistakes[op g(x)]"]
    assert nearest.addresses(seconds, failed) == [
        test for test in seconds if "adjoint" not in test
    ]  # of which one says nothing


def test_patterns_of_the_nearest_tests_name_files_that_are_there():
    named = {pattern.partition("::")[0] for patterns in nearest.SEE_MOST.values() for pattern in patterns}
    assert named <= {file.stem.removeprefix("test_") for file in (ROOT / "tests").glob("test_*.py")}
    assert all(any(file.startswith(begin) for file in sources()) for begin in nearest.SEE_MOST)


def test_what_hangs_is_noticed():
    assert failed([sys.executable, "-c", "while True: pass"], ROOT, 0.5) == "FAILED it hangs"
    assert failed([sys.executable, "-c", "pass"], ROOT, 60) == ""
    assert failed([sys.executable, "-c", "raise SystemExit(3)"], ROOT, 60) == "it failed"
