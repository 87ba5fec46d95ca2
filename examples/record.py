"""Writes down how PyTorch trains a network, for the JavaScript program beside it to be compared with (needs torch and
safetensors).

For a folder: weights.safetensors, with which both begin, and curve.json, {"torch": version, "rounding": how far,
relatively, the loss moves when everything is computed in float64 instead, "losses": of each step}.  A curve that
rounding moves far is no measure."""

import copy
import json
from pathlib import Path

import torch
from safetensors.torch import save_file

SEED = 3


def record(network, train, folder: Path) -> None:
    """`network()` makes the network, `train(network)` yields the loss of each step."""
    torch.use_deterministic_algorithms(True)
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    model = network()
    save_file(model.state_dict(), folder / "weights.safetensors")
    (folder / "weights.safetensors").chmod(0o644)
    double = copy.deepcopy(model).double()
    losses = [loss.item() for loss in train(model)]
    rounding = max(abs(a - b.item()) / b.item() for a, b in zip(losses, train(double)))
    curve = {
        "torch": torch.__version__.split("+")[0],
        "rounding": float(f"{rounding:.1e}"),
        "losses": [float(f"{x:.7g}") for x in losses],
    }
    (folder / "curve.json").write_text(json.dumps(curve) + "\n")
    print(
        f"{folder.name}: {len(losses)} steps, loss {losses[0]:.4f} to {losses[-1]:.4f}, float32 is within "
        f"{rounding:.1e} of float64, "
        f"{sum(p.numel() for p in model.parameters())} parameters"
    )
