"""What earlier builds made is taken where nothing changed, and only there."""

import pytest

from codegen.api.package import ops_files
from codegen.earlier import Earlier
from dsl.gradients.adjoint import complete
from dsl.library import load_text
from dsl.text.diagnostics import DefinitionError
from workbench.library import load

DEFINITIONS = """def half(x) = x / {by}

op first(input: Float) = half(input)
    "Half."
    test first([3.0]) ~= [{result}]

op second(input: Float) = first(input) + 1
    "More than half."

op third(input: Float) = input + 1
    "One more."
"""


def contents(op):
    """What is known of an op; a program is equal to itself alone, so its parts are compared."""
    return [p and vars(p) for p in (op.forward, op.gradient, op.gradient2)], op.source


@pytest.fixture
def build(tmp_path):
    """build(**holes): the ops by name, and which of them were made anew."""

    def run(**holes):
        (tmp_path / "things.op").write_text(DEFINITIONS.format(**{"by": 2, "result": "1.50", **holes}))
        made = []
        earlier = Earlier(tmp_path / "earlier")
        keep = earlier.keep

        def noting(value, kind, *source):
            if kind == "ops":
                made.extend(op.name for op in value)
            return keep(value, kind, *source)

        earlier.keep = noting
        return load([tmp_path / "things.op"], earlier=earlier).ops, made

    return run


def test_the_second_build_makes_nothing(build):
    first, made = build()
    assert made == ["first", "second", "third"]
    again, made = build()
    assert made == []
    assert {n: contents(op) for n, op in again.items()} == {n: contents(op) for n, op in first.items()}


def test_a_change_reaches_all_that_call_it_and_no_more(build):
    build()
    assert build(by=4, result="0.75")[1] == ["first", "second"]
    assert build()[1] == [], "what was right before is still known"


def test_a_mistake_is_found_as_often_as_it_is_built(build):
    for _ in range(2):
        with pytest.raises(DefinitionError, match="this test fails"):
            build(result=7)
    assert build()[1] == ["first", "second", "third"]


def test_another_compiler_finds_nothing(build, monkeypatch):
    build()
    monkeypatch.setattr("codegen.earlier.compiler", lambda: "another")
    assert build()[1] == ["first", "second", "third"]


def test_definitions_of_one_name_whose_sources_nobody_knows_are_made_each_by_itself(tmp_path):
    """Of texts that are no files."""
    made = []
    for value in ("x + 1", "exp(x)"):
        library, errors, _ = load_text(f"op twin(x: Float) = {value}", "twins.op")
        assert not errors
        complete(library.ops["twin"])
        files, _ = ops_files(library, Earlier(tmp_path / "earlier"))
        made.append(files["ops/data/twins.js"])
    assert made[0] != made[1]
