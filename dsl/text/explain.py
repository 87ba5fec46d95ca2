"""A page about each kind of error: what it means, a definition that has it, and one that has not.

tests/test_explain.py checks that each first example has the error and each second one none."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Page:
    title: str
    text: str
    wrong: str
    right: str


PAGES = {
    "syntax": Page(
        "the text is no definition",
        """\
The grammar (grammar/op.lark) does not allow what stands at the carets.  The label says what could
stand there.  One definition has at most one such error; the others in the file are checked as usual.
Operators are Python's: `and or not`, `==`, `**` for powers, `a if c else b`.""",
        """op half(input: Num) -> Float = input / 2 if input > 0 && input < 9 else 0
""",
        """op half(input: Num) -> Float = input / 2 if input > 0 and input < 9 else 0
""",
    ),
    "layout": Page(
        "a line starts in the wrong column",
        """\
A line in the first column starts a definition; exactly four spaces start a clause of it; more than
four continue the line above.  Tabs are not used.  Blank lines and comments may stand anywhere.""",
        """op twice(input: Num)
  out = 2 * input
""",
        """op twice(input: Num)
    out = 2 * input
""",
    ),
    "name": Page(
        "a name means nothing, or two things",
        """\
Every name is defined once: parameters and sizes in the signature, sizes also by `where`, parts of the
body by their assignment, which stands before their use.  What is defined must be used.  Functions are
those of the language, the `def`s and the other ops.  Names that end in `_` are kept for generated code.""",
        """op swish(input: Float, beta: real = 1) = input * sigmod(beta * input)
""",
        """op swish(input: Float, beta: real = 1) = input / (1 + exp(-beta * input))
""",
    ),
    "index": Page(
        "an index is not bound, or bound for nothing",
        """\
In index notation an index is bound on the left side or by a reduction: `out[m] = sum[k] x[m, k]`.
Sums are always written, and no element is assigned twice.  `*b` is a pack of indices, one for each
axis of a pack `*B`; it keeps its star in an index, and loses it in arithmetic: `x[*b, *(y*stride + k)]`.""",
        """op mv(input: Num[M, K], vec: Num[K]) -> Num[M]
    out[m] = input[m, k] * vec[k]
""",
        """op mv(input: Num[M, K], vec: Num[K]) -> Num[M]
    out[m] = sum[k] input[m, k] * vec[k]
""",
    ),
    "range": Page(
        "how far an index runs is not known",
        """\
An index runs over the axis in which it stands alone, as `k` in `x[m, k]`.  Where it only stands in a
formula, as in `x[2*i + k]`, its reduction says how far it runs: `sum[k < 2]`, or `sum[k in 1 .. n]`.""",
        """op halve(input: Num[N]) -> Num[M]
    where M = N // 2
    out[i] = sum[k] input[2*i + k]
""",
        """op halve(input: Num[N]) -> Num[M]
    where M = N // 2
    out[i] = sum[k < 2] input[2*i + k]
""",
    ),
    "rank": Page(
        "an access has too many or too few indices",
        """\
A tensor takes one index for each entry of its shape, and one for each factor of a split: `Num[*B, (G C)]`
takes three, `x[*b, g, c]`.  A tensor declared without a shape takes none.""",
        """op outer_sum(input: Num[M], other: Num[N]) -> Num[M, N]
    out[i, j] = input[i] + other[i, j]
""",
        """op outer_sum(input: Num[M], other: Num[N]) -> Num[M, N]
    out[i, j] = input[i] + other[j]
""",
    ),
    "size": Page(
        "two sizes disagree, or a size is not known",
        """\
One name is one size everywhere.  An index runs over one size: if it stands alone in two axes, both must
have the same one.  Sizes follow from the shapes and the whole-number options of the arguments.  The rows of a
table, `w = [[1, 2], [3, 4]]`, have one length.""",
        """op attend(query: Float[L, E], key: Float[S, E]) -> Float[L, S]
    out[i, j] = sum[e] query[i, e] * key[e, j]
""",
        """op attend(query: Float[L, E], key: Float[S, E]) -> Float[L, S]
    out[i, j] = sum[e] query[i, e] * key[j, e]
""",
    ),
    "outside": Page(
        "a read can leave its tensor",
        """\
The label shows a case: sizes and indices for which the index is negative or too large.  Say what the
value is there, `x[i - 1] ?? 0`, or rule the case out with `require` or a filter, `sum[k if k < n]`.
Indices that are read from a tensor are checked when the op runs.""",
        """op blur(input: Float[N]) -> Float[N]
    out[i] = (input[i - 1] + input[i]) / 2
""",
        """op blur(input: Float[N]) -> Float[N]
    out[i] = ((input[i - 1] ?? 0) + input[i]) / 2
""",
    ),
    "grad": Page(
        "a gradient is for nothing, or cannot be",
        """\
`grad x = ...` gives the gradient by the tensor parameter `x`, `g` being the gradient of the result and
`out` the result.  With several results there is one of each: `g.values`.  Without a `grad` clause the
gradient is derived; `nograd` says that there is none.""",
        """op cube(input: Num) = input ** 3
    grad x = 3 * g * input ** 2
""",
        """op cube(input: Num) = input ** 3
    grad input = 3 * g * input ** 2
""",
    ),
    "test": Page(
        "a test does not hold, or is none",
        """\
A test calls its op on numbers and compares: `test f([1, 2]) == [2, 4]`, with `~=` up to rounding.
`test f([1]) raises "text"` holds if the call is refused with a message that contains the text.""",
        """op twice(input: Num) = 2 * input
    test twice([1, 2])
""",
        """op twice(input: Num) = 2 * input
    test twice([1, 2]) == [2, 4]
""",
    ),
    "type": Page(
        "a value has the wrong type",
        """\
Tensor types have a capital: Num Float Int Bits Bool Any.  Option types have none: num real int bool dim
dims ints[...] reals[...] and texts, `"mean" | "sum"`.  `^ & | << >>` work on the bits of whole numbers.""",
        """op square(input: Float) = input ^ 2
""",
        """op square(input: Float) = input ** 2
""",
    ),
    "option": Page(
        "an option or argument does not fit",
        """\
A call gives an option that does not exist, misses an argument, or gives a text that is none of the
choices; or a default does not have the type of its option.""",
        """op loss(input: Float, reduction: "mean" | "sum" = "mean")
    out = mean(input) if reduction == "men" else sum(input)
""",
        """op loss(input: Float, reduction: "mean" | "sum" = "mean")
    out = mean(input) if reduction == "mean" else sum(input)
""",
    ),
}


def indented(text: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in text.rstrip("\n").split("\n"))


def page(code: str) -> str:
    """The page about one kind of error, as text for a terminal."""
    p = PAGES[code]
    return f"error[{code}]: {p.title}\n\n{p.text}\n\nWrong:\n\n{indented(p.wrong)}\n\nRight:\n\n{indented(p.right)}\n"
