"""What kernels bring along: each function of the prelude, of the rare ones and of the library's routines with those
that it calls, which the compiler knows without reading WGSL."""

import re

from definitions import LIBRARY

from codegen.wgsl import prelude

WORD = re.compile(r"\b[A-Za-z_]\w*")


def said(text: str) -> set[str]:
    return set(WORD.findall(re.sub(r"//.*", "", text)))


def test_functions_call_what_is_declared():
    assert LIBRARY.routines  # they are among the functions
    texts, calls = prelude.functions(), prelude.calls()
    assert len(texts) > 120 and sum(map(len, calls.values())) > 200
    for name, text in texts.items():
        assert set(calls[name]) == (said(text) & texts.keys()) - {name}, name


def test_every_function_of_the_files_has_a_line():
    for file in (prelude.FILE, prelude.CHECKS, prelude.RARE):
        written = re.findall(r"^(?:fn|const) (\w+)", file.read_text(encoding="utf-8"), re.M)
        assert written == list(prelude.of_file(file))
