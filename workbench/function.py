"""An op as a Python function, for its author.

    relu3 = workbench.op("op relu3(input: Num) = max(input, 0) ** 3")     # or the name of one in ops/: op("softmax")
    relu3(np.array([-1.0, 2.0]))                                    # on the GPU that wgpu finds, else by numpy
    relu3.grad(x); relu3.wgsl(x); print(relu3.check()); print(relu3.explain())

Arguments are numpy arrays, nested lists, numbers, and options as the definition names them; they are bound
as the package binds them (codegen/binding/bind.py)."""

from __future__ import annotations

import re
from collections import ChainMap
from dataclasses import replace
from functools import cache, cached_property
from typing import TYPE_CHECKING

import numpy as np

from codegen.api import opdata
from codegen.api.docs import shown_name
from codegen.data.errors import OpError, refused
from codegen.data.model import Call, Launch, Meta, Op, Schedule
from codegen.kernels.host_formula import formula
from dsl.catalogue import Catalogue
from dsl.gradients.adjoint import complete
from dsl.ir.dtypes import is_floating, is_rounded
from dsl.library import load_text, standard
from dsl.opdef import Library, OpDef, Param
from dsl.testing.trials import check_reads
from dsl.text.diagnostics import DefinitionError, did_you_mean, render
from dsl.text.show import signature
from dsl.text.source import Source

from . import kernels, notebook, numpy_runner
from .checkup import Report, checkup

if TYPE_CHECKING:
    from .wasm_runner import Wasm


def op(text: str, name: str | None = None, on: str | None = None) -> Function:
    """The op that a text defines, or the one of ops/ that has this name here or in PyTorch.

    name: which one, if the text defines several.  on: "numpy", "gpu" or "wasm"; by default the GPU if there is one.
    Raises DefinitionError, whose text shows the mistakes in the definition or says that there is no such op."""
    shelf = standard()
    if re.fullmatch(r"\s*[\w.]+\s*", text):
        found = find(text.strip(), shelf)
        return Function(found, shelf.library, shelf.sources[found.file], on)
    made, errors, (source,) = load_text(text, "definition.op", shelf)
    errors += [e for o in made.ops.values() for e in check_reads(o, source)]
    if errors:
        raise DefinitionError(render(errors, source))
    if name is None and len(made.ops) != 1:
        raise DefinitionError(
            "the text defines " + (f"several ops, choose with name=: {', '.join(made.ops)}" if made.ops else "no op")
        )
    if name is not None and name not in made.ops:
        raise DefinitionError(f"the text defines no op `{name}`; it has {', '.join(made.ops)}")
    all_ops = Library(ChainMap(dict(made.ops), shelf.ops), shelf.library.schedules)
    return Function(made.ops[name] if name else next(iter(made.ops.values())), all_ops, source, on)


def find(name: str, shelf: Catalogue) -> OpDef:
    """The op called `name` here or in PyTorch (`conv2d`, `torch.nn.functional.conv2d`).  Raises DefinitionError."""
    if name in shelf.called:
        return shelf.ops[shelf.called[name]]
    raise DefinitionError(f"no op is called `{name}`; {did_you_mean(name, shelf.called)}".rstrip("; "))


@cache
def device():
    """The GPU that the build and its tests use, as wgpu_runner.Gpu, or None."""
    try:
        from buildtools import environment, gpu

        gpu.enter()
    except ImportError:
        pass  # an installed compiler: what wgpu finds
    except environment.SetupError:
        pass  # no software GPU on this machine
    try:
        from .wgpu_runner import Gpu

        return Gpu()
    except (ImportError, RuntimeError, OSError):
        return None


@cache
def cpu() -> Wasm:
    """WebAssembly's kernels and memory."""
    from .wasm_runner import Wasm

    return Wasm()


class Function:
    """An op as a callable.  One result is an array, several are a dict by their names; parameters declared `mut` are
    assigned in place where an array was given.  Calls raise OpError for arguments that do not fit.

    on: "numpy", "gpu" or "wasm" (the kernels of the package's CPU, by wasmtime), what a plain call runs on.  seeds:
    (seed0, seed1, number of the call), for random ops.
    Lists and Python's floats are float64 in numpy; the GPU has no doubles, there they are float32."""

    def __init__(self, op: OpDef, library: Library | None = None, source: Source | None = None, on: str | None = None):
        if on not in (None, "numpy", "gpu", "wasm"):
            raise ValueError(f'on={on!r}: it is "numpy", "gpu" or "wasm"')
        self.op, self.library, self.source, self.chosen = op, library or Library({op.name: op}), source, on
        self.seeds = (0, 0, 0)
        self.name = shown_name(op)
        self.__name__, self.__doc__ = self.name, op.doc
        self.signature = replace(opdata.signature(op), name=self.name)
        self.__signature__ = notebook.python_signature(op)

    def __repr__(self) -> str:
        return signature(self.op.tree)

    def _repr_html_(self) -> str:
        return notebook.page(self)

    @property
    def on(self) -> str:
        return self.chosen or ("gpu" if device() else "numpy")

    @on.setter
    def on(self, target: str):
        if target not in ("numpy", "gpu", "wasm"):
            raise ValueError(f'on = {target!r}: it is "numpy", "gpu" or "wasm"')
        self.chosen = target

    @cached_property
    def data(self) -> Op:
        """The op as kernels need it, with its gradients."""
        from codegen.api.compiled import op_data

        complete(self.op)
        return op_data(self.op)

    @cached_property
    def rules(self) -> list[Schedule]:
        return opdata.rules(self.library)

    # --- Calls ---

    def __call__(self, /, *args, **options):
        return self.run(self.on, args, options)

    def numpy(self, /, *args, **options):
        """The meaning of the definition itself, whatever `on` says."""
        return self.run("numpy", args, options)

    def gpu(self, /, *args, **options):
        """The kernels, through wgpu.  Raises RuntimeError where there is no GPU."""
        return self.run("gpu", args, options)

    def run(self, target: str, args: tuple, options: dict):
        call, arrays = self.bind(args, options, target)
        self.ask(call, args, options)
        found = self.program(target, 0, call, arrays, list(self.op.outputs))
        self.ask(call, args, options, {n: found[n] for n in self.op.outputs})
        for p, v in zip(self.op.params, arranged(self.name, self.op, args, options)):
            if p.mut and isinstance(v, np.ndarray) and p.name in found:
                np.copyto(v, found[p.name], casting="unsafe")
        out = {n: found[n] for n in self.op.outputs}
        if len(out) == 1:
            return next(iter(out.values()))
        return out or {p.name: found[p.name] for p in self.op.params if p.name in found}

    def ask(self, call: Call, args: tuple, options: dict, results: dict[str, np.ndarray] | None = None):
        """Raises OpError where a requirement over elements does not hold: over arguments, or over results, once there
        are any."""
        for (name, messages), spared in zip(self.op.value_checks, self.op.spared):
            guard = self.library.ops[name]
            if spared is not None and formula(spared)(call.env):
                continue
            if any(p.name in self.op.outputs for p in guard.params) != (results is not None):
                continue
            given = {
                p.name: v for p, v in zip(self.op.params, arranged(self.name, self.op, args, options)) if v is not None
            } | (results or {})
            said = Function(guard, self.library).numpy(
                **{p.name: given[p.name] for p in guard.params if p.name in given}
            )
            for message, fine in zip(messages, said.values() if isinstance(said, dict) else (said,)):
                if not fine:
                    raise refused(f"{self.name}: {message}")

    def grad(self, /, *args, wrt: str | list[str] | None = None, cotangent=None, **options):
        """The gradients by the tensor arguments that have one, a dict by their names.

        wrt: only by this one, answered alone, or by these.  cotangent: the gradient of the result (a dict for
        several), in its shape or one that broadcasts; ones by default, so that the sum is differentiated."""
        data = self.data
        program = self.op.gradient
        if program is None:
            raise OpError(f"{self.name} has no gradient")
        names = {program.tensors[n].like: n for n in program.outputs}
        chosen = list(names) if wrt is None else [wrt] if isinstance(wrt, str) else list(wrt)
        for n in chosen:
            if n not in names:
                raise OpError(f"{self.name} has no gradient by '{n}'; it has them by {', '.join(names)}")
        call, arrays = self.bind(args, options, self.on)
        if not is_floating(call.dtype):
            raise OpError(f"{self.name} has gradients of floats, not of {call.dtype}")
        slots = {s.name: b for s, b in zip(data.slots, call.slots)}
        given = {
            g: cotangent_of(self.name, g[2:], cotangent, slots[g].shape) for g in program.inputs if g.startswith("g_")
        }
        made = (
            self.program(self.on, 0, call, arrays, list(self.op.outputs))
            if set(self.op.outputs) & set(program.inputs)
            else {}
        )
        wanted = [names[n] for n in chosen if n in arrays]
        found = self.program(
            self.on, 1, call, {**arrays, **{n: a for n, a in made.items() if n in self.op.outputs}, **given}, wanted
        )
        for p, v in zip(self.op.params, arranged(self.name, self.op, args, options)):
            if p.flat and names.get(p.name) in found:
                found[names[p.name]] = found[names[p.name]].reshape(np.shape(v))
        return (
            found[names[wrt]]
            if isinstance(wrt, str) and wrt in arrays
            else {n: found[names[n]] for n in chosen if n in arrays}
        )

    # --- What is behind a call ---

    def wgsl(self, /, *args, gradient: bool = False, **options) -> list[str]:
        """The texts of the kernels that such a call runs (gradient: such a call of `grad`), in order."""
        return [x.code for x in self.launches(*args, gradient=gradient, **options)]

    def wasm(self, /, *args, gradient: bool = False, **options) -> list[str]:
        """The kernels that such a call runs on the package's CPU, as text, in order; of a body there is none."""
        call, wanted = self.planned(args, options, gradient, "wasm")
        return kernels.wasm(self.data, int(gradient), call, wanted)

    def launches(self, /, *args, gradient: bool = False, **options) -> list[Launch]:
        """The dispatches of such a call on this machine's GPU, or on a typical one."""
        call, wanted = self.planned(args, options, gradient, "gpu")
        facts = device().facts if device() else kernels.TYPICAL
        return kernels.launches(self.data, int(gradient), call, wanted, self.rules, facts)

    def planned(self, args: tuple, options: dict, gradient: bool, target: str) -> tuple[Call, list[int]]:
        """The bound call, and the slots that it answers."""
        if gradient and self.data is not None and self.op.gradient is None:
            raise OpError(f"{self.name} has no gradient")
        call, _ = self.bind(args, options, target)
        return call, kernels.wanted(self.op, self.data, gradient)

    def explain(self, /, *args, **options) -> str:
        """The definition, what was derived from it, and the kernels of this call, or of a small one, as text."""
        from .explain import page

        given = {p.name: v for p, v in zip(self.op.params, arranged(self.name, self.op, args, options))}
        return page(self.op, self.library, {n: v for n, v in given.items() if v is not None})

    def check(self, instances: int = 4) -> Report:
        """Runs the definition's tests, looks for reads outside, compares gradients with central differences and the
        GPU with numpy, in so many small random instances.  `print` it; it is true if nothing is wrong."""
        return checkup(self, instances, device() is not None)

    def bind(self, args: tuple, options: dict, target: str) -> tuple[Call, dict[str, np.ndarray]]:
        """The bound call and the arrays given, by name, contiguous.  Raises OpError as the package would."""
        from codegen.binding.bind import bind

        arrays: dict[str, np.ndarray] = {}
        given: list = []
        for p, v in zip(self.op.params, arranged(self.name, self.op, args, options)):
            if p.kind == "tensor" and v is not None:
                a = arrays[p.name] = array(f"{self.name}: '{p.name}'", v)
                if target == "gpu" and a.dtype == np.float64:
                    a = arrays[p.name] = a.astype(np.float32)
                weak = isinstance(v, (bool, int, float)) and not isinstance(v, np.generic)
                dtype = "float32" if weak and a.dtype.kind == "f" else a.dtype.name
                if p.flat:
                    a = arrays[p.name] = a.reshape(-1)
                given.append(Meta(dtype, list(a.shape), numpy_runner.contiguous(a.shape), 0, weak))
            else:
                given.append(list(v) if isinstance(v, tuple) else v.item() if isinstance(v, np.generic) else v)
        data = self.data if "data" in self.__dict__ or target != "numpy" else self.signature
        call = bind(data, given)
        if is_rounded(call.dtype):
            for p, at in zip(self.op.params, data.params):
                if p.name in arrays and not arrays[p.name].shape and is_turned(self.op, p, arrays[p.name]):
                    arrays[p.name] = arrays[p.name].astype(numpy_runner.NAMES[call.dtype])
                    call.slots[at.slot].dtype = call.dtype
        return call, arrays

    def program(
        self, target: str, number: int, call: Call, arrays: dict[str, np.ndarray], wanted: list[str]
    ) -> dict[str, np.ndarray]:
        """Runs a program of the op (see numpy_runner); answers the wanted tensors and those changed, by name."""
        data = self.data if "data" in self.__dict__ or target != "numpy" else self.signature
        if target == "numpy":
            return numpy_runner.run(self.op, data, call, arrays, number, wanted, self.seeds[:2], self.seeds[2])
        at = {s.name: i for i, s in enumerate(data.slots)}
        storages, slots = {at[n]: a.reshape(-1) for n, a in arrays.items()}, [at[n] for n in wanted]
        if target == "wasm":
            found = cpu().run(data, number, call, storages, slots, self.seeds)
        else:
            gpu = device()
            if gpu is None:
                raise RuntimeError("wgpu finds no GPU here; `.numpy(...)` needs none")
            found = gpu.run(data, number, call, storages, slots, self.rules, self.seeds)
        return {data.slots[i].name: a.reshape(call.slots[i].shape) for i, a in found.items()}


def is_turned(op: OpDef, p: Param, a: np.ndarray) -> bool:
    """Whether an argument without axes is turned into T, where that has 16 bits, before it is computed with."""
    return p.name in op.promoted and not p.precise and not p.mut and a.dtype != np.bool_


def arranged(name: str, op: OpDef, args: tuple, options: dict) -> list:
    """Arguments in the order of the parameters, None where nothing was given."""
    places = [p for p in op.params if not p.keyword]
    if len(args) > len(places):
        raise OpError(f"{name} takes at most {len(places)} positional arguments, but got {len(args)}")
    given = {p.name: a for p, a in zip(places, args)}
    for n, v in options.items():
        if n not in {p.name for p in op.params}:
            raise OpError(f"{name} has no option '{n}'; {did_you_mean(n, [p.name for p in op.params])}".rstrip("; "))
        if n in given:
            raise OpError(f"{name} got '{n}' twice")
        given[n] = v
    return [given.get(p.name) for p in op.params]


def array(what: str, v) -> np.ndarray:
    """An argument as an array that lies without gaps, of a type that tensors have.  Raises OpError."""
    try:
        a = np.asarray(v, order="C")
    except ValueError as e:
        raise OpError(f"{what} is no array: {e}") from None
    if a.dtype == np.uint64:
        if a.size and int(a.max()) >= 2**63:
            raise OpError(f"{what} has numbers past 63 bits")
        return a.astype(np.int64)
    if a.dtype.name not in numpy_runner.NAMES:
        raise OpError(f"{what} is of type {a.dtype.name}; tensors are {', '.join(numpy_runner.NAMES)}")
    return a.astype(a.dtype.newbyteorder("="), copy=False)


def cotangent_of(op: str, name: str, given, shape: list[int]) -> np.ndarray:
    """The gradient of one result as an array of its shape."""
    value = (given or {}).get(name, 0.0) if isinstance(given, dict) else 1.0 if given is None else given
    try:
        return np.array(
            np.broadcast_to(np.asarray(value, None if isinstance(value, np.ndarray) else np.float64), shape)
        )
    except ValueError:
        raise OpError(
            f"{op}: the cotangent of '{name}' has shape {list(np.shape(value))}, the result has {shape}"
        ) from None
