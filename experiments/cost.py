"""Chapter 12: time and memory of full, windowed, strided, linear and fused attention against n.

    python -m experiments.cost             # what is missing in attnkit/data/ch12-cost.json
    python -m experiments.cost --again     # everything anew, about a minute on a quiet core

One head of 64 numbers a key, float32, causal, forward, one thread. The time is that which the
thread spent on the processor: waiting for other programs does not count, though they still share
its caches. All mechanisms of one n are timed in turns; what stands in the file is every round. The
bytes are those that PyTorch's allocator hands out beyond the arguments, at their peak, the work
space of kernels included. Each n is written as soon as it is done. A mechanism stops at its
greatest n: the next map of full attention would take a gigabyte, the next fused run too long.
"""

import json
import math
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from time import thread_time

import torch
import torch.nn.functional as F
from torch.profiler import ProfilerActivity, profile
from tqdm import tqdm

from attnkit import scaled_dot_product_attention
from attnkit.efficient import linear_attention, strided_attention, windowed_attention
from attnkit.masks import causal_mask, sliding_window_mask

TABLE = Path(__file__).parents[1] / "attnkit" / "data" / "ch12-cost.json"
D, WINDOW, ROUNDS, SHORTEST = 64, 128, 7, 0.005  # SHORTEST: seconds of one timing
LENGTHS = [2**power for power in range(7, 17)]
GREATEST = {
    "full": 8192,
    "window as a mask": 8192,
    "windowed": 65536,
    "strided": 65536,
    "linear": 65536,
    "fused": 16384,
}
SETTINGS = {
    "d": D,
    "window": WINDOW,
    "rounds": ROUNDS,
    "clock": "thread_time",
    "greatest": GREATEST,
}


def mechanisms(n: int) -> dict[str, Callable]:
    """What is to be measured at this n, by name; masks are made beforehand."""
    known: dict[str, Callable] = {
        "windowed": partial(windowed_attention, window=WINDOW),
        "strided": partial(strided_attention, stride=math.isqrt(n)),
        "linear": linear_attention,
        "fused": partial(F.scaled_dot_product_attention, is_causal=True),
    }
    if n <= GREATEST["full"]:
        known["full"] = partial(scaled_dot_product_attention, mask=causal_mask(n))
        window = sliding_window_mask(n, WINDOW)
        known["window as a mask"] = partial(scaled_dot_product_attention, mask=window)
    return {name: known[name] for name, greatest in GREATEST.items() if n <= greatest}


def seconds(call: Callable, times: int) -> float:
    """Processor time of one call, the mean of so many in a row."""
    start = thread_time()
    for _ in range(times):
        call()
    return (thread_time() - start) / times


def megabytes(call: Callable) -> float:
    """Peak of what is allocated during the call and not yet freed."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        call()
    now = most = 0
    events = [e for e in profiler.profiler.kineto_results.events() if e.name() == "[memory]"]
    for event in sorted(events, key=lambda e: e.start_ns()):
        now += event.nbytes()
        most = max(most, now)
    return round(most / 1e6, 4)


@torch.no_grad()
def measure(n: int) -> dict:
    """Milliseconds of every round and peak megabytes, forward."""
    torch.manual_seed(0)
    three = list(torch.randn(3, 1, 1, n, D))
    calls = {name: partial(attend, *three) for name, attend in mechanisms(n).items()}
    row: dict = {}
    times = {}
    for name, call in calls.items():
        call()  # the first one is slower
        times[name] = max(1, math.ceil(SHORTEST / seconds(call, 1)))
        row[name] = {"milliseconds": [], "megabytes": megabytes(call)}
    for _ in range(ROUNDS):
        for name, call in calls.items():
            row[name]["milliseconds"].append(round(1e3 * seconds(call, times[name]), 4))
    return row


def main() -> None:
    torch.set_num_threads(1)
    table = json.loads(TABLE.read_text()) if TABLE.exists() else {}
    if "--again" in sys.argv or table.get("settings") != SETTINGS:
        made = {"made_by": "python -m experiments.cost", "torch": torch.__version__}
        table = {**made, "settings": SETTINGS, "lengths": {}}
    for n in tqdm(LENGTHS, desc="lengths"):
        if str(n) in table["lengths"]:
            continue
        table["lengths"][str(n)] = measure(n)
        half = TABLE.with_suffix(".half")
        half.write_text(json.dumps(table) + "\n")
        half.replace(TABLE)
    for n, row in table["lengths"].items():
        words = (f"{name} {median(x['milliseconds']):.4g}" for name, x in row.items())
        print(f"{n:>6} ms:", *words, sep="  ")


if __name__ == "__main__":
    main()
