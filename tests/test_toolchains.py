"""The package as users' tools meet it: built from the packed tarball by each of them, a small program trains a step
with WebGPU and without.

Bundlers and runtimes other than Node are installed for these tests alone (buildtools/toolchains.py), which takes time:
every day has some of them.  TENSORLOOM_TOOLCHAINS=all asks for all, TENSORLOOM_TOOLCHAINS=vite,next for these; what
needs nothing installed runs always."""

import base64
import datetime
import hashlib
import json
import os
import platform
import re
import socket
import subprocess
import sys

import pytest

from buildtools import gpu, node, package, toolchains
from buildtools.browser import chromium, serve
from buildtools.paths import NODE_MODULES, ROOT

# A day's tools each.
DAYS = [["vite"], ["rollup", "bun"], ["next"], ["vite-before", "deno"], ["webpack"], ["parcel"]]
HERE = ROOT / "tests" / "toolchains"
PROGRAMS, BUILDS = HERE / "programs", HERE / "builds"
RUNTIMES = {
    "bun": "node_modules/@oven/bun-linux-x64-baseline/bin/bun",
    "deno": "node_modules/@deno/linux-x64-glibc/deno",
}
# Nothing but files of this server, no eval, no text made into scripts.
STRICT = "default-src 'none'; script-src 'self'; worker-src 'self'; connect-src 'self'"
TRUSTED = f"{STRICT}; require-trusted-types-for 'script'"


def chosen() -> list[str]:
    asked = os.environ.get("TENSORLOOM_TOOLCHAINS", "")
    everything = [tool for day in DAYS for tool in day]
    if asked == "all":
        return everything
    if not asked:
        return DAYS[datetime.date.today().toordinal() % len(DAYS)]
    unknown = set(asked.split(",")) - set(everything)
    if unknown:
        raise ValueError(
            f"TENSORLOOM_TOOLCHAINS: there is no {', '.join(sorted(unknown))}; there are {', '.join(everything)}"
        )
    return asked.split(",")


TODAY = chosen()
BUNDLERS = [tool for tool in TODAY if tool not in RUNTIMES]


@pytest.fixture(scope="module")
def tarball(dist, tmp_path_factory):
    return package.pack(tmp_path_factory.mktemp("pack"), dist)


def files(program: str, **more) -> dict:
    return {
        "program.js": PROGRAMS / f"{program}.js",
        "page.js": PROGRAMS / "page.js",
        "index.html": PROGRAMS / "page.html",
        **more,
    }


def check(result: dict, webgpu: bool, where: str) -> None:
    assert "error" not in result, f"{where}: {result['error']}"
    assert (result["gpu"], result["device"]) == (webgpu, "webgpu" if webgpu else "cpu"), (where, result)
    assert result["losses"][1] < result["losses"][0], (where, result)


def check_pages(addresses: list[str]) -> None:
    """The pages train in a browser with WebGPU and in one without, say nothing of errors, lack no entry that they
    import for what it does, and load nothing of Node."""
    for webgpu in (True, False):
        with chromium(webgpu) as browser:
            for address in addresses:
                page, said, warned, loaded = browser.new_page(), [], [], []
                page.on("pageerror", lambda error: said.append(str(error)))
                page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
                page.on("console", lambda message: warned.append(message.text) if message.type == "warning" else None)
                page.on("request", lambda request: loaded.append(request.url))
                page.goto(address, timeout=120_000)  # a development server may build what it is asked for first
                try:
                    page.wait_for_function("globalThis.trained !== undefined", timeout=60_000)
                except Exception:
                    raise AssertionError(f"{address}: nothing runs: {said}") from None
                check(page.evaluate("globalThis.trained"), webgpu, address)
                assert not [text for text in said if "favicon" not in text], (address, said)
                assert not [text for text in warned if "tensorloom/wasm" in text], (address, warned)
                assert not [url for url in loaded if "platform" in url and "elsewhere" not in url], (address, loaded)
                page.close()


def built(done: subprocess.CompletedProcess, folder, name: str) -> None:
    """A build without a warning, in `out`, which loads no module of Node; it goes to `name`."""
    told = done.stdout + done.stderr
    assert done.returncode == 0 and not re.search(r"\bwarn(ing)?\b", told, re.I), told
    (folder / "out").rename(folder / name)
    for file in (folder / name).rglob("*.js"):
        assert not re.search(
            r"""(?:import|require|from)\s*\(?\s*["'`](node:|fs/promises["'`]|webgpu["'`])""", file.read_text()
        ), f"{file} loads a module of Node"


def test_these_tools_run_today(figure):
    rest = [tool for day in DAYS for tool in day if tool not in TODAY]
    figure(
        f"toolchains: esbuild, import map, scripts, workers, Node, {', '.join(TODAY)}"
        + (f"; not today (TENSORLOOM_TOOLCHAINS=all): {', '.join(rest)}" if rest else "")
    )


# --- Bundlers --------------------------------------------------------------------------------------

NEXT = ["../node_modules/next/dist/bin/next"]


def next_project(tarball, program: str):
    made = {f"app/{name}": BUILDS / "next" / name for name in ("layout.js", "page.js")} | {
        "next.config.mjs": BUILDS / "next" / "next.config.mjs"
    }
    return toolchains.project("next", tarball, {"program.js": PROGRAMS / f"{program}.js", **made})


def bundle(tool: str, program: str, tarball, at):
    """The project's folder, with what the tool made of the program in the folder `program`."""
    if tool == "next":
        folder, words = next_project(tarball, program), [*NEXT, "build"]
    elif tool == "parcel":
        folder = toolchains.project(tool, tarball, files(program), at)
        words = [
            "node_modules/parcel/lib/bin.js",
            "build",
            "index.html",
            "--dist-dir",
            "out",
            "--public-url",
            "./",
            "--no-cache",
            "--no-source-maps",
        ]
    else:
        script = "vite" if tool.startswith("vite") else tool
        folder = toolchains.project(tool, tarball, files(program, **{"build.mjs": BUILDS / f"{script}.mjs"}), at)
        words = ["build.mjs", "build", program]
    built(toolchains.run(words, folder), folder, program)
    if not (folder / program / "index.html").exists():
        (folder / program / "index.html").write_text((PROGRAMS / "page.html").read_text())
    return folder


@pytest.mark.parametrize("tool", BUNDLERS)
def test_a_bundle_trains(tool, tarball, tmp_path):
    # Every entry goes through Rollup, which leaves out most; Next.js takes half a minute for each.
    programs = {"next": ["whole"], "rollup": ["functional", "whole", "core", "compat"]}.get(
        tool, ["functional", "whole"]
    )
    for program in programs:
        bundle(tool, program, tarball, tmp_path / "project").joinpath(program).rename(tmp_path / program)
    # Next.js and Parcel write scripts into their pages; those of Next.js refer to the root.
    with serve(
        tmp_path / "whole" if tool == "next" else tmp_path, policy="" if tool in ("next", "parcel") else STRICT
    ) as address:
        check_pages([f"{address}/"] if tool == "next" else [f"{address}/{program}/index.html" for program in programs])


@pytest.mark.parametrize("tool", [tool for tool in TODAY if tool.startswith("vite") or tool == "next"])
def test_a_development_server_trains(tool, tarball, tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    if tool == "next":
        folder, words = next_project(tarball, "whole"), [*NEXT, "dev", "--hostname", "127.0.0.1", "--port", port]
    else:
        folder = toolchains.project(
            tool, tarball, files("whole", **{"build.mjs": BUILDS / "vite.mjs"}), tmp_path / "project"
        )
        words = ["build.mjs", "dev", port]
    with toolchains.serving(words, folder, re.compile(r"\bready\b", re.I)) as said:
        check_pages([f"http://127.0.0.1:{port}/"])
    # Vite's server says nothing unless something is wrong, that of Next.js what it does.
    assert (
        not re.search(r"\b(warn(ing)?|error)\b|[⚠⨯]", "".join(said), re.I) if tool == "next" else said == ["ready\n"]
    ), "".join(said)


def test_esbuild(tarball, tmp_path):
    for program in ("whole", "functional", "core"):
        folder = toolchains.project(
            None, tarball, files(program, **{"run.js": PROGRAMS / "run.js"}), tmp_path / "project"
        )
        words = [
            node.tool("esbuild"),
            "page.js",
            "--bundle",
            "--minify",
            "--splitting",
            "--format=esm",
            "--outdir=out",
            "--log-level=warning",
        ]
        built(toolchains.run(words, folder), folder, program)
        (folder / program / "index.html").write_text((PROGRAMS / "page.html").read_text())
        (folder / program).rename(tmp_path / program)
    with serve(tmp_path, policy=TRUSTED) as address:
        check_pages([f"{address}/{program}/index.html" for program in ("whole", "functional", "core")])
    # A bundle for Node: what Node has is imported from it when it runs.
    done = toolchains.run(
        [
            node.tool("esbuild"),
            "run.js",
            "--bundle",
            "--minify",
            "--platform=node",
            "--format=esm",
            "--outfile=out/run.mjs",
            "--log-level=warning",
        ],
        folder,
    )
    assert done.returncode == 0 and not done.stderr, done.stderr
    in_node(folder, ["out/run.mjs"])


# --- Pages without a bundler -----------------------------------------------------------------------


def test_pages_without_a_bundler(tarball, tmp_path):
    """An import map, classic scripts and a worker, under a strict policy."""
    names = json.dumps(
        {"imports": {"tensorloom": "./node_modules/tensorloom/index.js", "tensorloom/": "./node_modules/tensorloom/"}}
    )
    page = (PROGRAMS / "page.html").read_text()
    scripts = {
        f"{script}.html": page.replace(
            '<script type="module" src="./page.js">',
            f'<script src="./node_modules/tensorloom/{script}.js"></script><script src="./classic.js">',
        )
        for script in ("torch", "torch-core")
    }
    made = {
        "mapped.html": page.replace("<body>", f'<body><script type="importmap">{names}</script>'),
        **scripts,
        "working.html": page.replace("page.js", "worker-page.js"),
        **{name: PROGRAMS / name for name in ("classic.js", "worker-page.js", "worker.js")},
    }
    folder = toolchains.project(None, tarball, files("whole", **made), tmp_path / "project")
    digest = base64.b64encode(hashlib.sha256(names.encode()).digest()).decode()
    with (
        serve(folder, policy=STRICT.replace("script-src 'self'", f"script-src 'self' 'sha256-{digest}'")) as address,
        serve(folder, policy=TRUSTED) as trusted,
    ):
        check_pages(
            [f"{address}/mapped.html", f"{address}/working.html", f"{trusted}/torch.html", f"{trusted}/torch-core.html"]
        )


# --- Runtimes --------------------------------------------------------------------------------------


def trained(done: subprocess.CompletedProcess) -> dict:
    lines = [line.removeprefix("trained ") for line in done.stdout.splitlines() if line.startswith("trained ")]
    assert lines, done.stdout + done.stderr
    return json.loads(lines[0])


def in_node(folder, words: list, which=None) -> None:
    """With the package `webgpu` and without."""
    link = folder / "node_modules" / "webgpu"
    for webgpu in (False, True):
        if webgpu:
            link.symlink_to(NODE_MODULES / "webgpu")
        done = toolchains.run(words, folder, gpu.variables(), which or node.executable())
        if webgpu:
            link.unlink()
        check(trained(done), webgpu, f"{words[0]} in Node {node.version(which or node.executable())}")


@pytest.mark.parametrize("which", ["oldest", "chosen", "newest"])
def test_node(which, tarball, tmp_path):
    """Modules, and `require`: before Node 20.19 that is the classic script."""
    folder = toolchains.project(
        None,
        tarball,
        {"program.js": PROGRAMS / "whole.js", "run.js": PROGRAMS / "run.js", "required.cjs": PROGRAMS / "required.cjs"},
        tmp_path / "project",
    )
    executable = {"oldest": node.bundled, "chosen": node.executable, "newest": node.newest}[which]()
    for script in ("run.js", "required.cjs"):
        in_node(folder, [script], executable)


@pytest.mark.parametrize("tool", [tool for tool in TODAY if tool in RUNTIMES])
def test_another_runtime(tool, tarball, tmp_path, figure):
    if not (sys.platform == "linux" and platform.machine() == "x86_64"):
        figure(f"toolchains: {tool} did not run: it is pinned for Linux on x86-64 only")
        pytest.skip(f"{tool} is pinned for Linux on x86-64 only")
    program = toolchains.installed(tool) / RUNTIMES[tool]
    folder = toolchains.project(
        None, tarball, {"program.js": PROGRAMS / "whole.js", "run.js": PROGRAMS / "run.js"}, tmp_path / "project"
    )
    program.chmod(0o755)
    words, env = (
        (["run", "--allow-all", "--quiet"], {"DENO_DIR": str(folder / ".deno"), "DENO_NO_UPDATE_CHECK": "1"})
        if tool == "deno"
        else (["run"], {})
    )
    check(trained(toolchains.run([*words, "run.js", "cpu"], folder, env, program)), False, tool)
    if tool == "bun":
        (folder / "node_modules" / "webgpu").symlink_to(NODE_MODULES / "webgpu")  # Deno has a WebGPU of its own
    check(trained(toolchains.run([*words, "run.js"], folder, {**env, **gpu.variables()}, program)), True, tool)
