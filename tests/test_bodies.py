"""Bodies of steps: the meaning in Python, WGSL on the GPU and JavaScript say the same; barriers stand where threads
must wait."""

import itertools
import json
import random
import re
import subprocess
from collections import Counter

import numpy as np
import pytest

import dsl.text.diagnostics
import workbench
from buildtools import node
from buildtools.paths import DIST
from codegen.api.opdata import op_data
from codegen.data.nodes import nodes_of
from codegen.data.statements import formulas_in, read_procedure, statements_of
from codegen.wasm import bodies
from codegen.wasm.scalars.terms import Terms
from codegen.wgsl.barriers import Barrier, Barriers, Pending
from codegen.wgsl.bodies import printed_body
from dsl.ir.builders import ZERO
from dsl.ir.expression import RawResult, Read
from dsl.ir.steps import For, If, Range, Set, stored_by
from dsl.reference import body_run

TEXT = """
op sums(input: Float[*B, N]) -> (below: Float[*B, N], most: Float[*B], at: Int[*B])
    "Running sums by doubling, the largest element and its place: shared loops, scratch memory, reductions."
    where R = numel(B)
    scratch part: Float[*B, N]
    nograd
    launch add over b < R groups of 32:
        each i < N: part[b, i] = input[b, i]
        step = 1
        for turn < 32 while step < N:
            each i < N: below[b, i] = part[b, i] + (part[b, i - step] if i >= step else 0)
            each i < N: part[b, i] = below[b, i]
            step = step * 2
        each i < N: below[b, i] = part[b, i]
        at[b] = argmax[i < N] input[b, i]
        most[b] = max[i < N] input[b, i]

op walk(keys: Any[*B, N], start: int = 0, back: bool = false) -> (path: Any[*B, N], left: Int[*B])
    "Steps, choices, `break` and elements of any type."
    where R = numel(B)
    nograd
    launch go over b < R:
        left[b] = -1
        for i < N:
            j = (N - 1 - i if back else i) % N
            path[b, i] = keys[b, j]
            if left[b] >= 0: left[b] = left[b]
            else if i >= start and keys[b, j] < keys[b, 0]:
                left[b] = i
                if i > 3:
                    path[b, i] = keys[b, 0]
            else:
                if start > N: break

op turns(input: Float[*B, N, N]) -> Float[*B, N, N]
    "Several launches that count, two places, exchanges of three."
    where R = numel(B)
    scratch kept: Float[*B, N, N]
    nograd
    launch copy over b < R, i < N, j < N: kept[b, i, j] = input[b, j, i]
    launch turn for n < N over b < R, i < N:
        half = n // 2
        for j < N: kept[b, i, j] = kept[b, i, j] * 0.5 + half
        kept[b, i, 0], kept[b, i, N // 2], kept[b, i, N - 1] = kept[b, i, N - 1], kept[b, i, 0], kept[b, i, N // 2]
    launch done over b < R, i < N, j < N: out[b, i, j] = kept[b, i, j]

op halvings(input: Float[*B, N]) -> (out: Float[*B, N], count: Int[*B])
    "How often depends on elements that a shared loop has stored: all threads must agree."
    where R = numel(B)
    nograd
    launch halve over b < R groups of 16:
        each i < N: out[b, i] = abs(input[b, i])
        times = 0
        for k < 8 while (out[b, 0] if N > 0 else 0) > 0.25:
            each i < N: out[b, i] = out[b, i] / 2
            each i < N: out[b, N - 1 - i] = out[b, N - 1 - i] + 0.001
            times += 1
        for k < 3:
            each i < N: out[b, i] = out[b, i] * 2
            if (out[b, 0] if N > 0 else 1) > 0.5: break
        count[b] = times
"""
NAMES = ["sums", "walk", "turns", "halvings"]


@pytest.mark.parametrize("name", NAMES)
def test_the_gpu_does_as_python(name):
    report = workbench.op(TEXT, name).check()
    assert report, report


def body_of(name: str):
    return next(s.body.raw for s in workbench.op(TEXT, name).op.forward.stmts if isinstance(s.body, RawResult)).body


CASES = [
    ("sums", [(3, 7)], [(3, 7), (3,), (3,), (3, 7)], {}),
    ("walk", [(4, 6)], [(4, 6), (4,)], {"start": 0, "back": 0}),
    ("walk", [(4, 6)], [(4, 6), (4,)], {"start": 2, "back": 1}),
    ("turns", [(2, 5, 5)], [(2, 5, 5), (2, 5, 5)], {}),
    ("halvings", [(3, 9)], [(3, 9), (3,)], {}),
]


@pytest.mark.parametrize("name, given, made, options", CASES)
def test_the_cpu_does_as_python(name, given, made, options, tmp_path):
    rng = np.random.default_rng(5)
    f = workbench.op(TEXT, name)
    inputs = [rng.normal(size=shape).round(2) for shape in given]
    expected = f.numpy(*inputs, **{n: bool(v) if n == "back" else v for n, v in options.items()})
    raw = next(s.body.raw for s in f.op.forward.stmts if isinstance(s.body, RawResult))
    whole = {t.name for t in raw.body.tensors if t.kind == "i"}
    results = [n for n, _ in raw.outputs]
    arrays = [*inputs, *(np.zeros(s, np.int32 if n in whole else float) for n, s in zip(results, made))]
    rows = given[0][: len(given[0]) - len(raw.body.tensors[0].extents) + 1]
    words = {"N": given[0][-1], "R": int(np.prod(rows)), **options}
    found = in_javascript(f, arrays, {n: words[n] for n, _ in raw.uniforms}, tmp_path)[len(inputs) :]
    names = f.op.outputs
    compiled = workbench.op(TEXT, name, on="wasm")(
        *inputs, **{n: bool(v) if n == "back" else v for n, v in options.items()}
    )
    for n in names:
        wanted = [a[n] if len(names) > 1 else a for a in (compiled, expected)]
        np.testing.assert_allclose(*wanted, 1e-12)
    for n, values in zip(results, found):
        if n in names:
            wanted = expected[n] if len(names) > 1 else expected
            np.testing.assert_allclose(values, wanted.ravel(), 1e-12)


def test_a_place_may_be_a_float(tmp_path):
    """It is cut towards zero, by a function that travels with the body: what WGSL's own cast makes of NaN is open."""
    text = (
        "op picked(input: Float[N], at: Float[M]) -> Float[M]\n    nograd\n"
        "    launch pick over m < M: out[m] = input[min(max(at[m], 0), N - 1)]\n"
    )
    elements, at = np.arange(6, dtype=np.float32), np.array([0.9, 3.99, -0.5, 5, 1e20], np.float32)
    for target in ("numpy", "gpu", "wasm"):
        np.testing.assert_array_equal(workbench.op(text, on=target)(elements, at), [0, 3, 0, 5, 5], target)
    f = workbench.op(text)
    found = in_javascript(f, [elements.astype(float), at.astype(float), np.zeros(5)], {"M": 5, "N": 6}, tmp_path)
    assert found[-1] == [0, 3, 0, 5, 5]
    assert "[to_int(" in "".join(f.wgsl(elements, at))


def in_javascript(f, arrays: list[np.ndarray], words: dict, tmp_path) -> list[list]:
    """What the interpreter of statements leaves in a body's arrays."""
    kernel = next(n for n in op_data(f.op).programs[0].kernels if n.raw)
    data = {"raw": {"steps": kernel.raw.steps}, "uniforms": [{"name": w.name, "kind": w.kind} for w in kernel.uniforms]}
    kinds = {"f": "Float64Array", "i": "Int32Array"}
    lists = ", ".join(f"{kinds[a.dtype.kind]}.from({a.ravel().tolist()})" for a in arrays)
    file = tmp_path / "body.mjs"
    file.write_text(
        f"import {{ evaluator }} from '{DIST / 'runtime' / 'program' / 'procedure-evaluator.js'}';\n"
        f"import {{ FUNCTIONS }} from '{DIST / 'runtime' / 'devices' / 'cpu' / 'functions.js'}';\n"
        f"const args = {{ arrays: [{lists}] }};\n"
        f"evaluator.body({json.dumps(data)}, {{ routines: [] }}, FUNCTIONS)(args.arrays, {json.dumps(words)});\n"
        "console.log(JSON.stringify(args.arrays.map((a) => [...a])));"
    )
    done = subprocess.run([str(node.executable()), str(file)], capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    return json.loads(done.stdout)


def wgsl(name: str) -> str:
    return printed_body(
        next(s.body.raw for s in workbench.op(TEXT, name).op.forward.stmts if isinstance(s.body, RawResult)).body
    ).text


def test_threads_wait_before_they_read_what_others_store():
    """A barrier stands between a store and what reads or stores it next, also across the end of a loop; and nowhere
    without a group."""
    lines = [line.strip() for line in wgsl("sums").split("\n")]
    stores = [n for n, line in enumerate(lines) if re.match(r"(part|below)\[.*\] = ", line)]
    for one, two in zip(stores, stores[1:]):
        assert "storageBarrier();" in lines[one:two], lines[one : two + 1]
    loop = next(n for n, line in enumerate(lines) if line.startswith("for (var turn"))
    assert "storageBarrier();" in lines[loop : stores[1]]
    assert "Barrier" not in wgsl("walk") and "Barrier" not in wgsl("turns")


def test_threads_wait_before_a_loop_asks_again():
    """What its condition reads is stored by other threads at the end of its body."""
    lines = [line.strip() for line in wgsl("halvings").split("\n")]
    begin = next(n for n, line in enumerate(lines) if "all_agree(lane, k < 8" in line)
    assert "storageBarrier();" in lines[begin + 1 : begin + 3]  # read by all before it is stored again
    assert lines[lines.index("}", lines.index("times += 1;")) - 1] == "storageBarrier();"


def test_threads_agree_only_where_they_meet_inside():
    """WGSL wants proof that all threads reach a barrier: only elements that have been read can stand against it."""
    assert "all_agree(lane, k < 8 &&" in wgsl("halvings")


class Threads(body_run.Writer):
    """Writes a body as Python in which the threads of a group are generators, which stop at barriers."""

    def launch(self, x):
        found = Barriers(stored_by(x.body), {x.step, *(r.name for r in x.places), *(n for n, _ in self.body.symbols)})
        steps, _ = found.block(x.body, Pending())
        self.found, self.shared = found, not x.lanes
        depth = 1
        for r in (*([Range(x.step, ZERO, x.steps)] if x.step else []), *x.places):
            self.add(depth, f"for i_{r.name} in range(int({self.show(r.high)})):")
            depth += 1
        self.add(depth, "agreed_ = [False]")
        self.add(depth, "def thread_(lane_):")
        self.block(steps, depth + 1)
        self.add(depth + 1, "yield True")
        self.add(depth, f"meet_([thread_(n) for n in range({min(x.lanes, 5) or 1})])")
        self.lanes = min(x.lanes, 5)

    def step(self, s, depth: int):
        agreed = id(s) in self.found.agreed
        match s:
            case Barrier():
                self.add(depth, "yield False")
            case Set() if not self.shared and isinstance(s.targets[0], Read):
                self.add(depth, "if lane_ == 0:")
                super().step(s, depth + 1)
            case For(shared=True):
                spans = ", ".join(f"range({self.show(r.low)}, {self.show(r.high)})" for r in s.ranges)
                names = ", ".join(f"i_{r.name}" for r in s.ranges)
                self.add(depth, f"for {names}{',' * (len(s.ranges) == 1)} in [*product_({spans})][lane_::LANES_]:")
                self.shared = True
                self.block(s.body, depth + 1)
                self.shared = False
            case For() if not self.shared:
                r = s.ranges[0]
                self.add(depth, f"i_{r.name} = {self.show(r.low)} - 1")
                self.add(depth, "while True:")
                self.add(depth + 1, f"i_{r.name} += 1")
                going = f"i_{r.name} < {self.show(r.high)}"
                self.ask(depth + 1, going if s.condition is None else f"{going} and {self.show(s.condition)}", agreed)
                self.add(depth + 1, "if not found_: break")
                self.block(s.body, depth + 1)
            case If() if not self.shared:
                self.ask(depth, self.show(s.condition), agreed)
                self.add(depth, "if found_:")
                self.block(s.yes, depth + 1)
                self.add(depth, "else:")
                self.block(s.no, depth + 1)
            case _:
                super().step(s, depth)

    def ask(self, depth: int, condition: str, agreed: bool):
        self.add(depth, f"found_ = {condition}")
        if agreed:  # as all_agree does
            self.add(depth, "if lane_ == 0: agreed_[0] = found_")
            self.add(depth, "yield False")
            self.add(depth, "found_ = agreed_[0]")
            self.add(depth, "yield False")


def meet(threads):
    """Runs threads in any order from each barrier to the next, at which all must arrive, or none."""
    while True:
        order = list(range(len(threads)))
        random.shuffle(order)
        ended = {next(threads[n]) for n in order}
        assert len(ended) == 1, "a thread waits for others that have ended"
        if ended == {True}:
            return


def threaded(body, arrays, env):
    """As body_run.run, by threads."""
    w = Threads(body)
    text = w.text().replace("LANES_", "5")
    scope = {"meet_": meet, "product_": itertools.product}
    exec(compile(text, "<threads>", "exec"), scope)
    seen = {t.name: memoryview(body_run.rows(arrays[t.name], len(t.extents))) for t in body.tensors}
    numbers = {n: env[n] if kind == "f" else int(env[n]) for n, kind in body.symbols}
    scope["run"](seen, numbers, body_run.HELPERS)


SQUARE = np.random.default_rng(2).normal(size=(2, 5, 5))
GROUPS = [
    ("sums", [SQUARE]),
    ("halvings", [SQUARE[0]]),
    ("lu_rows", [SQUARE]),
    ("cholesky_rows", [SQUARE @ SQUARE.swapaxes(-1, -2) + np.eye(5)]),
    ("solve_rows", [SQUARE, SQUARE[..., :3]]),
    ("geqrf_rows", [SQUARE[..., :3]]),
    ("ldl_rows", [SQUARE + SQUARE.swapaxes(-1, -2)]),
    ("orthogonal_columns", [SQUARE[..., :4]]),
    ("exponential_rows", [SQUARE * 3]),
    (
        "ctc_rows",
        [
            np.log(np.full((2, 6, 4), 0.25)),
            np.array([[1, 2, 2], [3, 1, 0]]),
            np.array([6, 5]),
            np.array([3, 2]),
            0,
            False,
        ],
    ),
]


@pytest.mark.parametrize("name, given", GROUPS, ids=[n for n, _ in GROUPS])
def test_threads_in_any_order_come_to_the_same(name, given, monkeypatch):
    """Between two barriers a thread may run before or after any other: where a barrier is missing, some order answers
    otherwise."""
    f = workbench.op(TEXT, name) if name in NAMES else workbench.op(name)
    expected = f.numpy(*given)
    monkeypatch.setattr(body_run, "run", threaded)
    for seed in range(4):
        random.seed(seed)
        found = f.numpy(*given)
        for n in f.op.outputs:
            a, b = (x[n] if len(f.op.outputs) > 1 else x for x in (expected, found))
            np.testing.assert_array_equal(a, b)


def test_a_missing_barrier_is_noticed(monkeypatch):
    monkeypatch.setattr(Pending, "waits", lambda *_: False)
    with pytest.raises(AssertionError):
        test_threads_in_any_order_come_to_the_same("lu_rows", [SQUARE], monkeypatch)


def test_an_element_that_is_not_there_is_an_error():
    text = """
op wrong(input: Float[*B, N]) -> Float[*B, N]
    nograd
    launch fill over b < numel(B):
        for i < N: out[b, i] = input[b, i {}]
"""
    for index in ("- 1", "+ 1"):
        with pytest.raises(dsl.text.diagnostics.DefinitionError, match="IndexError"):
            workbench.op(text.format(index), "wrong")


def test_shared_loops_do_not_depend_on_their_order():
    """The reference runs them backwards."""
    text = """
op chained(input: Float[N]) -> Float[N]
    nograd
    launch fill over one < 1 groups of 4:
        each i < N: out[i] = input[i] + (out[i - 1] if i > 0 else 0)
"""
    np.testing.assert_array_equal(workbench.op(text).numpy(np.ones(3)), [1, 1, 1])


def test_a_text_calls_ops_whose_formulas_have_names():
    """`between` and `before` are definitions of the library, which the text does not know."""
    text = """
op middle(x: Float[*B, N]) -> Int[*B, N]
    order = order_of_rows(x)
    out[*b, n] = order[*b, n]
"""
    np.testing.assert_array_equal(workbench.op(text).numpy(np.array([[3.0, 1.0, 2.0]])), [[1, 2, 0]])


@pytest.mark.parametrize("name", ["sort", "complex_schur_rows"])
def test_formulas_become_terms_once(name, monkeypatch):
    """However many loops stand around them: to make a kernel is most of an op's first call on the CPU."""
    read, made, of = [], [], Terms.of

    def counted(terms, e, bound):
        made.append(e)
        return of(terms, e, bound)

    monkeypatch.setattr(bodies, "read_procedure", lambda text: read.append(read_procedure(text)) or read[-1])
    monkeypatch.setattr(Terms, "of", counted)
    f = workbench.op(name, on="wasm")
    f(np.eye(4, dtype=np.float32) if name == "sort" else np.zeros((4, 4, 2), np.float32))
    nodes = [x for p in read for s in statements_of(p.statements) for e in formulas_in(s) for x in nodes_of(e)]
    assert len(nodes) > 50
    times = Counter(map(id, made))
    assert {times[id(x)] for x in nodes} == {1}
