"""Numbers that Python and JavaScript compute alike, for weights and inputs; given.mjs is the same."""

import math

import torch
from torch import nn


def number(k: int) -> float:
    return (k * k * 7919 + k * 104729 + 12345) % 65521 / 32760.5 - 1


def numbers(shape: list[int], first: int = 0) -> torch.Tensor:
    """Between -1 and 1; another `first`, others."""
    return torch.tensor([number(first + j) for j in range(math.prod(shape))]).reshape(shape)


def integers(below: int, shape: list[int], first: int = 0) -> torch.Tensor:
    flat = [math.floor((number(first + j) + 1) / 2 * below) % below for j in range(math.prod(shape))]
    return torch.tensor(flat, dtype=torch.long).reshape(shape)


def filled(module: nn.Module) -> nn.Module:
    """The module with such numbers for weights: matrices by their fan-in, scales near 1, biases near 0."""
    first = 0
    with torch.no_grad():
        for name, p in module.named_parameters():
            x = numbers(list(p.shape), first)
            fan_in = p.numel() / p.shape[0] if p.dim() > 1 else 1
            p.copy_(x * math.sqrt(3 / fan_in) if p.dim() > 1 else x * 0.1 + 1 if name.endswith("weight") else x * 0.1)
            first += p.numel()
    return module
