"""Small networks of many kinds, with an input each: what tests/exchange/record_models.py exports.

Each function gives (module, arguments by place, arguments by name); the module has a few thousand parameters."""

from . import images, sequences, structures, tensors
from .parts import MODELS

__all__ = ["MODELS", "images", "sequences", "structures", "tensors"]
