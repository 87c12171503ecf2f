"""Answers to exercises, made over into every kind of result that a learner may hand in."""

import math

import numpy as np
import torch
import torch.nn.functional as F

from attnkit import checks
from attnkit.checks import _exercises


class Sneaky:
    """Equals everything, and is nothing."""

    def __eq__(self, other):
        return True

    __hash__ = None

    def __array__(self, dtype=None, copy=None):
        raise OSError("no")

    def __str__(self):
        raise OSError("no")


def styled(style, function):
    """The same function with results of another kind."""

    def change(array):
        array = np.asarray(array)
        return {
            "float64": lambda: array,
            "float32": lambda: array.astype(np.float32),
            "float16": lambda: array.astype(np.float16),
            "longdouble": lambda: array.astype(np.longdouble),
            "tensor": lambda: torch.tensor(array, requires_grad=array.dtype.kind == "f"),
            "bfloat16": lambda: torch.tensor(array).bfloat16(),
            "lists": lambda: array.tolist(),
            "big-endian, transposed in memory": lambda: np.asfortranarray(array).astype(">f8"),
            "a batch of one": lambda: array[None],
        }[style]()

    def answer(*arguments):
        arguments = [np.asarray(a) if hasattr(a, "shape") else a for a in arguments]
        with np.errstate(all="ignore"):
            results = function(*arguments)
        return tuple(map(change, results)) if isinstance(results, tuple) else change(results)

    return answer


STYLES = ["float64", "float32", "longdouble", "tensor", "lists", "a batch of one"]
STYLES += ["float16", "bfloat16", "big-endian, transposed in memory"]
#: Those that turn booleans into numbers.
NUMBERS = {"float32", "longdouble", "float16", "bfloat16", "big-endian, transposed in memory"}


def numbered(answers):
    """(id, number) of every answer, for ``parametrize``: functions make poor names of tests."""
    return [(id, number) for id, listed in answers.items() for number in range(len(listed))]


def assert_passes(id, answer):
    """The check calls the answer right, and hands its verdict on."""
    verdict = checks.check(id, answer)
    assert verdict.passed, str(verdict)
    assert verdict.name == "right"
    assert verdict.require() is None


def forms_without_an_answer(id, answers):
    """Forms of named wrong answers that none of these (name, answer) comes to."""
    exercise = _exercises()[id]
    forms = {
        (wrong.name, number): function
        for wrong in exercise.misconceptions
        if wrong.when is None
        for number, function in enumerate(wrong.wrong)
    }
    for name, answer in answers:
        trials = exercise._read(checks.probe(id, answer))[0]
        compared = [seen for seen in trials if seen.trial.compared and seen.trial.required]
        for key in [key for key in forms if key[0] == name]:
            if all(seen.is_like(forms[key]) for seen in compared):
                del forms[key]
    return list(forms)


def written(template, pieces, changes):
    """The function that a template gives with some of its pieces changed."""
    assert changes.keys() <= pieces.keys(), changes.keys() - pieces.keys()
    space = {"torch": torch, "F": F, "np": np, "math": math}
    exec(template.format(**pieces | changes), space)
    return space[template.split("def ", 1)[1].split("(", 1)[0]]


def assert_called(id, name, answer):
    """The check refuses the answer and calls it by this name."""
    verdict = checks.check(id, answer)
    assert (verdict.name, verdict.passed) == (name, False), str(verdict)


def assert_every_name_is_reached(id, answers, at_least=6):
    """Each name and each form of it belongs to one of these (name, answer)."""
    names = {wrong.name for wrong in _exercises()[id].misconceptions}
    reached = {name for name, _ in answers}
    assert len(names) >= at_least
    assert names <= reached, names - reached
    assert reached <= names | set(checks.common_failures())
    assert not forms_without_an_answer(id, answers)
