#!/usr/bin/env python3
"""tensorloom: compiles ops/*.op into the npm package dist/, tests it and shows it at work.

Needs Python 3.11 or newer with venv; everything else is set up in this folder on the first run."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path

from buildtools import environment, package, typescript
from buildtools.paths import ROOT, SITE

INSTANCES = 10  # small cases of each op in which `check` looks for reads outside a tensor


def main() -> int:
    top = parser()
    options, more = top.parse_known_args()
    options.more = more
    if options.more and options.run not in (test, bench):
        top.error(f"unknown: {' '.join(options.more)}")
    try:
        environment.enter()
        environment.ensure()
        return options.run(options) or 0
    except environment.SetupError as error:
        print(f"build.py: {error}", file=sys.stderr)
        return 2
    except typescript.BuildError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="python3 build.py",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="Without a command: set up, build dist/, and train a small network with it.\n"
        "Variables: TENSORLOOM_GPU=software|system, TENSORLOOM_NODE=PATH|bundled, TENSORLOOM_TOOLCHAINS=all|NAME,... "
        "(test_toolchains.py), TENSORLOOM_DAY=YYYYMMDD (tests/day.py).",
    )
    top.set_defaults(run=build)
    top.add_argument(
        "--ops",
        type=Path,
        default=[],
        action="append",
        metavar="DIR",
        help="also compile the definitions in this folder",
    )
    commands = top.add_subparsers(title="commands", metavar="")

    def command(name: str, run: Callable[[argparse.Namespace], int], text: str) -> argparse.ArgumentParser:
        sub = commands.add_parser(
            name, help=text.splitlines()[0], description=text, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        sub.set_defaults(run=run)
        return sub

    command("test", test, "build, then run every test\nWhat follows goes to pytest: build.py test -k matmul -x")
    check_ = command(
        "check",
        check,
        "check the definitions, the types of all TypeScript and that the committed reports are current\n"
        "Runs the tests inside definitions and looks for reads outside a tensor in small cases.\n"
        "With --oracle: replay PyTorch's recorded answers against dist/.",
    )
    check_.add_argument("--update", action="store_true", help="rewrite the reports")
    check_.add_argument("--oracle", choices=["cpu", "webgpu", "interpreter"], help="count what is right there")
    check_.add_argument(
        "--coverage",
        action="store_true",
        help="rewrite docs/coverage.md and the list of what is right from all recorded answers, on both devices",
    )
    check_.add_argument("--tier", default="1", help="1 (most used) to 3, or all (default 1)")
    check_.add_argument("--names", metavar="REGEX", help="only these operators")
    check_.add_argument("--fail-list", action="store_true", help="list every wrong sample with the reason")
    command("lint", lint, "check layout, habits and types of the sources").add_argument(
        "--fix", action="store_true", help="mend what the tools can mend by themselves"
    )
    explain_ = command(
        "explain",
        explain,
        "print what an op means: definition, gradient, WGSL, CPU code\n"
        "The kernels are of the call whose arguments follow (explain softmax input=64x1000 dim=1), or of a small one.",
    )
    explain_.add_argument("name", help="an op's name, as in ops/ or in PyTorch")
    explain_.add_argument("arguments", nargs="*", metavar="NAME=VALUE", help="a tensor is 8x3 or 8x3:int64, a list 1,2")
    command("watch", watch, "build whenever a source changes")
    command("bench", bench, "measure the package, or with --programs whole models; see bench/README.md")
    mutate_ = command(
        "mutate",
        mutate,
        "change the sources at random, a place at a time, and see whether a test notices\n"
        "Minutes for each: a build, the tests that are likeliest to notice, and all others if none of those does.\n"
        "Verdicts stay in .build/mutants/; what is there is not tried again.",
    )
    mutate_.add_argument("count", type=int, help="how many mutations")
    mutate_.add_argument("--seed", type=int, default=0, help="which (default 0)")
    mutate_.add_argument("--only", default="", metavar="PATH", help="in files whose path begins so")
    mutate_.add_argument("--jobs", type=int, default=1, help="how many at a time (default 1)")
    mutate_.add_argument("--seconds", type=float, default=float("inf"), help="for all of them (default: no limit)")
    mutate_.add_argument(
        "--report",
        type=Path,
        metavar="FILE",
        help="the verdicts and what each mutation changes, in lines of JSON (default .build/mutants/seed-S.jsonl)",
    )
    mutate_.add_argument("--near", action="store_true", help="only with the tests that are likeliest to notice")
    mutate_.add_argument("--list", action="store_true", help="only say which")
    docs_ = command(
        "docs",
        docs,
        "build, then make the documentation's website\n"
        "Where the folder holds a site of another version, that one stays beside the new one.",
    )
    docs_.add_argument("--out", type=Path, default=SITE, metavar="DIR", help="the folder (default .build/site)")
    serve_ = command("serve", serve, "build, then show the documentation and the example pages on this machine")
    serve_.add_argument("--port", type=int, default=8000, help="default 8000")
    serve_.set_defaults(out=SITE)
    bundle_ = command(
        "bundle",
        bundle,
        "build, then make one folder of a model: its module, weights, typings, and a page that runs it\n"
        "The module needs nothing of the package, and runs in pages, workers and Node, on WebGPU and the CPU.",
    )
    bundle_.add_argument("model", type=Path, help="a file of torch.export.save (.pt2) or an ONNX model")
    bundle_.add_argument("--out", type=Path, metavar="DIR", help="the folder (default: named like the model)")
    bundle_.add_argument(
        "--size", action="append", default=[], metavar="NAME=N", help="how large a size is that varies (batch=1)"
    )
    command("pack", pack, "build, then make the tarball that npm would publish")
    command("release", release, "build, then make what a release consists of: docs/releases.md")
    command("wheel", wheel, "make the wheel of the compiler that PyPI would publish: the command tensorloom")
    return top


def build(options: argparse.Namespace) -> int:
    from buildtools import gpu, pages, reports, showcase

    gpu.enter()
    report = package.build(more_ops=options.ops)
    pages.prepare()
    if not options.ops:
        reports.write(report)
    print(reports.summary(report))
    sizes = package.size()
    print("build.py serve shows the example pages")
    print(f"dist/: {sizes['package'] / 1024:.0f} KiB, as one script {sizes['torch.js'] / 1024:.0f} KiB")
    return showcase.train()


def test(options: argparse.Namespace) -> int:
    from buildtools import gpu

    gpu.enter()
    package.build(more_ops=options.ops)
    environment.say(f"testing on {gpu.name()}")
    import pytest

    # All tests on all cores, each process a stretch of the files; for a third of the time one waits for a browser or
    # another process, so there are two more than cores. What is asked for by name runs in this one.
    processes = (os.cpu_count() or 1) + 2
    whole = [str(ROOT / "tests"), f"--numprocesses={processes}", "--dist=worksteal", "--durations=30"]
    return pytest.main(["--rootdir", str(ROOT), *(options.more or whole)])


def check(options: argparse.Namespace) -> int:
    if options.coverage:
        from buildtools import conformance

        return conformance.cover()
    if options.oracle:
        from buildtools import conformance

        return conformance.show(options.oracle, tier=options.tier, names=options.names, fail_list=options.fail_list)
    from buildtools import names, paths, reports

    stale = reports.stale(package.definitions(options.ops, instances=INSTANCES), update=options.update)
    if options.update and (paths.DIST / "index.js").exists():
        names.stale(update=True)  # of the package as it was last built
    wrong = [f"out of date: {name} (build.py check --update)" for name in stale] + list(
        filter(None, [typescript.check_types()])
    )
    print("\n".join(wrong) or "all is well")
    return 1 if wrong else 0


def lint(options: argparse.Namespace) -> int:
    from buildtools import lint as linter

    return linter.lint(options.fix)


def explain(options: argparse.Namespace) -> int:
    from buildtools import explain as explainer

    print(explainer.page(options.name, options.arguments, options.ops))
    return 0


def watch(options: argparse.Namespace) -> int:
    from buildtools import watch as watcher

    return watcher.watch(lambda: package.build(more_ops=options.ops))


def bench(options: argparse.Namespace) -> int:
    import subprocess

    from buildtools import gpu, node

    package.build(more_ops=options.ops)
    words = [word for word in options.more if word != "--programs"]
    script = "bench/run.mjs" if words == options.more else "bench/programs.mjs"
    return subprocess.call([str(node.executable()), script, *words], cwd=ROOT, env=node.environment(gpu.variables()))


def mutate(options: argparse.Namespace) -> int:
    from buildtools import gpu
    from buildtools.mutation import mutate as trials
    from buildtools.mutation import mutations, trial

    chosen = mutations.draw(options.count, options.seed, options.only)
    if options.list:
        print(*chosen, sep="\n")
        return 0
    gpu.enter()
    package.build()
    report = options.report or trial.FOLDER / f"seed-{options.seed}.jsonl"
    return trials.mutate(chosen, options.jobs, report, options.near, options.seconds)


def docs(options: argparse.Namespace) -> int:
    from buildtools import pages

    package.build(more_ops=options.ops)
    pages.bring_weights()
    print(f"{(make_site(options) / 'index.html')}: serve its folder, or let build.py serve show it")
    return 0


def make_site(options: argparse.Namespace) -> Path:
    """Make the site in `options.out`; returns that folder."""
    import website.build
    from buildtools.paths import EARLIER
    from codegen.earlier import Earlier

    environment.say("making the website")
    return website.build.build(package.definitions(options.ops, earlier=Earlier(EARLIER)), site=options.out)


def serve(options: argparse.Namespace) -> int:
    from buildtools import pages

    package.build(more_ops=options.ops)
    pages.bring_weights()
    make_site(options)
    pages.serve(options.port)
    return 0


def bundle(options: argparse.Namespace) -> int:
    from buildtools import node

    package.build(more_ops=options.ops)
    model, out = options.model.resolve(), (options.out or Path(options.model.stem)).resolve()
    done = node.run([ROOT / "buildtools" / "bundle.mjs", model, out, *options.size], cwd=ROOT)
    print(done.stdout.strip())
    return done.returncode


def pack(options: argparse.Namespace) -> int:
    package.build(more_ops=options.ops)
    print(package.pack(ROOT).name)
    return 0


def release(options: argparse.Namespace) -> int:
    from buildtools import release as releases

    package.build(more_ops=options.ops)
    print(*(file.relative_to(ROOT) for file in releases.make()), sep="\n")
    return 0


def wheel(options: argparse.Namespace) -> int:
    from buildtools import wheel as wheels

    print(wheels.build(ROOT).name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
