"""Runs programs on numpy arrays through wgpu: the same plans and texts as the package's.

    gpu = Gpu()
    results = gpu.run(op, 0, [array, 2.0], wanted)

Whose GPU runs it is wgpu's choice, but never OpenGL, which is no WebGPU; for a software one set VK_ICD_FILENAMES and
LD_LIBRARY_PATH before (buildtools/gpu.py says where).  Whole numbers of fewer bits, bfloat16 and bool are
widened to 32 bits on the way."""

from __future__ import annotations

import struct

import numpy as np

from codegen.data.errors import OpError
from codegen.data.model import Call, Launch, Op, Schedule
from codegen.planner.plan import plan
from codegen.planner.writer import Facts
from dsl.ir.dtypes import TYPES

from .numpy_runner import NAMES

WORDS = {"f32": np.float32, "f16": np.float16, "i32": np.int32, "u32": np.uint32}
STORED = {name: WORDS[t.word] for name, t in TYPES.items() if t.word}
RESULT = {name: NAMES[name] for name in STORED}


class KernelError(Exception):
    """A kernel that the device refused: its message and the text."""


class Gpu:
    """A device with its compiled kernels.  Raises RuntimeError where there is none."""

    def __init__(self, features: tuple[str, ...] = ("shader-f16",)):
        import wgpu

        self.wgpu = wgpu
        adapter = wgpu.gpu.request_adapter_sync(power_preference="high-performance")
        if adapter is None or adapter.info["backend_type"] == "OpenGL":
            raise RuntimeError("wgpu finds no GPU with Vulkan, Metal or Direct3D")
        self.name = adapter.info["device"]
        raised = ("storage-buffer-binding-size", "storage-buffers-per", "max-buffer-size", "workgroup-storage-size")
        limits = {n: adapter.limits[n] for n in adapter.limits if any(part in n for part in raised)}
        self.device = adapter.request_device_sync(
            required_features=[f for f in features if f in adapter.features], required_limits=limits
        )
        self.facts = Facts(
            "shader-f16" in self.device.features,
            "subgroup" in self.device.features,
            int(self.device.limits["max-storage-buffer-binding-size"]),
            int(self.device.limits["max-storage-buffers-per-shader-stage"]),
            256,
            int(self.device.limits["max-compute-workgroup-storage-size"]),
            adapter.info["adapter_type"] == "CPU",
        )
        self.pipelines: dict[tuple, tuple] = {}

    # --- Kernels ---

    def pipeline(self, launch: Launch):
        """(pipeline, layout of the bind group) of a launch; compiled once."""
        key = (launch.code, tuple(launch.written))
        if key not in self.pipelines:
            self.pipelines[key] = self.compile(launch)
        return self.pipelines[key]

    def compile(self, launch: Launch):
        w, d = self.wgpu, self.device
        entries = [
            {
                "binding": 0,
                "visibility": w.ShaderStage.COMPUTE,
                "buffer": {"type": "uniform", "has_dynamic_offset": True},
            }
        ]
        entries += [
            {
                "binding": i + 1,
                "visibility": w.ShaderStage.COMPUTE,
                "buffer": {"type": "storage" if x else "read-only-storage"},
            }
            for i, x in enumerate(launch.written)
        ]
        layout = d.create_bind_group_layout(entries=entries)
        try:
            module = d.create_shader_module(code=launch.code)
            made = d.create_compute_pipeline(
                layout=d.create_pipeline_layout(bind_group_layouts=[layout]),
                compute={"module": module, "entry_point": "main"},
            )
        except Exception as e:
            raise KernelError(f"{e}\n\n{numbered(launch.code)}") from None
        return made, layout

    # --- Runs ---

    def run(
        self,
        op: Op,
        program: int,
        call: Call,
        storages: dict[int, np.ndarray],
        wanted: list[int],
        rules: list[Schedule],
        seeds: tuple[int, int, int] = (0, 0, 0),
    ) -> dict[int, np.ndarray]:
        """Runs a program of a bound call; answers the arrays of the wanted slots and of the given ones it changed.

        storages: for each given slot its memory as a flat array, which the call's strides and offsets walk through.
        Raises IndexError where a tensor names a place that is off its axis."""
        launches = plan(op, program, call, wanted, self.facts, rules)
        checked = any(-2 in x.slots for x in launches)
        buffers = {s: self.upload(a, call.slots[s].dtype) for s, a in storages.items()}
        for s in {s for x in launches for s in x.slots if s >= 0} | set(wanted):
            if s not in buffers:
                buffers[s] = self.zeros(count(call.slots[s].shape))
        if scratch := max((x.scratch for x in launches), default=0):
            buffers[-1] = self.zeros(scratch)
        if checked:
            buffers[-2] = self.zeros(4)
        encoder = self.device.create_command_encoder()
        for x in launches:
            self.encode(encoder, x, buffers, seeds)
        self.device.queue.submit([encoder.finish()])
        if checked:
            raise_fault(op.name, self.download(buffers[-2], "int32", 4))
        changed = {s for x in launches for s, written in zip(x.slots, x.written) if written and s in storages}
        return {
            s: self.download(
                buffers[s], call.slots[s].dtype, storages[s].size if s in storages else count(call.slots[s].shape)
            ).reshape(call.slots[s].shape if s not in storages else -1)
            for s in sorted(changed | set(wanted))
        }

    def encode(self, encoder, x: Launch, buffers, seeds):
        pipeline, layout = self.pipeline(x)
        values = list(x.uniforms)
        if x.seeds >= 0:
            values[x.seeds : x.seeds + 3] = seeds
        data = pack(values, x.kinds)
        data += bytes(-len(data) % 16)
        uniform = self.device.create_buffer_with_data(data=data, usage=self.wgpu.BufferUsage.UNIFORM)
        entries = [{"binding": 0, "resource": {"buffer": uniform, "offset": 0, "size": len(data)}}]
        entries += [
            {"binding": i + 1, "resource": {"buffer": buffers[s], "offset": 0, "size": buffers[s].size}}
            for i, s in enumerate(x.slots)
        ]
        group = self.device.create_bind_group(layout=layout, entries=entries)
        p = encoder.begin_compute_pass()
        p.set_pipeline(pipeline)
        p.set_bind_group(0, group, [0])
        p.dispatch_workgroups(*x.groups)
        p.end()

    # --- Memory ---

    def usage(self):
        return self.wgpu.BufferUsage.STORAGE | self.wgpu.BufferUsage.COPY_SRC | self.wgpu.BufferUsage.COPY_DST

    def upload(self, a: np.ndarray, dtype: str):
        if dtype == "int64" and a.size and not (-(2**31) <= int(a.min()) and int(a.max()) < 2**31):
            raise OpError("int64 has 32 bits on a GPU, and there are numbers past 32 bits")
        data = np.ascontiguousarray(a.reshape(-1), STORED[dtype]).tobytes()
        return self.device.create_buffer_with_data(
            data=data + bytes(-len(data) % 16 or (16 if not data else 0)), usage=self.usage()
        )

    def zeros(self, elements: int):
        return self.device.create_buffer(size=max(elements * 4 + 15 & ~15, 16), usage=self.usage())

    def download(self, buffer, dtype: str, elements: int) -> np.ndarray:
        if elements == 0:
            return np.zeros(0, RESULT[dtype])
        raw = self.device.queue.read_buffer(buffer)
        return np.frombuffer(raw, STORED[dtype])[:elements].astype(RESULT[dtype])


def raise_fault(op: str, fault: np.ndarray):
    """What a kernel has noted of a place, if it has; see wgsl/rare.wgsl.  Requirements are asked in numpy
    (function.py)."""
    times, at, length, *_ = fault
    if times and length == -2:
        raise OverflowError(f"{op}: the result does not fit into int32")
    if times and length >= 0:
        raise IndexError(f"{op}: index {at} is out of bounds for an axis of length {length}")


def pack(values: list[float], kinds: list[str]) -> bytes:
    """Words as they lie in the uniform."""
    return b"".join(
        struct.pack("<f", np.float32(v)) if k == "f" else struct.pack("<I", int(v) & 0xFFFFFFFF)
        for v, k in zip(values, kinds)
    )


def count(shape: list[int]) -> int:
    return int(np.prod(shape, dtype=np.int64))


def numbered(text: str) -> str:
    return "\n".join(f"{n:4d} {line}" for n, line in enumerate(text.split("\n"), 1))
