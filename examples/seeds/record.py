"""Makes model.ptjs and answers.json: the network of torch_js.mjs as PyTorch saves it, and what PyTorch answers for it.

python record.py            (needs torch==2.13.0; run once)"""

import json
from pathlib import Path

import torch
from torch import nn

HERE = Path(__file__).parent


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.convs = nn.Sequential(
            nn.Conv2d(3, 16, 5, stride=1, padding=2),
            nn.MaxPool2d(2),
            nn.ReLU(),
            nn.Conv2d(16, 32, 5, stride=1, padding=2),
            nn.MaxPool2d(2),
            nn.ReLU(),
        )
        self.mlp = nn.Linear(32, 10)

    def forward(self, input):
        x = self.convs(input)
        return self.mlp(x.view([x.size(0), -1]))


torch.manual_seed(0)
model = Net()
torch.save(model.state_dict(), HERE / "model.ptjs")
with torch.no_grad():
    scores = model((torch.arange(96) * 0.05).sin().view(2, 3, 4, 4))
(HERE / "answers.json").write_text(
    json.dumps({"torch": torch.__version__.split("+")[0], "scores": scores.tolist()}) + "\n"
)
