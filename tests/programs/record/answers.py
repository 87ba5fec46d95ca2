"""Runs programs in PyTorch and writes down what comes out; ../README.md says what a program looks like.

`evaluate` runs one twice, in its own types and in float64: the distance of the two says how exact an answer can be."""

from __future__ import annotations

import base64
import warnings

import numpy as np
import torch

warnings.filterwarnings("ignore")
F = torch.nn.functional
NUMPY = {
    "float32": np.float32,
    "float64": np.float64,
    "float16": np.float16,
    "int32": np.int32,
    "int64": np.int64,
    "int8": np.int8,
    "uint8": np.uint8,
    "bool": np.bool_,
}
VIEWS = {
    "view",
    "permute",
    "transpose",
    "t",
    "squeeze",
    "unsqueeze",
    "expand",
    "select",
    "narrow",
    "diagonal",
    "unfold",
    "split",
    "chunk",
    "unbind",
    "unflatten",
    "movedim",
    "swapaxes",
    "as_strided",
    "detach",
    "expand_as",
    "view_as",
    "T",
    "mT",
    "tensor_split",
    "squeeze_",
    "unsqueeze_",
    "transpose_",
    "t_",
    "swapdims_",
}


class Missing(Exception):
    """A step's argument was never made."""


def dtype_name(t: torch.dtype) -> str:
    return str(t).removeprefix("torch.")


def raw(t: torch.Tensor) -> dict:
    d = t.detach()
    a = np.ascontiguousarray(d.numpy(force=True))
    return {
        "shape": list(t.shape),
        "dtype": dtype_name(t.dtype),
        "b64": base64.b64encode(a.tobytes()).decode(),
        "rg": tracked(t),
    }


def tracked(t):
    try:
        return bool(t.requires_grad)
    except RuntimeError:  # a view of several whose base was changed in place
        return None


def unraw(w: dict, wide: bool) -> torch.Tensor:
    a = np.frombuffer(base64.b64decode(w["b64"]), dtype=NUMPY[w["dtype"]]).reshape(w["shape"]).copy()
    t = torch.from_numpy(a)
    if wide and t.is_floating_point():
        t = t.double()
    return t.requires_grad_(True) if w.get("rg") else t


class Runner:
    def __init__(self, wide: bool = False) -> None:
        self.wide = wide
        self.env: dict[int, torch.Tensor] = {}

    def decode(self, v):
        if v is None or isinstance(v, (bool, int, float, str)):
            return v
        if isinstance(v, list):
            return [self.decode(x) for x in v]
        if "t" in v:
            if v["t"] not in self.env:
                raise Missing(v["t"])
            return self.env[v["t"]]
        if "x" in v:
            return float(v["x"])
        if "d" in v:
            return torch.float64 if self.wide and v["d"].startswith("float") else getattr(torch, v["d"])
        if "u" in v:
            return tuple(self.decode(x) for x in v["u"])
        if "s" in v:
            return slice(*[self.decode(x) for x in v["s"]])
        if "e" in v:
            return Ellipsis
        if "m" in v:
            return {k: self.decode(x) for k, x in v["m"].items()}
        raise ValueError(v)

    def call(self, step: dict):
        f = step["f"]
        a = [self.decode(v) for v in step.get("a", [])]
        k = {n: self.decode(v) for n, v in step.get("k", {}).items()}
        if f == "check":
            return a[0]
        if f.endswith(".__get__"):
            return getattr(a[0], f.split(".")[-2])
        if f.endswith(".__set__"):
            setattr(a[0], f.split(".")[-2], a[1])
            return None
        owner = torch
        for part in f.split(".")[1:]:
            owner = getattr(owner, part)
        return owner(*a, **k)

    def run(self, step: dict):
        """The tensors that the step's "o" names."""
        if step["f"] == "const":
            self.env[step["o"]] = unraw(step["w"], self.wide)
            return []
        default = torch.get_default_dtype()
        try:
            if self.wide:
                torch.set_default_dtype(torch.float64)
            with torch.set_grad_enabled(not step.get("ng")):
                out = self.call(step)
        finally:
            torch.set_default_dtype(default)
        found: list = []
        if step["f"] != "check" and "o" in step:
            self.bind(step["o"], out, found)
        elif step["f"] == "check":
            found.append(out)
        return found

    def bind(self, structure, out, found: list) -> None:
        if structure is None:
            return
        if isinstance(structure, list):
            for s, x in zip(structure, out):
                self.bind(s, x, found)
        elif isinstance(out, torch.Tensor):
            self.env[structure["t"]] = out
            found.append(out)
        else:
            found.append(None)


def leafness(t):
    try:
        return None if t is None else t.is_leaf
    except RuntimeError:
        return None


def noise(narrow: torch.Tensor, wide: torch.Tensor | None) -> tuple[str | None, float]:
    """The distance of the two runs, as base64 of float32, and the largest relative one."""
    if not narrow.is_floating_point() or wide is None or not narrow.numel():
        return None, 0.0
    a, b = narrow.detach().double(), wide.detach().double()
    d = (a - b).abs()
    d = torch.where((a == b) | (a.isnan() & b.isnan()), torch.zeros_like(d), d)
    bad = d.isnan() | d.isinf()
    relative = float((d / (1 + b.abs())).nan_to_num(1e9, 1e9, 1e9).max())
    return (
        base64.b64encode(
            torch.where(bad, torch.full_like(d, 3e38), d).clamp(max=3e38).float().contiguous().numpy().tobytes()
        ).decode(),
        relative,
    )


LEAST, MOST = -(2**31), 2**31 - 1


def content(t: torch.Tensor) -> bytes:
    return np.ascontiguousarray(t.detach().numpy(force=True)).tobytes()


def memory(t: torch.Tensor) -> int:
    return t.untyped_storage().data_ptr()


class Spoiled:
    """What PyTorch changes beside what a step asks for: `after` names the tensors whose elements then say nothing.

    A refused call has changed some elements; a gradient that was given is memory that later gradients are added to;
    elements of a gradient may share their memory."""

    def __init__(self, env: dict[int, torch.Tensor], step: dict) -> None:
        self.env, self.step = env, step
        self.before = {n: content(t) for n, t in env.items()}
        self.gradients = self.of_leaves()
        written = env.get(next(iter(numbers(step["a"][:1])), None))
        self.written = None if written is None or step["f"].endswith("backward") else memory(written)
        self.target = (
            None
            if self.written is None or step.get("ng") or not tracked(written)
            else written._base
            if written._is_view()
            else written
        )
        self.node, self.version = (self.target.grad_fn, self.target._version) if self.target is not None else (None, 0)

    def unseen(self) -> bool:
        """Whether PyTorch's tape does not know that the step has changed its tensor."""
        x = self.target
        return x is not None and x.grad_fn is self.node and x._version > self.version

    def of_leaves(self) -> dict[int, bytes]:
        return {n: content(t.grad) for n, t in self.env.items() if leafness(t) and t.grad is not None}

    def after(self, refused: bool, given: set[int], shared: set[int]) -> list[int]:
        """`given`: where gradients lie that backward() was given; `shared`: where those lie whose elements share
        memory."""
        changed = [n for n in self.before if content(self.env[n]) != self.before[n]]
        if refused or self.written in shared:
            return changed
        own = {id(t.grad) for t in self.env.values() if leafness(t)}
        returns = self.step["f"].endswith("backward")
        return [n for n in changed if returns and memory(self.env[n]) in given and id(self.env[n]) not in own]


def writes(step: dict) -> bool:
    last = step["f"].split(".")[-1]
    return last.endswith("_") and not last.endswith("__") or last in ("__setitem__", "backward", "__set__")


def numbers(o) -> list[int]:
    """The tensors that a step names."""
    if isinstance(o, list):
        return [x for p in o for x in numbers(p)]
    return [o["t"]] if isinstance(o, dict) and "t" in o else []


def evaluate(program: dict) -> dict:
    """The program with its results.  It ends where rounding decides ("unstable")."""
    narrow, wide = Runner(), Runner(True)
    steps, given, shared = [], set(), set()
    for step in program["steps"]:
        step = {
            k: v
            for k, v in step.items()
            if k not in ("w", "err", "v", "leaf", "view", "spoils", "half", "unseen") or step["f"] == "const"
        }
        if step["f"] == "const":
            narrow.run(step), wide.run(step)
            steps.append(step)
            continue
        spoiled = Spoiled(narrow.env, step) if writes(step) else None
        try:
            found = narrow.run(step)
        except Missing:
            continue
        except Exception as error:
            if spoiled:
                step["spoils"] = spoiled.after(True, given, shared)
                if spoiled.of_leaves() != spoiled.gradients:
                    step["half"] = 1
            step["err"] = [type(error).__name__, str(error)[:200]]
            try:
                wide.run(step)
            except Exception:
                pass
            steps.append(step)
            continue
        try:
            shadow = wide.run(step)
        except Exception as error:
            return {
                **program,
                "steps": steps,
                "ended": f"{step['f']}: in float64 {type(error).__name__} {str(error)[:80]}",
            }
        if spoiled:
            if step["f"].endswith("backward"):
                given |= {memory(narrow.env[n]) for n in numbers(step["a"][1:])}
            step["spoils"] = spoiled.after(False, given, shared)
            if spoiled.unseen():
                step["unseen"] = 1
            if spoiled.written in given:
                step["half"] = 1
        if step["f"].endswith(("autograd.grad", "grad.__get__")):
            shared |= {
                memory(x) for x in found if x is not None and any(n > 1 and not s for n, s in zip(x.shape, x.stride()))
            }
        step["w"] = []
        stop = False
        for x, y in zip(found, shadow):
            if x is None:
                step["w"].append(None)
                continue
            w = raw(x)
            if x.is_floating_point():
                w["noise"], worst = noise(x, y)
                stop |= worst > 2e-2 and x.dtype != torch.float16
            elif y is not None and (x.shape != y.shape or not torch.equal(x.long(), y.long())):
                stop = True
            if x.dtype == torch.int64 and bool(((x < LEAST) | (x > MOST)).any()):
                stop = True
            step["w"].append(w)
        last = step["f"].split(".")[-1]
        if last in VIEWS or step["f"].endswith(("T.__get__", "mT.__get__")):
            step["view"] = 1
        step["v"] = [None if x is None else [list(x.stride()), x.storage_offset()] for x in found]
        step["leaf"] = [leafness(x) for x in found]
        if stop:
            ended = f"{step['f']}: unstable"
            if writes(step):
                return {**program, "steps": steps, "ended": ended}
            for n in numbers(step.get("o")):  # as if it had not been asked for
                narrow.env.pop(n, None), wide.env.pop(n, None)
            continue
        steps.append(step)
    return {**program, "steps": steps}
