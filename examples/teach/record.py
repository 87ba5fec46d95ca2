"""Writes answers.json beside itself: what efficientnet_lite_pytorch says of two drawn pictures with the same weights.

In an environment of its own: pip install efficientnet_lite_pytorch, then python record.py (lite0/ is there after
`python3 build.py serve`, or a test that needs it)."""

import json
from pathlib import Path

import torch
from efficientnet_lite_pytorch import EfficientNet

HERE = Path(__file__).parent
rows, columns = torch.meshgrid(torch.arange(224.0), torch.arange(224.0), indexing="ij")
rings = torch.hypot(rows - 100, columns - 120)
waves = torch.stack([(rows * (c + 1) / 19 + columns / (7 + c)).sin() for c in range(3)])
circles = torch.stack([(rings / (5 + 3 * c)).cos() * (rings < 90) for c in range(3)])
pictures = torch.stack([waves, circles]) / 2 + 0.5

network = EfficientNet.from_name("efficientnet-lite0")
network.load_state_dict(torch.load(HERE / "lite0" / "efficientnet-lite0.pth", weights_only=True))
with torch.no_grad():
    scores = network.eval()((pictures * 255 - 127) / 128)
rounded = [[round(x, 5) for x in row] for row in scores.tolist()]
(HERE / "answers.json").write_text(json.dumps(rounded) + "\n", encoding="utf-8")
