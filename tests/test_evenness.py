"""What a kernel knows of a formula that moves in even steps is what its values at all points say."""

from itertools import product
from random import Random
from typing import cast

from codegen.data.model import Kernel
from codegen.data.nodes import Apply, Binary, Constant, Index, Node
from codegen.planner.evenness import Evenness
from codegen.planner.lines import Line

SIGNS = {"<": int.__lt__, "<=": int.__le__, ">=": int.__ge__}


def whole(n: int) -> Constant:
    return Constant("i", n)


def test_ends_and_conditions_are_those_of_all_points():
    draw, held = Random(12), 0
    for _ in range(400):
        lines = [Line(name, draw.randint(1, 4), []) for name in "ij"]
        factors, offset = [draw.randint(-3, 3) for _ in lines], draw.randint(-5, 5)
        e: Node = whole(offset)
        for line, factor in zip(lines, factors):
            e = Binary("+", e, Binary("*", Index(line.name), whole(factor)))
        # The lines are all that it asks of: no uniform is in the formula.
        known = Evenness(cast("Kernel", None), {}, lines)
        points = product(*(range(line.size) for line in lines))
        values = [offset + sum(f * at for f, at in zip(factors, point)) for point in points]
        even = known.of(e)
        assert even is not None and (known.least(even), known.most(even)) == (min(values), max(values))
        for sign, holds in SIGNS.items():
            limit = draw.choice(values) + draw.randint(-1, 1)
            wanted = all(holds(value, limit) for value in values)
            assert known.holds(Binary(sign, e, whole(limit))) == wanted, (values, sign, limit)
            held += wanted
        by = draw.randint(2, 3)
        left = {value % by for value in values}
        divides = Binary("==", Apply("remainder_int", [e, whole(by)]), whole(0))
        assert not known.holds(divides) or left == {0}
        assert not known.never(divides) or 0 not in left
        if all(f % by == 0 or line.size == 1 for f, line in zip(factors, lines)):
            assert (known.holds(divides), known.never(divides)) == (left == {0}, 0 not in left)
    assert held > 100
