"""build.py mutate: what is changed is code, and a mutation that hangs or fails is noticed."""

import sys

from buildtools.mutate import failed, tried
from buildtools.mutations import draw, mutations, sources
from buildtools.paths import ROOT

TYPESCRIPT = '''\
// a + b
const s = "a + b" + t, u = new Map<string, number>();
  this.count += 1;
  if (a < b && -c) return Math.min(a, b);
  total(a);
'''
OP = '''\
op f(x: Float) = x * 2
    "a + b"
    require N > 0, "none"     # N > 0
'''


def shown(file: str, text: str) -> list[str]: return [str(m).partition(": ")[2] for m in mutations(file, text)]


def test_only_code_is_changed():
    assert shown("a.ts", TYPESCRIPT) == ["`+` becomes `-`", "`+=` becomes `-=`", "`1` becomes `2`", "`<` becomes `<=`", "`&&` becomes `||`", "`min` becomes `max`",
                                         "without `this.count += 1;`", "without `total(a);`"]
    assert shown("a.op", OP) == ["`*` becomes `+`", "`2` becomes `3`", "`>` becomes `>=`", "`0` becomes `1`", 'without `require N > 0, "none"     # N > 0`']
    assert shown("a.py", "x = f(1)  # 2\nif x:\n    x += 'a + b'\n") == ["`1` becomes `2`", "without `x += 'a + b'`"]


def test_a_seed_draws_the_same_from_all_kinds_of_sources():
    drawn = draw(300, 5)
    assert drawn == draw(300, 5) and len({(m.file, m.line) for m in drawn}) == 300
    assert {m.file.rpartition(".")[2] for m in drawn} >= {"py", "ts", "op"} and {m.file for m in drawn} <= set(sources())
    assert all(m.file.startswith("dsl/") for m in draw(20, 1, "dsl/"))


def test_a_mutation_is_applied_noticed_and_taken_back(tmp_path):
    (tmp_path / "buildtools").mkdir()
    (tmp_path / "buildtools" / "__init__.py").touch()
    (tmp_path / "buildtools" / "package.py").write_text("def build(): pass\n")
    (tmp_path / "calc.py").write_text("def f(x): return x + 0\n")
    (tmp_path / "test_calc.py").write_text("from calc import f\ndef test_f(): assert f(0) == 0\n")
    sign, number = mutations("calc.py", (tmp_path / "calc.py").read_text())
    assert tried(number, tmp_path, ["test_calc.py"]).noticed == "FAILED test_calc.py::test_f"
    assert tried(sign, tmp_path, ["test_calc.py"]).noticed == ""       # 0 + 0 is 0 - 0
    assert (tmp_path / "calc.py").read_text() == "def f(x): return x + 0\n"


def test_what_hangs_is_noticed():
    assert failed([sys.executable, "-c", "while True: pass"], ROOT, 0.5) == "FAILED it hangs"
    assert failed([sys.executable, "-c", "pass"], ROOT, 60) == ""
    assert failed([sys.executable, "-c", "raise SystemExit(3)"], ROOT, 60) == "it failed"
