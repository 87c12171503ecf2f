"""A progress bar in seconds, as the book took them: what is being done, and how long it will take.

It is silent where nobody watches (no terminal), and where ``tqdm`` is not installed.
"""

import sys
from collections.abc import Callable
from typing import Any

from attnkit.verify.screen import columns

PACE = 1.0  # seconds of a cell that the record does not know
WIDE = "{percentage:3.0f}% |{bar:16}| {elapsed} of about {remaining} more, {desc}"
NARROW = "{percentage:3.0f}% |{bar:4}| {remaining} more, {desc}"
ROOM, LITTLE = 30, 12  # columns that the bar and the times leave


class Progress:
    def __init__(self, seconds: dict[str, list[float]], jobs: int):
        self.expected = seconds
        self.reached = dict.fromkeys(seconds, 0.0)
        self.doing: dict[str, str] = {}
        self.jobs, self.room = jobs, ROOM
        self.bar: Any = None

    def __enter__(self) -> "Progress":
        if sys.stderr.isatty():
            try:
                from tqdm import tqdm
            except ModuleNotFoundError:
                return self
            room = columns(sys.stderr) - 1  # a line that is full may make a new one
            form, self.room = (WIDE, ROOM) if room > 60 else (NARROW, LITTLE)
            self.bar = tqdm(total=self.total, bar_format=form, leave=False, ncols=room)
        return self

    def __exit__(self, *error: object) -> None:
        if self.bar is not None:
            self.bar.close()

    @property
    def total(self) -> float:
        return sum(map(self._whole, self.expected)) or PACE

    def _whole(self, slug: str) -> float:
        return sum(self.expected[slug]) or 10 * PACE

    def at(self, slug: str, label: str, cells: list[float]) -> None:
        """A page has run so many cells."""
        known = self.expected[slug][: len(cells)]
        self.doing[slug] = label
        self._reach(slug, min(sum(known), self._whole(slug)))

    def done(self, slug: str) -> None:
        self.doing.pop(slug, None)
        self._reach(slug, self._whole(slug))

    def _reach(self, slug: str, seconds: float) -> None:
        gained, self.reached[slug] = seconds - self.reached[slug], seconds
        if self.bar is not None:
            self.bar.set_description_str(self.words, refresh=False)
            self.bar.update(max(gained, 0))

    @property
    def words(self) -> str:
        """What is being done: the pages' titles, or their numbers where there is no room."""
        words = " and ".join(self.doing.values())
        if len(words) <= self.room:
            return words
        return " and ".join(label.split()[0] for label in self.doing.values())

    def write(self, act: Callable[[], None]) -> None:
        """Write above the bar."""
        if self.bar is None:
            act()
        else:
            with self.bar.external_write_mode():
                act()
