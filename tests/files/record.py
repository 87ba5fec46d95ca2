"""Makes the files of this folder, with PyTorch: python tests/files/record.py. They are committed; this says how they
came about.

`expected.json` holds what is in them, as nested lists. The safetensors files are written by hand, byte by byte as the
format says, so that they do not depend on the package's own writer."""

import collections
import io
import json
import struct
import zipfile
from pathlib import Path

import torch

HERE = Path(__file__).parent
EXPECTED = {}


def numbers(x):
    return x.to(torch.float64).tolist() if x.is_floating_point() else x.tolist()


def record(name, value, expected, **options):
    torch.save(value, HERE / name, **options)
    EXPECTED[name] = expected


def again(name, source, **options):
    """The same archive, written by Python's zipfile."""
    with zipfile.ZipFile(HERE / source) as old, zipfile.ZipFile(HERE / name, "w", **options) as new:
        for entry in old.infolist():
            new.writestr(zipfile.ZipInfo(entry.filename), old.read(entry), options.get("compression"))
    EXPECTED[name] = EXPECTED[source]


def zip64(name, source):
    """The same archive with the numbers of its directory in zip64's records, as those beyond 4 GB have them."""
    entries, out, central = [], io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(HERE / source) as old:
        for entry in old.infolist():
            data, path, at = old.read(entry), entry.filename.encode(), out.tell()
            out.write(
                struct.pack("<IHHHHHIIIHH", 0x04034B50, 45, 0, 0, 0, 0, entry.CRC, len(data), len(data), len(path), 0)
                + path
                + data
            )
            extra = struct.pack("<HHQQQ", 1, 24, len(data), len(data), at)
            central.write(
                struct.pack(
                    "<IHHHHHHIIIHHHHHII",
                    0x02014B50,
                    45,
                    45,
                    0,
                    0,
                    0,
                    0,
                    entry.CRC,
                    0xFFFFFFFF,
                    0xFFFFFFFF,
                    len(path),
                    len(extra),
                    0,
                    0,
                    0,
                    0,
                    0xFFFFFFFF,
                )
                + path
                + extra
            )
            entries.append(path)
    start, directory, n = out.tell(), central.getvalue(), len(entries)
    out.write(directory)
    end = out.tell()
    out.write(struct.pack("<IQHHIIQQQQ", 0x06064B50, 44, 45, 45, 0, 0, n, n, len(directory), start))
    out.write(struct.pack("<IIQI", 0x07064B50, 0, end, 1))
    out.write(struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0))
    (HERE / name).write_bytes(out.getvalue())
    EXPECTED[name] = EXPECTED[source]


NAMES = {
    torch.float64: "F64",
    torch.float32: "F32",
    torch.float16: "F16",
    torch.bfloat16: "BF16",
    torch.int64: "I64",
    torch.int32: "I32",
    torch.int16: "I16",
    torch.int8: "I8",
    torch.uint8: "U8",
    torch.bool: "BOOL",
}


def safetensors(name, tensors, metadata=None):
    header, data = {"__metadata__": metadata} if metadata else {}, b""
    for key, x in tensors.items():
        raw = bytes(x.contiguous().view(-1).view(torch.uint8).tolist()) if x.numel() else b""
        header[key] = {
            "dtype": NAMES[x.dtype],
            "shape": list(x.shape),
            "data_offsets": [len(data), len(data) + len(raw)],
        }
        data += raw
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    (HERE / name).write_bytes(struct.pack("<Q", len(text)) + text + data)
    EXPECTED[name] = {key: numbers(x) for key, x in tensors.items()}


def types():
    """One tensor for each type that can be read, with values that a type of less precision would change."""
    return {
        "float64": torch.tensor([1 / 3, -1e300], dtype=torch.float64),
        "float32": torch.tensor([[1.5, -2.25], [1e-40, 3e38]]),
        "float16": torch.tensor([1 / 3, -65504, 6e-8, 0]).half(),
        "bfloat16": torch.tensor([1 / 3, -3e38, 1e-40]).bfloat16(),
        "int64": torch.tensor([2**31 - 1, -(2**31), 0]),
        "int32": torch.tensor([1, -2], dtype=torch.int32),
        "int16": torch.tensor([-32768, 7], dtype=torch.int16),
        "int8": torch.tensor([-128, 127], dtype=torch.int8),
        "uint8": torch.tensor([0, 255], dtype=torch.uint8),
        "bool": torch.tensor([[True], [False]]),
        "empty": torch.empty(0, 3),
        "scalar": torch.tensor(2.5),
    }


def before_1_6():
    """The format of PyTorch before 1.6: pickles, then the storages."""
    base = torch.arange(6.0).reshape(2, 3)
    tensors = {
        "base": base,
        "turned": base.T,
        "column": base[:, 1],
        "half": torch.tensor([0.5, -2], dtype=torch.float16),
        "whole": torch.tensor([[5, -(2**20)]]),
        "none": torch.zeros(0, 3),
        "yes": torch.tensor([True, False]),
    }
    values = collections.OrderedDict({**tensors, "epoch": 3})
    expected = {name: numbers(tensor) for name, tensor in tensors.items()}
    record("legacy.pt", values, expected, _use_new_zipfile_serialization=False)


def main():
    torch.manual_seed(0)
    record("types.pt", types(), {key: numbers(x) for key, x in types().items()})
    again("deflated.pt", "types.pt", compression=zipfile.ZIP_DEFLATED)
    zip64("zip64.pt", "types.pt")
    safetensors("types.safetensors", types(), {"format": "pt"})

    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.Linear(4, 2))
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    net(torch.randn(5, 3)).sum().backward()
    optimizer.step()
    net.eval()
    x = torch.tensor([[1.0, -2, 0.5]])
    state = {key: numbers(value) for key, value in net.state_dict().items()}
    record("net.pt", net.state_dict(), {"state": state, "x": x.tolist(), "y": net(x).tolist()})
    record("net4.pt", net.state_dict(), EXPECTED["net.pt"], pickle_protocol=4)
    safetensors("net.safetensors", net.state_dict())

    base = torch.arange(12.0).reshape(3, 4)
    record(
        "views.pt",
        {
            "base": base,
            "turned": base.T,
            "column": base[:, 1],
            "part": base[1:, ::2],
            "wide": base[0, :1].expand(5),
            "again": base,
        },
        {
            "base": base.tolist(),
            "turned": base.T.tolist(),
            "column": base[:, 1].tolist(),
            "part": base[1:, ::2].tolist(),
            "wide": [0.0] * 5,
            "again": base.tolist(),
        },
    )
    record(
        "nested.pt",
        {
            "epoch": 3,
            "loss": 0.25,
            "name": "αβ",
            "none": None,
            "flags": [True, False],
            "pair": (1, 2),
            "bytes": b"\x00\xff",
            "big": 2**60,
            "huge": -(2**70),
            "size": torch.Size([2, 3]),
            "dtype": torch.float16,
            "device": torch.device("cuda", 1),
            "set": {1, 2},
            "by number": {0: "a", 7: "b"},
            "mixed": {(1, 2): "pair"},
            "ordered": collections.OrderedDict(z=1, a=2),
            "parameter": torch.nn.Parameter(torch.tensor([1.0, 2])),
            "optimizer": optimizer.state_dict(),
            "uint16": torch.tensor([1, 65535]).to(torch.uint16),
            "__proto__": {"polluted": True},
        },
        {
            "exp_avg": optimizer.state_dict()["state"][0]["exp_avg"].tolist(),
            "params": optimizer.state_dict()["param_groups"][0]["params"],
        },
    )

    record("refused.pt", {"net": torch.nn.Linear(1, 1)}, "torch.nn.modules.linear.Linear")
    record("complex.pt", {"c": torch.zeros(2, dtype=torch.complex64)}, "torch.ComplexFloatStorage")
    record("large.pt", {"n": torch.tensor([5, 2**40])}, str(2**40))
    before_1_6()
    torch.jit.save(torch.jit.script(torch.nn.ReLU()), HERE / "script.pt")
    EXPECTED["script.pt"] = "TorchScript"
    (HERE / "expected.json").write_text(json.dumps(EXPECTED, indent=1) + "\n")


main()
