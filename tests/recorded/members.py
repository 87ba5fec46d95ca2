"""Records the public methods and properties of PyTorch's classes: members.json, which tests/node/members.test.mjs reads.

python tests/recorded/members.py     # with PyTorch 2.13"""

import inspect
import json
from pathlib import Path

import torch
import torch.nn.utils.parametrize
import torch.nn.utils.prune
import torch.optim.swa_utils
from torch import nn, optim
from torch.utils import data

SPACES = {
    "nn": (nn, nn.Module),  # whose classes are in modules of their own
    "optim": (optim, optim.Optimizer),
    "optim.lr_scheduler": (optim.lr_scheduler, optim.lr_scheduler.LRScheduler),
    "optim.swa_utils": (optim.swa_utils, nn.Module),
    "utils.data": (data, object),
    "distributions": (torch.distributions, torch.distributions.Distribution),
    "distributions.transforms": (torch.distributions.transforms, torch.distributions.Transform),
    "nn.utils.prune": (nn.utils.prune, nn.utils.prune.BasePruningMethod),
    "nn.utils.parametrize": (nn.utils.parametrize, nn.Module),
    "nn.utils.rnn": (nn.utils.rnn, object),
    "amp": (torch.amp, object),
}
ALONE = {"Generator": torch.Generator, "autograd.graph.Node": torch.autograd.graph.Node}


def members(cls: type, base: type) -> list[str]:
    """Those that its base does not have already."""
    own = object if cls is base else base
    return [name for name in dir(cls) if not name.startswith("_") and not hasattr(own, name)]


def main():
    found = {path: members(cls, object) for path, cls in ALONE.items()}
    for space, (module, base) in SPACES.items():
        for name, cls in vars(module).items():
            own = inspect.isclass(cls) and cls.__module__.startswith(module.__name__)
            if own and space == "distributions" and issubclass(cls, torch.distributions.Transform):
                continue
            if own and not name.startswith("_"):
                above = torch.Tensor if issubclass(cls, torch.Tensor) else base
                found[f"{space}.{name}"] = members(cls, above if issubclass(cls, above) else object)
    lines = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in sorted(found.items()) if v)
    (Path(__file__).parent / "members.json").write_text(f"{{\n{lines}\n}}\n")


main()
