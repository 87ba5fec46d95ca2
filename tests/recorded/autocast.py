"""What PyTorch's torch.autocast makes of calls on the CPU, and its lists of ops for GPUs; tests/checks/amp.mjs and
tests/test_autocast.py read them.

    python tests/recorded/autocast.py        # where torch 2.13 is installed; writes tests/recorded/autocast.json

A case is [call, arguments, options], as in complex.py.  Each runs within autocast in bfloat16 and in float16, once with
floating inputs of float32 and once of the lower type; wanted are types and elements of the results and, of float32
inputs, of the gradients for the cotangent of element k: cos(k + 1).  `refused` are those that PyTorch itself cannot
compute.  `gpu` are the lists in PyTorch's header autocast_mode.h, which are CUDA's; `cpu` are the names that its
dispatcher has for AutocastCPU."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import torch

OUT = Path(__file__).with_suffix(".json")
torch.manual_seed(3)
torch.set_num_threads(1)
LOWER = (torch.bfloat16, torch.float16)


def spread(*shape: int) -> torch.Tensor:
    return torch.randn(shape)


INPUTS = {
    "m": spread(3, 4),
    "n": spread(4, 2),
    "q": spread(3, 2),
    "o": spread(3, 4),
    "v": spread(4),
    "b": spread(3),
    "w": spread(2, 4),
    "wb": spread(2),
    "s": spread(2, 3, 4),
    "t": spread(2, 4, 3),
    "u": spread(2, 3, 3),
    "c1": spread(1, 2, 6),
    "k1": spread(3, 2, 3),
    "c2": spread(1, 2, 5, 5),
    "k2": spread(3, 2, 3, 3),
    "r2": spread(2, 3, 3, 3),
    "c3": spread(1, 1, 4, 4, 4),
    "k3": spread(2, 1, 2, 2, 2),
    "a": spread(1),
    "g": spread(3),
    "p": torch.rand(3, 4) * 0.8 + 0.1,
    "h": torch.rand(3, 4) * 0.8 + 0.1,
    "sign": torch.tensor([1.0, -1.0, 1.0]),
    "classes": torch.tensor([1, 0, 3]),
    "many": torch.tensor([[1, 0, -1, 2], [0, 2, -1, 1], [3, 1, 0, -1]]),
    "places": torch.tensor([[2, 0, 1, 1], [1, 1, 0, 2]]),
    "rows": torch.tensor([2, 0]),
    "two": spread(2, 4),
    "x": torch.rand(2, 3, 4) * 4 - 2,
    "wide": torch.rand(3, 4, dtype=torch.float64),
    "tall": torch.rand(4, 2, dtype=torch.float64),
    "grid": torch.rand(1, 3, 3, 2) * 2 - 1,
    "spd": torch.tensor([[4.0, 0.5, 0.25], [0.5, 6.0, 1.0], [0.25, 1.0, 9.0]]),
}


def x(name: str) -> dict:
    return {"in": name}


F = "nn.functional."
M, N, O, V, S, T, P, H = map(x, ("m", "n", "o", "v", "s", "t", "p", "h"))
IN_LOWER = [
    ["matmul", [V, V], {}], ["tensordot", [M, N, 1], {}],
    ["mm", [M, N], {}], ["matmul", [M, N], {}], ["matmul", [S, T], {}], ["matmul", [S, N], {}], ["matmul", [M, V], {}],
    ["bmm", [S, T], {}], ["addmm", [x("q"), M, N], {}], ["addbmm", [x("spd"), S, T], {}], ["baddbmm", [x("u"), S, T], {}],
    [F + "linear", [M, x("w"), x("wb")], {}], [F + "linear", [S, x("w")], {}], [F + "linear", [V, x("w")], {}],
    ["linalg.vecdot", [M, O], {}], [F + "conv1d", [x("c1"), x("k1"), x("g")], {"padding": 1}],
    [F + "conv1d", [x("c1"), x("k1")], {"padding": "same"}], [F + "conv2d", [x("c2"), x("k2")], {"stride": 2}],
    [F + "conv3d", [x("c3"), x("k3")], {}], [F + "conv_transpose1d", [x("c1"), x("c1t")], {}],
    [F + "conv_transpose2d", [x("c2"), x("r2")], {}], [F + "conv_transpose3d", [x("c3"), x("k3t")], {}],
    [F + "prelu", [x("x"), x("a")], {}],
    [F + "scaled_dot_product_attention", [S, S, S], {}],
    [".matmul", [M, N], {}], [".bmm", [S, T], {}], [".mm", [x("wide"), x("tall")], {}],
    ["einsum", ["bij,bjk->bik", S, T], {}], ["tensordot", [M, N], {"dims": 1}], ["linalg.multi_dot", [[M, N]], {}],
]  # fmt: skip
INPUTS |= {"c1t": spread(2, 3, 3), "k3t": spread(1, 2, 2, 2, 2)}
IN_FULL = [
    [F + "mse_loss", [M, O], {}], [F + "l1_loss", [M, O], {}], [F + "smooth_l1_loss", [M, O], {}],
    [F + "huber_loss", [M, O], {"reduction": "none"}], [F + "kl_div", [P, H], {"reduction": "batchmean"}],
    [F + "soft_margin_loss", [M, x("sign4")], {}], [F + "poisson_nll_loss", [M, P], {}],
    [F + "binary_cross_entropy", [P, H], {}], [F + "binary_cross_entropy_with_logits", [M, H], {}],
    [F + "cosine_embedding_loss", [M, O, x("sign")], {}], [F + "hinge_embedding_loss", [M, x("sign4")], {}],
    [F + "margin_ranking_loss", [x("b"), x("g"), x("sign")], {}], [F + "triplet_margin_loss", [M, O, P], {}],
    [F + "multi_margin_loss", [M, x("classes")], {}], [F + "multilabel_margin_loss", [M, x("many")], {}],
    [F + "nll_loss", [M, x("classes")], {}], [F + "cross_entropy", [M, x("classes")], {}],
    [F + "cross_entropy", [M, P], {}],
    ["cdist", [S, x("x")], {}], ["prod", [M], {}], ["prod", [M, 1], {}], ["quantile", [M, 0.3], {"dim": 1}],
    ["nanquantile", [M, 0.3], {"dim": 1}], ["trace", [M], {}], ["polar", [P, M], {}],
    [F + "avg_pool3d", [x("c3"), 2], {}], [F + "max_pool3d", [x("c3"), 2], {}],
    [F + "adaptive_avg_pool3d", [x("c3"), 2], {}], [F + "adaptive_max_pool3d", [x("c3"), 2], {}],
    ["linalg.inv", [x("spd")], {}], ["linalg.cholesky", [x("spd")], {}], ["linalg.eigvalsh", [x("spd")], {}],
    ["linalg.svdvals", [M], {}], ["linalg.solve", [x("spd"), x("b")], {}],
    ["fft.rfft", [M], {}], ["fft.fft", [M], {}], ["fft.irfft2", [M], {}],
    [F + "grid_sample", [x("c2"), x("grid")], {"align_corners": False}],
]  # fmt: skip
INPUTS["sign4"] = torch.tensor([[1, -1, 1, 1]] * 3)
AS_THEY_COME = [
    ["add", [M, O], {}], ["mul", [M, 2.5], {}], ["exp", [M], {}], ["log", [P], {}], ["pow", [P, 2], {}],
    ["sum", [M], {}], ["softmax", [M, 1], {}], [F + "log_softmax", [M, 1], {}], ["cumsum", [M, 0], {}], ["mean", [M], {}],
    [F + "layer_norm", [M, [4]], {}], [F + "group_norm", [x("c2"), 1], {}], ["mv", [M, V], {}], ["dot", [V, V], {}],
    ["tensordot", [M, M, 2], {}],
    ["addmv", [x("b"), M, V], {}], [F + "relu", [M], {}], [F + "gelu", [M], {}], ["tanh", [M], {}],
    ["cat", [[M, O]], {}], ["stack", [[M, O]], {}], [F + "max_pool2d", [x("c2"), 2], {}], ["outer", [V, V], {}],
    [F + "avg_pool2d", [x("c2"), 2], {}], [F + "interpolate", [x("c2")], {"scale_factor": 2}], ["sqrt", [P], {}],
    ["reciprocal", [P], {}], [F + "softplus", [M], {}], ["logsumexp", [M, 1], {}], [".exp_", [{"of": "m"}], {}],
    [".addmm_", [{"of": "q"}, M, N], {}], ["index_copy", [M, 0, x("rows"), x("two")], {}],
    ["where", [{"bool": "m"}, M, O], {}], ["atan2", [M, O], {}], ["scatter_add", [M, 0, x("places"), x("two")], {}],
]  # fmt: skip
# Inputs of both types at once.
MIXED = [
    ["cat", [[M, {"low": "o"}]], {}], ["stack", [[{"low": "m"}, O]], {}], ["mm", [M, {"low": "n"}], {}],
    ["add", [M, {"low": "o"}], {}], ["eq", [M, {"low": "m"}], {}], ["addmm", [{"low": "q"}, M, {"low": "n"}], {}],
    [F + "linear", [{"low": "m"}, x("w"), x("wb")], {}], [F + "conv2d", [{"low": "c2"}, x("k2"), x("g")], {}],
    [F + "mse_loss", [M, {"low": "o"}], {}], ["index_copy", [M, 0, x("rows"), {"low": "two"}], {}],
    ["addcmul", [M, {"low": "o"}, P], {}],
]  # fmt: skip
CASES = [*IN_LOWER, *IN_FULL, *AS_THEY_COME, *MIXED]


def flat(t: torch.Tensor) -> list:
    t = t.detach().resolve_conj().contiguous()
    return [shown(v) for v in (torch.view_as_real(t) if t.is_complex() else t).flatten().tolist()]


def shown(v):
    if isinstance(v, float):
        return str(v) if not math.isfinite(v) else float(f"{v:.8g}")
    return v


def tensor(t: torch.Tensor) -> dict:
    return {"dtype": str(t.dtype).split(".")[1], "shape": list(t.shape), "data": flat(t)}


def cotangent(t: torch.Tensor) -> torch.Tensor:
    return torch.cos(torch.arange(t.numel(), dtype=torch.float64) + 1).reshape(t.shape).to(t.dtype)


def answered(case: list, lower: torch.dtype, low: bool) -> dict:
    call, args, options = case
    leaves: dict[str, torch.Tensor] = {}

    def made(value):
        if isinstance(value, list):
            return [made(v) for v in value]
        if not isinstance(value, dict):
            return value
        ((kind, name),) = value.items()
        t = INPUTS[name].clone()
        if t.dtype == torch.float32 and (low or kind == "low"):
            t = t.to(lower)
        if kind == "bool":
            return t > 0
        if kind == "in" and t.is_floating_point():
            return leaves.setdefault(name, t.requires_grad_())
        return t

    values, named = made(args), {name: made(v) for name, v in options.items()}
    out: dict = {"call": call, "args": args, "options": options, "type": str(lower).split(".")[1], "low": low}
    try:
        with torch.autocast("cpu", dtype=lower):
            f = getattr(values[0], call[1:]) if call.startswith(".") else torch
            for part in call.split(".") if f is torch else ():
                f = getattr(f, part)
            result = f(*(values[1:] if call.startswith(".") else values), **named)
        results = [result] if isinstance(result, torch.Tensor) else list(result)
        out["results"] = [tensor(r) for r in results]
        smooth = [r for r in results if r.requires_grad and r.is_floating_point()]
        if smooth and leaves and not low:
            found = torch.autograd.grad(smooth, [*leaves.values()], [*map(cotangent, smooth)], allow_unused=True)
            out["gradients"] = {n: tensor(g) for n, g in zip(leaves, found) if g is not None}
    except (RuntimeError, NotImplementedError) as error:
        return {**out, "refused": str(error).splitlines()[0]}
    return out


def gpu_lists() -> dict[str, list[str]]:
    text = (Path(torch.__file__).parent / "include/ATen/autocast_mode.h").read_text()
    found = re.findall(r"#define AT_FORALL_(\w+)\(_\)((?:.*\\\n)*.*)\n", text)
    named = {name: re.findall(r"_\((?:ADD_NS\()?(\w+)", body) for name, body in found}
    wanted = ("LOWER_PRECISION_FP", "FP32", "FP32_SET_OPT_DTYPE", "DIFFERENT_REDISPATCH_SIGNATURE", "PROMOTE")
    return {name.lower(): list(dict.fromkeys(named[name])) for name in wanted}


def cpu_list() -> list[str]:
    names = [name for name in torch._C._dispatch_get_all_op_names() if name.startswith("aten::")]
    dumps = ((name, torch._C._dispatch_dump(name)) for name in names if torch._C._dispatch_has_kernel(name))
    found = (name for name, dump in dumps if re.search(r"^AutocastCPU:", dump, re.MULTILINE))
    return sorted({name.removeprefix("aten::").split(".")[0] for name in found})


MODEL = {"w1": spread(5, 4) / 2, "b1": spread(5) / 2, "w2": spread(2, 5) / 2, "b2": spread(2) / 2}


def trained(lower: torch.dtype) -> dict:
    """A small network under autocast with a GradScaler: losses, scales and weights; the third step's gradients overflow."""
    parameters = {name: t.clone().requires_grad_() for name, t in MODEL.items()}
    optimizer = torch.optim.SGD(parameters.values(), lr=0.1, momentum=0.9)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0, growth_factor=2.0, backoff_factor=0.25, growth_interval=2)
    steps = []
    for step in range(7):
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=lower):
            hidden = torch.nn.functional.linear(INPUTS["m"], parameters["w1"], parameters["b1"]).relu()
            out = torch.nn.functional.linear(hidden, parameters["w2"], parameters["b2"])
            loss = torch.nn.functional.mse_loss(out, INPUTS["q"])
        scaler.scale(loss * (math.inf if step == 2 else 1)).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(parameters.values(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        steps.append({"loss": loss.item(), "type": str(out.dtype).split(".")[1], "state": scaler.state_dict()})
    return {
        "type": str(lower).split(".")[1],
        "steps": steps,
        "after": {name: tensor(t) for name, t in parameters.items()},
    }


if __name__ == "__main__":
    cases = [answered(case, lower, low) for case in CASES for lower in LOWER for low in (False, True)]
    rows = lambda found: ",\n".join(json.dumps(c, separators=(",", ":")) for c in found)
    table = lambda found: ",\n".join(f'"{n}": {json.dumps(v, separators=(",", ":"))}' for n, v in found.items())
    tensors = {name: tensor(t) for name, t in INPUTS.items()}
    model = {name: tensor(t) for name, t in MODEL.items()}
    OUT.write_text(
        f'{{"torch": "{torch.__version__}",\n"gpu": {{\n{table(gpu_lists())}\n}},\n"cpu": {json.dumps(cpu_list())},\n'
        f'"inputs": {{\n{table(tensors)}\n}},\n"cases": [\n{rows(cases)}\n],\n'
        f'"model": {{\n{table(model)}\n}},\n"trained": [\n{rows(map(trained, LOWER))}\n]}}\n'
    )
