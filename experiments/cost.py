"""Chapter 12: time and memory of full, windowed, strided, linear and fused attention against n.

    python -m experiments.cost             # what is missing in attnkit/data/ch12-cost.json
    python -m experiments.cost --again     # everything anew, about three minutes on a quiet core

One head of 64 numbers a key, float32, causal, one thread. All mechanisms of one n are timed in
turns, so that a busy machine slows all of them; what stands in the file is every round. The bytes
are those that PyTorch's allocator hands out beyond the arguments, at their peak, the work space of
kernels included. Each n is written as soon as it is done. A mechanism stops at its greatest n:
beyond it one map of full attention would take a gigabyte, or the run more than five minutes.
"""

import json
import math
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter

import torch
import torch.nn.functional as F
from torch import Tensor
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
SETTINGS = {"d": D, "window": WINDOW, "rounds": ROUNDS, "greatest": GREATEST}


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


def forward(attend: Callable, three: list[Tensor]) -> Tensor:
    """The output alone, without a graph."""
    with torch.no_grad():
        return _output(attend(*three))


def both(attend: Callable, three: list[Tensor]) -> tuple[Tensor, ...]:
    """The gradients of all three arguments."""
    three = [x.detach().requires_grad_() for x in three]
    return torch.autograd.grad(_output(attend(*three)).sum(), three)


def _output(found: Tensor | tuple) -> Tensor:
    return found if isinstance(found, Tensor) else found[0]


def seconds(call: Callable, times: int) -> float:
    """Mean of so many calls in a row."""
    start = perf_counter()
    for _ in range(times):
        call()
    return (perf_counter() - start) / times


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


def measure(n: int) -> dict:
    """Milliseconds of every round and peak megabytes, forward and with the gradients."""
    torch.manual_seed(0)
    three = list(torch.randn(3, 1, 1, n, D))
    calls = {
        (name, how.__name__): partial(how, attend, three)
        for name, attend in mechanisms(n).items()
        for how in (forward, both)
    }
    row: dict = {name: {} for name, _ in calls}
    times = {}
    for (name, how), call in calls.items():
        call()  # the first one is slower
        times[name, how] = max(1, math.ceil(SHORTEST / seconds(call, 1)))
        row[name][how] = {"milliseconds": [], "megabytes": megabytes(call)}
    rounds = 3 if n > GREATEST["full"] // 2 else ROUNDS
    for _ in range(rounds):
        for (name, how), call in calls.items():
            taken = 1e3 * seconds(call, times[name, how])
            row[name][how]["milliseconds"].append(round(taken, 4))
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
        words = (f"{name} {median(x['forward']['milliseconds']):.4g}" for name, x in row.items())
        print(f"{n:>6} ms:", *words, sep="  ")


if __name__ == "__main__":
    main()
