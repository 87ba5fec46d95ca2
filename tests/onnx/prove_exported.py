"""What onnxruntime answers for the networks that tests/onnx/exported.mjs exported, beside PyTorch's answers: exported.json.

    node tests/onnx/exported.mjs FOLDER OUT cpu      FOLDER: tests/exchange/models.tar.xz, unpacked, and others like it
    python tests/onnx/prove_exported.py FOLDER OUT   in an environment with onnx and onnxruntime

Fails where a model is refused or an answer is off by more than 2e-5 of the largest."""

import json
import sys
from pathlib import Path

import numpy as np
import onnx
import onnx.checker
import onnxruntime

NEAR = 2e-5
TYPES = {"F32": "<f4", "F64": "<f8", "F16": "<f2", "C64": "<c8", "I64": "<i8", "I32": "<i4", "I8": "i1", "U8": "u1"}
TYPES["BOOL"] = "?"


def tensors(path: Path) -> dict[str, np.ndarray]:
    """The tensors of a safetensors file."""
    data = path.read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    out = {}
    for name, entry in json.loads(data[8:start]).items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            out[name] = np.frombuffer(data[start + begin : start + end], TYPES[entry["dtype"]]).reshape(entry["shape"])
    return out


def numbered(recorded: dict[str, np.ndarray], prefix: str) -> list[tuple[int, np.ndarray]]:
    names = [name for name in recorded if name.startswith(prefix) and (name[len(prefix) :] or "0").isdigit()]
    return sorted(((int(name[len(prefix) :] or 0), recorded[name]) for name in names), key=lambda pair: pair[0])


def distance(model: Path, recorded: dict[str, np.ndarray]) -> tuple[float, list[str]]:
    """The largest difference to PyTorch's outputs, as a part of the largest, and the operators of the model."""
    loaded = onnx.load(model)
    onnx.checker.check_model(loaded, full_check=True)
    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    given = {i.name: x for i, (_, x) in zip(session.get_inputs(), numbered(recorded, "in"), strict=True)}
    answers = session.run(None, given)
    far = 0.0
    for n, (_, wanted) in enumerate(numbered(recorded, "out")):
        assert answers[n].shape == wanted.shape, f"{model.name}: output {n} has the shape {answers[n].shape}"
        said, wanted = answers[n].astype(np.float64), wanted.astype(np.float64)
        off = np.where(np.isnan(said) & np.isnan(wanted), 0, np.abs(said - wanted)).max(initial=0)
        # One that is NaN alone is not a number either way, which no bound lets pass.
        far = float(np.maximum(far, off / max(np.nanmax(np.abs(wanted), initial=0), 1e-2)))
    return far, sorted({node.op_type for node in loaded.graph.node})


def main() -> None:
    folder, out = map(Path, sys.argv[1:3])
    networks: dict[str, float] = {}
    kinds: set[str] = set()
    for model in sorted(out.glob("*.onnx")):
        far, used = distance(model, tensors(folder / f"{model.stem}.safetensors"))
        networks[model.stem] = float(f"{far:.1e}")
        kinds.update(used)
    proof = {
        "onnx": onnx.__version__,
        "onnxruntime": onnxruntime.__version__,
        "largest difference to PyTorch's answers": networks,
        "operators": sorted(kinds),
    }
    Path(__file__).with_name("exported.json").write_text(json.dumps(proof, indent=2) + "\n", encoding="utf-8")
    wrong = [name for name, far in networks.items() if not far < NEAR]
    print(f"{len(networks)} networks, {len(wrong)} wrong: {', '.join(wrong)}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
