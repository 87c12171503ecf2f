"""Two ways of doing one thing, timed in turn, so that what disturbs one disturbs the other."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from typing import NamedTuple

import torch

Call = Callable[[], object]


class Ratio(NamedTuple):
    """Our time over the peer's: median and quartiles of the pairs, and the peer's median time."""

    median: float
    lower: float
    upper: float
    peer_seconds: float
    pairs: int


def time_ratio(
    ours: Call,
    peer: Call,
    *,
    seconds: float,
    clock: Callable[[], float] = time.perf_counter,
    at_least: int = 11,
) -> Ratio:
    """Time pairs of calls for about ``seconds``; who goes first alternates.

    ``time.process_time`` as the clock counts what the process itself computes: on a machine that is
    busy with other things the wall clock measures those.
    """
    calls = _calls_per_sample(peer)
    ratios, peer_times = [], []
    gc.collect()
    gc.disable()
    try:
        deadline = time.perf_counter() + seconds
        while len(ratios) < at_least or time.perf_counter() < deadline:
            if len(ratios) % 2:
                own, other = _sample(ours, calls, clock), _sample(peer, calls, clock)
            else:
                other, own = _sample(peer, calls, clock), _sample(ours, calls, clock)
            ratios.append(own / other)
            peer_times.append(other)
    finally:
        gc.enable()
    lower, median, upper = statistics.quantiles(ratios, n=4)
    return Ratio(median, lower, upper, statistics.median(peer_times), len(ratios))


def peak_bytes(call: Call) -> int:
    """Most memory that PyTorch's CPU allocator held at once during a call, beyond the start.

    From the profiler's record of every allocation and release, scratch space of kernels included:
    the resident size of the process is too coarse, and ``tracemalloc`` does not see PyTorch.
    """
    call()
    activities = [torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(activities=activities, profile_memory=True) as profile:
        result = call()
    del result
    events = [e for e in profile.profiler.kineto_results.events() if e.name() == "[memory]"]
    held = peak = 0
    for event in sorted(events, key=lambda event: event.start_ns()):
        held += event.nbytes()
        peak = max(peak, held)
    return peak


def _sample(call: Call, calls: int, clock: Callable[[], float] = time.perf_counter) -> float:
    start = clock()
    for _ in range(calls):
        call()
    return (clock() - start) / calls


def _calls_per_sample(call: Call, seconds: float = 0.003) -> int:
    """As many calls as last a few milliseconds; the first ones only warm up."""
    _sample(call, 3)
    return max(1, round(seconds / min(_sample(call, 1) for _ in range(5))))
