"""What PyTorch answers of complex64: values and gradients of calls, which tests/checks/complex.mjs replays.

    python tests/recorded/complex.py        # where torch 2.13 is installed; writes tests/recorded/complex.json

A case is [call, arguments, options]: the call under its name in `torch` or, with a dot before it, of its first argument.
Among the arguments {"in": name} is one of the inputs below, {"re", "im"} a complex number, {"dtype"} a type.  Wanted are
the results, as flat lists with two numbers for each complex one, and the gradient of each floating input for the
cotangent of element k: cos(k + 1), with sin(2 k + 1) as its imaginary part; and where optimizers move a parameter."""

from __future__ import annotations

import json
import math
from pathlib import Path

import torch

OUT = Path(__file__).with_suffix(".json")
torch.manual_seed(5)


def numbers(*shape: int) -> torch.Tensor:
    return torch.randn(shape, dtype=torch.complex64)


INPUTS = {
    "z": numbers(2, 3),
    "w": numbers(2, 3),
    "v": numbers(3),
    "u": numbers(3),
    "m": numbers(3, 2),
    "s": numbers(2, 2, 3, 3),
    "k": numbers(2, 2, 2, 2),
    "one": numbers(),
    "edge": torch.tensor([0, 1, -1, 1j, -1j, 1 + 1j, -2 - 1e-3j, 3e18 + 4e18j], dtype=torch.complex64),
    "unit": numbers(2, 3) / 4,
    "r": torch.randn(2, 3),
    "p": torch.rand(2, 3) + 0.5,
    "row": torch.randn(3),
    "signal": torch.randn(2, 24),
    "window": torch.hann_window(8),
    "pairs": torch.randn(2, 3, 2),
    "ints": torch.tensor([[1, -2, 3], [4, 5, -6]]),
    "mask": torch.tensor([[True, False, True], [False, False, True]]),
    "picks": torch.tensor([2, 0, 2]),
    "places": torch.tensor([[2, 0, 1], [1, 1, 0]]),
}


def x(name: str) -> dict:
    return {"in": name}


Z, W, V, U, M, R, P = map(x, "zwvumrp")
I = {"re": 0, "im": 1}
C = {"re": 1.5, "im": -0.5}
COMPLEX = {"dtype": "complex64"}
ARITHMETIC = [
    ["add", [Z, W], {}], ["add", [Z, R], {}], ["add", [R, Z], {}], ["add", [Z, 2], {}], ["add", [Z, C], {}],
    ["add", [R, C], {}], ["add", [Z, V], {}], ["add", [Z, W], {"alpha": 3}], ["add", [Z, R], {"alpha": 2}],
    ["add", [Z, W], {"alpha": C}], ["add", [x("one"), R], {}],
    ["sub", [Z, W], {}], ["sub", [R, Z], {}], ["sub", [Z, 1.5], {}], ["rsub", [Z, 1], {}],
    ["mul", [Z, W], {}], ["mul", [Z, R], {}], ["mul", [R, Z], {}], ["mul", [Z, -2.5], {}], ["mul", [Z, I], {}],
    ["mul", [R, I], {}], ["mul", [Z, x("row")], {}], ["mul", [V, R], {}], ["mul", [Z, x("ints")], {}],
    ["mul", [Z, x("mask")], {}], ["mul", [x("edge"), x("edge")], {}],
    ["div", [Z, W], {}], ["div", [Z, P], {}], ["div", [P, Z], {}], ["div", [Z, 4], {}], ["div", [Z, C], {}],
    ["div", [x("edge"), C], {}], ["reciprocal", [Z], {}], ["neg", [Z], {}], ["positive", [Z], {}],
    ["square", [Z], {}], ["pow", [Z, W], {}], ["pow", [Z, 2], {}], ["pow", [Z, -1], {}], ["pow", [Z, 0.5], {}],
    ["pow", [Z, C], {}], ["pow", [P, Z], {}], ["pow", [2, Z], {}], ["pow", [Z, 0], {}],
    *([f, [x("ints"), C], {}] for f in ("add", "sub", "rsub", "mul", "div", "pow")),
    *([f, [x("mask"), C], {}] for f in ("add", "mul", "div")), ["where", [x("mask"), x("ints"), C], {}],
    ["where", [x("mask"), C, 2], {}], ["addcmul", [Z, W, V], {"value": 2}], ["addcdiv", [Z, W, P], {}], ["lerp", [Z, W, 0.3], {}],
    ["lerp", [Z, W, V], {}], ["lerp", [Z, W, x("unit")], {}], ["lerp", [Z, W, C], {}], ["lerp", [Z, W, x("one")], {}],
    ["logaddexp", [Z, W], {}], ["logaddexp", [Z, V], {}], ["logaddexp", [x("unit"), x("one")], {}],
    ["ldexp", [Z, R], {}],
]  # fmt: skip
PARTS = [
    ["abs", [Z], {}], ["angle", [Z], {}], ["abs", [x("edge")], {}], ["angle", [x("edge")], {}], ["sgn", [Z], {}],
    ["sgn", [x("edge")], {}], ["real", [Z], {}], ["imag", [Z], {}], ["conj", [Z], {}], ["conj_physical", [Z], {}],
    ["resolve_conj", [Z], {}], ["view_as_real", [Z], {}], ["view_as_complex", [x("pairs")], {}],
    ["complex", [R, P], {}], ["polar", [P, R], {}], ["isreal", [x("edge")], {}], ["isfinite", [Z], {}],
    ["isnan", [Z], {}], ["isinf", [Z], {}], ["is_complex", [Z], {}], ["eq", [Z, Z], {}], ["ne", [Z, W], {}],
    ["eq", [x("edge"), I], {}], ["isclose", [Z, W], {}], ["isclose", [Z, Z], {}], ["allclose", [Z, Z], {}],
    ["equal", [Z, W], {}], [".to", [R, COMPLEX], {}], [".H", [M], {}], [".mH", [x("s")], {}], [".T", [M], {}],
    ["adjoint", [M], {}], ["logical_not", [x("edge")], {}], ["any", [x("edge")], {}], ["all", [x("edge")], {}],
    ["logical_and", [Z, x("mask")], {}], ["count_nonzero", [x("edge")], {}],
]  # fmt: skip
FUNCTIONS = [
    [name, [Z], {}]
    for name in ("exp", "log", "log2", "log10", "sqrt", "rsqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "sigmoid")
] + [[name, [x("edge")], {}] for name in ("sqrt", "sin", "tanh")]
FUNCTIONS += [
    ["exp2", [Z], {}], ["sinc", [Z], {}], ["sinc", [x("edge_of_sinc")], {}], ["nn.functional.tanhshrink", [x("unit")], {}],
]  # fmt: skip
INVERSES = [
    [name, [given], {}]
    for name in ("asin", "acos", "atan", "asinh", "acosh", "atanh", "log1p", "expm1")
    for given in (Z, x("unit"))
]
PRODUCTS = [
    ["matmul", [Z, M], {}], ["matmul", [Z, V], {}], ["matmul", [V, M], {}], ["matmul", [V, U], {}], ["mm", [Z, M], {}],
    ["mv", [Z, V], {}], ["dot", [V, U], {}], ["vdot", [V, U], {}], ["outer", [V, U], {}], ["inner", [Z, W], {}],
    ["linalg.vecdot", [Z, W], {}], ["linalg.vecdot", [Z, W], {"dim": 0}], ["kron", [V, U], {}],
    ["matmul", [x("s"), x("s")], {}], ["addmm", [x("one"), Z, M], {"beta": 2, "alpha": 3}],
    ["einsum", ["ij,kj->ik", Z, W], {}], ["tensordot", [Z, W], {"dims": 2}], ["trace", [M], {}],
    ["nn.functional.linear", [Z, W, x("v2")], {}], ["nn.functional.conv2d", [x("s"), x("k")], {}],
    ["linalg.solve", [x("s"), x("s")], {"left": False}], ["linalg.solve", [x("s"), V], {}], ["linalg.inv", [x("s")], {}],
]  # fmt: skip
REDUCED = [
    ["sum", [Z], {}], ["sum", [Z, 1], {}], ["sum", [Z], {"dim": 0, "keepdim": True}], ["mean", [Z], {}],
    ["mean", [Z, -1], {}], ["sum", [R], {"dtype": COMPLEX}], ["cumsum", [Z, 1], {}], ["linalg.vector_norm", [Z], {}],
    ["linalg.vector_norm", [Z, 1, 1], {}], ["linalg.norm", [Z], {}], ["norm", [Z], {}], ["diff", [Z], {}],
    ["trapezoid", [Z], {}], ["gradient", [x("s")], {"dim": [0, 1], "spacing": 2}], ["gradient", [x("s")], {"dim": -1}],
    ["gradient", [Z], {"dim": 1, "spacing": [x("row")], "edge_order": 2}],
]  # fmt: skip
MOVED = [
    ["cat", [[Z, W]], {}], ["cat", [[Z, R]], {"dim": 1}], ["stack", [[Z, W]], {"dim": -1}], ["where", [x("mask"), Z, W], {}],
    ["where", [x("mask"), Z, R], {}], ["where", [x("mask"), Z, 0], {}], ["masked_fill", [Z, x("mask"), 3], {}],
    ["masked_fill", [Z, x("mask"), C], {}], ["gather", [Z, 1, x("places")], {}], ["index_select", [Z, 1, x("picks")], {}],
    ["roll", [Z, 1, 1], {}], ["flip", [Z, [0, 1]], {}], ["tril", [Z], {}], ["triu", [Z], {}], ["diag", [V], {}],
    ["diagonal", [Z], {}], ["transpose", [Z, 0, 1], {}], ["reshape", [Z, [3, 2]], {}], ["select", [Z, 1, -1], {}],
    ["narrow", [Z, 1, 1, 2], {}], ["unsqueeze", [Z, 1], {}], [".expand", [V, 2, 3], {}], [".repeat", [Z, 2, 1], {}],
    ["nn.functional.pad", [Z, [1, 2]], {}], ["nn.functional.pad", [Z, [1, 1], "constant", 2], {}],
    ["movedim", [x("s"), 0, -1], {}], ["unbind", [Z], {}], ["split", [Z, 2, 1], {}], ["clone", [Z], {}],
    ["zeros_like", [Z], {}], ["ones_like", [Z], {}], ["take", [Z, x("picks")], {}], ["rot90", [Z], {}],
    ["index_add", [Z, 1, x("picks"), W], {}], ["scatter_add", [Z, 1, x("places"), W], {}], ["full", [[2], C], {}],
    ["eye", [2], {"dtype": COMPLEX}], ["masked_select", [Z, x("mask")], {}],
    ["nonzero", [x("edge")], {}], [".bool", [x("gaps")], {}], [".to", [x("edge"), {"dtype": "bool"}], {}],
    ["argwhere", [x("gaps")], {}], ["index_copy", [Z, 1, x("order"), W], {}],
    ["index_copy", [Z, 1, x("picks"), W], {}], ["scatter", [Z, 1, x("places"), W], {}],
    ["index_put", [Z, [x("ones")], x("one")], {}], ["put", [Z, x("order"), V], {}],
]  # fmt: skip
MATRICES = [
    [f"linalg.{name}", [x(given)], {}]
    for name in ("inv", "inv_ex", "det", "slogdet", "pinv", "svdvals")
    for given in ("square", "squares")
] + [
    ["linalg.det", [x("singular")], {}], ["linalg.pinv", [M], {}], ["linalg.pinv", [Z], {"rtol": 0.5}], ["linalg.svdvals", [Z], {}],
    ["linalg.pinv", [x("hermitian")], {"hermitian": True}], ["linalg.solve", [x("square"), M], {}],
    ["linalg.solve", [x("square"), V], {}], ["linalg.solve", [x("squares"), M], {}], ["linalg.solve_ex", [x("square"), M], {}],
    ["linalg.solve", [x("square"), x("squares")], {"left": False}], ["linalg.matrix_power", [x("square"), -2], {}],
    ["linalg.eigvalsh", [x("hermitian")], {}], ["linalg.eigvalsh", [x("squares")], {"UPLO": "U"}],
    ["linalg.matrix_rank", [x("singular")], {}], ["linalg.matrix_rank", [x("squares")], {}],
    ["linalg.matrix_rank", [x("hermitian")], {"hermitian": True}], ["linalg.pinv", [x("square")], {"hermitian": True}],
    ["linalg.lstsq", [M, x("square")], {"driver": "gelsd"}], ["linalg.lstsq", [M, x("square")], {}], ["linalg.cond", [x("square")], {}], ["matrix_exp", [x("squares")], {}], ["linalg.matrix_norm", [Z, "nuc"], {}],
    ["linalg.cholesky", [x("definite")], {}], ["linalg.cholesky", [x("definites")], {"upper": True}],
    ["linalg.cholesky_ex", [x("definites")], {}], ["cholesky", [x("definite")], {"upper": True}],
    ["cholesky_solve", [M, x("triangle")], {}], ["cholesky_solve", [x("square"), x("upper")], {"upper": True}],
    ["cholesky_inverse", [x("triangle")], {}], ["linalg.solve_triangular", [x("square"), M], {"upper": True}],
    ["linalg.solve_triangular", [x("squares"), M], {"upper": False, "unitriangular": True}],
    ["linalg.solve_triangular", [x("square"), x("squares")], {"upper": False, "left": False}],
    ["linalg.qr", [M], {}], ["linalg.qr", [Z], {}], ["linalg.qr", [x("squares")], {}],
    ["linalg.qr", [Z, "complete"], {}], ["qr", [M], {}], ["qr", [x("square")], {"some": False}],
]  # fmt: skip
TRANSFORMS = [
    ["fft." + name, [given], options]
    for name, given in (
        ("fft", Z), ("fft", R), ("ifft", Z), ("rfft", R), ("irfft", Z), ("hfft", Z), ("ihfft", R), ("fft2", Z),
        ("ifft2", R), ("rfft2", R), ("irfft2", Z), ("fftn", Z), ("rfftn", R), ("irfftn", Z), ("hfft2", Z), ("ihfft2", R),
    )
    for options in ({}, {"norm": "ortho"})
] + [
    ["fft.fft", [Z], {"n": 5, "dim": 0}], ["fft.rfft", [R], {"n": 4}], ["fft.irfft", [Z], {"n": 7}],
    ["fft.fftshift", [Z], {}], ["fft.ifftshift", [Z], {"dim": 1}],
    ["stft", [x("signal"), 8], {"return_complex": True}],
    ["stft", [x("signal"), 8], {"hop_length": 4, "window": x("window"), "return_complex": True, "normalized": True}],
    ["stft", [x("signal"), 8], {"onesided": False, "center": False, "return_complex": True}],
    ["stft", [x("noise"), 8], {}],
    ["istft", [x("spectra"), 8], {"window": x("window")}],
]  # fmt: skip
INPUTS |= {
    "v2": numbers(2),
    "noise": numbers(24),
    "spectra": torch.stft(INPUTS["signal"], 8, window=INPUTS["window"], return_complex=True).clone(),
    "square": numbers(3, 3),
    "squares": numbers(2, 3, 3),
    "singular": torch.tensor([[1, 1j], [2, 2j]], dtype=torch.complex64),
    "edge_of_sinc": torch.tensor([0, 0.25j, 1], dtype=torch.complex64),
    "gaps": torch.tensor([[0, 1j], [2, 0]], dtype=torch.complex64),
    "order": torch.tensor([2, 0, 1]),
    "ones": torch.tensor([1]),
}
INPUTS["hermitian"] = INPUTS["square"] + INPUTS["square"].mH
INPUTS["definite"] = INPUTS["square"] @ INPUTS["square"].mH + torch.eye(3)
INPUTS["definites"] = INPUTS["squares"] @ INPUTS["squares"].mH + torch.eye(3)
INPUTS["triangle"] = torch.linalg.cholesky(INPUTS["definite"])
INPUTS["upper"] = INPUTS["triangle"].mH.contiguous()
CASES = [*ARITHMETIC, *PARTS, *FUNCTIONS, *INVERSES, *PRODUCTS, *REDUCED, *MOVED, *TRANSFORMS, *MATRICES]


def flat(t: torch.Tensor) -> list:
    t = t.detach().resolve_conj().contiguous()
    if t.is_complex():
        t = torch.view_as_real(t)
    return [shown(v) for v in t.flatten().tolist()]


def shown(v):
    if isinstance(v, float):
        return str(v) if not math.isfinite(v) else float(f"{v:.8g}")
    return v


def tensor(t: torch.Tensor) -> dict:
    return {"dtype": str(t.dtype).split(".")[1], "shape": list(t.shape), "data": flat(t)}


def cotangent(t: torch.Tensor) -> torch.Tensor:
    k = torch.arange(t.numel(), dtype=torch.float64)
    re = torch.cos(k + 1).reshape(t.shape)
    return torch.complex(re, torch.sin(2 * k + 1).reshape(t.shape)).to(t.dtype) if t.is_complex() else re.to(t.dtype)


def made(value, leaves: dict):
    if isinstance(value, list):
        return [made(v, leaves) for v in value]
    if not isinstance(value, dict):
        return value
    if "in" in value:
        name = value["in"]
        if name not in leaves:
            t = INPUTS[name].clone()
            leaves[name] = t.requires_grad_() if t.is_floating_point() or t.is_complex() else t
        return leaves[name]
    return getattr(torch, value["dtype"]) if "dtype" in value else complex(value["re"], value["im"])


def answered(call: str, args: list, options: dict) -> dict:
    leaves: dict[str, torch.Tensor] = {}
    values = made(args, leaves)
    named = {name: made(v, leaves) for name, v in options.items()}
    if call.startswith("."):
        it = getattr(values[0], call[1:])
        result = it(*values[1:], **named) if callable(it) else it
    else:
        f = torch
        for part in call.split("."):
            f = getattr(f, part)
        result = f(*values, **named)
    results = [result] if isinstance(result, (torch.Tensor, bool)) else list(result)
    case = {"call": call, "args": args, "options": options}
    case["results"] = [tensor(r) if isinstance(r, torch.Tensor) else r for r in results]
    smooth = [r for r in results if isinstance(r, torch.Tensor) and r.requires_grad]
    wanted = {n: t for n, t in leaves.items() if t.requires_grad}
    if (
        smooth
        and wanted
        and not (call in ("sum", "where", "ldexp") and any(not t.is_complex() for t in wanted.values()))
    ):
        # (PyTorch 2.13 hands complex gradients on to real inputs of those three, and fails.)
        found = torch.autograd.grad(smooth, [*wanted.values()], [cotangent(r) for r in smooth], allow_unused=True)
        case["gradients"] = {n: tensor(g) for n, g in zip(wanted, found) if g is not None}
    return case


OPTIMIZERS = {
    "SGD": {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.01},
    "Adam": {"lr": 0.1, "amsgrad": True},
    "AdamW": {"lr": 0.1},
    "RMSprop": {"lr": 0.1, "momentum": 0.5, "centered": True},
    "Adagrad": {"lr": 0.1, "initial_accumulator_value": 0.5},
    "Adadelta": {"lr": 1.0},
    "Adamax": {"lr": 0.1},
    "NAdam": {"lr": 0.1},
    "RAdam": {"lr": 0.1},
    "ASGD": {"lr": 0.1},
    "Rprop": {"lr": 0.1},
}


def moved(name: str, options: dict) -> dict:
    """A complex parameter after six steps towards one over `turn`, and a little towards 0."""
    z = torch.tensor([1 + 0.5j, 2 - 1j, -0.5 + 0.25j], requires_grad=True)
    turn = torch.tensor([1j, 1, 1 - 1j])
    optimizer = getattr(torch.optim, name)([z], **options)
    for _ in range(6):
        optimizer.zero_grad()
        (((z * turn - 1).abs() ** 2).sum() + 0.1 * (z * z).real.sum()).backward()
        optimizer.step()
    return {"optimizer": name, "options": options, "after": tensor(z)}


if __name__ == "__main__":
    inputs = {name: tensor(t) for name, t in INPUTS.items()}
    cases = [answered(*case) for case in CASES]
    lines = ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases)
    table = ",\n".join(f'"{n}": {json.dumps(t, separators=(",", ":"))}' for n, t in inputs.items())
    steps = ",\n".join(json.dumps(moved(*o), separators=(",", ":")) for o in OPTIMIZERS.items())
    OUT.write_text(
        f'{{"torch": "{torch.__version__}",\n"inputs": {{\n{table}\n}},\n"cases": [\n{lines}\n],\n"optimizers": [\n{steps}\n]}}\n'
    )
