"""What a model answers to a name, whichever of its characters are deleted."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch

from attnkit.widgets import pairs

LONGEST = 10  # characters of a name: 1,024 ways to delete some of them
BEST = 3  # languages that are kept of each answer
MOST_LANGUAGES = 256  # one byte each
SUM = 0.01  # probabilities and weights in half precision sum to 1 within this
NAME = "DeletionExample.of"


class DeletionExample(NamedTuple):
    """A name, and the answers of a model to all that is left of it; made by :meth:`of`.

    Row s of each table belongs to the name without the characters whose bits are set in s: row 0
    is the whole name. The last row, where nothing is left, is all zeros: a model is not asked
    about an empty name.
    """

    text: str
    label: str
    languages: tuple[str, ...]
    best: torch.Tensor  # (2^k, 3) int64: places in `languages`, the most probable first
    probabilities: torch.Tensor  # (2^k, 3) float64
    right: torch.Tensor  # (2^k,) float64: probability of `label`
    weights: torch.Tensor  # (2^k, k) float64: of each character, 0 where it is deleted

    @classmethod
    def of(
        cls,
        predict: Callable[[list[str]], tuple[Any, Any]],
        text: str,
        label: str,
        languages: Sequence[str],
    ) -> "DeletionExample":
        """Ask a model about a name and all that deletions leave of it.

        >>> def vowels(names):
        ...     share = [sum(c in "aeiou" for c in name) / len(name) for name in names]
        ...     weights = [[1 / len(name)] * len(name) for name in names]
        ...     return [[s, 1 - s] for s in share], weights
        >>> example = DeletionExample.of(vowels, "Oslo", "Norwegian", ["Italian", "Norwegian"])
        >>> example.answer(0), example.answer(0b0111), example.answer(0b1111)
        ('Norwegian', 'Italian', None)

        Args:
            predict: takes a list of str, none of them empty, and gives (probabilities, weights):
                a table (names, languages) whose rows sum to 1, and for each name a row of weights
                that sum to 1, one for each of its characters. It is called once.
            text: 1 to 10 characters, code points as Python counts them.
            label: the right language, one of `languages`.
            languages: 2 to 256 names for the columns of the probabilities.

        Raises:
            TypeError, ValueError: an argument is something else, or what `predict` gives is.
        """
        if not isinstance(text, str) or not 1 <= len(text) <= LONGEST:
            got = text if not isinstance(text, str) else f"{text!r} of {len(text)}"
            kind = ValueError if isinstance(text, str) else TypeError
            cure = f"k characters have 2^k subsets: {LONGEST} are the most that a page holds."
            pairs.refuse(kind, f"{NAME}: text", f"1 to {LONGEST} characters", got, cure)
        named = _languages(languages)
        if label not in named:
            cure = "Pass the right answer as it is written there."
            expected = f"label to be one of the {len(named)} languages"
            pairs.refuse(ValueError, NAME, expected, repr(label), cure)
        every = 2 ** len(text)
        left = [remaining(text, subset) for subset in range(every - 1)]
        asked = list(dict.fromkeys(left))  # "aa" without its first or its second: asked once
        probabilities, rows = _answers(predict, asked, len(named))
        at = torch.tensor([asked.index(name) for name in left])
        top = probabilities.topk(min(BEST, len(named)), dim=-1)
        weights = torch.zeros(every, len(text), dtype=torch.float64)
        for subset, place in enumerate(at.tolist()):
            weights[subset, kept(text, subset)] = rows[place]
        return cls(
            text,
            label,
            named,
            _with_empty(top.indices[at]),
            _with_empty(top.values[at]),
            _with_empty(probabilities[at, named.index(label)]),
            weights,
        )

    def answer(self, subset: int) -> str | None:
        """The most probable language of what is left; None where nothing is."""
        if subset == len(self.best) - 1:
            return None
        return self.languages[int(self.best[subset, 0])]

    def flips(self, subset: int) -> bool:
        """Whether the answer is another one than that to the whole name."""
        answer = self.answer(subset)
        return answer is not None and answer != self.answer(0)


def kept(text: str, subset: int) -> list[int]:
    """Places of the characters that are not deleted.

    >>> kept("Oslo", 0b0101)
    [1, 3]
    """
    return [i for i in range(len(text)) if not subset >> i & 1]


def remaining(text: str, subset: int) -> str:
    """What is left of a name.

    >>> remaining("Oslo", 0b0101)
    'so'
    """
    return "".join(text[i] for i in kept(text, subset))


def _languages(languages: Any) -> tuple[str, ...]:
    expected = f"2 to {MOST_LANGUAGES} different names of languages"
    items = languages.tolist() if hasattr(languages, "tolist") else languages
    texts = isinstance(items, Sequence) and not isinstance(items, str)
    if not texts or not all(isinstance(item, str) for item in items):
        cure = "Pass the name of each column of the probabilities."
        pairs.refuse(TypeError, f"{NAME}: languages", expected, languages, cure)
    if not 2 <= len(items) <= MOST_LANGUAGES or len(set(items)) < len(items):
        got = f"{len(items)}, {len(set(items))} of them different"
        cure = "Each column needs a name of its own."
        pairs.refuse(ValueError, f"{NAME}: languages", expected, got, cure)
    return tuple(items)


def _answers(predict: Any, asked: list[str], n: int) -> tuple[torch.Tensor, list[torch.Tensor]]:
    """Checked probabilities (names, n) and a row of weights for each name, float64."""
    if not callable(predict):
        cure = "For example lambda names: (model(...).softmax(-1), rows)."
        pairs.refuse(TypeError, f"{NAME}: predict", "a function of a list of names", predict, cure)
    given = predict(list(asked))
    if not isinstance(given, tuple) or len(given) != 2:
        cure = "Return both: `return probabilities, weights`."
        pairs.refuse(TypeError, f"{NAME}: predict", "(probabilities, weights)", given, cure)
    table = _numbers(f"{NAME}: probabilities", given[0], (len(asked), n), "(names, languages)")
    _shares(f"{NAME}: probabilities", table, "These look like logits: pass their softmax.")
    if not hasattr(given[1], "__len__") or len(given[1]) != len(asked):
        cure = "One row for each name, as long as the name."
        got = len(given[1]) if hasattr(given[1], "__len__") else given[1]
        pairs.refuse(ValueError, f"{NAME}: weights", f"{len(asked)} rows", got, cure)
    rows = []
    for name, row in zip(asked, given[1], strict=True):
        where = f"{NAME}: weights of {name!r}"
        found = _numbers(where, row, (len(name),), "(characters,), without padding")
        _shares(where, found[None], "Pass the softmax of the scores, without padding.")
        rows.append(found)
    return table, rows


def _numbers(name: str, value: Any, shape: tuple[int, ...], axes: str) -> torch.Tensor:
    expected = f"the shape {shape} = {axes}"
    try:
        table = torch.as_tensor(value).detach().to("cpu", torch.float64)
    except (TypeError, ValueError, RuntimeError):
        pairs.refuse(TypeError, name, expected, value, "Pass a tensor, an array or lists.")
    if tuple(table.shape) != shape:
        cure = "The model is asked about all names at once, and each row belongs to one."
        pairs.refuse(ValueError, name, expected, tuple(table.shape), cure)
    return table


def _shares(name: str, table: torch.Tensor, cure: str) -> None:
    sums = table.sum(-1)
    wrong = ~(((sums - 1).abs() <= SUM) & (table >= 0).all(-1))  # nan too
    if wrong.any():
        row = int(wrong.nonzero()[0])
        got = f"from {table[row].min():.3g}, sum {sums[row]:.3g}"
        pairs.refuse(ValueError, name, "numbers from 0 that sum to 1", got, cure)


def _with_empty(table: torch.Tensor) -> torch.Tensor:
    return torch.cat([table, torch.zeros_like(table[:1])])
