"""Chapter 12's exercises: right answers pass in any style, each wrong one is called by its name."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from answers import (
    assert_called,
    assert_every_name_is_reached,
    assert_passes,
    numbered,
    written,
)

from attnkit import checks, functional
from attnkit.checks import _exercises
from attnkit.efficient import linear_attention, windowed_attention
from attnkit.masks import sliding_window_mask

# One right answer to each, cut into pieces so that each wrong one is a change of one piece.
WINDOW_TEMPLATE = """
def windowed(query, key, value, window):
    {first}
    n = query.shape[-2]
    i, j = torch.arange(n)[:, None], torch.arange(key.shape[-2])
    inside = {inside}
    scores = {scores}
    masked = {masked}
    weights = {weights}
    return {return}
"""
WINDOW_PIECES = {
    "first": "pass",
    "inside": "(j <= i) & (j > i - window)",
    "scores": "query @ key.mT / query.shape[-1] ** 0.5",
    "masked": "scores.masked_fill(~inside, -torch.inf)",
    "weights": "masked.softmax(-1)",
    "return": "weights @ value",
}
ZEROS = {"weights": "masked.softmax(-1).nan_to_num()"}
FILL = {"masked": "scores.masked_fill(~inside, -1e9)"}
PAD = (
    "key, value = (torch.cat([torch.zeros_like(x[..., :1, :]).expand(*x.shape[:-2], window - 1, -1)"
    ", x], -2) for x in (key, value))"
)
WINDOW = [
    ("one-key-too-many", {"inside": "(j <= i) & (j >= i - window)"}),
    ("one-key-too-few", {"inside": "(j <= i) & (j > i - window + 1)"}),
    ("own-key-left-out", {"inside": "(j < i) & (j >= i - window)"}),
    ("own-key-left-out", ZEROS | {"inside": "(j < i) & (j >= i - window)"}),
    ("own-key-left-out", FILL | {"inside": "(j < i) & (j >= i - window)"}),
    ("own-key-left-out", {"inside": "(j < i) & (j > i - window)"}),
    ("own-key-left-out", ZEROS | {"inside": "(j < i) & (j > i - window)"}),
    ("own-key-left-out", FILL | {"inside": "(j < i) & (j > i - window)"}),
    ("both-sides", {"inside": "(i - j).abs() < window"}),
    ("both-sides", {"inside": "(i - j).abs() <= window // 2"}),
    ("window-ahead", {"inside": "(j >= i) & (j < i + window)"}),
    ("causal-mask-forgotten", {"inside": "j > i - window"}),
    ("no-window", {"inside": "j <= i"}),
    ("last-keys-of-the-sentence", {"inside": "(j >= n - window) & (i >= 0)"}),
    ("last-keys-of-the-sentence", {
        "first": "key, value = key[..., -window:, :], value[..., -window:, :]",
        "inside": "torch.ones(n, key.shape[-2], dtype=torch.bool)"}),
    ("no-window", {"masked": "scores"}),
    ("blocks-apart", {"inside": "(j <= i) & (i // window == j // window)"}),
    ("blocks-apart", {"inside": "i // window == j // window"}),
    ("whole-blocks", {"inside": "(j <= i) & (i // window - j // window <= 1)"}),
    ("whole-blocks", {
        "inside": "(j // window <= i // window) & (i // window - j // window <= 1)"}),
    ("wraps-around", {"inside": "(i - j) % n < window"}),
    ("wraps-around", {
        "first": "key, value = (F.pad(x, (0, 0, 0, -x.shape[-2] % window)) for x in (key, value))",
        "inside": "(i - j) % key.shape[-2] < window"}),
    ("padding-weighed", {
        "first": PAD, "inside": "(j <= i + window - 1) & (j >= i)"}),
    ("first-key-again", {
        "inside": "(i - torch.arange(window)).clamp(min=0)",
        "masked": "scores.gather(-1, inside.expand(*scores.shape[:-1], window))",
        "return": "(weights[..., None] * value[..., inside, :]).sum(-2)"}),
    ("full-window-from-the-start", {
        "inside": "(j >= (i - window + 1).clamp(min=0)) & "
                  "(j < (i - window + 1).clamp(min=0) + window)"}),
    ("masked-after-the-softmax", {"masked": "scores", "weights": "scores.softmax(-1) * inside"}),
    ("masked-with-zero", {"masked": "scores * inside"}),
    ("scores-not-used", {"weights": "inside / inside.sum(-1, keepdim=True).to(query.dtype)"}),
    ("scores-not-used", {"weights": "inside.to(query.dtype) / window"}),
    ("another-scale", {"scores": "query @ key.mT"}),
    ("another-scale", {"scores": "query @ key.mT / query.shape[-1]"}),
    ("another-scale", {"scores": "query @ key.mT / window ** 0.5"}),
    ("every-so-many-th", {"inside": "(j <= i) & ((i - j) % window == 0)"}),
    ("first-keys-of-the-sentence", {"inside": "(j <= i) & (j < window)"}),
    # Failures that any exercise can have.
    ("wrong-shape", {"return": "weights @ value[..., :1] + torch.zeros(1, 2, 2, 1, 1)"}),
    ("wrong-type", {"return": "{'output': weights @ value}"}),
    ("changes-its-input", {"first": "query.mul_(1.5)"}),
    ("not-a-number", {"return": "weights @ value / 0 * 0"}),
    ("raised", {"return": "value @ weights[..., :0]"}),
    ("raised", {"inside": "(j <= i) & (j > i - window) & (1 // (n >= window) > 0)"}),
    ("wrong", {"return": "-weights @ value"}),
    ("wrong", {"inside": "(j <= i) & (j > i - max(window, 2))"}),  # a window of 1
]  # fmt: skip

LINEAR_TEMPLATE = """
def linear(query, key, value):
    phi = lambda x: {phi}
    q, k = {features}
    products = q @ k.mT
    total = {total}
    output = {output}
    return {return}
"""
LINEAR_PIECES = {
    "phi": "F.elu(x) + 1",
    "features": "phi(query), phi(key)",
    "total": "products.sum(-1, keepdim=True)",
    "output": "q @ (k.mT @ value) / total",
    "return": "output",
}
ONES = {"total": "1"}
TRIL = "torch.ones(products.shape[-2:]).tril()"
LINEAR = [
    ("not-divided", ONES),
    ("divided-by-the-number-of-keys", {"total": "key.shape[-2]"}),
    ("softmax-kept", {"return": "(query @ key.mT).softmax(-1) @ value"}),
    ("softmax-kept", {"return": "F.scaled_dot_product_attention(query, key, value)"}),
    ("softmax-of-the-products", {"return": "products.softmax(-1) @ value"}),
    ("phi-of-the-scores", {
        "return": "phi(query @ key.mT) / phi(query @ key.mT).sum(-1, keepdim=True) @ value"}),
    ("phi-of-the-scores", {"return": "phi(query @ key.mT) @ value"}),
    ("phi-on-one-side", {"features": "phi(query), key"}),
    ("phi-on-one-side", {"features": "query, phi(key)"}),
    ("no-phi", {"phi": "x"}),
    ("no-phi", ONES | {"phi": "x"}),
    ("one-not-added", {"phi": "F.elu(x)"}),
    ("another-phi", {"phi": "x.relu()"}),
    ("another-phi", {"phi": "x.exp()"}),
    ("another-phi", {"phi": "F.softplus(x)"}),
    ("another-phi", {"phi": "x.sigmoid()"}),
    ("another-phi", {"phi": "x.relu() + 1"}),
    ("softmax-of-each", {"features": "query.softmax(-1), key.softmax(-2)", "total": "1"}),
    ("softmax-of-each", {"features": "query.softmax(-1), key.softmax(-1)", "total": "1"}),
    ("causal-too", {
        "output": f"products * {TRIL} @ value / (products * {TRIL}).sum(-1)[..., None]"}),
    ("causal-too", {
        "total": "(q * k.cumsum(-2)).sum(-1)[..., None]",
        "output": "(q[..., None] * (k[..., None] * value[..., None, :]).cumsum(-3)).sum(-2) / total"
    }),
    ("divided-without-the-query", {"total": "k.sum()"}),
    ("divided-without-the-query", {"total": "q.sum(-1)[..., None]"}),
    ("divided-without-the-query", {"total": "products.sum()"}),
    ("divided-without-the-query", {
        "output": "q @ (k.mT @ value / k.sum(-2)[..., None])"}),
    ("another-phi-below-the-bar", {"total": "(q @ key.mT).sum(-1)[..., None]"}),
    ("another-phi-below-the-bar", {"total": "(query @ k.mT).sum(-1)[..., None]"}),
    ("another-phi-below-the-bar", {"total": "(query @ key.mT).sum(-1)[..., None]"}),
    ("scaled-before-phi", {"features": "phi(query / query.shape[-1] ** 0.5), phi(key)"}),
    ("scaled-before-phi", {"features": "phi(query), phi(key / key.shape[-1] ** 0.5)"}),
    ("scaled-before-phi", {"phi": "F.elu(x / x.shape[-1] ** 0.5) + 1"}),
    ("scaled-before-phi", {"phi": "F.elu(x / x.shape[-1] ** 0.25) + 1"}),
    ("shared-over-the-queries", {"return": "products / products.sum(-2, keepdim=True) @ value"}),
    ("weights-returned", {"return": "products / total"}),
    ("state-returned", {"return": "k.mT @ value"}),
    # Failures that any exercise can have.
    ("wrong-shape", {"return": "output[..., None]"}),
    ("wrong-type", {"return": "str(output)"}),
    ("changes-its-input", {"features": "phi(query.mul_(1)), phi(key.mul_(2))"}),
    ("not-a-number", {"return": "output / 0 * 0"}),
    ("raised", {"return": "output @ key[..., :0, :0]"}),
    ("wrong", {"return": "-output"}),
]  # fmt: skip

DISTIL_TEMPLATE = """
def distillation_loss(student, teacher, mask):
    {first}
    mask = {mask}
    counted = {counted}
    one = torch.ones_like(teacher)
    s = torch.where(counted, {student}, one)
    t = torch.where(counted, {teacher}, one)
    cells = {cells}
    queries = {queries}
    real = {real}
    return {return}
"""
DISTIL_PIECES = {
    "first": "pass",
    "mask": "mask.expand_as(teacher)",
    "counted": "mask & (teacher > 0)",
    "student": "student",
    "teacher": "teacher",
    "cells": "t * (t / s).log()",
    "queries": "cells.sum(-1)",
    "real": "mask.any(-1)",
    "return": "queries[real].mean()",
}
MIDDLE = "((s + t) / 2)"
SOFT = "{0}.masked_fill(~mask, -1e9).softmax(-1)"
OWN = "(queries * real).sum(-1) / real.sum(-1)"
DISTIL = [
    ("zero-times-log-of-zero", {"cells": "teacher * (teacher / student).log() * mask"}),
    ("zero-times-log-of-zero", {"cells": "(teacher * (teacher.log() - student.log())) * mask"}),
    ("direction-reversed", {"counted": "mask & (student > 0)",
                            "cells": "torch.where(t > 0, s * (s / t).log(), torch.inf)"}),
    ("direction-reversed", {"counted": "mask & (student > 0)",
                            "cells": "torch.where(t > 0, s * (t / s).log(), -torch.inf)"}),
    ("entropy-left-in", {"cells": "-t * s.log()"}),
    ("both-directions", {
        "counted": "mask", "cells": "torch.where(t > 0, (t - s) * (t / s).log(), torch.inf)"}),
    ("both-directions", {
        "counted": "mask", "cells": "torch.where(t > 0, (t - s) * (t / s).log() / 2, torch.inf)"}),
    ("both-directions", {
        "counted": "mask",
        "cells": f"(torch.xlogy(t, t / {MIDDLE}) + torch.xlogy(s, s / {MIDDLE})) / 2"}),
    ("queries-without-a-key-counted", {"return": "queries.mean()"}),
    ("mask-not-used", {"counted": "teacher > 0"}),
    ("mask-not-used", {"counted": "teacher > 0", "return": "queries.mean()"}),
    ("mask-not-used", {
        "return": "F.kl_div(student.clamp(min=1e-9).log(), teacher, reduction='batchmean')"}),
    ("mask-not-used", {
        "return": "F.kl_div(student.clamp(min=1e-9).log(), teacher, reduction='none').mean()"}),
    ("polarity-flipped", {"counted": "~mask & (teacher > 0)"}),
    ("polarity-flipped", {"mask": "~mask.expand_as(teacher)"}),
    ("averaged-over-the-keys", {"return": "cells.mean()"}),
    ("averaged-over-the-keys", {"return": "cells.sum() / mask.sum()"}),
    ("averaged-over-the-keys", {"queries": "cells.mean(-1)"}),
    ("not-averaged-over-all-queries", {"return": "queries.sum()"}),
    ("not-averaged-over-all-queries", {"return": "queries.sum() / len(queries)"}),
    ("mean-of-means", {"return": f"({OWN}).mean()"}),
    ("one-number-for-each-query", {"return": "queries"}),
    ("one-number-for-each-query", {"return": "queries[real]"}),
    ("sign-reversed", {"cells": "t * (s / t).log()"}),
    ("bits-not-nats", {"cells": "t * (t / s).log2()"}),
    ("logarithm-forgotten", {"cells": "torch.where(counted, F.kl_div(s, t, reduction='none'), 0)"}),
    ("weights-taken-for-scores", {
        "counted": "mask", "student": SOFT.format("student"), "teacher": SOFT.format("teacher")}),
    ("weights-taken-for-scores", {"student": SOFT.format("student")}),
    ("weights-taken-for-scores", {"counted": "mask", "student": "student.softmax(-1)",
                                  "teacher": "teacher.softmax(-1)"}),
    ("weights-taken-for-scores", {"student": "student.softmax(-1)"}),
    ("ratios-not-weighted", {"cells": "(t / s).log()"}),
    ("another-distance", {"cells": "(t - s) ** 2", "counted": "mask"}),
    ("another-distance", {"cells": "(t - s).abs()", "counted": "mask"}),
    ("another-distance", {"cells": "(t - s).abs() / 2", "counted": "mask"}),
    ("another-distance", {"return": "F.mse_loss(student, teacher)"}),
    # Failures that any exercise can have.
    ("wrong-shape", {"return": "queries[real].mean() * torch.ones(2)"}),
    ("wrong-type", {"return": "{'loss': queries[real].mean()}"}),
    ("changes-its-input", {"first": "student.mul_(1.5)"}),
    ("not-a-number", {"return": "queries[real].mean() / (teacher.ndim - 2)"}),
    ("raised", {"return": "queries[real].sum(-2)"}),
    ("wrong", {"return": "queries[real].mean() + 1"}),
    ("wrong", {"return": "queries[real].max()"}),
]  # fmt: skip

EXERCISES = {
    "ch12-window": (WINDOW_TEMPLATE, WINDOW_PIECES, WINDOW),
    "ch12-linear": (LINEAR_TEMPLATE, LINEAR_PIECES, LINEAR),
    "ch12-distil": (DISTIL_TEMPLATE, DISTIL_PIECES, DISTIL),
}
NAMED = [(id, *row) for id, (_, _, table) in EXERCISES.items() for row in table]


def built(id, changes):
    template, pieces, _ = EXERCISES[id]
    return written(template, pieces, changes)


@pytest.mark.parametrize(("id", "name", "changes"), NAMED)
def test_a_changed_line_is_called_by_its_name(id, name, changes):
    assert_called(id, name, built(id, changes))


@pytest.mark.parametrize("id", EXERCISES)
def test_every_name_and_form_is_reached_by_an_answer_that_a_learner_could_write(id):
    answers = [(name, built(id, changes)) for name, changes in EXERCISES[id][2]]
    assert_every_name_is_reached(id, answers, at_least=13)


def windowed_by_gathering(query, key, value, window):
    """Without the table: n × window places."""
    places = torch.arange(query.shape[-2])[:, None] - torch.arange(window)
    inside, places = places >= 0, places.clamp(min=0)
    scores = (query[..., None, :] * key[..., places, :]).sum(-1) / query.shape[-1] ** 0.5
    weights = scores.masked_fill(~inside, -torch.inf).softmax(-1)
    return (weights[..., None] * value[..., places, :]).sum(-2)


def windowed_by_loops(query, key, value, window):
    query, key, value = (np.asarray(x) for x in (query, key, value))
    outputs = np.empty((*query.shape[:-1], value.shape[-1]), np.float32)
    for i in range(query.shape[-2]):
        start = max(0, i - window + 1)
        scores = np.einsum("...d,...jd->...j", query[..., i, :], key[..., start : i + 1, :])
        powers = np.exp(scores / np.sqrt(query.shape[-1]))
        weights = powers / powers.sum(-1, keepdims=True)
        outputs[..., i, :] = np.einsum("...j,...jv->...v", weights, value[..., start : i + 1, :])
    return outputs


def windowed_by_the_fused_kernel(query, key, value, window):
    mask = sliding_window_mask(query.shape[-2], window)
    return F.scaled_dot_product_attention(query, key, value, attn_mask=mask)


def linear_by_loops(query, key, value):
    query, key, value = (np.asarray(x) for x in (query, key, value))
    q, k = (np.where(x > 0, x + 1, np.exp(x)) for x in (query, key))
    above, below = 0, 0
    for j in range(k.shape[-2]):
        above = above + k[..., j, :, None] * value[..., j, None, :]
        below = below + k[..., j, :]
    return np.float32(q @ above / (q @ below[..., None]))


def linear_by_einsum(query, key, value):
    q, k = F.elu(query) + 1, F.elu(key) + 1
    state = torch.einsum("...jd,...jv->...dv", k, value)
    total = torch.einsum("...id,...d->...i", q, k.sum(-2))
    return torch.einsum("...id,...dv->...iv", q, state) / total.unsqueeze(-1)


def linear_with_a_column_of_ones(query, key, value):
    """The sum below the bar is that of one more value, always 1."""
    q, k = F.elu(query) + 1, F.elu(key) + 1
    result = q @ (k.mT @ torch.cat([value, torch.ones_like(value[..., :1])], -1))
    return result[..., :-1] / result[..., -1:]


def distil_by_loops(student, teacher, mask):
    mask = np.broadcast_to(np.asarray(mask), teacher.shape)
    divergences = []
    for query in np.ndindex(*teacher.shape[:-1]):
        cells = [
            float(t) * np.log(float(t) / float(s))
            for s, t, allowed in zip(student[query], teacher[query], mask[query], strict=True)
            if allowed and t > 0
        ]
        if mask[query].any():
            divergences.append(sum(cells))
    return np.mean(divergences)


def distil_by_kl_div(student, teacher, mask):
    mask = mask.expand_as(teacher)
    logarithms = student.masked_fill(~mask, 1).log()
    cells = F.kl_div(logarithms, teacher.masked_fill(~mask, 0), reduction="none")
    return cells.sum() / mask.any(-1).sum()


def distil_by_xlogy(student, teacher, mask):
    student, teacher = (torch.where(mask, x, 0).float() for x in (student, teacher))
    cells = torch.xlogy(teacher, teacher) - torch.xlogy(teacher, student)
    real = mask.any(-1).expand(teacher.shape[:-1])
    return (cells.sum(-1) * real).sum() / real.sum()


RIGHT = {
    "ch12-window": [
        built("ch12-window", {}), windowed_by_gathering, windowed_by_loops,
        windowed_by_the_fused_kernel, windowed_attention,
        # After the softmax too, as long as the rows are divided by their sums.
        built("ch12-window", {
            "masked": "scores.softmax(-1) * inside",
            "weights": "masked / masked.sum(-1, keepdim=True)"}),
    ],
    "ch12-linear": [
        built("ch12-linear", {}), linear_by_loops, linear_by_einsum,
        linear_with_a_column_of_ones,
        # The other order of the products: slower, and the same numbers.
        built("ch12-linear", {"output": "products / total @ value"}),
        # A factor behind φ cancels.
        built("ch12-linear", {"features": "phi(query) / query.shape[-1] ** 0.5, phi(key)"}),
    ],
    "ch12-distil": [
        built("ch12-distil", {}), distil_by_loops, distil_by_kl_div, distil_by_xlogy,
        # A number that is too small to matter keeps the logarithm finite.
        built("ch12-distil", {
            "cells": "teacher * ((teacher + 1e-9).log() - (student + 1e-9).log()) * mask"}),
    ],
    "ch12-claims": [{"C", "E", "G"}, "CEG", "c, e and g", ["G", "E", "C"], ("c)", "e)", "g)")],
}  # fmt: skip


@pytest.mark.parametrize(("id", "number"), numbered(RIGHT))
def test_a_right_answer_passes_however_it_is_written(id, number):
    assert_passes(id, RIGHT[id][number])


@pytest.mark.parametrize("window", [1, 2, 7, 11, 40])
def test_the_reference_of_the_window_is_attention_under_its_mask(window):
    generator = torch.Generator().manual_seed(12)
    sizes = ((11, 3), (11, 3), (11, 5))
    q, k, v = (torch.randn(size, generator=generator, dtype=torch.float64) for size in sizes)
    expected = functional.scaled_dot_product_attention(q, k, v, sliding_window_mask(11, window))
    right = _exercises()["ch12-window"].right(q.numpy(), k.numpy(), v.numpy(), window)
    np.testing.assert_allclose(right, expected.output.numpy())


def test_the_reference_of_linear_attention_is_that_of_the_package():
    generator = torch.Generator().manual_seed(12)
    q, k, v = (torch.randn(7, d, generator=generator, dtype=torch.float64) for d in (3, 3, 5))
    expected = linear_attention(q, k, v, causal=False).numpy()
    np.testing.assert_allclose(
        _exercises()["ch12-linear"].right(*map(np.asarray, (q, k, v))), expected
    )


def test_every_map_sums_to_one_over_its_keys_and_a_student_sees_what_its_teacher_sees():
    exercise = _exercises()["ch12-distil"]
    for trial in exercise.trials:
        student, teacher, mask = trial.inputs.values()
        mask = np.broadcast_to(mask, teacher.shape)
        assert (student[mask] > 0).all()
        assert np.isfinite(exercise.right(student, teacher, mask))
        for weights in (student, teacher):
            sums = np.where(mask, weights, 0).sum(axis=-1)[mask.any(axis=-1)]
            np.testing.assert_allclose(sums, 1, atol=0.011)
        assert exercise.right(teacher, teacher, mask) == 0


def test_the_loss_of_the_solution_can_be_trained_with():
    """No nan in a gradient, although the blocked cells hold zeros and a query has no key."""
    loss = built("ch12-distil", {})
    scores = torch.randn(2, 3, 5, requires_grad=True, generator=torch.Generator().manual_seed(12))
    mask = torch.ones(3, 5, dtype=torch.bool).tril()
    mask[1] = False
    student = functional.masked_softmax(scores, mask)
    loss(student, functional.masked_softmax(torch.ones(2, 3, 5), mask), mask).backward()
    assert scores.grad is not None and scores.grad.isfinite().all()
    assert scores.grad[:, 2].abs().max() > 0


@pytest.mark.parametrize(
    ("chosen", "name"),
    [
        ("ACEG", "mask-taken-for-saving"),
        ("BCEG", "fused-taken-for-approximate"),
        ("EG", "window-taken-for-reach"),
        ("CDEG", "linear-taken-for-exact"),
        ("CG", "state-taken-for-a-cache"),
        ("CEFG", "count-taken-for-time"),
        ("CE", "stride-taken-for-gaps"),
        ("ABDF", "chose-the-wrong-ones"),
        ("ABCDEFG", "chose-everything"),
    ],
)
def test_statements_that_are_wrongly_taken_or_left_have_a_name(chosen, name):
    assert checks.check("ch12-claims", chosen).name == name


def test_the_figures_behind_the_statements():
    assert list(checks.check("ch12-claims", "EG").expected.values()) == [9]
    assert list(checks.check("ch12-claims", "CE").expected.values()) == [9]
    kept, fused = checks.check("ch12-claims", "BCEG").expected.values()
    np.testing.assert_allclose(kept, fused)
    few, many = checks.check("ch12-claims", "CG").expected.values()
    assert few == many == 4 * 3 + 4
    softmax, linear = checks.check("ch12-claims", "CDEG").expected.values()
    assert np.abs(softmax - linear).max() > 0.1
