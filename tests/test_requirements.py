"""Each `require` of the definitions is missed where it is removed, or one of its comparisons turned: recorded calls,
legal ones and refused ones, are answered as when they were recorded (tests/recorded/requirements.py, which says
how)."""

import json
import re
from dataclasses import replace

import pytest
from definitions import LIBRARY, packaged
from recorded import requirements

CALLS = json.loads(requirements.RECORDED.read_text())
NOT_SHOWN = CALLS.pop("not shown")
RENEW = "renew with .venv/bin/python tests/recorded/requirements.py NAME..., and look at what changed"
OF_AN_ARGUMENT = ("include_last_offset: ",)  # PyTorch's own words
REQUIRING = requirements.refusing(LIBRARY.ops)


def test_calls_are_recorded_for_the_ops_that_require_something():
    assert CALLS.keys() == REQUIRING.keys(), RENEW


def test_messages_leave_the_name_to_who_says_them():
    """An error begins with the function that was called: a message that names it, too, says it twice."""
    twice = [
        f"{op.name}: {r.message!r}"
        for op in LIBRARY.ops.values()
        for r in op.requires
        if not r.warns and re.match(r"\w+(\{D\})?d?: ", r.message) and not r.message.startswith(OF_AN_ARGUMENT)
    ]
    assert not twice, twice


@pytest.mark.parametrize("file", sorted({op.file for op in REQUIRING.values()}))
def test_recorded_calls_are_answered_alike(file):
    wrong = []
    for name, op in REQUIRING.items():
        if op.file != file:
            continue
        data = packaged(name)
        for args, wanted in CALLS[name]:
            said = requirements.answer(data, [requirements.from_json(a) for a in args])
            if said != wanted:
                wrong.append(f"{name}{tuple(args)}: {said or 'legal'}, recorded: {wanted or 'legal'}")
    assert not wrong, f"{len(wrong)} calls; {RENEW}\n" + "\n".join(wrong[:10])


def test_a_requirement_is_missed():
    """Removing one, or turning it, changes what recorded calls answer, for those that are not said to show nothing."""
    for name, op in REQUIRING.items():
        data = packaged(name)
        excused = " ".join(said for said in NOT_SHOWN.get(name, ()) if "no call tells it from" not in said)
        calls = [([requirements.from_json(a) for a in args], wanted) for args, wanted in CALLS[name]]
        for i, r in enumerate(data.requires):
            if op.requires[i].warns or op.requires[i].message in excused:
                continue
            less = replace(data, requires=[*data.requires[:i], *data.requires[i + 1 :]])
            assert any(requirements.answer(less, args) != wanted for args, wanted in calls), (
                f"{name}: without {r.message!r} nothing is missed"
            )
