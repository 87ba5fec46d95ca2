"""Records what PyTorch's modules keep of their arguments, under which names: attributes.mjs.

python tests/recorded/attributes.py     # with PyTorch 2.13"""

import json
from pathlib import Path

import torch
from torch import nn

# A module, and what it takes by place and by name.
MODULES = [
    ("Linear", [3, 4], {"bias": False}),
    ("Bilinear", [2, 3, 4], {}),
    ("Conv1d", [4, 6, 3], {"stride": 2, "padding": 1, "groups": 2}),
    ("ConvTranspose2d", [4, 6, 3], {"stride": 2, "output_padding": 1}),
    ("BatchNorm2d", [4], {"momentum": 0.3, "affine": False}),
    ("InstanceNorm1d", [4], {"affine": True}),
    ("GroupNorm", [2, 4], {"eps": 0.1}),
    ("LayerNorm", [[3]], {"eps": 0.1}),
    ("RMSNorm", [[3]], {}),
    ("AdaptiveLogSoftmaxWithLoss", [4, 10, [3, 6]], {"div_value": 2.0, "head_bias": True}),
    ("Embedding", [5, 3], {"padding_idx": 1, "max_norm": 2.0}),
    ("EmbeddingBag", [5, 3], {"mode": "sum"}),
    ("LSTM", [3, 4], {"num_layers": 2, "dropout": 0.1, "bidirectional": True}),
    ("GRU", [3, 4], {"batch_first": True}),
    ("MultiheadAttention", [4, 2], {"dropout": 0.1, "kdim": 3}),
    ("Dropout", [0.3], {}),
    ("LeakyReLU", [0.2], {}),
    ("ELU", [0.5], {}),
    ("Hardtanh", [-2, 2], {}),
    ("Softplus", [], {"beta": 2}),
    ("PReLU", [3], {"init": 0.1}),
    ("Threshold", [0.1, 20], {}),
    ("GELU", [], {"approximate": "tanh"}),
    ("Softmax", [1], {}),
    ("MaxPool2d", [3], {"stride": 2, "ceil_mode": True}),
    ("AvgPool2d", [3], {"stride": 2, "count_include_pad": False}),
    ("AdaptiveAvgPool2d", [3], {}),
    *((f"{kind}Pool{d}d", [3], {}) for kind in ("Max", "Avg", "AdaptiveAvg", "AdaptiveMax") for d in (1, 2, 3)),
    *((f"MaxUnpool{d}d", [3], {}) for d in (1, 2, 3)),
    *((f"LPPool{d}d", [2, 3], {}) for d in (1, 2, 3)),
    ("MaxPool2d", [[3, 2]], {}),
    ("AvgPool3d", [[3, 2, 1]], {"stride": 2}),
    ("FractionalMaxPool2d", [3, 2], {}),
    ("Unfold", [3], {}),
    *((f"{kind}Pad{d}d", [1], {}) for kind in ("Reflection", "Replication", "Zero", "Circular") for d in (1, 2, 3)),
    *((f"ConstantPad{d}d", [1, 0.5], {}) for d in (1, 2, 3)),
    ("Upsample", [], {"scale_factor": 2, "mode": "bilinear"}),
    ("PixelShuffle", [2], {}),
    ("Fold", [[4, 5], 2], {}),
    ("Flatten", [], {}),
    ("CrossEntropyLoss", [], {"label_smoothing": 0.1, "ignore_index": 3}),
    ("SmoothL1Loss", [], {"beta": 0.5}),
    ("TripletMarginLoss", [], {"margin": 0.5, "swap": True}),
    ("GaussianNLLLoss", [], {"full": True}),
    ("CosineSimilarity", [], {"dim": 0}),
]
ABSENT = {
    *(("LSTM", "mode"), ("GRU", "mode"), ("Upsample", "name")),
    *(("AvgPool1d", key) for key in ("kernel_size", "stride", "padding")),  # lists there, as in no other average pool
    *((f"ZeroPad{d}d", "value") for d in (1, 2, 3)),
}


def kept(name: str, places: list, options: dict) -> dict:
    return {
        key: value
        for key, value in vars(getattr(nn, name)(*places, **options)).items()
        if isinstance(value, (int, float, str, tuple, list))
        and not key.startswith("_")
        and key not in ("training", "transposed")
        and (name, key) not in ABSENT
    }


rows = [json.dumps([*row, kept(*row)], separators=(",", ":")) for row in MODULES]
text = ",\n".join(rows)
Path(__file__).with_suffix(".mjs").write_text(
    f"// PyTorch's answers.  Written by attributes.py with {torch.__version__}.\nexport default [\n{text}\n];\n"
)
