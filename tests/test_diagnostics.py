"""Errors as text and as JSON; suggestions; the command line."""

import json

from dsl.text.diagnostics import SHOWN, WIDTH, Error, did_you_mean, distance, near, render, to_json
from dsl.text.source import Source
from workbench.__main__ import main

SOURCE = Source("x.op", "op f(x: Num)\n    out = yy + x\n\n    y = 2\n" + "# " + "z" * 400 + "\n")


def test_labels_notes_and_help():
    e = Error(
        "name", "unknown name `yy`", (23, 25), "did you mean `y`?", (((35, 36), "assigned here"),), ("write it above",)
    )
    assert (
        render([e], SOURCE)
        == """\
error[name]: unknown name `yy`
 --> x.op:2:11
  |
2 |     out = yy + x
  |           ^^ did you mean `y`?
...
4 |     y = 2
  |     - assigned here
  = help: write it above

1 error in x.op"""
    )


def test_columns_count_wide_letters_and_tabs():
    source = Source("x.op", "\t数 = ?\n")
    text = render([Error("syntax", "no", (5, 6))], source).split("\n")
    assert text[3].index("?") + 1 == text[4].index("^")  # one letter, two columns
    assert text[1] == " --> x.op:1:6"


def test_long_lines_are_shown_in_part():
    at = SOURCE.text.index("zzz") + 300
    lines = render([Error("syntax", "no", (at, at + 3))], SOURCE).split("\n")
    assert max(map(len, lines)) < WIDTH + 10 and "^^^" in lines[4]


def test_spans_over_lines_and_at_the_end():
    assert "^" * 12 in render([Error("syntax", "no", (0, len(SOURCE.text)))], SOURCE)
    end = len(SOURCE.text)
    assert "^" in render([Error("syntax", "no", (end, end))], SOURCE)
    assert "x.op:1:1" in render([Error("layout", "no", (0, 0))], Source("x.op", ""))


def test_sorted_once_and_at_most_twenty():
    errors = [Error("name", f"m{i:02}", (i % 10, i % 10 + 1)) for i in reversed(range(30))]
    text = render(errors + errors, SOURCE)
    assert text.count("error[") == SHOWN and text.endswith("... and 10 more\n\n30 errors in x.op")
    places = [int(line.split(":")[-1]) for line in text.split("\n") if "-->" in line]
    assert places == sorted(places)
    assert render([], SOURCE) == ""


def test_several_files():
    a, b = Source("a.op", "op"), Source("b.op", "op")
    text = render([Error("name", "two", (0, 2), path="b.op"), Error("name", "one", (0, 2), path="a.op")], [a, b])
    assert text.index("a.op:1:1") < text.index("b.op:1:1") and text.endswith("2 errors in 2 files")


def test_json():
    e = Error("name", "unknown", (23, 25), "label", (((35, 36), "note"),), ("help",))
    (d,) = json.loads(to_json([e], SOURCE))
    assert d == {
        "code": "name",
        "message": "unknown",
        "path": "x.op",
        "line": 2,
        "column": 11,
        "end_line": 2,
        "end_column": 13,
        "label": "label",
        "notes": [{"line": 4, "column": 5, "end_line": 4, "end_column": 6, "text": "note"}],
        "help": ["help"],
    }


def test_distance_counts_edits():
    for a, b, d in (
        ("", "", 0),
        ("sigmod", "sigmoid", 1),
        ("ab", "ba", 1),
        ("dim", "dims", 1),
        ("axis", "dim", 3),
        ("kitten", "sitting", 3),
        ("ca", "abc", 3),
    ):
        assert distance(a, b) == distance(b, a) == d


def test_suggestions_stay_near():
    assert near("k", ["m", "n", "K"]) == ["K"]
    assert near("ab", ["ba", "cd", "abcd"]) == ["ba"]
    assert near("sigmod", ["sigmoid", "sign", "softmax"]) == ["sigmoid"]
    assert near("xx0", [f"xx{i}" for i in range(1, 9)]) == ["xx1", "xx2", "xx3", "xx4"]
    assert did_you_mean("frobnicate", ["sum"]) == ""


def test_check_command(tmp_path, capsys):
    good, bad = tmp_path / "good.op", tmp_path / "bad.op"
    good.write_text("op f(x: Num) = 2 * x\n")
    bad.write_text("op h(x: Num) = f(x) + z\n")
    assert main(["check", str(good)]) == 0 and capsys.readouterr().out == "no errors in 1 file\n"
    assert main(["check", str(tmp_path)]) == 1 and "unknown name `z`" in capsys.readouterr().out
    assert main(["check", str(bad), "--json"]) == 1
    assert [e["code"] for e in json.loads(capsys.readouterr().out)] == ["name"]


def test_a_file_is_checked_with_what_it_names_in_the_others_of_its_folder(tmp_path, capsys):
    (tmp_path / "defs.op").write_text(
        "def inner(x) = x + 1\ndef twice(x) = 2 * inner(x)\ndef lost(x) = nowhere(x)\nop broken(x: Num) = y\n"
    )
    (tmp_path / "ops.op").write_text("op f(x: Num) = twice(x)\n    test f([1]) == [4]\n")
    (tmp_path / "wrong.op").write_text("op g(x: Num) = twice(x) + inner(x, 2)\n")
    assert main(["check", str(tmp_path / "ops.op")]) == 0, capsys.readouterr().out
    assert main(["check", str(tmp_path / "wrong.op")]) == 1
    said = capsys.readouterr().out
    assert "wrong.op:1" in said and "1 error in" in said, said
    assert main(["check", str(tmp_path)]) == 1
    said = capsys.readouterr().out
    assert all(text in said for text in ("nowhere", "`y`", "wrong.op:1")), said


def test_without_a_command_the_commands_are_listed(capsys):
    assert main([], program="python -m dsl") == 0
    shown = capsys.readouterr().out
    assert shown.startswith("usage: python -m dsl") and all(c in shown for c in ("check", "explain", "show"))


def test_show_command(tmp_path, capsys):
    (tmp_path / "a.op").write_text("op f{D}d(x: Num[*X:D]) -> Num[*X]\n    for D in 1, 2\n    out[*i] = (x[*i])*2\n")
    assert main(["show", "f2d", "--ops", str(tmp_path)]) == 0
    assert "    out[*i] = x[*i] * 2\n" in capsys.readouterr().out
    assert main(["show", "f9d", "--ops", str(tmp_path)]) == 2


def test_a_failure_of_the_compiler_is_no_traceback(tmp_path, capsys, monkeypatch):
    (tmp_path / "a.op").write_text("op f(x: Num) = 2 * x\n")
    monkeypatch.setattr("workbench.checkup.check_reads", lambda *a: 1 / 0)
    assert main(["check", str(tmp_path)]) == 3
    shown = capsys.readouterr().err
    assert "looking for reads outside in `f`" in shown and "Traceback" not in shown and "ZeroDivisionError" not in shown
