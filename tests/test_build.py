"""The build itself: the same bytes from any folder and any process, reports that are current, docs that are true."""

import filecmp
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from definitions import LIBRARY
from turns import turn

from buildtools import by_hand, package, reports, typescript
from buildtools.paths import EARLIER, ROOT, SOURCES
from codegen.earlier import Earlier
from dsl.checking.reach import uncalled

AGAIN = """
import sys
from pathlib import Path
from buildtools import package, typescript
here = Path(sys.argv[1])
(here / "compile-report.md").write_text(package.build(here / "dist", here / "src", earlier=here / "earlier"))
"""


def same_tree(left: Path, right: Path) -> list[str]:
    names = [{str(file.relative_to(top)) for file in top.rglob("*") if file.is_file()} for top in (left, right)]
    different = filecmp.cmpfiles(left, right, names[0] & names[1], shallow=False)
    return sorted(names[0] ^ names[1]) + different[1] + different[2]


ANEW = 3  # of what earlier builds kept, one thing in so many is made anew with each commit (turns.py)


def kept_but_for_this_turn(folder: Path) -> None:
    """What the build of this checkout kept, in another folder, without what is to be made anew."""
    kept = Earlier(EARLIER).folder
    (folder / kept.name).mkdir(parents=True)
    for file in kept.glob("*-" + "[0-9a-f]" * 32):
        if turn() is not None and (int(file.name[-8:], 16) + turn()) % ANEW:
            os.link(file, folder / kept.name / file.name)


def test_a_build_in_another_folder_is_byte_equal_and_its_report_is_the_committed_one(dist, tmp_path):
    """Where strings have other hashes, so that no order is one of a set, and with a third of all things made anew."""
    kept_but_for_this_turn(tmp_path / "earlier")
    env = {**os.environ, "PYTHONHASHSEED": "7", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", AGAIN, str(tmp_path)], cwd=tmp_path, env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert same_tree(dist, tmp_path / "dist") == []
    assert same_tree(SOURCES, tmp_path / "src") == []
    assert reports.REPORT.read_text() == (tmp_path / "compile-report.md").read_text()


def test_folders_of_definitions_are_there_and_their_files_have_names_of_their_own(tmp_path):
    (tmp_path / "empty").mkdir()
    for name in ("mine", "yours", "again"):
        (tmp_path / name).mkdir()
    for file in ("mine/activation.op", "yours/routines.op", "again/extra.op"):
        (tmp_path / file).write_text("op f(x: Num) = x\n")
    wrong = {
        "none": "there is no such folder",
        "empty": "there is no .op file in it",
        "mine": "activation.op has the name of another module",
        "yours": "routines.op has the name of another module",
    }
    for name, words in wrong.items():
        with pytest.raises(typescript.BuildError, match=words):
            package.definitions([tmp_path / name])
    taken = set()
    assert package.additional(tmp_path / "again", taken) == [tmp_path / "again" / "extra.op"] and taken == {"extra"}
    with pytest.raises(typescript.BuildError, match="extra.op has the name"):
        package.additional(tmp_path / "again", taken)


UNFINISHED = {
    "alone": (
        "op lonely(x: Float) = x\n\nop lonelier(x: Float) = lonely(x)\n",
        ["nothing can call `lonely`", "nothing can call `lonelier`", "alone.op:3:4"],
    ),
    "taken": (
        "op mine(x: Float) = x\n    as torch.cat, torch.special.relu, Tensor.clone\n",
        [
            "no call of `torch.cat` reaches `mine`",
            "no call of `Tensor.clone` reaches `mine`",
            "the package has it by hand",
        ],
    ),
    "late": (
        "op mine(input: Float) = input\n    as torch.relu\n",
        ["no call of `torch.relu` reaches `mine`", "`relu` takes them all", "activation.op, line"],
    ),
}


@pytest.mark.parametrize("name", UNFINISHED)
def test_added_definitions_that_nobody_could_use_are_refused(name, tmp_path):
    text, words = UNFINISHED[name]
    (tmp_path / f"{name}.op").write_text(text)
    with pytest.raises(typescript.BuildError) as refused:
        package.definitions([tmp_path], earlier=Earlier(EARLIER))
    for said in words:
        assert said in str(refused.value), str(refused.value)
    assert str(refused.value).count("error[") == sum("`" in w and "no call" in w or "nothing can" in w for w in words)


def test_every_op_of_the_package_can_be_called():
    assert uncalled(LIBRARY.ops, by_hand.found(Earlier(EARLIER)).called) == []


def test_the_readme_names_the_commands_that_exist():
    said = set(re.findall(r"python3 build\.py ?(\w*)", (ROOT / "README.md").read_text()))
    known = subprocess.run([sys.executable, str(ROOT / "build.py"), "--help"], capture_output=True, text=True).stdout
    assert {"", "test"} <= said
    for command in said - {""}:
        assert re.search(rf"^ +{command} ", known, re.M), command


def test_the_lock_file_names_no_registry():
    assert "resolved" not in (ROOT / "package-lock.json").read_text()
