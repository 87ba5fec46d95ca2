"""Exports the networks of architectures/ with torch.export and records what PyTorch answers: models.tar.xz, and
the program of the documentation, tests/files/exported.pt2.

    python tests/exchange/record_models.py     in an environment with torch 2.13

Those of architectures/detectors.py have an archive of their own, detectors.tar.xz, and so have those of numbers.py, of
regions.py, of halves.py, of lists.py, of nests.py, and of rare.py and forms.py; with `detectors`, `numbers`, `regions`,
`halves`, `lists`, `nests` or `rare` behind the command only that is recorded.  `earlier` behind it records those of earlier.py, as the version of PyTorch in the environment saves them:
earlier-2.6.tar.xz is of 2.6.  Beside NAME.pt2 lies NAME.safetensors: the inputs in0..., the outputs out0..., the cotangents cot0... of the floating
ones, the gradients g.PARAMETER for them, and the buffers b.BUFFER afterwards.  Every second program is decomposed into
core ATen operators, the others are as torch.export leaves them.  Most archives are torch.export.save's without what
nobody here reads: where in a program each node came from, and sample inputs."""

import io
import json
import struct
import sys
import tarfile
import zipfile
from pathlib import Path

import torch
from architectures import MODELS
from architectures.detectors import DETECTORS
from architectures.earlier import EARLIER
from architectures.forms import FORMS
from architectures.halves import HALVES
from architectures.lists import LISTS
from architectures.nests import NESTS
from architectures.numbers import NUMBERS
from architectures.rare import RARE
from architectures.regions import REGIONS
from torch.utils import _pytree as pytree

# of which there is a decomposed one beside the one as it is
WHOLE = {"kept_slices", "matrices", "resized", "spectra"}
HERE = Path(__file__).parent
NAMES = {torch.float32: "F32", torch.float64: "F64", torch.int64: "I64", torch.int32: "I32", torch.int16: "I16", torch.int8: "I8",
         torch.uint8: "U8", torch.bool: "BOOL", torch.complex64: "C64", torch.complex128: "C128",
         torch.float16: "F16", torch.bfloat16: "BF16"}  # fmt: skip


def safetensors(tensors: dict[str, torch.Tensor]) -> bytes:
    header, data = {}, b""
    for name, x in tensors.items():
        x = x.detach().contiguous()
        content = (x.view(torch.int16) if x.dtype == torch.bfloat16 else x).numpy().tobytes()
        header[name] = {
            "dtype": NAMES[x.dtype],
            "shape": list(x.shape),
            "data_offsets": [len(data), len(data) + len(content)],
        }
        data += content
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def slim(graph: dict) -> None:
    for node in graph["nodes"]:
        # what an alias was in the model is said there alone, and what ran without gradients
        node["metadata"] = {
            key: text
            for key, text in node["metadata"].items()
            if key == "torch_fn" and ("alias" in node["target"] or "set_grad" in text)
        }
        for argument in node["inputs"]:
            if "as_graph" in argument["arg"]:
                slim(argument["arg"]["as_graph"]["graph"])


def archive(program: torch.export.ExportedProgram, compression=zipfile.ZIP_DEFLATED) -> bytes:
    whole, out = io.BytesIO(), io.BytesIO()
    torch.export.save(program, whole)
    with zipfile.ZipFile(whole) as read, zipfile.ZipFile(out, "w", compression) as write:
        for entry in read.infolist():
            content = read.read(entry)
            if "sample_inputs" in entry.filename:
                continue
            if entry.filename.endswith("models/model.json"):
                value = json.loads(content)
                slim(value["graph_module"]["graph"])
                content = json.dumps(value, separators=(",", ":")).encode()
            write.writestr(zipfile.ZipInfo(entry.filename, (1980, 1, 1, 0, 0, 0)), content, compression)
    return out.getvalue()


def old_archive(program: torch.export.ExportedProgram) -> bytes:
    """As torch.export.save wrote them from PyTorch 2.5 to 2.7: checkpoints within an archive."""
    parts, out = torch._export.serde.serialize.serialize(program), io.BytesIO()
    with zipfile.ZipFile(out, "w") as write:
        write.writestr("version", ".".join(map(str, torch._export.serde.schema.SCHEMA_VERSION)))
        write.writestr("serialized_exported_program.json", parts.exported_program)
        write.writestr("serialized_state_dict.pt", parts.state_dict)
        write.writestr("serialized_constants.pt", parts.constants)
        write.writestr("serialized_example_inputs.pt", parts.example_inputs)
    return out.getvalue()


def untouched(program: torch.export.ExportedProgram) -> bytes:
    """What torch.export.save writes, without where the recording machine keeps its sources."""
    out, without = io.BytesIO(), io.BytesIO()
    torch.export.save(program, out)
    here = [str(folder).encode() + b"/" for folder in (Path(torch.__file__).parents[1], HERE.parents[1])]
    with zipfile.ZipFile(out) as given, zipfile.ZipFile(without, "w", zipfile.ZIP_STORED) as made:
        for entry in given.infolist():
            data = given.read(entry)
            for folder in here:
                data = data.replace(folder, b"")
            made.writestr(zipfile.ZipInfo(entry.filename, entry.date_time), data)
    return without.getvalue()


def record(name: str, make, decomposed: bool, write=archive) -> tuple[bytes, bytes]:
    torch.manual_seed(len(name))
    net, args, kwargs = make()
    if not name.startswith("batch_norm_training") and not hasattr(net, "keeps_training"):
        net.eval()
    for module in net.modules():  # as after some training
        if isinstance(module, torch.nn.modules.batchnorm._BatchNorm):
            module.running_mean.normal_(0, 0.3)
            module.running_var.uniform_(0.5, 1.5)
    program = torch.export.export(net, args, kwargs, dynamic_shapes=getattr(net, "dynamic_shapes", None))
    if decomposed:
        program = program.run_decompositions()
    data = write(program)
    if hasattr(net, "dynamic_shapes"):  # other sizes than it was exported with
        args = getattr(net, "others", None) or (torch.randint(0, 20, (2, 7)), torch.randn(2, 4))
    # whole numbers that are arguments and no constants are recorded as tensors
    inputs = [spec.arg for spec in program.graph_signature.input_specs]
    taken = (torch.Tensor, int) if any(type(x).__name__ == "SymIntArgument" for x in inputs) else torch.Tensor
    given = [x for x in pytree.tree_leaves((args, kwargs)) if isinstance(x, taken)]
    tensors = {f"in{n}": torch.as_tensor(x).clone() for n, x in enumerate(given)}
    outputs = pytree.tree_leaves(net(*args, **kwargs))
    found = [(n, x) for n, x in enumerate(outputs) if isinstance(x, torch.Tensor)]
    floating = [(n, x) for n, x in found if x.grad_fn is not None]
    cotangents = [torch.randn_like(x) for _, x in floating]
    torch.autograd.backward([x for _, x in floating], cotangents)
    tensors |= {f"out{n}": x for n, x in found}
    tensors |= {f"cot{n}": c for (n, _), c in zip(floating, cotangents, strict=True)}
    named = dict(net.named_parameters())
    if write is untouched:  # of tied weights versions before 2.9 read another name
        read = torch.export.load(io.BytesIO(data)).module()
        named = {key: net.get_parameter(key) for key, _ in reversed([*read.named_parameters()])}
        named = {key: x for x, key in {x: key for key, x in named.items()}.items()}
    tensors |= {f"g.{key}": x.grad for key, x in named.items() if x.grad is not None}
    tensors |= {f"b.{key}": x for key, x in net.named_buffers()}
    return data, safetensors(tensors)


def documented() -> bytes:
    """The program of docs/exported-programs.md, with weights that can be written down."""
    net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
    with torch.no_grad():
        for p in net.parameters():
            p.copy_(torch.linspace(-1, 1, p.numel()).reshape(p.shape))
    batch = torch.export.Dim("batch", min=1, max=64)
    return untouched(torch.export.export(net, (torch.zeros(2, 4),), dynamic_shapes=({0: batch},)))


def write(archive_name: str, programs: list) -> None:
    with tarfile.open(HERE / archive_name, "w:xz", preset=9) as tar:
        for name, *how in programs:
            for suffix, content in zip(("pt2", "safetensors"), record(name, *how), strict=True):
                info = tarfile.TarInfo(f"{name}.{suffix}")
                info.size = len(content)
                tar.addfile(info, io.BytesIO(content))
            print(name)


def can_be_saved(*network) -> bool:
    """PyTorch 2.5 cannot save quotients of sizes."""
    try:
        return bool(record(*network))
    except torch._export.serde.serialize.SerializeError as error:
        print(network[0], error)
        return False


def main():
    if sys.argv[1:] == ["earlier"]:
        version = ".".join(torch.__version__.split(".")[:2])
        listed = [(f"{name}_of_{version}", make, False, untouched) for name, make in EARLIER.items()]
        write(f"earlier-{version}.tar.xz", [one for one in listed if can_be_saved(*one)])
        return
    for kind, networks in (
        ("detectors", DETECTORS),
        ("numbers", NUMBERS),
        ("regions", REGIONS),
        ("halves", HALVES),
        ("lists", LISTS),
        ("nests", NESTS),
        ("rare", RARE | FORMS),
    ):
        if sys.argv[1:] in ([], [kind]):
            every = 2 if kind != "regions" else len(networks)  # of regions decomposing leaves little
            first = kind == "lists"  # whose even ones are as they were exported
            listed = [
                (name, make, name.endswith("_decomposed") if kind == "nests" else (n + first) % every == 0, archive)
                for n, (name, make) in enumerate(networks.items())
            ]
            write(f"{kind}.tar.xz", listed)
    if sys.argv[1:]:
        return
    (HERE.parent / "files" / "exported.pt2").write_bytes(documented())
    programs = [
        (name, make, n % 2 == 0 and name not in WHOLE, archive) for n, (name, make) in enumerate(MODELS.items())
    ]
    programs += [
        ("batch_norm_training_decomposed", MODELS["batch_norm_training"], True, archive),
        *((f"{name}_decomposed", MODELS[name], True, archive) for name in sorted(WHOLE)),
        ("as_saved", MODELS["gpt"], False, untouched),
        ("as_saved_by_2_5", MODELS["resnet"], True, old_archive),
    ]
    write("models.tar.xz", programs)


if __name__ == "__main__":
    main()
