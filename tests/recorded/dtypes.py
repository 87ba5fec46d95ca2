"""Writes dtypes.mjs: what PyTorch answers for the types of elements (promotion, casts, arithmetic, limits).

    python tests/recorded/dtypes.py

Needs PyTorch; the tests do not."""

from __future__ import annotations

import json
import math
from pathlib import Path

import torch

TYPES = "bool uint8 int8 int16 int32 int64 uint16 uint32 float16 bfloat16 float32 float64".split()
NEW = "int16 uint16 uint32 bfloat16 int64".split()
# The ends of each type, and what lies about 0; 21 of them, so that vectors have a rest.
WHOLE = {
    "int16": [
        -32768,
        32767,
        -32767,
        300,
        -300,
        181,
        -182,
        0,
        1,
        -1,
        2,
        7,
        -7,
        255,
        256,
        12345,
        -12345,
        5,
        3,
        -3,
        16384,
    ],
    "uint16": [65535, 32768, 32767, 300, 256, 255, 181, 0, 1, 2, 3, 5, 7, 11, 12345, 54321, 60000, 1000, 4, 9, 16384],
    "uint32": [4294967295, 2147483648, 2147483647, 65536, 65535, 300, 0, 1, 2, 3, 5, 7, 3000000000, 12345, 99999, 11]
    + [4000000000, 16777217, 8, 9, 2147483649],
    "int64": [2**63 - 1, -(2**63), 2**53 + 1, -(2**53) - 1, 2**31, -(2**31) - 1, 2**40, 0, 1, -1, 2, 7, -7, 3, -3]
    + [6364136223846793005, -3750763034362895579, 0x811C9DC5, 16777619, 2**33 + 5, -(2**62)],
    "int64 of 32 bits": [2**31 - 1, -(2**31), 65536, -65536, 46341, 0, 1, -1, 2, 7, -7, 3, -3, 123456789, -5, 12, 9],
}
FLOATS = [0.0, -0.0, 1.0, -1.5, 0.1, 3.14159, -2.71828, 1.00390625, 1.01171875, 65504.0, 70000.0, 1e-3, -300.7, 255.5]
FLOATS += [3.3e38, 1e-30, math.inf, -math.inf, math.nan, 33.25, -0.75]
BINARY = "add sub mul div floor_divide remainder pow eq ne lt ge maximum minimum bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift"
UNARY = "neg abs sum prod sort argsort cumsum cumprod sign square sqrt exp max min argmax bitwise_not logical_not any all unique"


def values(dtype: str) -> list[float]:
    if dtype in WHOLE:
        return WHOLE[dtype]
    if dtype == "bfloat16":
        return FLOATS
    return {
        "bool": [0, 1],
        "uint8": [0, 1, 200, 255],
        "int8": [0, -1, 100, -128],
        "int32": [0, -1, 70000, -(2**31)],
    }.get(dtype, [0.0, -1.0, 1.5, -2.75, 100.9])


def listed(x: torch.Tensor) -> list:
    """Numbers as JSON has them."""
    if x.dtype == torch.int64:
        return [v if abs(v) <= 2**53 - 1 else str(v) for v in x.reshape(-1).tolist()]
    rows = x.to(torch.float64).reshape(-1).tolist()
    return [v if math.isfinite(v) else str(v) for v in rows]


def answer(f, beside) -> dict | None:
    try:
        out = f()
        out = out[0] if isinstance(out, tuple) else out
    except (RuntimeError, TypeError):
        return None
    return {"dtype": str(out.dtype)[6:], "values": listed(out), "beside": beside}


def main() -> None:
    promote: dict[str, list] = {}
    for a in TYPES:
        row = []
        for b in TYPES:
            try:
                row.append(str(torch.promote_types(getattr(torch, a), getattr(torch, b)))[6:])
            except RuntimeError:
                row.append(None)
        promote[a] = row
    casts = {}
    for a in TYPES:
        for b in TYPES:
            if (a in NEW or b in NEW) and a != b:
                given = [
                    v
                    for v in values(a)
                    # What does not fit into whole numbers is not said by the language, and varies.
                    if "float" not in a or "float" in b or b == "bool" or math.isfinite(v) and abs(v) < 30000
                ]
                x = torch.tensor(given, dtype=getattr(torch, a))
                casts[f"{a} {b}"] = [listed(x), listed(x.to(getattr(torch, b)))]
    ops: dict[str, dict] = {}
    for dtype in (*NEW, "int64 of 32 bits"):
        x = torch.tensor(values(dtype), dtype=getattr(torch, dtype.split(" ")[0]))
        y = x.roll(1) if dtype in WHOLE else x.roll(3)
        found = ops[dtype] = {"x": listed(x), "y": listed(y)}
        for name in BINARY.split():
            # Powers and quotients of whole numbers by a small one: others overflow, or divide by 0.
            small = dtype != "bfloat16" and name in ("div", "floor_divide", "remainder", "pow")
            other = torch.full_like(x, 3) if small else y
            found[name] = answer(lambda name=name, other=other: getattr(torch, name)(x, other), 3 if small else "y")
        for name in UNARY.split():
            # Sums of all floats, infinities among them, say little.
            some = x[:14] if dtype == "bfloat16" and name in ("sum", "prod", "max", "min") else x
            along = (0,) if name.startswith("cum") else ()
            found[name] = answer(lambda name=name, some=some, along=along: getattr(torch, name)(some, *along), "")
    limits = {}
    for dtype in NEW:
        t = getattr(torch, dtype)
        info = torch.finfo(t) if t.is_floating_point else torch.iinfo(t)
        limits[dtype] = [info.bits, info.min, info.max]
    written = {"types": TYPES, "promote": promote, "casts": casts, "ops": ops, "limits": limits}
    lines = [f"{json.dumps(k)}: {json.dumps(v, separators=(',', ':'))}" for k, v in written.items()]
    text = "// PyTorch's answers.  Written by dtypes.py.\nexport default {\n" + ",\n".join(lines) + "\n};\n"
    Path(__file__).with_name("dtypes.mjs").write_text(text, encoding="utf-8")


main()
