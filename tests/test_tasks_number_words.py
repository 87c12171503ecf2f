"""Numbers in words, letter by letter: texts, draws, batches, and the entropy by enumeration."""

import itertools
import math
from collections import Counter, defaultdict

import numpy as np
import pytest
import torch

from attnkit.numerals import to_english
from attnkit.tasks import NumberWords, TextBatch, context_floor

TASK = NumberWords()


def probability(number, digits):
    return math.log10((number + 1) / number) / digits


def trie(task):
    """What may come after each beginning of a text, with its probability; by plain counting."""
    after = defaultdict(Counter)
    for number in range(1, 10**task.digits):
        text = [*task.text(number), "<eos>"]
        for place, character in enumerate(text):
            after["".join(text[:place])][character] += probability(number, task.digits)
    return after


# Texts


@pytest.mark.parametrize("number", [1, 12, 100, 101, 999, 1000, 7001, 60_105, 120_304, 999_999])
def test_a_text_is_the_words_with_spaces_and_reads_back(number):
    text = TASK.text(number)
    assert text == " ".join(to_english(number))
    assert TASK.number(text) == number
    assert TASK.parses(text)


def test_every_text_of_three_digits_and_many_longer_ones_read_back():
    numbers = [*range(1, 1000), *range(1000, 10**6, 997)]
    assert [TASK.number(TASK.text(n)) for n in numbers] == numbers


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "one ",
        " one",
        "one  hundred",
        "zero",
        "hundred",
        "thousand",
        "one thousand and",
        "sixty one hundred",
        "one hundred one",
        "one and two",
        "twenty eleven",
        "one thousand thousand",
        "one thousand one hundred thousand",
        "one thousand and one hundred",
        "four thousd",
        "One",
        "one million",
        "onehundred",
        "llll",
    ],
)
def test_a_text_that_is_no_number_does_not_parse(text):
    assert TASK.number(text) is None
    assert not TASK.parses(text)


def test_words_in_any_other_order_do_not_parse():
    generator = np.random.default_rng(3)
    for number in TASK.draw(200, seed=5):
        words = TASK.text(number).split(" ")
        shuffled = " ".join(generator.permutation(words))
        read = TASK.number(shuffled)
        assert read is None or TASK.text(read) == shuffled


def test_a_number_of_too_many_digits_does_not_parse():
    assert NumberWords(3).number("one thousand") is None
    assert NumberWords(4).number("one thousand") == 1000


def test_the_vocabulary_holds_every_text_and_no_more():
    letters = set().union(*(TASK.text(n) for n in [*range(1, 1000), 1000]))
    assert set(TASK.vocabulary.tokens[3:]) == letters
    assert len(TASK.vocabulary) == 3 + 19


# The entropy


def test_the_probabilities_are_those_of_the_draw():
    for digits in (1, 2, 6):
        task = NumberWords(digits)
        assert task.probabilities.shape == (10**digits - 1,)
        assert task.probabilities.sum().item() == pytest.approx(1, abs=1e-12)
        for n in (1, 7, 10**digits - 1):
            assert task.probabilities[n - 1].item() == pytest.approx(probability(n, digits))


def test_the_lengths_are_those_of_the_texts():
    for n in [*range(1, 2101), *range(2101, 10**6, 1009), 10**6 - 1]:
        assert TASK.lengths[n - 1] == len(TASK.text(n)) + 1
    assert NumberWords(2).lengths.tolist() == [len(TASK.text(n)) + 1 for n in range(1, 100)]
    assert TASK.longest == max(map(len, map(TASK.text, (373_373, 777_777, 888_888)))) + 1
    assert TASK.longest == TASK.lengths.max()


@pytest.mark.parametrize("digits", [1, 2, 3])
def test_the_floor_is_the_sum_over_the_characters_of_a_trie(digits):
    # The chain rule, character by character, with nothing but counting.
    task = NumberWords(digits)
    nats = steps = 0.0
    for after in trie(task).values():
        mass = sum(after.values())
        nats -= sum(p * math.log(p / mass) for p in after.values())
        steps += mass
    assert task.entropy == pytest.approx(nats, rel=1e-9)
    assert task.mean_length == pytest.approx(steps, rel=1e-9)
    assert task.floor == pytest.approx(nats / steps, rel=1e-9)


def test_the_floor_of_six_digits_stands():
    # The figures of chapter 4 rest on it.
    assert TASK.floor == pytest.approx(0.3052801, abs=1e-7)
    assert TASK.entropy == pytest.approx(9.5349136, abs=1e-7)
    assert TASK.mean_length == pytest.approx(31.2333254, abs=1e-7)


def test_the_entropy_of_fresh_draws_is_near_the_exact_one():
    numbers = torch.tensor(TASK.draw(20_000, seed=11))
    surprise = -TASK.probabilities[numbers - 1].log()
    error = 5 * surprise.std().item() / math.sqrt(len(surprise))
    assert surprise.mean().item() == pytest.approx(TASK.entropy, abs=error)
    lengths = TASK.lengths[numbers - 1].double()
    error = 5 * lengths.std().item() / math.sqrt(len(lengths))
    assert lengths.mean().item() == pytest.approx(TASK.mean_length, abs=error)


@pytest.mark.parametrize(("digits", "characters"), [(2, 1), (2, 5), (3, 3), (4, 2), (4, 17)])
def test_the_floor_with_a_short_memory_is_that_of_counting(digits, characters):
    task = NumberWords(digits)
    after = defaultdict(Counter)
    for number in range(1, 10**digits):
        text = ["<bos>", *task.text(number), "<eos>"]
        for now in range(len(text) - 1):
            context = now, tuple(text[max(0, now + 1 - characters) : now + 1])
            after[context][text[now + 1]] += probability(number, digits)
    nats = -sum(
        p * math.log(p / sum(counts.values())) for counts in after.values() for p in counts.values()
    )
    assert context_floor(task, characters) == pytest.approx(nats / task.mean_length, rel=1e-9)


def test_the_floor_falls_with_memory_to_the_floor_of_the_task():
    task = NumberWords(4)
    floors = [context_floor(task, m) for m in (1, 2, 3, 5, 11, 40)]
    assert all(a >= b for a, b in itertools.pairwise(floors))
    assert floors[0] > 1.2 * task.floor
    assert floors[-1] == pytest.approx(task.floor, rel=1e-9)


# Draws


def test_draws_are_as_likely_as_said():
    numbers = torch.tensor(TASK.draw(60_000, seed=2))
    assert 1 <= numbers.min() and numbers.max() < 10**6
    digits = Counter(len(str(n)) for n in numbers.tolist())
    assert sorted(digits) == [1, 2, 3, 4, 5, 6]
    assert all(abs(count - 10_000) < 5 * math.sqrt(10_000) for count in digits.values())
    for n in (1, 2, 9, 10):
        expected = 60_000 * probability(n, 6)
        assert (numbers == n).sum().item() == pytest.approx(expected, abs=5 * expected**0.5)


def test_draws_follow_count_and_seed_and_leave_the_random_state_alone():
    state = torch.get_rng_state()
    assert TASK.draw(50, seed=3) == TASK.draw(50, seed=3)
    assert TASK.draw(50, seed=3) != TASK.draw(50, seed=4)
    assert all(type(n) is int for n in TASK.draw(50))
    assert torch.equal(torch.get_rng_state(), state)


def test_draws_stay_as_they_were():
    # The checkpoints of chapter 4 rest on these draws: a change here asks for new ones.
    assert TASK.draw(4, seed=1) == [264, 9802, 1485, 96234]
    batch = TASK.training_batch(3, 3, seed=1)
    texts = ["".join(TASK.vocabulary.decode(row)) for row in batch.tokens]
    assert [TASK.number(text) for text in texts] == [169, 24740, 42]


# Batches


@pytest.mark.parametrize("kind", [list, tuple, np.array, torch.tensor])
def test_a_batch_holds_the_texts_between_begin_and_end(kind):
    numbers = [7, 120_304, 10]
    batch = TASK.batch(kind(numbers))
    assert isinstance(batch, TextBatch)
    assert all(tensor.dtype == torch.int64 for tensor in batch)
    texts = [TASK.text(n) for n in numbers]
    assert batch.lengths.tolist() == [len(text) + 2 for text in texts]
    assert batch.tokens.shape == (3, len(texts[1]) + 2)
    for row, length, text in zip(batch.tokens.tolist(), batch.lengths, texts, strict=True):
        assert row[:length] == [1, *TASK.vocabulary.encode(text), 2]
        assert not any(row[length:])


def test_a_training_batch_is_a_function_of_step_size_and_seed():
    first = TASK.training_batch(5, 7, seed=2)
    assert len(first.tokens) == 7
    assert all(map(torch.equal, first, NumberWords().training_batch(5, 7, seed=2)))
    for step, seed in ((6, 2), (5, 3)):
        assert TASK.training_batch(step, 7, seed=seed).lengths.tolist() != first.lengths.tolist()


def test_a_batch_moves_as_a_whole():
    moved = TASK.batch([12, 5]).to("meta")
    assert isinstance(moved, TextBatch)
    assert all(tensor.device.type == "meta" for tensor in moved)


def test_a_task_shows_its_arguments():
    assert repr(NumberWords(3)) == "NumberWords(digits=3)"


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: NumberWords(0), ValueError, "digits must be at least 1"),
        (lambda: NumberWords(7), ValueError, "digits must be at most 6, got 7"),
        (lambda: NumberWords(2.0), TypeError, "digits must be an integer"),
        (lambda: TASK.text(0), ValueError, "number must be at least 1"),
        (lambda: TASK.text(10**6), ValueError, "at most 6 digits, got 1,000,000"),
        (lambda: TASK.text("12"), TypeError, "number must be an integer"),
        (lambda: TASK.draw(0), ValueError, "count must be at least 1"),
        (lambda: TASK.draw(3, seed=-1), ValueError, "seed must be at least 0"),
        (lambda: TASK.batch([]), ValueError, "at least one number, got none"),
        (lambda: TASK.batch(12), TypeError, r"a sequence of integers, got int. One is \[number\]"),
        (lambda: TASK.batch([0]), ValueError, "number must be at least 1"),
        (lambda: TASK.training_batch(-1), ValueError, "step must be at least 0"),
        (lambda: TASK.training_batch(0, 0), ValueError, "size must be at least 1"),
        (lambda: context_floor(TASK, 0), ValueError, "characters must be at least 1"),
        (lambda: context_floor(TASK, 1.5), TypeError, "characters must be an integer"),
    ],
)
def test_the_task_says_what_it_refuses(call, error, words):
    with pytest.raises(error, match=words):
        call()
