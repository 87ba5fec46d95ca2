"""Every code block of the documentation runs and prints what the page says (tests/pages.py); that TypeScript is strict:
test_package."""

import json
import re
from collections import ChainMap

import pages
import pytest

from buildtools import gpu, node
from buildtools.paths import ROOT
from codegen.data.errors import OpError
from dsl.library import load_text
from dsl.opdef import Library
from dsl.testing.examples import check_tests
from dsl.testing.instances import instances
from dsl.text.diagnostics import render
from workbench.function import Function, standard

PROGRAMS = [program for page in pages.PAGES for program in pages.programs(page)]


def name(program: pages.Program) -> str:
    same = [p for p in PROGRAMS if (p.page, p.language) == (program.page, program.language)]
    return f"{program.page.stem}-{program.language}" + (f"-{same.index(program) + 1}" if len(same) > 1 else "")


def of(*languages: str):
    chosen = [program for program in PROGRAMS if program.language in languages]
    return pytest.mark.parametrize("program", chosen, ids=name)


def compare(program, said):
    """`said`: [line, wanted, printed] for each comment that says what is printed."""
    wrong = [
        f"{program.page.name}:{line}: printed\n{printed}\nwanted\n{wanted}"
        for line, wanted, printed in said
        if not pages.same(printed, wanted)
    ]
    assert not wrong, "\n\n".join(wrong)
    assert len(said) >= sum(
        "-> " in text for text in program.lines.values() if text.lstrip().startswith(pages.MARK[program.language])
    ), "a comment was not reached"


@of("js")
def test_javascript(program, dist, tmp_path):
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules" / "tensorloom").symlink_to(dist)
    (tmp_path / "files").symlink_to(ROOT / "tests" / "files")
    file = tmp_path / f"{program.page.name}.mjs"
    file.write_text(program.checked)
    if program.typed:
        strip(file)
    # One page runs on the GPU, if in software: the others would take CI's time for pipelines that other tests make,
    # too.
    device = gpu.variables() if program.page.stem == "start" else {"VK_ICD_FILENAMES": str(tmp_path / "none")}
    done = node.run([ROOT / "tests" / "node" / "run_page.mjs", file], cwd=tmp_path, env=device, timeout=120)
    assert done.returncode == 0, done.stdout
    compare(program, json.loads(done.stdout.splitlines()[-1]))


def strip(file):
    done = node.run(
        [
            node.tool("esbuild"),
            "--loader:.mjs=ts",
            "--target=es2022",
            f"--outfile={file}",
            "--allow-overwrite",
            "--log-level=warning",
            file,
        ]
    )
    assert done.returncode == 0, done.stdout


def parted(lines: list[str]) -> tuple[str, str]:
    """Statements, and the expression behind them whose value is printed, as the website's pages tell them apart."""
    ends = [i for i, line in enumerate(lines[:-1], 1) if line.endswith(";") and lines[i][0] not in " })]"]
    last = ends[-1] if ends else 0
    return "\n".join(lines[:last]), "\n".join(lines[last:])


# An example in a comment, and the comment's margin: methods have some in the bodies of classes.
EXAMPLE = re.compile(r"^( *) \* @example\n((?:\1 \* .*\n)+?)\1 (?=\*/|\* @)", re.M)


def test_every_example_of_the_reference_runs(dist, tmp_path):
    """What hovers and the website's reference print: calls that run as they stand, with their values behind them, and
    where it takes some, statements before."""
    found: list[tuple[str, str, str]] = []
    files = {
        kind: [file for pattern in patterns for file in sorted(dist.glob(pattern))]
        for kind, patterns in {
            "ops": ["ops/*.d.ts"],
            "modules": ["names/modules.d.ts", "runtime/nn/**/*.d.ts"],
            "optimizers": ["runtime/optim/**/*.d.ts"],
        }.items()
    }
    known = {file for some in files.values() for file in some}
    files["others"] = [file for file in sorted(dist.glob("runtime/**/*.d.ts")) if file not in known]
    counts = {}
    for kind, some in files.items():
        before = len(found)
        for file in some:
            for margin, block in EXAMPLE.findall(file.read_text()):
                lines = []
                for line in block.replace("*\\/", "*/").splitlines():
                    code, _, printed = line.removeprefix(f"{margin} * ").partition("  // ")
                    lines.append(code)
                    if printed:
                        found.append((*parted(lines), printed))
                        lines = []
                assert not lines, f"{file}: an example prints nothing: {lines}"
        counts[kind] = len(found) - before
    assert counts["ops"] > 400 and counts["modules"] > 130 and counts["optimizers"] > 25, counts
    comments = re.findall(
        r"/\*\*((?:(?!\*/).)*)\*/\s*export declare const (\w+)", files["modules"][0].read_text(), re.S
    )
    assert [name for text, name in comments if "@example" not in text] == [] and len(comments) > 90
    made = [
        f"  [{json.dumps(f'{before} {code}  // {printed}')}, async () => {{ {before}\nreturn {code}; }}, {printed}],\n"
        for before, code, printed in found
    ]
    (tmp_path / "examples.mjs").write_text(
        f"import * as torch from {json.dumps((dist / 'index.js').as_uri())};\n"
        f"const {{ nn, optim }} = torch, F = nn.functional;\nexport const examples = [\n{''.join(made)}];\n"
    )
    done = node.run([ROOT / "tests" / "node" / "run_examples.mjs", tmp_path / "examples.mjs"], timeout=120)
    wrong = json.loads(done.stdout.splitlines()[-1])
    assert not wrong, f"{len(wrong)} of {len(found)}:\n" + "\n".join(wrong)


@of("html")
def test_page(program, browser, site):
    """A page's text is what its script says it is."""
    page = browser.new_page(bypass_csp=True)  # it has its script within
    page.goto(f"{site}/tests/browser/blank.html")
    page.set_content(program.text.replace("torch.js", f"{site}/dist/torch.js"))
    (wanted,) = re.findall("// -> (.*)", program.text)
    assert page.text_content("#out") == wanted


@of("python")
def test_python(program):
    said, printed = [], []
    names = {"print": lambda *words, sep=" ", end="\n": printed.append(sep.join(map(str, words)) + end)}

    def mark(line, wanted):
        said.append((line, wanted, "".join(printed)))
        printed.clear()

    exec(compile(program.checked, str(program.page), "exec"), {**names, "said": mark, "__name__": "page"})
    compare(program, said)


@of("op")
def test_definitions(program):
    """The definitions on a page have no errors, and their tests hold."""
    shelf = standard()
    home = "mine" if program.page.name == "own-ops.md" else ""  # whose ops have no names in PyTorch
    made, errors, (source,) = load_text(program.text, program.page.name, shelf, home)
    known = Library(ChainMap(dict(made.ops), shelf.ops), shelf.library.schedules)
    errors += [
        e
        for _, e in check_tests(
            made.ops.values(), lambda name: Function(made.ops[name], known, source).numpy, (OpError, IndexError)
        )
    ]
    assert not errors, render(errors, source)
    for op in made.ops.values():
        for instance in instances(op, 2):
            instance.run()


def test_what_a_page_says_is_compared(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "<!-- python\nhidden = 2\n-->\n1. In a list:\n\n   ```python\n   print(hidden)   # -> 2\n   for i in range(2):\n       print(i)\n"
        "   # -> 0\n   #    …\n   ```\n\n<!-- new program -->\n```js\nconsole.log(1); // -> 2\n```\n"
    )
    python, js = pages.programs(page)
    assert js.checked.splitlines()[15] == 'console.log(1);; said(16, "2")'
    test_python(python)
    python.lines[7] = "print(hidden + 1)   # -> 2"
    with pytest.raises(AssertionError, match=r"page.md:7: printed\s+3\s+wanted\s+2"):
        test_python(python)
