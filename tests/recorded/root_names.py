"""Writes tests/recorded/root_names.json: what PyTorch answers where torch has a name of torch.nn.functional for itself.

    python tests/recorded/root_names.py

Needs PyTorch; the test (tests/node/root_names.test.mjs) does not.  An argument {"t": [...]} is a tensor."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import torch

warnings.simplefilter("ignore")
torch.manual_seed(20261123)


def t(*shape: int) -> dict:
    return {"t": torch.randn(*shape).mul(100).round().div(64).tolist()}


def whole(*values: int) -> dict:
    return {"t": list(values), "dtype": "int64"}


SIGNS = {"t": [1.0, -1.0, 1.0]}
CALLS: list[tuple[str, list]] = [
    ("binary_cross_entropy_with_logits", [t(4), {"t": [0.0, 1.0, 1.0, 0.25]}, None, t(4), 2]),
    ("binary_cross_entropy_with_logits", [t(4), {"t": [0.0, 1.0, 1.0, 0.25]}]),
    ("cosine_embedding_loss", [t(3, 4), t(3, 4), SIGNS, 0.25, 0]),
    ("hinge_embedding_loss", [t(3), SIGNS, 1.5, 1]),
    ("kl_div", [t(2, 3), {"t": [[0.5, 0.25, 0.25], [0.0, 0.5, 0.5]]}, 2]),
    ("margin_ranking_loss", [t(3), t(3), SIGNS, 0.5, 0]),
    ("poisson_nll_loss", [t(4), {"t": [0.0, 1.0, 2.0, 5.0]}, True, True, 1e-8, 1]),
    ("triplet_margin_loss", [t(3, 4), t(3, 4), t(3, 4), 1.0, 2.0, 1e-6, True, 0]),
    ("cosine_embedding_loss", [t(3, 4), t(3, 4), SIGNS]),
    ("hinge_embedding_loss", [t(3), SIGNS]),
    ("kl_div", [t(2, 3), {"t": [[0.5, 0.25, 0.25], [0.0, 0.5, 0.5]]}]),
    ("margin_ranking_loss", [t(3), t(3), SIGNS]),
    ("triplet_margin_loss", [t(3, 4), t(3, 4), t(3, 4)]),
    ("embedding", [t(5, 3), whole(4, 0, 1)]),
    ("affine_grid_generator", [t(2, 2, 3), [2, 1, 2, 3], True]),
    ("affine_grid_generator", [t(1, 2, 3), [1, 1, 2, 2], False]),
    ("max_pool1d_with_indices", [t(2, 7), 3, 2]),
    ("conv_tbc", [t(5, 2, 3), t(2, 3, 4), t(4), 1]),
    ("native_channel_shuffle", [t(1, 6, 2), 3]),
    ("avg_pool1d", [t(1, 2, 6), 2]),
    ("adaptive_avg_pool1d", [t(1, 2, 5), 3]),
    ("bilinear", [t(2, 3), t(2, 4), t(2, 3, 4), t(2)]),
    ("lstm_cell", [t(2, 3), [t(2, 2), t(2, 2)], t(8, 3), t(8, 2), t(8), t(8)]),
    ("gru_cell", [t(2, 3), t(2, 2), t(6, 3), t(6, 2), t(6), t(6)]),
    ("rnn_tanh_cell", [t(2, 3), t(2, 2), t(2, 3), t(2, 2)]),
    ("rnn_relu_cell", [t(2, 3), t(2, 2), t(2, 3), t(2, 2), t(2), t(2)]),
    ("frobenius_norm", [t(3, 4), [1], True]),
    ("nuclear_norm", [t(2, 3, 4)]),
    ("nuclear_norm", [t(2, 3, 4), [0, 2]]),
    ("nuclear_norm", [t(2, 3, 4), [2, 0], True]),
    ("nuclear_norm", [t(3, 4), True]),
    ("norm_except_dim", [t(3, 4, 2), 2, 1]),
    ("norm_except_dim", [t(5), 2, 0]),
    ("chain_matmul", [t(2, 3), t(3, 5), t(5, 1)]),
    ("select_copy", [t(3, 4), 1, -1]),
    ("slice_copy", [t(7), 0, -6, 7, 2]),
    ("detach_copy", [t(3)]),
    ("fill_", [t(3), 2.5]),
    ("zero_", [t(3)]),
    ("native_dropout", [t(3), 0.5, False]),
]


def given(value):
    if isinstance(value, dict):
        return torch.tensor(value["t"], dtype=getattr(torch, value.get("dtype", "float32")))
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return tuple(given(v) for v in value)
    return value


def kept(value):
    return [kept(v) for v in value] if isinstance(value, tuple) else value.tolist()


def main() -> None:
    rows = [[name, args, kept(getattr(torch, name)(*map(given, args)))] for name, args in CALLS]
    file = Path(__file__).with_suffix(".json")
    file.write_text(json.dumps({"torch": torch.__version__.split("+")[0], "calls": rows}) + "\n", encoding="utf-8")


main()
