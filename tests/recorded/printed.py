"""Records how PyTorch prints modules made in many ways: python tests/recorded/printed.py, with torch.

Answers a list of [class, arguments, options, text] in printed.json; lists are the tuples of Python, floats stay
floats.  Modules of PyTorch that are absent here are left out (tests/recorded/absent.names)."""

import json
import warnings
from pathlib import Path

import torch

HERE = Path(__file__).parent
warnings.simplefilter("ignore")

MANY = {
    "AdaptiveLogSoftmaxWithLoss": "4, 6, [2, 4]; 4, 6, [2, 4], 0.1",
    "Bilinear": "2, 3, 4; 2, 3, 4, bias=False",
    "CELU": "; 0.5; inplace=True",
    "ChannelShuffle": "2",
    "CosineSimilarity": "; 0, 1e-6",
    "CrossEntropyLoss": "; ignore_index=3, label_smoothing=0.1",
    "ELU": "; 2.0, True",
    "Embedding": "5, 3; 5, 3, padding_idx=1; 5, 3, 1, 2.0, 1.0, True, True",
    "EmbeddingBag": "5, 3; 5, 3, max_norm=1.0, mode='sum', scale_grad_by_freq=True, padding_idx=0",
    "Flatten": "; 2, 3",
    "Fold": "(4, 5), 2; 4, (2, 3), dilation=1, padding=(1, 0), stride=2",
    "FractionalMaxPool2d": "3, output_size=2",
    "FractionalMaxPool3d": "2, output_ratio=0.5",
    "GELU": "; 'tanh'",
    "GLU": "; 1",
    "GRU": "3, 4; 3, 4, 2, bias=False, batch_first=True, dropout=0.5, bidirectional=True",
    "GRUCell": "3, 4; 3, 4, bias=False",
    "GroupNorm": "2, 4; 2, 4, 1e-3, False",
    "Hardshrink": "; 0.25",
    "Hardtanh": "; -2.0, 3.0; inplace=True",
    "HuberLoss": "; 'sum', 0.5",
    "LSTM": "3, 4; 3, 4, proj_size=2; 3, 4, 2, bias=False, bidirectional=True",
    "LSTMCell": "3, 4",
    "LayerNorm": "5; [5, 6], 1e-3, False; 5, bias=False",
    "LazyLinear": "4; 4, False",
    "LeakyReLU": "; 0.2; inplace=True",
    "Linear": "3, 4; 3, 4, False",
    "LocalResponseNorm": "2; 2, 0.5, 0.6, 2.5",
    "LogSoftmax": "; 0",
    "MultiheadAttention": "4, 2",
    "PReLU": "; 3; 1, 0.1",
    "PairwiseDistance": "; 1.0, 1e-3, True",
    "PixelShuffle": "2",
    "PixelUnshuffle": "3",
    "RMSNorm": "5; [5, 6], 1e-6, False",
    "RNN": "3, 4; 3, 4, nonlinearity='relu'",
    "RNNCell": "3, 4; 3, 4, False, 'relu'",
    "RReLU": "; 0.1, 0.2; inplace=True",
    "Softmax": "; 1",
    "Softmin": "; dim=-1",
    "Softplus": "; 2.5, 10.5",
    "Softshrink": "; 0.3",
    "Threshold": "0.1, 20; 0.1, 20, True",
    "TransformerDecoderLayer": "4, 2, 8, 0.0, 'gelu', norm_first=True",
    "TransformerEncoderLayer": "4, 2, 8",
    "TripletMarginWithDistanceLoss": "; margin=0.5, swap=True",
    "Unflatten": "1, (2, 3)",
    "Unfold": "3; (3, 2), 1, 0, 2",
    "Upsample": "scale_factor=2; (4, 5), mode='bilinear', align_corners=True; 7",
    "UpsamplingBilinear2d": "(3, 4)",
    "UpsamplingNearest2d": "scale_factor=2",
}
PLAIN = (
    "Hardsigmoid Hardswish Mish ReLU ReLU6 SELU SiLU Dropout AlphaDropout FeatureAlphaDropout Identity LogSigmoid "
    "Sigmoid Softmax2d Softsign Tanh Tanhshrink ModuleDict ModuleList ParameterDict ParameterList Sequential L1Loss "
    "MSELoss NLLLoss BCELoss BCEWithLogitsLoss KLDivLoss SmoothL1Loss SoftMarginLoss MultiMarginLoss "
    "MultiLabelMarginLoss MultiLabelSoftMarginLoss CosineEmbeddingLoss MarginRankingLoss HingeEmbeddingLoss "
    "TripletMarginLoss TripletMarginWithDistanceLoss PoissonNLLLoss GaussianNLLLoss CTCLoss"
).split()
IN_PLACE = "Hardsigmoid Hardswish Mish ReLU ReLU6 SELU SiLU Dropout AlphaDropout".split()


def families(d: int) -> dict[str, str]:
    """Those with a number of axes in their name; K is a number or one for each axis."""
    pooled = "K; K, 2; K, stride=1, padding=1, ceil_mode=True"
    padded = f"2; {tuple(range(1, 2 * d + 1))}"
    made = {
        "AvgPool": pooled,
        "MaxPool": f"{pooled}; K, 2, 1, 1, True, True",
        "LPPool": "2.5, K; 1.5, K, stride=2, ceil_mode=True",
        "AdaptiveAvgPool": "K",
        "AdaptiveMaxPool": "K",
        "MaxUnpool": "K; K, 2, 1",
        "Conv": "4, 8, K; 4, 8, K, stride=2, padding=1, dilation=2, groups=2, bias=False; 4, 8, 3, padding='same'",
        "ConvTranspose": "4, 8, K; 4, 8, K, stride=2, padding=1, output_padding=1, groups=2, dilation=2",
        "BatchNorm": "5; 5, 1e-3, None, False, False",
        "InstanceNorm": "5; 5, affine=True, track_running_stats=True",
        "Dropout": "0.25; 0.25, True",
        "ConstantPad": padded.replace(";", ", 3.5;") + ", 0.5",
        "LazyConv": "8, 3",
        "LazyConvTranspose": "8, 3",
        "LazyBatchNorm": "",
        "LazyInstanceNorm": "",
    } | {f"{kind}Pad": padded for kind in ("Zero", "Reflection", "Replication", "Circular")}
    sizes = ("3", str((4, 2, 3)[:d]))
    return {f"{name}{d}d": "; ".join(dict.fromkeys(ways.replace("K", k) for k in sizes)) for name, ways in made.items()}


def taken(*arguments, **options) -> tuple:
    return arguments, options


calls = dict(sorted((MANY | dict.fromkeys(PLAIN, "") | families(1) | families(2) | families(3)).items()))
recorded = []
for name, ways in calls.items():
    for way in [*ways.split("; "), *["inplace=True"] * (name in IN_PLACE)]:
        arguments, options = eval(f"taken({way})")
        recorded.append([name, arguments, options, repr(getattr(torch.nn, name)(*arguments, **options))])
lines = ",\n".join(json.dumps(one) for one in recorded)
(HERE / "printed.json").write_text(
    f'{{"torch": "{torch.__version__.split("+")[0]}", "modules": [\n{lines}\n]}}\n', encoding="utf-8"
)
