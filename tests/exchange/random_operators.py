"""Exports each core ATen operator with random arguments and records what PyTorch answers: operators.tar.xz.

    python tests/exchange/random_operators.py [SEED [CALLS [FOLDER]]]     in an environment with torch 2.13

A program is one call of one operator.  Of its tensors those of floating types are parameters, whose gradients are
recorded, the others inputs.  With FOLDER behind the command NAME.pt2 and NAME.safetensors are written there, so that
programs.mjs runs other calls than those that are committed."""

import io
import random
import re
import sys
import tarfile
import warnings
import zipfile
from pathlib import Path

import random_arguments
import random_layers  # noqa: F401  the rest of MAKERS
import torch
from record_models import archive, safetensors
from torch.utils import _pytree as pytree

HERE = Path(__file__).parent


class Call(torch.nn.Module):
    """An operator, whose arguments are constants, parameters and, in their order, the inputs."""

    def __init__(self, operator, args, options, trained=True):
        super().__init__()
        self.operator = operator
        leaves, self.spec = pytree.tree_flatten((args, options))
        self.leaves, self.inputs = [], []
        for x in leaves:
            if isinstance(x, torch.Tensor) and x.is_floating_point():
                self.register_parameter(f"p{len(self.leaves)}", torch.nn.Parameter(x, requires_grad=trained))
                self.leaves.append((f"p{len(self.leaves)}",))
            elif isinstance(x, torch.Tensor):
                self.inputs.append(x)
                self.leaves.append(len(self.inputs) - 1)
            else:
                self.leaves.append([x])

    def forward(self, *inputs):
        values = [
            getattr(self, x[0]) if isinstance(x, tuple) else x[0] if isinstance(x, list) else inputs[x]
            for x in self.leaves
        ]
        args, options = pytree.tree_unflatten(values, self.spec)
        answer = self.operator(*args, **options)
        # what of a bag is behind its sums depends on how PyTorch computes them
        return answer[0] if self.operator == torch.ops.aten._embedding_bag.default else answer


def tensors_of(answer) -> list:
    return [x for x in pytree.tree_leaves(answer) if isinstance(x, torch.Tensor)]


def exported(name: str, args, options):
    """The call and its program; one without gradients where the operator has none."""
    base, overload = name.split(".")
    for trained in (True, False) if "backward" not in name else (False,):  # of gradients there are none
        net = Call(getattr(getattr(torch.ops.aten, base), overload), args, options, trained)
        try:
            return net, torch.export.export(net, tuple(net.inputs), strict=False)
        except RuntimeError as error:
            if not trained or not re.search("differentia|utograd", str(error)):
                raise


def record(name: str, args, options) -> tuple[bytes, bytes]:
    net, program = exported(name, args, options)
    given = {f"in{n}": x for n, x in enumerate(net.inputs)}
    data, outputs = archive(program, zipfile.ZIP_STORED), tensors_of(net(*net.inputs))
    floating = [(n, x) for n, x in enumerate(outputs) if x.requires_grad]
    cotangents = [torch.randn_like(x) for _, x in floating]
    try:
        torch.autograd.backward([x for _, x in floating], cotangents)
    except (RuntimeError, NotImplementedError):
        floating, cotangents = [], []  # it has no gradient
    given |= {f"out{n}": x for n, x in enumerate(outputs)}
    given |= {f"cot{n}": c for (n, _), c in zip(floating, cotangents, strict=True)}
    given |= {f"g.{key}": x.grad for key, x in net.named_parameters() if x.grad is not None}
    return data, safetensors(given)


def main():
    warnings.simplefilter("ignore")
    words = sys.argv[1:]
    seed, calls, folder = int(words[0]) if words else 7, int((words[1:] or [2])[0]), (words[2:] or [None])[0]
    random.seed(seed)
    torch.manual_seed(seed)
    files, refused = {}, []
    for name, make in random_arguments.MAKERS.items():
        n = 0
        for _ in range(4 * calls):
            if n == calls:
                break
            args, options = make()
            try:
                for suffix, content in zip(("pt2", "safetensors"), record(name, args, options), strict=True):
                    files[f"{name}-{n}.{suffix}"] = content
                n += 1
            except Exception as error:  # noqa: BLE001
                refused.append(f"{name}: {str(error).splitlines()[0][:150]}")
    print(len(files) // 2, "calls;", len(refused), "that PyTorch refuses:", *refused, sep="\n  ")
    if folder:
        for name, content in files.items():
            (Path(folder) / name).write_bytes(content)
        return
    with tarfile.open(HERE / "operators.tar.xz", "w:xz", preset=9) as tar:
        for name, content in sorted(files.items(), key=lambda file: file[0].rpartition(".")[::-1]):
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))


if __name__ == "__main__":
    main()
