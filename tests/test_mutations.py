"""build.py mutate: what is changed is code, a mutation that hangs or fails is noticed, one that changes nothing is told
apart, and the tests that are likeliest to notice it run first."""

import json
import shutil
import sys
import time
from dataclasses import replace

import pytest

from buildtools import node
from buildtools.mutation import executed, mutate, nearest, trial
from buildtools.mutation.mutate import Clean, parts, selection
from buildtools.mutation.mutate import mutate as try_all
from buildtools.mutation.mutations import draw, mutations, sources
from buildtools.mutation.trial import EQUIVALENT, NOTICED, UNFINISHED, UNNOTICED, Part, copy, diff, failed, tried
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


# What a package is made of: op files without their comments.
BUILD = """\
from pathlib import Path
def build():
    for file in Path().glob("*.op"):
        assert "**" not in file.read_text()
        Path("dist", file.stem + ".js").write_text(file.read_text().partition("#")[0].strip())
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A checkout of one module with two tests, one of which sees its number, and none its sign: 0 + 0 is 0 - 0."""
    (tmp_path / "buildtools").mkdir()
    (tmp_path / "tests").mkdir()
    (tmp_path / "buildtools" / "__init__.py").touch()
    shutil.copytree(ROOT / "buildtools" / "mutation", tmp_path / "buildtools" / "mutation")
    (tmp_path / "buildtools" / "mutation" / "__init__.py").write_text("")
    (tmp_path / "buildtools" / "package.py").write_text(BUILD)
    (tmp_path / "dist").mkdir()
    (tmp_path / "dist" / "calc.js").write_text("-> x + 0")
    (tmp_path / "calc.py").write_text("def f(x): return x + 0\n")
    (tmp_path / "tests" / "test_calc.py").write_text(
        "import sys; sys.path.insert(0, '.')  # the dsl\ndef test_f():\n    from calc import f\n    assert f(0) == 0\n"
    )
    (tmp_path / "tests" / "test_other.py").write_text("def test_fine(): pass\ndef test_broken(): assert 0\n")
    for module in (mutate, nearest, trial):
        monkeypatch.setattr(module, "ROOT", tmp_path)
    for module in (mutate, trial):
        monkeypatch.setattr(module, "FOLDER", tmp_path / ".build" / "mutants")
    monkeypatch.setattr(trial, "SET_UP", ())
    for looked_up in (trial.needs_package, trial.sees_compiler):
        looked_up.cache_clear()
    monkeypatch.setattr(nearest, "SEE_MOST", {})
    return tmp_path


NEVER = float("inf")
OF_CALC, FINE = Part(["tests/test_calc.py::test_f"], 0.2), Part(["tests/test_other.py::test_fine"], 0.1, False)


def test_a_mutation_is_tried_in_a_copy_that_stays_while_nothing_notices_it(project):
    sign, number = mutations("calc.py", (project / "calc.py").read_text())
    noticed = tried(number, project / ".a", lambda _: [FINE, OF_CALC], 0, NEVER)
    assert (noticed.outcome, noticed.by, noticed.passed) == (NOTICED, "FAILED tests/test_calc.py::test_f", 1)
    assert not (project / ".a").exists()
    assert tried(sign, project / ".b", lambda _: [OF_CALC], 0, NEVER).outcome == UNNOTICED
    assert "x - 0" in (project / ".b" / "calc.py").read_text()
    # There is no such test: that says nothing.
    assert tried(number, project / ".c", lambda _: [Part(["tests/test_calc.py::test_g"], 1)], 0, NEVER).by == ""
    assert tried(number, project / ".c", lambda _: [OF_CALC], 1, NEVER).by == ""  # it passed before
    assert (project / "calc.py").read_text() == "def f(x): return x + 0\n"
    assert "-def f(x): return x + 0\n+def f(x): return x + 1\n" in diff(number)


def test_what_the_likeliest_tests_do_not_notice_meets_all_others(project):
    number = mutations("calc.py", (project / "calc.py").read_text())[1]
    clean = Clean(
        {"tests/test_calc.py::test_f": 90.0, "tests/test_other.py::test_fine": 0.1},
        ["tests/test_other.py::test_broken"],
    )
    others = [
        Part(["tests/test_other.py::test_fine"], 0.1, False),
        Part(["tests/test_calc.py::test_f"], 90.0, False),
    ]
    assert selection(number, clean) == ([], others)  # its test takes too long to be among the first


def test_when_time_is_over_a_mutation_is_unfinished(project):
    number = mutations("calc.py", (project / "calc.py").read_text())[1]
    assert tried(number, project / ".a", lambda _: [OF_CALC], 0, time.monotonic()).outcome == UNFINISHED
    (project / "tests" / "test_calc.py").write_text("import time  # of the dsl\ndef test_f(): time.sleep(60)\n")
    late = tried(number, project / ".b", lambda _: [FINE, OF_CALC], 0, time.monotonic() + 6)
    assert (late.outcome, late.passed) == (UNFINISHED, 1)


def test_tests_run_together_for_as_long_as_a_process_may_take(project):
    for name, text in [("a", ""), ("b", ""), ("c", ""), ("d", "the dist/")]:
        (project / name).write_text(text)
    seconds = {"b::test[1]": 20.0, "a::test": 9.0, "b::test[2]": 20.0, "c::test": 2.0, "d::test": 1.0}
    assert list(parts(["d::test", "b::test[1]", "a::test", "c::test"], Clean(seconds, []))) == [
        Part(["a::test", "b::test[1]"], 29.0, False),  # file by file
        Part(["c::test"], 2.0, False),
        Part(["d::test"], 1.0, True),  # after the build
    ]
    assert list(parts(["b::test"], Clean(seconds, []))) == [Part(["b::test"], 40.0, False)]  # all cases of a test


def test_a_build_tells_what_changes_nothing_and_says_why_it_fails(project):
    (project / "calc.op").write_text("-> x + 0 * 1 # 5\n")
    (project / "dist" / "calc.js").write_text("-> x + 0 * 1")
    (project / "dist" / "calc.js.map").write_text("old")
    plus, zero, *_ = mutations("calc.op", (project / "calc.op").read_text())
    assert tried(plus, project / ".a", lambda _: [OF_CALC], 0, NEVER).outcome == UNNOTICED
    assert not trial.same_package(project / ".a")
    nothing = replace(zero, start=15, end=16, before="5", text="6")  # a comment
    said = tried(nothing, project / ".b", lambda _: [OF_CALC], 0, NEVER)
    assert (said.outcome, said.same) == (EQUIVALENT, True) and not (project / ".b").exists()
    broken = tried(replace(zero, start=9, end=10, before="*", text="**"), project / ".c", lambda _: [FINE], 0, NEVER)
    assert (broken.outcome, broken.by) == (NOTICED, "the build") and "AssertionError" in broken.said
    first = "raise SystemExit('calc.op' if 1 else 0)"
    (project / "buildtools" / "package.py").write_text(f"def build(): {first}\n")
    (project / "tests" / "test_other.py").write_text("def test_fine(): assert 0\n")
    assert (
        tried(zero, project / ".d", lambda _: [FINE], 0, NEVER).by == "FAILED tests/test_other.py::test_fine"
    )  # before a build


def test_a_test_that_fails_now_and_then_says_nothing(project):
    number = mutations("calc.py", (project / "calc.py").read_text())[1]
    (project / "tests" / "test_other.py").write_text(
        "from pathlib import Path\ndef test_fine():\n    tried = Path('tried')\n    again = tried.exists()\n"
        "    tried.touch()\n    assert again\n"
    )
    assert tried(number, project / ".a", lambda _: [FINE], 0, NEVER).outcome == UNNOTICED


def test_verdicts_stay_and_what_fails_anyway_says_nothing(project, capsys):
    chosen = mutations("calc.py", (project / "calc.py").read_text())
    report = project / ".build" / "trial.jsonl"
    assert try_all(chosen, 2, report) == 1
    said = capsys.readouterr().out
    assert (
        "noticed: 1 of 2 that change anything (0 change nothing)" in said
        and f"unnoticed: {chosen[0]}" in said
        and "2 tests, 1 left out" in said
    )
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


def test_the_tests_that_run_what_changes_are_known(tmp_path):
    counts, places, before, after = (tmp_path / name for name in ("counts", "places", "before", "after"))
    for folder in (counts, places, before / "runtime", after / "runtime"):
        folder.mkdir(parents=True)
    text = "const f = (x) => (x ? yes(x) : no(x)); f(1);"
    (before / "runtime" / "x.js").write_text(text)
    program = tmp_path / "dist" / "runtime" / "x.mjs"
    program.parent.mkdir(parents=True)
    program.write_text(f"const yes = String, no = Number;\n{text}")
    done = node.run([program], env={executed.COUNTS: str(counts)})
    assert done.returncode == 0, done.stdout
    another = tmp_path / "another"
    (another / "runtime").mkdir(parents=True)
    (another / "runtime" / "x.mjs").write_text("// Of a package that a test built.\n")
    executed.note("tests/test_x.py::test_x", counts, places, another)
    assert executed.read(places) == {}
    executed.note("tests/test_x.py::test_x", counts, places, tmp_path / "dist")
    found = executed.read(places)
    ran = {word: program.read_text().index(word) for word in ("yes(x)", "no(x)")}
    assert executed.running(found, {"runtime/x.mjs": ran["yes(x)"]}) == {"tests/test_x.py::test_x"}
    assert executed.running(found, {"runtime/x.mjs": ran["no(x)"]}) == set()
    (after / "runtime" / "x.js").write_text(text.replace("yes", "YES"))
    assert executed.changes(before, after) == {"runtime/x.js": text.index("yes")}
    clean = Clean({"tests/test_node.py::a": 1.0, "tests/test_node.py::b": 2.0}, [], {"runtime/x.js": {}})
    clean.places["runtime/x.js"]["tests/test_node.py::b"] = [(0, 40)]
    typescript = mutations("runtime/nn/hooks.ts", (ROOT / "runtime" / "nn" / "hooks.ts").read_text())[0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mutate, "ROOT", tmp_path / "root")
        (tmp_path / "root").mkdir()
        before.rename(tmp_path / "root" / "dist")
        patch.setattr(mutate, "concerned", lambda *_: True)
        near, others = selection(typescript, clean, after)
    assert [part.tests for part in near + others] == [["tests/test_node.py::b"], ["tests/test_node.py::a"]]


def test_what_hangs_is_noticed():
    assert failed([sys.executable, "-c", "while True: pass"], ROOT, 0.5) == "FAILED it hangs"
    assert failed([sys.executable, "-c", "pass"], ROOT, 60) == ""
    assert failed([sys.executable, "-c", "raise SystemExit(3)"], ROOT, 60) == "it failed"
