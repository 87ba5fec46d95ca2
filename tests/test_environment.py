"""What build.py sets up: every package by version and hash, tools on a Node that is kept up, and what it says where it
cannot."""

import re
import sys
from importlib import metadata

import pytest

from buildtools import environment, node
from buildtools.paths import NODE_MODULES, ROOT


def pinned(name: str) -> dict[str, str]:
    return dict(re.findall(r"^([\w.-]+)==([^\s;]+)", (ROOT / name).read_text(), re.M))


def test_requirements_name_every_package_with_its_hashes():
    every = pinned("requirements.txt")
    assert pinned("requirements.in").items() <= every.items(), (
        "requirements.txt is not what requirements.in makes; that file says how"
    )
    assert len(re.findall(r"--hash=sha256:[0-9a-f]{64}", (ROOT / "requirements.txt").read_text())) >= len(every)
    plain = lambda name: re.sub(r"[-_.]+", "-", name).lower()
    installed = {
        plain(d.name): d.version for d in metadata.distributions(path=[p for p in sys.path if "site-packages" in p])
    }
    assert {
        name: v for name, v in installed.items() if every.get(name) != v and name not in ("pip", "setuptools")
    } == {}


def test_windows_is_refused_in_a_sentence(monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(environment.SetupError, match="^[^\n]*Windows[^\n]*$"):
        environment.enter()


def test_tools_run_on_a_node_that_is_kept_up(monkeypatch, tmp_path):
    """Also where the package runs on nodejs-bin's."""
    monkeypatch.setenv("TENSORLOOM_NODE", "bundled")
    for choice in (node.executable, node.development):
        choice.cache_clear()
    try:
        (tmp_path / "version.cjs").write_text("console.log(process.version)")
        assert node.run([tmp_path / "version.cjs"]).stdout.startswith("v18.4.")
        assert node.version(node.development()) >= node.OLDEST_FOR_TOOLS and str(node.newest()) == node.npm()[0]
        assert re.match(r"\d+\.\d+", node.run([NODE_MODULES / "esbuild" / "bin" / "esbuild", "--version"]).stdout)
    finally:
        monkeypatch.undo()
        for choice in (node.executable, node.development):
            choice.cache_clear()
