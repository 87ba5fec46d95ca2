"""Host code's values as JSON has them: what a test gives to a script of Node, and what it compares with its answer."""

import math
from typing import Any

from codegen.data.errors import decimal


def as_json(v: Any) -> Any:
    """Dataclasses as objects of their fields, tuples as lists; numbers that JSON lacks as JavaScript's text of them."""
    if hasattr(v, "__dataclass_fields__"):
        return {k: as_json(x) for k, x in vars(v).items()}
    if isinstance(v, dict):
        return {k: as_json(x) for k, x in v.items()}
    if isinstance(v, (list, tuple)):
        return [as_json(x) for x in v]
    return decimal(v) if isinstance(v, float) and not math.isfinite(v) else v
