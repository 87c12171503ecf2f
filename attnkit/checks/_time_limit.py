"""An end to an answer that has none."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
import time
from collections.abc import Iterator
from types import FrameType


class OutOfTime(BaseException):
    """Raised inside the answer when its time is over; `except Exception` does not catch it."""


#: What runs between a block and its context manager.
_BEGIN_AND_END = (
    contextlib._GeneratorContextManager.__enter__.__code__,
    contextlib._GeneratorContextManager.__exit__.__code__,
)


def _is_below(frame: FrameType | None, other: FrameType) -> bool:
    """Whether ``frame`` was called by ``other``, or is it."""
    while frame is not None and frame is not other:
        frame = frame.f_back
    return frame is not None


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise OutOfTime in the block after so many seconds.

    Needs a Unix timer and the main thread; elsewhere the block runs without a limit. A timer that
    was already running goes on afterwards with the time it has left.
    """
    in_main = threading.current_thread() is threading.main_thread()
    if not (hasattr(signal, "setitimer") and in_main):
        yield
        return

    mine, over = sys._getframe(), False

    def ring(signum, frame):
        # Raised while the limit itself begins or ends, it would leave the timer running.
        if not over and frame.f_code not in _BEGIN_AND_END and not _is_below(frame, mine):
            raise OutOfTime

    started = time.monotonic()
    old_handler = signal.signal(signal.SIGALRM, ring)
    # It rings again and again: one ring may be swallowed by a bare `except:`.
    old_delay, old_interval = signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.01), 0.05)
    try:
        yield
    finally:
        over = True
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old_handler)
        if old_delay:
            left = max(old_delay - (time.monotonic() - started), 0.001)
            signal.setitimer(signal.ITIMER_REAL, left, old_interval)
