"""Exports the networks of tests/exchange/architectures.py with torch.onnx.export, for the answers that
tests/exchange/models.tar.xz has: models.tar.xz, and the program of the documentation, tests/files/exported.onnx.

    python tests/onnx/record_models.py [FOLDER]   in an environment with torch 2.13, onnx and onnxscript

FOLDER gets every network that can be exported; the archive only some, without where in a program each node came from.
Some are written by the exporter before that one, which traces, in older versions of the standard."""

import importlib
import io
import logging
import sys
import tarfile
import tempfile
import warnings
from pathlib import Path

import onnx
import torch

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "exchange"))
MODELS = importlib.import_module("architectures").MODELS
safetensors = importlib.import_module("record_models").safetensors  # of tests/exchange

# What is committed: one of each kind.
KEPT = (*("resnet", "mobilenet_v3", "vit", "llama", "lstm_tagger", "unet", "dynamic_batch", "branch"),)
# As torch.onnx.export leaves them; their gradients are those of other parameters.
OPTIMISED = ("resnet", "llama")
# What the exporter that traces writes, and in which version of the standard.
TRACED = {"gru_forecast": 11, "batch_norm_training": 12, "detector_head": 13, "swin_windows": 16}


def slim(graph) -> None:
    for node in graph.node:
        del node.metadata_props[:]
        node.ClearField("doc_string")
        for attribute in node.attribute:
            if attribute.HasField("g"):
                slim(attribute.g)
    del graph.metadata_props[:]
    del graph.value_info[:]
    for value in (*graph.input, *graph.output):
        del value.metadata_props[:]
    for tensor in graph.initializer:
        del tensor.metadata_props[:]


def exported(net, args, kwargs, **options) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        torch.onnx.export(
            net, args, str(path), kwargs=kwargs, dynamo=True, external_data=False, verbose=False, **options
        )
        model = onnx.load(path)
    slim(model.graph)
    for function in model.functions:
        for node in function.node:
            del node.metadata_props[:]
        del function.value_info[:]
        del function.metadata_props[:]
    del model.metadata_props[:]
    return model.SerializeToString()


def traced(net, args, kwargs, version: int) -> bytes:
    out = io.BytesIO()
    torch.onnx.export(
        net, args, out, kwargs=kwargs, dynamo=False, opset_version=version, training=torch.onnx.TrainingMode.PRESERVE
    )
    model = onnx.load_from_string(out.getvalue())
    slim(model.graph)
    return model.SerializeToString()


class Directions(torch.nn.Module):
    """Rows as long as 1, and those of zeros, whose slope is 0."""

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 4, bias=False)

    def forward(self, x):
        return torch.nn.functional.normalize(self.layer(x), dim=-1)


def directions() -> tuple[bytes, bytes]:
    """The model, and what PyTorch answers."""
    torch.manual_seed(7)
    net, x = Directions(), torch.randn(5, 3) * torch.tensor([[1.0], [0.0], [1.0], [1.0], [0.0]])
    y = net(x)
    cotangent = torch.randn_like(y)
    y.backward(cotangent)
    answers = {"in0": x, "out0": y, "cot0": cotangent, "g.layer.weight": net.layer.weight.grad}
    return traced(net, (x,), {}, 13), safetensors(answers)


def network(name: str) -> bytes:
    torch.manual_seed(len(name))
    net, args, kwargs = MODELS[name]()
    if not name.startswith("batch_norm_training"):
        net.eval()
    for module in net.modules():  # as tests/exchange/record_models.py does
        if isinstance(module, torch.nn.modules.batchnorm._BatchNorm):
            module.running_mean.normal_(0, 0.3)
            module.running_var.uniform_(0.5, 1.5)
    if name in TRACED:
        return traced(net, args, kwargs, TRACED[name])
    # optimised models have other weights: batch norms are in those of convolutions, equal tensors are one
    optimised = name in OPTIMISED
    return exported(net, args, kwargs, dynamic_shapes=getattr(net, "dynamic_shapes", None), optimize=optimised)


def documented() -> bytes:
    """The program of docs/onnx.md, with weights that can be written down."""
    net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
    with torch.no_grad():
        for p in net.parameters():
            p.copy_(torch.linspace(-1, 1, p.numel()).reshape(p.shape))
    batch = torch.export.Dim("batch", min=1, max=64)
    return exported(net.eval(), (torch.zeros(2, 4),), {}, dynamic_shapes=({0: batch},))


def main():
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    (HERE.parent / "files" / "exported.onnx").write_bytes(documented())
    with tarfile.open(HERE / "models.tar.xz", "w:xz", preset=9) as tar:

        def put(name: str, data: bytes) -> None:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))

        for suffix, data in zip(("onnx", "safetensors"), directions(), strict=True):
            put(f"directions.{suffix}", data)
        for name in MODELS if folder else (*KEPT, *TRACED):
            try:
                data = network(name)
            except Exception as error:
                print(name, f"{type(error).__name__}: {error}".splitlines()[0][:150], flush=True)
                continue
            if folder:
                (folder / f"{name}.onnx").write_bytes(data)
            if name in KEPT or name in TRACED:
                put(f"{name}.onnx", data)
            print(name, len(data), flush=True)


if __name__ == "__main__":
    main()
