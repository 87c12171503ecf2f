"""Chapter 12 by hand: right numbers pass however they are written, wrong ones get their names."""

import numpy as np
import pytest

from attnkit import checks

N, W, HEADS, D = 1200, 10, 8, 40
PAIRS, MEGABYTES, TIMES = 11955, 46.08, 30

RIGHT = [
    {"pairs": PAIRS, "megabytes": MEGABYTES, "times": TIMES},
    {"times": 30.0, "pairs": 11_955, "megabytes": 46.08},
    (PAIRS, MEGABYTES, TIMES),
    np.array([PAIRS, MEGABYTES, TIMES]),
    {"pairs": sum(min(i + 1, W) for i in range(N)), "megabytes": 4 * HEADS * N**2 / 10**6,
     "times": (2 * N**2 * D) / (2 * N * D**2)},
]  # fmt: skip
WRONG = [
    ("first-queries-taken-for-full", {"pairs": N * W}),
    ("corner-miscounted", {"pairs": N * W - W * W}),
    ("corner-miscounted", {"pairs": N * W - 55}),
    ("corner-miscounted", {"pairs": (N - W) * W + 45}),
    ("own-key-not-counted", {"pairs": sum(min(i, W) for i in range(N)) - (N - W)}),
    ("own-key-not-counted", {"pairs": sum(min(i + 1, W - 1) for i in range(N))}),
    ("own-key-not-counted", {"pairs": sum(min(i + 1, W + 1) for i in range(N))}),
    ("both-sides-counted", {"pairs": N * 19 - 90}),
    ("computed-taken-for-allowed", {"pairs": 2 * N * W}),
    ("window-not-used", {"pairs": N * (N + 1) / 2}),
    ("window-not-used", {"pairs": N * N}),
    ("tokens-times-size", {"pairs": N * W * D}),
    ("one-head-only", {"megabytes": 5.76}),
    ("numbers-taken-for-bytes", {"megabytes": 11.52}),
    ("blocked-cells-left-out", {"megabytes": 23.04}),
    ("blocked-cells-left-out", {"megabytes": 23.0592}),
    ("vectors-taken-for-maps", {"megabytes": 1.536}),
    ("size-in-the-map", {"megabytes": 46.08 * 40}),
    ("another-unit", {"megabytes": 46_080_000}),
    ("another-unit", {"megabytes": 43.945}),
    ("upside-down", {"times": 1 / 30}),
    ("one-product-forgotten", {"times": 15}),
    ("one-product-forgotten", {"times": 60}),
    ("size-forgotten", {"times": 1200}),
    ("heads-counted-once", {"times": 240}),
    ("window-for-linear", {"times": 120}),
    # Whatever the other numbers are, and failures that any exercise can have.
    ("first-queries-taken-for-full", {"pairs": N * W, "megabytes": 5.76, "times": 15}),
    ("one-head-only", {"megabytes": 5.76, "times": 7}),
    ("wrong", {"pairs": 7}),
    ("wrong-type", {"pairs": "about twelve thousand"}),
    ("wrong-count", {"pairs": None}),
]


@pytest.mark.parametrize("answer", RIGHT)
def test_right_numbers_pass_however_they_are_written(answer):
    verdict = checks.check("ch12-count", answer)
    assert verdict.passed, str(verdict)


@pytest.mark.parametrize(("name", "changed"), WRONG)
def test_a_wrong_number_is_called_by_its_name(name, changed):
    verdict = checks.check("ch12-count", RIGHT[0] | changed)
    assert (verdict.name, verdict.passed) == (name, False), str(verdict)


def test_every_name_is_reached():
    named = {row.name for row in checks.misconceptions() if row.id == "ch12-count"}
    assert len(named) >= 6
    assert named <= {name for name, _ in WRONG}


@pytest.mark.parametrize("code", ["a", "b", "c"])
def test_in_a_copy_too_every_mistake_has_its_own_name(code):
    copy = checks.exercise("ch12-count", variation=code)
    assert copy.given != checks.exercise("ch12-count").given
    assert copy.diagnose(copy.probe(copy.right(**copy.given))).passed
    for wrong in copy.misconceptions:
        answer = wrong.wrong[0](**copy.given)
        assert copy.diagnose(copy.probe(answer)).name == wrong.name, wrong.name
