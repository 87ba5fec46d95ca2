"""Sums that gradients do without: of deviations from a mean, and those that differ by constant factors.  Each
definition's gradient is compared with differences, whether a sum goes or must stay."""

import pytest

import workbench

HEAD = "op f(x: Float[N, C], w: Float[N], u: Float[C], y: Float[N, C])"
MEAN = "    m[c] = mean[n] x[n, c]\n"
NORM = MEAN + "    v[c] = mean[n] (x[n, c] - m[c]) ** 2\n    out[n, c] = (x[n, c] - m[c]) / sqrt(v[c] + 1) * u[c]"


def sums(text: str) -> list[str]:
    """The sums of a definition's gradient program, which agrees with differences, as its own gradient does."""
    f = workbench.op(text)
    report = f.check()
    assert report and {"gradient", "gradient of it"} <= {made.title for made in report.findings}, str(report)
    return [str(s) for s in f.op.gradient.stmts if s.red == "sum"]


@pytest.mark.parametrize(
    "body",
    [
        "out[c] = sum[n] (x[n, c] - m[c]) ** 2",
        "out[c] = sum[n] u[c] * (x[n, c] - m[c]) ** 2 / (1 + u[c] * u[c])",
        "out[c] = sum[n] (m[c] - x[n, c]) ** 2",
        "out[c] = (sum[n] (x[n, c] - m[c]) ** 2) if N > 2 else 0",
    ],
)
def test_a_mean_gets_nothing_through_deviations_from_it(body):
    made = sums(f"{HEAD} -> Float[C]\n{MEAN}    {body}")
    assert not any(s.startswith(("d_m[", "part")) for s in made), made


@pytest.mark.parametrize(
    "mean, body",
    [
        ("m[c] = mean[n] x[n, c]", "out[c] = sum[n] (x[n, c] - m[c]) ** 3"),  # weighed by the deviation itself
        ("m[c] = mean[n] x[n, c]", "out[c] = sum[n] w[n] * (x[n, c] - m[c]) ** 2"),  # weighed
        ("m[c] = mean[n] x[n, c]", "out[c] = sum[n] (y[n, c] - m[c]) ** 2"),  # from another's mean
        ("m[c] = mean[n] x[n, c]", "out[c] = sum[n] (x[n, c] - 2 * m[c]) ** 2"),
        ("m[c] = mean[n] x[n, c]", "out[c] = sum[n if n > 0] (x[n, c] - m[c]) ** 2"),  # of some
        ("m[c] = (sum[n] x[n, c]) / (N + 1)", "out[c] = sum[n] (x[n, c] - m[c]) ** 2"),  # no mean
        ("m[c] = mean[n] w[n] * x[n, c]", "out[c] = sum[n] (x[n, c] - m[c]) ** 2"),
        ("m[c] = mean[n] x[n, c]", "out[c] = sum[n] (x[n, C - 1 - c] - m[c]) ** 2"),  # from a neighbour's mean
    ],
)
def test_other_sums_of_differences_stay(mean, body):
    made = sums(f"{HEAD} -> Float[C]\n    {mean}\n    {body}")
    assert made, "the mean gets a sum"


def test_a_mean_of_all_axes():
    text = "op f(x: Float[*S]) -> Float[]\n    m[] = mean[*s] x[*s]\n    out[] = mean[*s] (x[*s] - m[]) ** 2"
    assert sums(text) == ["t0_[] = sum[*s < S] x[*s]"]


def test_two_sums_are_enough_for_the_gradients_of_a_normalisation():
    text = HEAD.replace("y: Float[N, C]", "b: Float[C]") + f" -> Float[N, C]\n{NORM} + b[c]"
    arriving = [made for made in sums(text) if "g_out" in made]
    assert len(arriving) == 2 and all(made.startswith("sum") for made in arriving), arriving


def test_sums_that_differ_by_factors_are_added_up_once():
    text = f"{HEAD} -> Float[N, C]\n    a[c] = u[c] ** 2\n    b[c] = 3 * u[c]\n    out[n, c] = x[n, c] * a[c] - x[n, c] * b[c]"
    made = sums(text)
    assert len(made) == 1 and made[0].startswith("sum"), made


def test_what_is_weighed_within_a_sum_is_another():
    text = f"{HEAD} -> Float[N, C]\n    a[c] = u[c] ** 2\n    b[c] = 3 * u[c]\n    out[n, c] = x[n, c] * a[c] - w[n] * x[n, c] * b[c]"
    assert len([s for s in sums(text) if "g_out" in s and "[c]" in s.partition("=")[0]]) == 2
