"""Letters of a text as numbers, in batches; text.mjs is the same in JavaScript.

alice.txt is the first half of chapter 1 of Lewis Carroll's "Alice's Adventures in Wonderland" (1865), in the public
domain."""

from pathlib import Path

import torch

TEXT = Path(__file__).with_name("alice.txt").read_text()
LETTERS = sorted(set(TEXT))
CODES = torch.tensor([LETTERS.index(letter) for letter in TEXT])


def _pieces(starts, length):
    """The letters from each start on, and those one further: [batch, length] each."""
    at = (torch.tensor(starts)[:, None] + torch.arange(length)) % (len(CODES) - 1)
    return CODES[at], CODES[at + 1]


def passages(step, batch, length):
    """From anywhere in the text, a different place each time."""
    return _pieces([(step * batch + i) * 577 for i in range(batch)], length)


def streams(step, batch, length):
    """From as many readers, who began at different places; each step goes on where the one before ended."""
    return _pieces([i * len(CODES) // batch + step * length for i in range(batch)], length)
