"""What PyTorch has under the names that the package has, too, for who records its signatures: needs torch."""

import ast
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

import torch

KINDS = {
    "Tensor": torch.Tensor,
    "Generator": torch.Generator,
    "Module": torch.nn.Sequential,
    **{kind: getattr(torch.nn, kind) for kind in ("ModuleList", "ModuleDict", "ParameterList", "ParameterDict")},
    "SGD": torch.optim.SGD,
    "Adam": torch.optim.Adam,
    "StepLR": torch.optim.lr_scheduler.StepLR,
    "DataLoader": torch.utils.data.DataLoader,
}
Read = TypeVar("Read")


def lookup(name: str) -> object | None:
    """What is called "torch.f", "Tensor.f" and so on; None for what PyTorch does not have."""
    first, *path = name.split(".")
    at = KINDS.get(first, torch)
    for word in path:
        at = getattr(at, word, None)
    return at


def schema_name(name: str) -> str:
    """The name of the schemas of a function or a method: "conv1d" of "torch.nn.functional.conv1d"."""
    return "_".join(name.split(".")[1:]).removeprefix("nn_functional_")


def stubs(read: Callable[[ast.FunctionDef], Read]) -> dict[str, list[Read]]:
    """What `read` makes of each overload in PyTorch's stubs, by "torch.f", "torch.nn.functional.f", "Tensor.f" and
    "Generator.f"."""
    folder, out = Path(torch.__file__).parent / "_C", defaultdict(list)

    def take(nodes: Iterable[ast.AST], prefix: str) -> None:
        for node in nodes:
            if isinstance(node, ast.FunctionDef):
                out[f"{prefix}.{node.name}"].append(read(node))

    for file, prefix in (("_VariableFunctions.pyi", "torch"), ("_nn.pyi", "torch.nn.functional")):
        take(ast.parse((folder / file).read_text()).body, prefix)
    for part in ast.parse((folder / "__init__.pyi").read_text()).body:
        if isinstance(part, ast.ClassDef) and part.name in ("TensorBase", "Generator"):
            take(part.body, part.name.removesuffix("Base"))
    return out
