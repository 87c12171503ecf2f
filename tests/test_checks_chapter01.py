"""Chapter 1's exercises: right answers pass in any style, each wrong one is called by its name."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from answers import assert_passes, numbered

from attnkit import checks
from attnkit.checks import _exercises

# Answers as learners write them; the table of wrong ones is in plain code, not ours.
DECODER_INPUT = [
    ("sees-the-answer", "return target"),
    ("sees-the-answer", "return target.copy() if hasattr(target, 'copy') else target.clone()"),
    ("shifted-left", "return np.pad(target[:, 1:], ((0, 0), (0, 1)))"),
    ("shifted-left", "return target[..., 1:]"),
    ("shifted-left", "return np.roll(target, -1, 1)"),
    ("bos-at-the-end", "return np.pad(target[:, 1:], ((0, 0), (0, 1)), constant_values=bos)"),
    ("bos-at-the-end", "out = target.copy(); out[:, -1] = bos; return out"),
    ("bos-at-the-end", "return torch.cat([target, torch.full((len(target), 1), bos)], 1)"),
    ("last-column-kept", "return F.pad(target, (1, 0), value=bos)"),
    ("last-column-kept", "return np.insert(target, 0, bos, axis=1)"),
    ("bos-missing", "return target[:, :-1]"),
    ("last-token-wraps", "return target.roll(1, 1)"),
    ("bos-overwrites-the-first-word", "out = target.copy(); out[:, 0] = bos; return out"),
    ("bos-overwrites-the-first-word", "target[:, 0] = bos; return target"),
    ("shifted-along-the-batch", "out = np.roll(target, 1, 0); out[0] = bos; return out"),
    ("shifted-along-the-batch", "return np.roll(target, 1, axis=0)"),
    (
        "bos-fills-the-first-sentence",
        "out = np.zeros_like(target); out[:, 1:] = target[:, :-1]; out[0] = bos; return out",
    ),
    (
        "bos-fills-the-first-sentence",
        "out = np.roll(target, 1, axis=-1); out[0] = bos; return out",
    ),
    ("shifted-through-the-rows", "out = np.roll(target, 1); out[0, 0] = bos; return out"),
    ("shifted-through-the-rows", "return np.roll(target, 1)"),
    ("pad-in-front", "return F.pad(target, (1, -1))"),
    ("eos-in-front", "return F.pad(target, (1, -1), value=2)"),
    ("bos-hard-coded", "return F.pad(target, (1, -1), value=1)"),
    ("bos-everywhere", "return torch.full_like(target, bos)"),
    ("reversed", "return np.flip(target, 1)"),
    (
        "first-word-smeared",
        "out = target.copy()\n"
        "    for t in range(1, out.shape[1]): out[:, t] = out[:, t - 1]\n"
        "    out[:, 0] = bos; return out",
    ),
    ("end-token-removed", "return F.pad(target * (target != 2), (1, -1), value=bos)"),
    (
        "pads-overwritten",
        "out = np.full_like(target, bos); keep = target[:, :-1] > 0\n"
        "    out[:, 1:][keep] = target[:, :-1][keep]; return out",
    ),
    # Failures that any exercise can have.
    ("changes-its-input", "target[:, 1:] = target[:, :-1]; target[:, 0] = bos; return target"),
    (
        "changes-its-input",
        "target[:] = F.pad(torch.tensor(target), (1, -1), value=bos); return 0 + target",
    ),
    ("wrong-shape", "return np.roll(target, 1, 1)[..., None]"),
    ("hard-coded", "return [[1, 5]]"),
    ("returned-nothing", "np.roll(target, 1, 1)"),
    ("raised", "return np.concatenate([bos, target[:, :-1]], axis=1)"),
    ("wrong", "out = np.roll(target, 2, 1); out[:, 0] = bos; return out"),
    ("not-written-yet", "raise NotImplementedError"),
]
EXACT_MATCH = [
    ("token-accuracy", "return (predicted == target).mean()"),
    ("token-accuracy", "keep = target > 0; return (predicted[keep] == target[keep]).mean()"),
    (
        "mean-of-token-shares",
        "return np.mean([(p == t)[: list(t).index(2) + 1].mean() for p, t in rows])",
    ),
    ("after-the-end-counted", "return (predicted == target).all(1).mean()"),
    ("after-the-end-counted", "return np.mean([np.array_equal(p, t) for p, t in rows])"),
    (
        "until-the-last-end",
        "end = lambda r: len(r) - r[::-1].index(2)\n"
        "    rows = [(p.tolist(), t.tolist()) for p, t in rows]\n"
        "    return np.mean([p[:end(p)] == t[:end(t)] for p, t in rows])",
    ),
    ("longer-taken-for-right", "return ((predicted == target) | (target < 3)).all(1).mean()"),
    (
        "longer-taken-for-right",
        "return np.mean([all(a == b for a, b in zip(p, t) if b > 2) for p, t in rows])",
    ),
    (
        "shorter-taken-for-right",
        "cut = lambda r: r.tolist()[: r.tolist().index(2)]\n"
        "    return np.mean([cut(t)[: len(cut(p))] == cut(p) for p, t in rows])",
    ),
    (
        "common-part-only",
        "cut = lambda r: r.tolist()[: r.tolist().index(2)]\n"
        "    return np.mean([all(a == b for a, b in zip(cut(p), cut(t))) for p, t in rows])",
    ),
    (
        "specials-dropped",
        "return np.mean([np.array_equal(p[p > 2], t[t > 2]) for p, t in rows])",
    ),
    ("first-word-only", "return np.mean([p[0] == t[0] for p, t in rows])"),
    ("last-column-only", "return np.mean(predicted[:, -1] == target[:, -1])"),
    (
        "length-only",
        "return ((predicted == 2).argmax(1) == (target == 2).argmax(1)).mean()",
    ),
    ("any-for-all", "return (predicted == target).any(1).mean()"),
    (
        "order-ignored",
        "cut = lambda r: r.tolist()[: r.tolist().index(2)]\n"
        "    return np.mean([set(cut(p)) == set(cut(t)) for p, t in rows])",
    ),
    (
        "order-ignored",
        "from collections import Counter\n"
        "    cut = lambda r: Counter(r.tolist()[: r.tolist().index(2)])\n"
        "    return np.mean([cut(p) == cut(t) for p, t in rows])",
    ),
    ("all-over-the-batch", "return (predicted == target).all(0).mean()"),
    ("all-or-nothing", "return float(np.array_equal(predicted, target))"),
    ("all-or-nothing", "return bool(((predicted == target) | (target == 0)).all())"),
    ("count-for-share", "return ((predicted == target) | (target == 0)).all(1).sum()"),
    ("percent-for-share", "return 100 * ((predicted == target) | (target == 0)).all(1).mean()"),
    ("one-per-sentence", "return ((predicted == target) | (target == 0)).all(1)"),
    ("errors-counted", "return ((predicted != target) & (target > 0)).any(1).mean()"),
    # Failures that any exercise can have.
    ("changes-its-input", "predicted[target == 0] = 0; return (predicted == target).all(1).mean()"),
    ("hard-coded", "return 1.0"),
    ("wrong-type", "return '50 %'"),
    ("printed-only", "print((predicted == target).all(1).mean())"),
    ("wrong-shape", "return ((predicted == target) | (target == 0)).all(1).mean() * np.ones(3)"),
    ("raised", "return (predicted == target).all(2).mean()"),
    ("wrong", "return ((predicted == target) | (target == 0)).all(1).mean() / 2"),
]


def answer(head, body):
    """The function that a learner would have written."""
    space = {"np": np, "torch": torch, "F": F}
    exec(f"def {head}:\n    {body}", space)
    return space[head.split("(")[0]]


def decoder_input(body):
    return answer("decoder_input(target, bos)", body)


def exact_match(body):
    rows = "rows = list(zip(predicted, target)); "
    inner = body if body.startswith("from") else rows + body
    return answer(
        "exact_match(predicted, target)",
        inner.replace("import Counter\n", f"import Counter\n    {rows}\n"),
    )


@pytest.mark.parametrize(("name", "body"), DECODER_INPUT)
def test_a_wrong_decoder_input_is_called_by_its_name(name, body):
    verdict = checks.check("ch1-decoder-input", decoder_input(body))
    assert (verdict.name, verdict.passed) == (name, False), str(verdict)


@pytest.mark.parametrize(("name", "body"), EXACT_MATCH)
def test_a_wrong_exact_match_is_called_by_its_name(name, body):
    verdict = checks.check("ch1-exact-match", exact_match(body))
    assert (verdict.name, verdict.passed) == (name, False), str(verdict)


@pytest.mark.parametrize(
    ("id", "table"), [("ch1-decoder-input", DECODER_INPUT), ("ch1-exact-match", EXACT_MATCH)]
)
def test_every_name_is_reached_by_an_answer_that_a_learner_could_write(id, table):
    names = {wrong.name for wrong in _exercises()[id].misconceptions}
    assert len(names) >= 6
    assert names <= {name for name, _ in table}
    assert {name for name, _ in table} <= names | set(checks.common_failures())


def by_hand(target, bos):
    return [[bos, *row[:-1]] for row in target.tolist()]


def rolled(target, bos):
    previous = np.roll(target, 1, axis=-1)
    previous[..., 0] = bos
    return previous


def in_a_buffer(target, bos):
    previous = torch.empty_like(target)
    previous[..., 0], previous[..., 1:] = bos, target[..., :-1]
    return previous


def into_zeros(target, bos):
    previous = np.zeros(target.shape)
    previous[:, 1:] = target[:, :-1]
    previous[:, 0] += bos
    return previous


def until_the_end(row):
    return row[: row.index(2)]


def compared_as_lists(predicted, target):
    pairs = list(zip(predicted.tolist(), target.tolist(), strict=True))
    return sum(until_the_end(p) == until_the_end(t) for p, t in pairs) / len(pairs)


def wiped(predicted, target):
    """What stands behind the end becomes padding in a copy."""
    ended = (predicted == 2).cumsum(1) - (predicted == 2).long() > 0
    return (predicted.masked_fill(ended, 0) == target).all(1).double().mean()


def word_by_word(predicted, target):
    right = 0
    for said, wanted in zip(predicted, target, strict=True):
        for a, b in zip(said, wanted, strict=True):
            if a != b:
                break
            if b == 2:
                right += 1
                break
    return right / len(target)


RIGHT = {
    "ch1-decoder-input": [
        by_hand, rolled, in_a_buffer, into_zeros,
        lambda target, bos: F.pad(target, (1, -1), value=bos),
        lambda target, bos: F.pad(target, (1, 0), value=bos)[:, :-1].numpy().astype(np.int32),
        lambda target, bos: torch.cat([target.new_full((len(target), 1), bos), target[:, :-1]], 1),
        lambda target, bos: np.insert(target[:, :-1], 0, bos, axis=1),
        lambda target, bos: np.hstack([[[bos]] * len(target), target[:, :-1]]).astype(np.uint8),
    ],
    "ch1-exact-match": [
        compared_as_lists, wiped, word_by_word,
        lambda p, t: ((p == t) | (t == 0)).all(-1).mean(),
        lambda p, t: torch.all((p == t) | (t == 0), dim=1).float().mean(),
        lambda p, t: 1 - np.mean(((p != t) & (t != 0)).any(1), dtype=np.float32),
        lambda p, t: np.mean([(a == b)[: list(b).index(2) + 1].all() for a, b in zip(p, t)]),  # noqa: B905
        lambda p, t: np.prod(np.where(t, p == t, 1), axis=1).mean(),
        lambda p, t: np.mean((p * (t > 0) == t).min(axis=1)),
    ],
    "ch1-claims": [{"A", "C", "E"}, "ACE", "a, c and e", ["E", "A", "C"], frozenset("ace")],
}  # fmt: skip


@pytest.mark.parametrize(("id", "number"), numbered(RIGHT))
def test_a_right_answer_passes_however_it_is_written(id, number):
    assert_passes(id, RIGHT[id][number])


def test_extra_axes_of_the_decoder_input_are_mentioned_and_never_held_against():
    assert "extra axes" in checks.check("ch1-decoder-input", rolled).message
    only_flat = checks.check("ch1-decoder-input", by_hand)
    assert only_flat.passed and "extra axes" not in only_flat.message


@pytest.mark.parametrize(
    ("chosen", "name"),
    [
        ("CE", "budget-gap-overlooked"),
        ("ABCE", "capacity-for-budget"),
        ("AE", "training-cannot-help"),
        ("ACDE", "vanishing-taken-for-the-bottleneck"),
        ("AC", "longer-taken-for-granted"),
        ("ACEF", "attention-is-parallel"),
        ("ACEG", "attention-has-no-limit"),
        ("BDFG", "chose-the-unsupported"),
        ("ABCDEFG", "chose-everything"),
        # The popular story, whole: its first part is named, the rest is counted.
        ("ABD", "capacity-for-budget"),
    ],
)
def test_claims_that_are_wrongly_taken_or_left_have_a_name(chosen, name):
    assert checks.check("ch1-claims", chosen).name == name


def test_a_claim_shows_what_was_measured_in_words():
    verdict = checks.check("ch1-claims", "ABCE")
    assert verdict.expected == {
        "measured": "the same vector, trained for longer, gets most of them right"
    }
    assert "expected measured = the same vector" in str(verdict)
    assert "more" not in verdict.message.split("(")[-1]
    assert "(3 more of your choices need a look.)" in checks.check("ch1-claims", "ABD").message


# What a learner may write on paper for the book's values: keep 0.1, read (2, 7, 5), told 4.96.
BY_HAND = [
    ("right", (5.72, 0.01, 6)),
    ("right", [5.72, 1e-2, 6.0]),
    ("right", {"first": 6, "left": torch.tensor(0.1) ** 2, "state": np.float32(5.72)}),
    ("right", np.array([[5.72, 0.01, 6]])),
    ("nothing-shrinks", (14, 0.01, 6)),
    ("nothing-shrinks", (14, 1, 6)),
    ("the-new-digit-shrinks", (0.572, 0.01, 6)),
    ("shrinks-only-once", (5.9, 0.1, 6)),
    ("steps-added-not-multiplied", (5.72, 0.2, 6)),
    ("one-step-remembered", (5.7, 0, 6)),
    ("last-digit-not-read", (7.2, 0.01, 6)),
    ("read-from-the-right", (2.75, 1, 4)),
    ("digit-for-gradient", (5.72, 0.02, 6)),
    ("steps-miscounted", (5.72, 0.001, 6)),
    ("steps-miscounted", (5.72, 0.1, 6)),
    ("lost-for-left", (5.72, 0.99, 6)),
    ("the-wrong-way-round", (5.72, 100, 6)),
    ("vanished-altogether", (5.72, 0.0, 6)),
    ("newest-taken-for-first", (5.72, 0.01, 4)),
    ("taken-for-forgotten", (5.72, 0.01, 0)),
    ("taken-for-forgotten", (5.72, 0.01, 0.06)),
    ("second-taken-for-first", (5.72, 0.01, 9)),
    # Failures that any exercise by hand can have.
    ("wrong", (5.27, 0.01, 6)),
    ("wrong-count", (5.72, 0.01, None)),
    ("wrong-count", 5.72),
    ("wrong-type", (5.72, "1 %", 6)),
    ("not-written-yet", {"state": None, "left": None, "first": None}),
]


@pytest.mark.parametrize(("name", "answer"), BY_HAND, ids=str)
def test_numbers_from_paper_are_called_by_their_name(name, answer):
    verdict = checks.check("ch1-one-number", answer)
    assert (verdict.name, verdict.passed) == (name, name == "right"), str(verdict)


def test_every_name_of_the_numbers_is_reached():
    names = {wrong.name for wrong in _exercises()["ch1-one-number"].misconceptions}
    assert names <= {name for name, _ in BY_HAND}


def test_numbers_of_a_copy_are_its_own():
    mine = checks.exercise("ch1-one-number", "mine")
    verdict = checks.check("ch1-one-number", mine.right(**mine.given), variation="mine")
    assert verdict.passed, str(verdict)
    books = checks.check("ch1-one-number", (5.72, 0.01, 6), variation="mine")
    assert books.name == "numbers-of-another-copy"
    assert "5.72" not in str(checks.check("ch1-one-number", (14, 0.01, 6)))  # it stays to be found


def words(seed):
    return [0.76, 0.21, 0.03] if seed else [0.8, 0.2, 0.0]


@pytest.mark.parametrize(
    ("measure", "name"),
    [
        (words, "right"),
        (lambda seed: torch.tensor(words(seed)), "right"),
        (lambda seed: np.array([words(seed)]), "right"),
        (lambda seed: words(1), "ignores-its-argument"),
        (lambda seed: [100 * share for share in words(seed)], "in-percent"),
        (lambda seed: words(seed)[0], "wrong-shape"),
        # 120 of 150 are wrong in both runs: shares of the wrong ones, of all, and of all with the
        # right ones in the first third.
        (lambda seed: [(91 - seed) / 120, (27 + seed) / 120, 2 / 120], "right"),
        (lambda seed: [(91 - seed) / 150, (27 + seed) / 150, 2 / 150], "divided-by-all"),
        (lambda seed: [(121 - seed) / 150, (27 + seed) / 150, 2 / 150], "right-ones-counted"),
        (lambda seed: [float("nan")] * 3, "not-a-number"),
    ],
)
def test_what_was_measured_of_first_mistakes_has_a_name(measure, name):
    explanation = "The digits between the two ends are far back for either direction. " * 3
    verdict = checks.check("ch1-experiment", ("last", measure, explanation))
    assert verdict.name == name, str(verdict)
