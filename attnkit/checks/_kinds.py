"""What every kind of exercise has in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from attnkit.checks._engine import Misconception
from attnkit.checks._verdict import Verdict


class AnyExercise(Protocol):
    """What every kind of exercise has."""

    @property
    def id(self) -> str:
        """The name that ``check`` knows it by."""
        ...

    @property
    def title(self) -> str:
        """A few words for a list of exercises."""
        ...

    @property
    def link(self) -> str:
        """The label of the section to read where no misconception names another."""
        ...

    @property
    def sections(self) -> Mapping[str, str]:
        """Readable titles of all labels that are linked to."""
        ...

    @property
    def misconceptions(self) -> Sequence[Misconception]:
        """The wrong answers that have a name."""
        ...

    @property
    def given(self) -> Mapping[str, object]:
        """Given values by name, those of this copy; empty where none vary."""
        ...

    def varied(self, code: str) -> AnyExercise:
        """The exercise with the data of the copy that has this code."""
        ...

    def probe(self, answer: object) -> dict[str, np.ndarray]:
        """Record what an answer does."""
        ...

    def diagnose(self, arrays: Mapping[str, np.ndarray]) -> Verdict:
        """Say what a record shows."""
        ...
