"""Random tokens, twice over: what a batch holds, and the least loss by counting every sequence."""

import doctest
import itertools
import math
from collections import Counter, defaultdict

import numpy as np
import pytest
import torch

from attnkit.tasks import RepeatBatch, RepeatedSequences, repeated

TASK = RepeatedSequences()


def test_doctests():
    assert not doctest.testmod(repeated).failed


# What a batch holds


@pytest.mark.parametrize("period", [1, 2, 7, 24, 61])
def test_a_batch_is_the_begin_sign_and_two_equal_copies(period):
    batch = TASK.batch(13, period, seed=5)
    assert isinstance(batch, RepeatBatch)
    assert batch.tokens.shape == (13, 1 + 2 * period) and batch.tokens.dtype == torch.int64
    assert batch.period == period and type(batch.period) is int
    assert (batch.tokens[:, 0] == TASK.bos).all()
    first, second = batch.tokens[:, 1:].split(period, 1)
    assert torch.equal(first, second)
    assert first.min() >= 1 and first.max() < TASK.n_tokens


def test_the_sequences_of_a_batch_differ():
    tokens = TASK.batch(211, 8, seed=3).tokens
    assert len(tokens.unique(dim=0)) == 211


def test_every_token_is_as_likely_at_every_place_whatever_came_before():
    task = RepeatedSequences(vocabulary=5, periods=(3, 3))
    tokens = task.batch(30_000, 3, seed=7).tokens[:, 1:4]
    counts = Counter(map(tuple, tokens.tolist()))
    assert set(counts) == set(itertools.product(range(1, 6), repeat=3))  # begin is none of them
    expected = 30_000 / 125
    assert all(abs(n - expected) < 5 * expected**0.5 for n in counts.values())


def test_every_period_is_as_likely_and_the_ends_belong():
    task = RepeatedSequences(vocabulary=3, periods=(8, 24))
    periods = Counter(task.training_batch(step, 1).period for step in range(3400))
    assert sorted(periods) == list(range(8, 25))
    assert all(abs(count - 200) < 5 * 200**0.5 for count in periods.values())
    assert task.longest == 49 == task.batch(1, 24).tokens.shape[1]


def test_one_period_is_a_task_too():
    task = RepeatedSequences(vocabulary=2, periods=(1, 1))
    assert {task.training_batch(step, 3).period for step in range(20)} == {1}
    assert task.period_entropy == 0


def test_a_training_batch_is_a_function_of_step_size_and_seed():
    first = TASK.training_batch(5, 7, seed=2)
    again = RepeatedSequences().training_batch(np.int64(5), 7, seed=2)
    assert len(first.tokens) == 7 and len(TASK.training_batch(5).tokens) == 64
    assert torch.equal(first.tokens, again.tokens) and first.period == again.period
    for step, seed in ((6, 2), (5, 3), (2, 5)):
        other = TASK.training_batch(step, 7, seed=seed)
        assert not torch.equal(other.tokens[:, 1:9], first.tokens[:, 1:9])


def test_batches_follow_their_seed_and_leave_the_random_state_alone():
    state = torch.get_rng_state()
    assert torch.equal(TASK.batch(5, 9, seed=3).tokens, TASK.batch(5, 9, seed=3).tokens)
    assert not torch.equal(TASK.batch(5, 9, seed=3).tokens, TASK.batch(5, 9, seed=4).tokens)
    assert torch.equal(torch.get_rng_state(), state)


def test_draws_stay_as_they_were():
    # The checkpoints of chapter 7 rest on these draws: a change here asks for new ones.
    assert TASK.batch(1, 4, seed=1).tokens.tolist() == [[0, 35, 19, 5, 38, 35, 19, 5, 38]]
    batch = TASK.training_batch(3, 2, seed=1)
    assert (batch.period, batch.tokens[1, :6].tolist()) == (18, [0, 38, 22, 12, 13, 33])


def test_a_batch_moves_as_a_whole():
    moved = TASK.batch(2, 5).to("meta")
    assert isinstance(moved, RepeatBatch)
    assert moved.tokens.device.type == "meta" and moved.period == 5


def test_a_task_shows_its_arguments():
    assert repr(TASK) == "RepeatedSequences(vocabulary=48, periods=(8, 24))"
    shown = repr(RepeatedSequences(7, (2, 3)))
    assert shown == "RepeatedSequences(vocabulary=7, periods=(2, 3))"


# The least loss


def counted(vocabulary, periods):
    """Nats that the best reader loses in each part, by going through every sequence.

    The reader knows the task, all tokens so far and that another one comes. Returns, summed over a
    sequence and averaged over sequences: loss in the first copy, at the first token of the second,
    on the rest; and what is left to know, after each token, of whether another one comes.
    """
    all_periods = range(periods[0], periods[1] + 1)
    sequences = [
        (period, copy * 2, 1 / len(all_periods) / vocabulary**period)
        for period in all_periods
        for copy in itertools.product(range(vocabulary), repeat=period)
    ]
    mass = defaultdict(float)  # of a beginning; and of a beginning after which another token comes
    for _, tokens, weight in sequences:
        for seen in range(len(tokens) + 1):
            mass[tokens[:seen]] += weight
            if seen < len(tokens):
                mass[tokens[:seen], "more"] += weight
    loss, whether = [0.0, 0.0, 0.0], 0.0
    for period, tokens, weight in sequences:
        for seen, _ in enumerate(tokens):
            part = 0 if seen < period else 1 if seen == period else 2
            before, after = tokens[:seen], tokens[: seen + 1]
            loss[part] -= weight * math.log(mass[after] / mass[before, "more"])
        for seen in range(len(tokens) + 1):
            more = mass[tokens[:seen], "more"] / mass[tokens[:seen]]
            whether -= weight * math.log(more if seen < len(tokens) else 1 - more)
    return loss, whether


@pytest.mark.parametrize(("vocabulary", "period"), [(2, 5), (3, 4), (7, 2), (48, 1)])
def test_with_one_period_the_first_copy_holds_all(vocabulary, period):
    task = RepeatedSequences(vocabulary, (period, period))
    (first, start, rest), whether = counted(vocabulary, task.periods)
    assert first / period == pytest.approx(task.token_entropy, rel=1e-12)
    assert (start, rest, whether) == (0, 0, 0)
    assert first / (2 * period) == pytest.approx(task.floor, rel=1e-12)


@pytest.mark.parametrize(
    ("vocabulary", "periods"), [(2, (1, 4)), (2, (3, 7)), (3, (2, 5)), (5, (3, 4)), (11, (3, 4))]
)
def test_who_is_not_told_the_period_loses_what_it_holds(vocabulary, periods):
    task = RepeatedSequences(vocabulary, periods)
    loss, whether = counted(vocabulary, periods)
    told = sum(periods) / 2 * task.token_entropy
    # By the chain rule: tokens and "is there another one" hold both together.
    assert sum(loss) + whether == pytest.approx(told + task.period_entropy, rel=1e-9)
    besides = sum(loss) - told
    assert 0 < besides < task.period_entropy
    n = periods[1] - periods[0] + 1
    assert task.period_entropy - besides < 3 * n * vocabulary ** -periods[0]


@pytest.mark.parametrize("periods", [(1, 2), (2, 3), (1, 3)])
def test_who_is_not_told_the_period_loses_most_where_the_second_copy_begins(periods):
    # About: a token that is equal by chance makes the best reader doubt.
    n = periods[1] - periods[0] + 1
    (first, start, rest), _ = counted(31, periods)
    at_start = math.log(math.factorial(n)) / n  # the mean of ln 1 … ln n
    assert start == pytest.approx(at_start, abs=0.1)
    besides = first - sum(periods) / 2 * math.log(31)
    assert besides == pytest.approx(math.log(n) - at_start, abs=0.1)
    assert 0 <= rest < 0.1


def test_the_figures_of_the_task_stand():
    # The figures of chapter 7 rest on them.
    assert TASK.n_tokens == 49
    assert TASK.token_entropy == pytest.approx(3.8712010, abs=1e-7)
    assert TASK.period_entropy == pytest.approx(2.8332133, abs=1e-7)
    assert TASK.floor == pytest.approx(1.9356005, abs=1e-7)


# What is refused


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: RepeatedSequences(1), ValueError, "vocabulary must be at least 2, got 1"),
        (lambda: RepeatedSequences(48.0), TypeError, "vocabulary must be an integer"),
        (lambda: RepeatedSequences(periods=8), TypeError, r"a pair \(fewest, most\), got 8"),
        (lambda: RepeatedSequences(periods=(0, 8)), ValueError, "first of periods must be at lea"),
        (lambda: RepeatedSequences(periods=(9, 8)), ValueError, r"must ascend, got \(9, 8\)"),
        (lambda: RepeatedSequences(periods=(8, 9.5)), TypeError, "second of periods must be an in"),
        (lambda: TASK.batch(0, 8), ValueError, "size must be at least 1"),
        (lambda: TASK.batch(3, 0), ValueError, "period must be at least 1"),
        (lambda: TASK.batch(3, True), TypeError, "period must be an integer"),
        (lambda: TASK.batch(3, 8, seed=-1), ValueError, "seed must be at least 0"),
        (lambda: TASK.training_batch(-1), ValueError, "step must be at least 0"),
        (lambda: TASK.training_batch(0, 0), ValueError, "size must be at least 1"),
        (lambda: TASK.training_batch(0, seed=0.5), TypeError, "seed must be an integer"),
    ],
)
def test_the_task_says_what_it_refuses(call, error, words):
    with pytest.raises(error, match=words):
        call()
