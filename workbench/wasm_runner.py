"""Runs programs on numpy arrays through wasmtime: the bytes that the package's CPU device runs.

    wasm = Wasm()
    results = wasm.run(op, 0, call, {slot: array}, wanted)

What a program keeps in between is stored as in the package, and 16-bit floats lie in 32 bits."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable

import numpy as np
import wasmtime

from codegen.data.dtypes import LARGE, temporary_dtype
from codegen.data.model import Call, Op
from codegen.planner.plan import zeroed
from codegen.wasm.module import kernel_bytes, wasm_kernel
from codegen.wasm.planning.kernel_plan import BYTES, WasmLaunch
from codegen.wasm.planning.plan import plan_wasm

from . import wasm_functions
from .numpy_runner import NAMES

STORED = {**NAMES, "float16": np.float32, "bfloat16": np.float32, "bool": np.uint8}
RESULT = NAMES
PAGE = 65536


class Wasm:
    """Compiled kernels, by their bytes, and one memory.  relaxed: whether to use relaxed SIMD; parts: in how many, at
    most, kernels are computed whose points threads share out; shared: how many were; large: elements from which on
    temporaries are not doubles."""

    def __init__(self, relaxed: bool = False, parts: int = 1):
        self.relaxed = relaxed
        self.parts = parts
        self.shared = 0
        self.large = LARGE
        self.store = wasmtime.Store(wasmtime.Engine())
        self.memory = wasmtime.Memory(self.store, wasmtime.MemoryType(wasmtime.Limits(1, None)))
        self.made: dict[bytes, Callable[[int], int]] = {}

    def kernel(self, launch: WasmLaunch) -> Callable[[int], int]:
        """The function of a launch; compiled once."""
        kernel = wasm_kernel(launch, self.relaxed)
        code = bytes(kernel_bytes(kernel, False))
        if code not in self.made:
            module = wasmtime.Module(self.store.engine, code)
            given = [self.memory, *(self.given(f.name, len(f.parameters)) for f in kernel.given)]
            run = wasmtime.Instance(self.store, module, given).exports(self.store)["run"]
            assert isinstance(run, wasmtime.Func)
            self.made[code] = lambda block: run(self.store, block)
        return self.made[code]

    def given(self, name: str, operands: int) -> wasmtime.Func:
        double = wasmtime.ValType.f64()
        return wasmtime.Func(
            self.store, wasmtime.FuncType([double] * operands, [double]), wasm_functions.function(name)
        )

    def run(
        self,
        op: Op,
        program: int,
        call: Call,
        storages: dict[int, np.ndarray],
        wanted: list[int],
        seeds: tuple[int, int, int] = (0, 0, 0),
    ) -> dict[int, np.ndarray]:
        """Runs a program of a bound call; answers the arrays of the wanted slots and of the given ones it changed.

        storages: for each given slot its memory as a flat array, which the call's strides and offsets walk through.
        Raises IndexError where a tensor names a place that is off its axis, OverflowError for what 32 bits do not
        hold, NotImplementedError for a kernel that WebAssembly lacks."""
        types = [
            temporary_dtype(bound.dtype, count(bound.shape), self.large)
            if slot.role == "temp" and n not in wanted
            else bound.dtype
            for n, (slot, bound) in enumerate(zip(op.slots, call.slots))
        ]
        launches = [y for x in plan_wasm(op, program, call, wanted, types) if x is not None for y in (x, *x.more)]
        for x in launches:
            if x.why:
                raise NotImplementedError(f"{op.name}: {x.why}")
        places: dict[int, int] = {}
        end = 4096
        slots = dict.fromkeys([*storages, *wanted, *(s for x in launches for s in x.slots if s >= 0)])
        for s in slots:
            size = storages[s].size if s in storages else count(call.slots[s].shape)
            places[s] = end
            end += size * BYTES[types[s]] + 64 & ~15
        places[-1] = end
        self.grow(end + max((x.scratch for x in launches), default=0) + 4096)
        for s in slots:
            size = storages[s].size if s in storages else count(call.slots[s].shape)
            a = storages[s].astype(STORED[types[s]]) if s in storages else filled(size, types[s], s not in wanted)
            self.memory.write(self.store, a.tobytes(), places[s])
        for s in zeroed(op, program, call, wanted):
            if s not in storages:
                self.memory.write(self.store, bytes(count(call.slots[s].shape) * BYTES[types[s]]), places[s])
        for x in launches:
            self.launch(op.name, x, places, seeds)
        changed = {s for s in storages if op.slots[s].mut}
        return {
            s: self.read(places[s], storages[s].size if s in storages else count(call.slots[s].shape), types[s])
            .reshape(call.slots[s].shape if s not in storages else -1)
            .astype(RESULT[call.slots[s].dtype])
            for s in sorted(changed | set(wanted))
        }

    def launch(self, name: str, x: WasmLaunch, places: dict[int, int], seeds: tuple[int, int, int]):
        values = list(x.values)
        for n, (slot, shift) in enumerate(zip(x.slots, x.shifts)):
            values[n] = places[slot] + shift
        if x.seeds >= 0:
            values[x.seeds : x.seeds + 3] = seeds
        if x.begin < 0 or self.parts == 1:
            self.told(name, x, values)
            return
        size = math.ceil(x.points / self.parts / x.grain) * x.grain
        self.shared += x.points > size
        for begin in range(0, x.points, size):
            values[x.begin : x.begin + 2] = begin, min(begin + size, x.points)
            self.told(name, x, values)

    def told(self, name: str, x: WasmLaunch, values: list[float]):
        data = bytes(16) + b"".join(
            struct.pack("<d", v) if k == "f" else struct.pack("<Q", int(v) & 0xFFFFFFFF)
            for v, k in zip(values, x.kinds)
        )
        self.memory.write(self.store, data, 0)
        if self.kernel(x)(0):
            fault, place, length = struct.unpack("<iii", bytes(self.memory.read(self.store, 0, 12)))
            if fault == 1:
                raise IndexError(f"{name}: index {place} is out of bounds for an axis of length {length}")
            raise OverflowError(f"{name}: the result does not fit into int32")

    def grow(self, size: int):
        missing = math.ceil(size / PAGE) - self.memory.size(self.store)
        if missing > 0:
            self.memory.grow(self.store, missing)

    def read(self, at: int, size: int, dtype: str) -> np.ndarray:
        data = self.memory.read(self.store, at, at + size * BYTES[dtype])
        return np.frombuffer(bytes(data), STORED[dtype])


def filled(size: int, dtype: str, hidden: bool) -> np.ndarray:
    """What new memory holds: nothing that anybody may rely on."""
    return np.full(size, 77, STORED[dtype]) if hidden else np.full(size, 78, STORED[dtype])


def count(shape: list[int]) -> int:
    return int(np.prod(shape, dtype=np.int64))
