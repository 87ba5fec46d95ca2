"""Builds that were killed, changed by hand, or run side by side: what lies in dist/ afterwards is what the sources
say."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from test_build import same_tree

from buildtools import lock, package, typescript
from buildtools.paths import ROOT
from codegen.api.package import write

# Compiles argv[1] to argv[2] and is killed at the moment argv[3].
KILLED = """
import os, signal, sys
from pathlib import Path
from buildtools import node, package, typescript
sources, dist, moment = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
def die(): os.kill(os.getpid(), signal.SIGKILL)
def run(words, run=node.run, **rest):
    if moment == "before TypeScript": die()
    before = (dist / "b.js").read_bytes()
    done = run(words, **rest)
    if moment == "half a file": (dist / "a.js").write_bytes((dist / "a.js").read_bytes()[:9])
    if moment == "half of the files": (dist / "b.js").write_bytes(before)
    if moment == "one file less": (dist / "b.js").unlink()
    if moment != "never": die()
    return done
node.run = run
typescript.compile_typescript(sources, dist)
"""
STATES = [
    {
        "a.ts": "export const a: number = 1;\n",
        "b.ts": "export const b: string = 'ä';\n",
        "op.js": "export const c = 1;\n",
        "op.d.ts": "export declare const c = 1;\n",
    },
    {
        "a.ts": "export const a: number = 2 + 2;\n",
        "b.ts": "export const b: string[] = ['ö'];\n",
        "op.js": "export const c = 2;\n",
        "op.d.ts": "export declare const c = 2;\n",
    },
]
MOMENTS = ["before TypeScript", "half a file", "half of the files", "one file less", "after TypeScript"]


def start(code: str, *words: object, **options) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, words)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        **options,
    )


@pytest.fixture(scope="module")
def clean(tmp_path_factory) -> list[Path]:
    """What a build from nothing makes of each state."""
    made = []
    for state in STATES:
        folder = tmp_path_factory.mktemp("clean")
        write(folder / "src", state)
        typescript.compile_typescript(folder / "src", folder / "dist")
        made.append(folder / "dist")
    return made


@pytest.fixture
def built(tmp_path) -> tuple[Path, Path]:
    """Sources in the first state, and what was made of them."""
    write(tmp_path / "src", STATES[0])
    typescript.compile_typescript(tmp_path / "src", tmp_path / "dist")
    return tmp_path / "src", tmp_path / "dist"


@pytest.mark.parametrize("moment", MOMENTS)
def test_an_edit_a_kill_an_undo_and_a_build_leave_what_the_sources_say(moment, built, clean):
    sources, dist = built
    for then in (0, 1):
        write(sources, STATES[1])
        assert start(KILLED, sources, dist, moment).wait(60) == -9
        write(sources, STATES[then])
        typescript.compile_typescript(sources, dist)
        assert same_tree(dist, clean[then]) == []
        write(sources, STATES[0])
        typescript.compile_typescript(sources, dist)


def test_a_kill_at_any_time(built, clean):
    sources, dist = built
    for delay in (0.05, 0.2, 0.35, 0.5, 0.8):
        write(sources, STATES[1])
        process = start(KILLED, sources, dist, "never", start_new_session=True)
        time.sleep(delay)
        os.killpg(process.pid, 9)
        process.wait(60)
        write(sources, STATES[0])
        typescript.compile_typescript(sources, dist)
        assert same_tree(dist, clean[0]) == []


def test_files_that_were_changed_by_hand_are_made_anew(built, clean):
    sources, dist = built
    for name in ("a.js", "b.d.ts", "op.js", "op.d.ts"):
        for change in (lambda file: file.unlink(), lambda file: file.write_text("x"), lambda file: file.write_text("")):
            change(dist / name)
            typescript.compile_typescript(sources, dist)
            assert same_tree(dist, clean[0]) == [], name
    (dist / "more.js").write_text("x")
    typescript.compile_typescript(sources, dist)
    assert same_tree(dist, clean[0]) == []
    (sources.parent / "src.written").write_text("{")
    (dist / "a.js").write_text("x")
    typescript.compile_typescript(sources, dist)
    assert same_tree(dist, clean[0]) == []


def test_nothing_is_compiled_where_nothing_changed(built, monkeypatch):
    monkeypatch.setattr(typescript.node, "run", lambda *_, **__: pytest.fail("TypeScript ran"))
    typescript.compile_typescript(*built)


def test_half_a_letter_in_a_generated_file_is_written_over(tmp_path):
    (tmp_path / "b.ts").write_bytes(STATES[0]["b.ts"].encode()[:26])
    write(tmp_path, STATES[0])
    assert (tmp_path / "b.ts").read_text(encoding="utf-8") == STATES[0]["b.ts"]


HOLDER = """
import subprocess, sys, time
from pathlib import Path
from buildtools import lock
folder, name, child = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
def note(word):
    with (folder / "log").open("a") as log: log.write(f"{word} {name}\\n")
with lock.alone(folder / "lock", print):
    note("begins")
    if child: subprocess.run([sys.executable, "-c", f"import time; time.sleep(1.5); open({str(folder / 'log')!r}, 'a').write('child ends {name}\\\\n')"], pass_fds=lock.descriptors())
    time.sleep(0.3)
    note("ends")
"""


def log_of(folder: Path, until: str) -> list[str]:
    for _ in range(600):
        lines = (folder / "log").read_text().splitlines() if (folder / "log").exists() else []
        if until in lines:
            return lines
        time.sleep(0.02)
    raise AssertionError(f"no {until!r} in {lines}")


def test_one_build_at_a_time(tmp_path):
    several = [start(HOLDER, tmp_path, name, "") for name in "abc"]
    said = [process.communicate(timeout=60)[0] for process in several]
    lines = (tmp_path / "log").read_text().split("\n")[:-1]
    assert len(lines) == 6 and all(
        lines[i].split() == ["begins", lines[i + 1].split()[1]] and lines[i + 1].startswith("ends") for i in (0, 2, 4)
    ), lines
    assert sum("waiting for another build in this folder" in text for text in said) >= 1


def test_a_killed_build_lets_the_next_begin_once_the_programs_it_started_have_ended(tmp_path):
    first = start(HOLDER, tmp_path, "a", "child")
    log_of(tmp_path, "begins a")
    time.sleep(0.4)
    first.kill()
    second = start(HOLDER, tmp_path, "b", "")
    assert second.wait(60) == 0
    assert (tmp_path / "log").read_text().splitlines() == ["begins a", "child ends a", "begins b", "ends b"]


def test_forked_workers_keep_nobody_waiting(tmp_path):
    with lock.alone(tmp_path / "lock", print):
        assert len(lock.descriptors()) == 1
        child = os.fork()
        if child == 0:
            os._exit(len(lock.descriptors()))
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert lock.descriptors() == ()


SETTING_UP = """
import sys, time
from pathlib import Path
from buildtools import environment
here = Path(sys.argv[1])
environment.CACHE, environment.NODE_MODULES, environment.VENV = here / "cache", here / "node_modules", here / "venv"
def run(command, *_, **__):
    (here / "log").open("a").write("ran\\n")
    time.sleep(0.5)
    (here / "node_modules").mkdir(exist_ok=True)
    environment.python().parent.mkdir(parents=True, exist_ok=True)
    environment.python().touch()
environment._run = run
environment.ensure_venv()
environment.ensure_node_modules()
"""


def test_two_first_builds_set_up_once(tmp_path):
    both = [start(SETTING_UP, tmp_path) for _ in range(2)]
    said = [process.communicate(timeout=60)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    assert (tmp_path / "log").read_text().splitlines() == ["ran"] * 3  # venv, pip, npm


def test_a_build_holds_the_lock_of_its_sources(tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr(package, "definitions", lambda *_, **__: seen.append(lock.descriptors()))
    monkeypatch.setattr("codegen.api.package.generate", lambda *_: pytest.fail("stop here"))
    with pytest.raises(pytest.fail.Exception):
        package.build(tmp_path / "dist", tmp_path / "src", earlier=None)
    assert len(seen[0]) == 1 and (tmp_path / "src.lock").exists()
