"""Writes ONNX's own tests of single operators into a folder: NAME.onnx, and NAME.N.json for each set of its data.

python write_node_tests.py FOLDER; nothing of them is committed."""

import base64
import json
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.loader import load_model_tests


def value(x):
    """A tensor with its bytes, a list of values, or None."""
    if x is None:
        return None
    if isinstance(x, list):
        return [value(item) for item in x]
    if isinstance(x, dict):
        return {"map": True}
    if isinstance(x, onnx.TensorProto):
        proto = x
    elif isinstance(x, onnx.SequenceProto):
        return value(numpy_helper.to_list(x))
    elif isinstance(x, onnx.OptionalProto):
        return value(numpy_helper.to_optional(x))
    else:
        array = np.asarray(x)
        if array.dtype.kind in "OUS":
            return {"strings": True}
        proto = numpy_helper.from_array(array)
    if proto.data_type == onnx.TensorProto.STRING:
        return {"strings": True}
    return {"tensor": base64.b64encode(proto.SerializeToString()).decode()}


def main(folder: Path) -> None:
    listed = []
    for test in load_model_tests(kind="node"):
        (folder / f"{test.name}.onnx").write_bytes(test.model.SerializeToString())
        sets = [[[value(x) for x in inputs], [value(x) for x in outputs]] for inputs, outputs in test.data_sets]
        (folder / f"{test.name}.json").write_text(json.dumps({"sets": sets, "rtol": test.rtol, "atol": test.atol}))
        listed.append(test.name)
    (folder / "tests.json").write_text(json.dumps(listed))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
