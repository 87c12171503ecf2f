"""What the length widget is given: examples with the answers of models, and their accuracy."""

import math
import numbers
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from attnkit.widgets import pairs
from attnkit.widgets.align import Slot, align, in_columns

MODELS = 4  # lines of a chart that can still be told apart
MANY = 500
NAME = "LengthWidget"


class LengthExample(NamedTuple):
    """A numeral, its right words, and what each model made of it."""

    digits: int
    source: Sequence[str]  # characters, or a str of them
    words: Sequence[str]  # the right ones
    answers: Mapping[str, Any]  # model → translation (source, words, weights or None)


class Checked(NamedTuple):
    """A checked example. `right` and every row of `answers` have the same number of places."""

    digits: int
    source: tuple[str, ...]
    right: list[Slot]
    answers: dict[str, list[Slot]]
    pairs: dict[str, pairs.Pair]


Spread = tuple[float, float, float]  # median, low, high


def checked_examples(examples: Any) -> dict[int, list[Checked]]:
    """Digits → the examples of that length, in rising order, all with the same models."""
    name = f"{NAME}.examples"
    expected = f"a list of 1 to {MANY} LengthExamples"
    if isinstance(examples, (str, LengthExample)) or not isinstance(examples, Sequence):
        cure = "Put a single one into a list: [example]."
        pairs.refuse(TypeError, name, expected, examples, cure)
    if not 1 <= len(examples) <= MANY:
        cure = "Five of each length are plenty."
        pairs.refuse(ValueError, name, expected, f"{len(examples)} of them", cure)
    found: dict[int, list[Checked]] = {}
    first: Checked | None = None
    for i, example in enumerate(examples):
        checked = _example(f"{name}[{i}]", example)
        first = first or checked
        if set(checked.pairs) != set(first.pairs):
            expected = f"answers of the models {_listed(first.pairs)}, as in the first example"
            got = _listed(checked.pairs)
            cure = "Give every example the answers of the same models."
            pairs.refuse(ValueError, f"{name}[{i}].answers", expected, got, cure)
        for model, pair in checked.pairs.items():
            if (pair.codes is None) != (first.pairs[model].codes is None):
                expected = "weights in all answers of a model, or in none"
                got = f"some of {model!r} without"
                cure = "Pass weights=None for all of them, or for none."
                pairs.refuse(ValueError, f"{name}[{i}].answers", expected, got, cure)
        found.setdefault(checked.digits, []).append(checked)
    return dict(sorted(found.items()))


def _example(name: str, example: Any) -> Checked:
    if not isinstance(example, LengthExample):
        cure = "LengthExample(digits, source, words, answers)."
        pairs.refuse(TypeError, name, "a LengthExample", example, cure)
    digits = example.digits
    whole = isinstance(digits, numbers.Integral) and not isinstance(digits, bool)
    if not whole or digits < 1:
        cure = "It is the length of the number that the example belongs to."
        pairs.refuse(ValueError, f"{name}.digits", "a whole number from 1", digits, cure)
    source = example.source
    source = pairs.tokens(f"{name}.source", list(source) if isinstance(source, str) else source)
    right = pairs.tokens(f"{name}.words", example.words)
    answers = example.answers
    if not isinstance(answers, Mapping) or not 1 <= len(answers) <= MODELS:
        expected = f"a dict of 1 to {MODELS} models with their translations"
        cure = 'For example {"fixed vector": model.translate(text)}.'
        pairs.refuse(ValueError, f"{name}.answers", expected, answers, cure)
    found = {}
    for model, answer in answers.items():
        where = f"{name}.answers[{model!r}]"
        if not isinstance(model, str) or not model.strip() or len(model) > 40:
            cure = "The names are shown to readers."
            pairs.refuse(ValueError, where, "a name of 1 to 40 characters", model, cure)
        found[model] = pairs.pair(where, answer, weights="optional", at_least=0)
        if found[model].source != source:
            expected = f"the source of the example, {''.join(source)}"
            got = "".join(found[model].source)
            cure = "Give each model the same numeral."
            pairs.refuse(ValueError, f"{where}.source", expected, got, cure)
    slots = [align(pair.words, right) for pair in found.values()]
    columns, rows = in_columns(right, slots)
    return Checked(int(digits), source, columns, dict(zip(found, rows, strict=True)), found)


def checked_accuracy(
    accuracy: Any, models: Sequence[str], lengths: Sequence[int]
) -> dict[str, list[Spread]]:
    """Model → (median, low, high) at each of `lengths`."""
    name = f"{NAME}.accuracy"
    shape = "a dict model → dict length → (median, low, high)"
    if not isinstance(accuracy, Mapping):
        cure = 'For example {"fixed vector": {1: (0.99, 0.98, 1.0)}}.'
        pairs.refuse(TypeError, name, shape, accuracy, cure)
    if set(accuracy) != set(models):
        cure = "Name the models as the answers of the examples do."
        pairs.refuse(ValueError, name, f"the models {_listed(models)}", _listed(accuracy), cure)
    found = {}
    for model in models:
        rows = accuracy[model]
        if not isinstance(rows, Mapping):
            cure = "For example {1: (0.99, 0.98, 1.0)}."
            pairs.refuse(TypeError, f"{name}[{model!r}]", shape, rows, cure)
        if set(rows) != set(lengths):
            expected = f"the lengths of the examples, {_listed(lengths)}"
            cure = "Every length needs an example and an accuracy of each model."
            pairs.refuse(ValueError, f"{name}[{model!r}]", expected, _listed(rows), cure)
        found[model] = [_spread(f"{name}[{model!r}][{n}]", rows[n]) for n in lengths]
    return found


def _spread(name: str, value: Any) -> Spread:
    value = value.tolist() if hasattr(value, "tolist") else value
    right = (
        isinstance(value, (tuple, list))
        and len(value) == 3
        and all(isinstance(x, numbers.Real) and not isinstance(x, bool) for x in value)
        and all(math.isfinite(x) for x in value)
    )
    if not right or not 0 <= value[1] <= value[0] <= value[2] <= 1:
        expected = "(median, low, high) with 0 ≤ low ≤ median ≤ high ≤ 1"
        cure = "Shares of right answers, not percent."
        pairs.refuse(ValueError, name, expected, value, cure)
    return float(value[0]), float(value[1]), float(value[2])


def _listed(values: Any) -> str:
    return ", ".join(map(str, values)) or "none"
