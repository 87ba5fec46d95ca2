"""An LSTM reads a text letter by letter and says what comes next; lstm.mjs is the same program in JavaScript.

python lstm.py       trains it, and records what lstm.mjs is compared with: weights.safetensors and curve.json"""

import sys
from pathlib import Path

from torch import nn, optim
from torch.nn import functional as F

sys.path.insert(0, str(Path(__file__).parents[1]))
from alice.text import LETTERS, streams
from record import record

BATCH, LENGTH, WIDTH, STEPS = 8, 16, 48, 200


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(len(LETTERS), WIDTH)
        self.lstm = nn.LSTM(WIDTH, WIDTH, num_layers=2, batch_first=True)
        self.head = nn.Linear(WIDTH, len(LETTERS))

    def forward(self, ids, state):
        out, state = self.lstm(self.embed(ids), state)
        return self.head(out), state


def train(model, steps=STEPS):
    """Yields the loss of each step."""
    optimizer = optim.Adam(model.parameters(), lr=1e-2)
    schedule = optim.lr_scheduler.StepLR(optimizer, 50, 0.5)
    state = None
    for step in range(steps):
        x, y = streams(step, BATCH, LENGTH)
        scores, state = model(x, state)
        state = [part.detach() for part in state]  # what was read before is remembered, but no gradient goes there
        loss = F.cross_entropy(scores.flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1)
        optimizer.step()
        schedule.step()
        yield loss


if __name__ == "__main__":
    record(Reader, train, Path(__file__).parent)
