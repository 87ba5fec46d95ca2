"""Writes tests/oracle/degenerate.tar.xz: what PyTorch answers where formulas divide by zero, take roots of it, or meet
infinities and NaN.

    python tests/recorded/degenerate.py [FOLDER]

The calls are those of tests/oracle/opinfo.tar.xz, the smallest of each op, with every float replaced: by zeros, by one
number, by rows of zeros among others, by infinities, by NaN and -0.  The format is the corpus's own
(tests/oracle/checker/README.md).  Needs PyTorch; the tests do not."""

from __future__ import annotations

import io
import json
import math
import struct
import sys
import tarfile
import tempfile
import warnings
from pathlib import Path

import torch

torch.set_num_threads(1)
warnings.simplefilter("ignore")
ORACLE = Path(__file__).resolve().parent.parent / "oracle"
LARGEST, USUAL, CALLS = 64, 12, 2  # elements of a call's tensors; calls of an op
# Results that depend on nothing but sizes, on memory as it lies, or on a seed; names that are not functions of values.
LEFT_OUT = (
    "empty",
    "new_",
    "rand",
    "normal_",
    "bernoulli",
    "multinomial",
    "dropout",
    "rrelu",
    "uniform",
    "exponential",
    "cauchy",
    "geometric",
    "log_normal",
    "resize",
    "fractional_max_pool",
    "jiterator",
    "to_sparse",
    "sparse.",
    "_",
    "view_as_complex",
    "set_",
    "svd_lowrank",
    "pca_lowrank",
    "stft",
    "istft",
)


# Of equal elements these may name any.
PICKS = ("kthvalue", "topk", "mode", "median", "nanmedian", "sort", "argsort")


def fills(values: torch.Tensor) -> dict[str, torch.Tensor]:
    """A tensor's degenerate forms, of the same shape."""
    flat, n = values.reshape(-1), values.numel()
    at = torch.arange(n)
    row = max(values.shape[-1] if values.ndim else 1, 1)
    rows, every = at // row, lambda *numbers: torch.tensor(numbers)[at % len(numbers)]
    made = {
        "zeros": torch.zeros(n),
        "ones": torch.ones(n),
        "equal": torch.full((n,), 0.5),
        "rows": torch.where(rows % 2 == 0, 0.0, flat),
        "infinite": torch.where(
            rows % 3 == 0, torch.where(at % 2 == 0, math.inf, flat), torch.where(rows % 3 == 1, -math.inf, flat)
        ),
        "large": every(100.0, -100.0, 1e4, -1e4, 30.0, -30.0, 88.0),
        "odd": every(-0.0, 1.0, math.nan, -1.0, 0.0, -math.inf, math.inf),
    }
    return {name: x.reshape(values.shape).float() for name, x in made.items()}


def corpus() -> dict[str, dict]:
    """The recorded calls: name of the file -> its head, with `arrays` beside."""
    texts, arrays = {}, {}
    with tarfile.open(ORACLE / "opinfo.tar.xz") as tar:
        for member in tar:
            if not member.isfile():
                continue
            data, name = tar.extractfile(member).read(), Path(member.name)
            if name.suffix == ".json":
                texts[name.stem] = json.loads(data)
            else:
                arrays[name.stem] = read_safetensors(data)
    return {name: {**head, "arrays": arrays.get(name, {})} for name, head in sorted(texts.items())}


KINDS = {
    "F64": torch.float64,
    "F32": torch.float32,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "I64": torch.int64,
    "I32": torch.int32,
    "I16": torch.int16,
    "I8": torch.int8,
    "U8": torch.uint8,
    "BOOL": torch.bool,
}
LETTERS = {kind: letters for letters, kind in KINDS.items()}


def read_safetensors(data: bytes) -> dict[str, torch.Tensor]:
    n = struct.unpack("<Q", data[:8])[0]
    found = {}
    for name, entry in json.loads(data[8 : 8 + n]).items():
        if name == "__metadata__" or entry["dtype"] not in KINDS:
            continue
        a, b = entry["data_offsets"]
        raw = bytearray(data[8 + n + a : 8 + n + b])
        kind = KINDS[entry["dtype"]]
        found[name] = torch.frombuffer(raw, dtype=kind) if raw else torch.empty(0, dtype=kind)
    return found


def safetensors(arrays: dict[str, torch.Tensor]) -> bytes:
    head, body = {}, io.BytesIO()
    for name, x in arrays.items():
        start = body.tell()
        body.write(
            bytes(torch.cat([x.reshape(-1), x.reshape(-1)])[: x.numel()].view(torch.uint8).tolist())
            if x.numel()
            else b""
        )
        head[name] = {"dtype": LETTERS[x.dtype], "shape": [x.numel()], "data_offsets": [start, body.tell()]}
    text = json.dumps(head, separators=(",", ":")).encode()
    return struct.pack("<Q", len(text)) + text + body.getvalue()


def function(op: str, replay: list[str]):
    if "function" not in replay:
        return lambda x, *a, **k: getattr(x, op)(*a, **k)
    found = torch
    for part in op.split("."):
        found = getattr(found, part)
    return found


def decoded(x, tensors: list[torch.Tensor]):
    if isinstance(x, list):
        return [decoded(v, tensors) for v in x]
    if not isinstance(x, dict):
        return x
    ((tag, v),) = x.items()
    match tag:
        case "$tensor":
            return tensors[v]
        case "$float":
            return float(v)
        case "$dtype":
            return getattr(torch, v)
        case "$tuple":
            return tuple(decoded(e, tensors) for e in v)
        case "$slice":
            return slice(*(decoded(e, tensors) for e in v))
        case "$ellipsis":
            return ...
        case "$memory_format" | "$layout":
            return getattr(torch, v.removeprefix("torch."))
        case "$dict":
            return {decoded(a, tensors): decoded(b, tensors) for a, b in v}
    raise ValueError(tag)


def tree(x, leaves: list[torch.Tensor]):
    """A result as the corpus writes it; its tensors are put into leaves."""
    if isinstance(x, torch.Tensor):
        leaves.append(x)
        return {"$out": len(leaves) - 1}
    if isinstance(x, (tuple, list)):
        return {"$tuple": [tree(v, leaves) for v in x]}
    if isinstance(x, float):
        return {"$float": str(x)}
    if x is None or isinstance(x, (bool, int)):
        return x
    raise ValueError(type(x))


def short(sample: dict) -> int:
    return sum(math.prod(t["shape"]) for t in sample["tensors"])


def usable(sample: dict) -> bool:
    types = {t["dtype"] for t in [*sample["tensors"], *sample["outputs"]]}
    return (
        0 < short(sample) <= LARGEST
        and bool(sample["replay"])
        and not set(sample["flags"]) & {"random", "uninitialised", "gauge", "complex", "int64_over_int32"}
        and types <= {"float32", "int64", "bool"}
        and any(t["dtype"] == "float32" and math.prod(t["shape"]) for t in sample["tensors"])
        and "$complex" not in json.dumps(sample["args"]) + json.dumps(sample["kwargs"])
    )


def run(op: str, sample: dict, inputs: list[torch.Tensor], wanted: torch.dtype):
    """(tree, results, cotangents, gradients) of the call in a type; raises what PyTorch raises."""
    made = [x.to(wanted) if x.is_floating_point() else x for x in inputs]
    leaves = [
        x.clone().requires_grad_(x.is_floating_point() and meta["requires_grad"])
        for x, meta in zip(made, sample["tensors"])
    ]
    results: list[torch.Tensor] = []
    shape = tree(
        function(op, sample["replay"])(
            *decoded(sample["args"], leaves), **{name: decoded(v, leaves) for name, v in sample["kwargs"].items()}
        ),
        results,
    )
    asked = [n for n, r in enumerate(results) if r.requires_grad and r.is_floating_point()]
    wrt = [n for n, x in enumerate(leaves) if x.requires_grad]
    if not (asked and wrt):
        return shape, results, {}, {}
    cotangents = {
        n: torch.tensor([1.0, 0.5, -2.0, 0.25])[torch.arange(results[n].numel()) % 4].reshape(results[n].shape)
        for n in asked
    }
    slopes = torch.autograd.grad(
        [results[n] for n in asked],
        [leaves[n] for n in wrt],
        [cotangents[n].to(results[n].dtype) for n in asked],
        allow_unused=True,
    )
    return shape, results, cotangents, dict(zip(wrt, slopes))


def distance(x: torch.Tensor, exact: torch.Tensor | None) -> list:
    """How far an answer in float32 is from that in float64: absolutely and relatively, or in how many elements one only
    is finite."""
    if exact is None or not x.is_floating_point() or not x.numel() or x.shape != exact.shape:
        return [0, 0]
    a, b = x.detach().double(), exact.detach().double()
    finite = a.isfinite() & b.isfinite()
    if odd := int((~finite & (a != b) & ~(a.isnan() & b.isnan())).sum()):
        return ["nonfinite_mismatch", odd]
    far = torch.where(finite, (a - b).abs(), 0.0)
    return [float(f"{far.max():.3g}"), float(f"{(far / b.abs().clamp(min=1e-30)).where(finite, far).max():.3g}")]


def recorded(head: dict, sample: dict, arrays: dict[str, torch.Tensor]) -> tuple[list[dict], list[dict]]:
    """The samples and the errors that one call becomes; what they hold is put into arrays."""
    samples, errors = [], []
    own = [
        head["arrays"][t["storage"]].as_strided(t["shape"], t["stride"], t["offset"])
        if math.prod(t["shape"])
        else torch.empty(t["shape"], dtype=getattr(torch, t["dtype"]))
        for t in sample["tensors"]
    ]
    forms = [fills(x) if x.dtype == torch.float32 else {} for x in own]
    for kind in next(f for f in forms if f):
        inputs = [f[kind] if f else x for f, x in zip(forms, own)]
        name = f"{sample['id'].rsplit('/', 1)[1]}.{kind}"
        metas = []
        for n, (x, meta) in enumerate(zip(inputs, sample["tensors"])):
            arrays[f"{name}.i{n}"] = x.reshape(-1)
            metas.append(
                {
                    "storage": f"{name}.i{n}",
                    "dtype": meta["dtype"],
                    "shape": meta["shape"],
                    "stride": list(torch.empty(meta["shape"]).stride()),
                    "offset": 0,
                    "requires_grad": meta["requires_grad"],
                }
            )
        call = {
            "id": f"{head['op']}{'@' * bool(head['variant'])}{head['variant']}/{name}",
            "args": sample["args"],
            "kwargs": sample["kwargs"],
            "tensors": metas,
        }
        try:
            shape, results, cotangents, slopes = run(head["op"], sample, inputs, torch.float32)
            _, exact, _, steep = run(head["op"], sample, inputs, torch.float64)
        except (RuntimeError, ValueError, IndexError) as e:
            message = str(e).split("\n")[0]
            errors.append({**call, "raised": type(e).__name__, "expected_regex": "", "message": message})
            continue
        outputs = []
        for n, r in enumerate(results):
            arrays[f"{name}.o{n}"] = r.detach().reshape(-1)
            outputs.append(
                {
                    "dtype": str(r.dtype)[6:],
                    "shape": list(r.shape),
                    "stride": list(r.stride()),
                    "data": f"{name}.o{n}",
                    "err64": distance(r, exact[n]),
                }
            )
        grad = None
        if cotangents:
            arrays |= {f"{name}.c{n}": c.reshape(-1) for n, c in cotangents.items()} | {
                f"{name}.g{n}": g.reshape(-1) for n, g in slopes.items() if g is not None
            }
            grad = {
                "cotangents": {str(n): f"{name}.c{n}" for n in cotangents},
                "inputs": {
                    str(n): g if g is None else {"data": f"{name}.g{n}", "err64": distance(g, steep[n])}
                    for n, g in slopes.items()
                },
            }
        samples.append(
            {
                **call,
                "dtype": "float32",
                "source": kind,
                "index": 0,
                "output": shape,
                "outputs": outputs,
                "grad": grad,
                "replay": sample["replay"],
                "flags": sample["flags"] + ["ties"] * (head["op"] in PICKS),
                **({"mutates_inputs": sample["mutates_inputs"]} if "mutates_inputs" in sample else {}),
            }
        )
    return samples, errors


def main(folder: Path) -> None:
    for name, head in corpus().items():
        if head["op"].startswith(LEFT_OUT) or any(f".{w}" in head["op"] for w in LEFT_OUT[1:]):
            continue
        chosen, seen = [], set()
        for sample in sorted(filter(usable, head["samples"]), key=lambda s: abs(short(s) - USUAL)):
            key = json.dumps(
                [
                    sample["kwargs"],
                    [a for a in sample["args"] if not isinstance(a, dict)],
                    [len(t["shape"]) for t in sample["tensors"]],
                ],
                sort_keys=True,
            )
            if key not in seen and len(chosen) < CALLS:
                chosen.append(sample)
            seen.add(key)
        arrays: dict[str, torch.Tensor] = {}
        samples, errors = [], []
        for sample in chosen:
            try:
                more = recorded(head, sample, arrays)
            except Exception as e:
                print(f"{name}: {type(e).__name__}: {e}", file=sys.stderr)
                continue
            samples += more[0]
            errors += more[1]
        if not samples:
            continue
        out = {
            "format": head["format"],
            "op": head["op"],
            "variant": head["variant"],
            "inplace_method": None,
            "gradcheck_wrapper": head["gradcheck_wrapper"],
            "replay": head["replay"],
            "n_samples_total": len(samples),
            "data": f"{name}.safetensors",
            "samples": samples,
            "errors": errors,
        }
        (folder / f"{name}.json").write_text(json.dumps(out, separators=(",", ":")))
        (folder / f"{name}.safetensors").write_bytes(safetensors(arrays))


if __name__ == "__main__":
    if sys.argv[1:]:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as folder:
            main(Path(folder))
            with tarfile.open(ORACLE / "degenerate.tar.xz", "w:xz", preset=9) as tar:
                tar.add(folder, "degenerate")
