"""What PyTorch answers of eigenvalues and eigenvectors, which tests/checks/eigen.mjs replays.

    python tests/recorded/eigen.py        # where torch 2.13 is installed; writes tests/recorded/eigen.json

Of each matrix the eigenvalues, in PyTorch's order, and of some the gradient of what `slope` adds up, which no phase of a
vector changes.  Complex numbers are pairs."""

from __future__ import annotations

import json
from pathlib import Path

import torch

OUT = Path(__file__).with_suffix(".json")
torch.manual_seed(14)

# Few shapes: each is planned, and on a GPU compiled, by itself.
MATRICES = {
    "stack": torch.randn(2, 4, 4),
    "twelve": torch.randn(12, 12),
    "rotations": torch.tensor([[0.6, -0.8, 0, 0], [0.8, 0.6, 0, 0], [0, 0, 0, 2], [0, 0, -3, 0]]),
    "swap": torch.tensor([[0.0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 3, 0], [0, 0, 0, 0.5]]),
    "cycle": torch.tensor([[0.0, 0, 0, 1], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]),
    "companion": torch.tensor([[10.0, -35, 50, -24], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]),
    "markov": torch.tensor([[0.9, 0.1, 0, 0], [0.2, 0.6, 0.2, 0], [0, 0.3, 0.6, 0.1], [0, 0, 0.2, 0.8]]),
    "triangle": torch.tensor([[1.0, 2, 3, 4], [0, 5, 6, 7], [0, 0, 8, 9], [0, 0, 0, 10]]),
    "small": torch.randn(4, 4) * 1e-6,
    "unit": torch.eye(4),
    "empty": torch.zeros(2, 0, 0),
    "complex": torch.randn(2, 4, 4, dtype=torch.complex64),
}
SLOPES = ("stack", "companion", "complex")


def weights(t: torch.Tensor) -> torch.Tensor:
    return torch.cos(torch.arange(t.numel()) + 1.0).reshape(t.shape)


def slope(a: torch.Tensor) -> torch.Tensor:
    a = a.clone().requires_grad_()
    values, vectors = torch.linalg.eig(a)
    parts, sizes = torch.view_as_real(values), torch.view_as_real(vectors).square().sum(-1)
    # Weights that follow a value, not its place.
    total = (parts.square() * torch.tensor([1.0, 0.5])).sum() + (sizes * weights(sizes[..., 0]).unsqueeze(-1)).pow(
        2
    ).sum()
    return torch.autograd.grad(total + torch.linalg.eigvals(a).abs().sum(), a)[0]


def plain(t: torch.Tensor) -> list:
    return (torch.view_as_real(t.detach().resolve_conj()) if t.is_complex() else t.detach()).tolist()


def main() -> None:
    cases = {
        name: {
            "matrix": plain(a),
            "shape": list(a.shape),
            "complex": a.is_complex(),
            "values": plain(torch.linalg.eigvals(a)),
            **({"slope": plain(slope(a))} if name in SLOPES else {}),
        }
        for name, a in MATRICES.items()
    }
    OUT.write_text(json.dumps(cases, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
