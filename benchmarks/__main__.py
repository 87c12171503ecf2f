"""``python -m benchmarks [SECTION ...] [--quick] [--check]``: tables in Markdown on stdout."""

from __future__ import annotations

import argparse
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch

from benchmarks import attention, cache, capture, heads, patterns, plots, widgets
from benchmarks.report import Settings, Table, markdown

#: A section is a function of the settings; a new one is a line here.
SECTIONS: dict[str, Callable[[Settings], Table]] = {
    "attention": attention.section,
    "cache": cache.section,
    "plots": plots.section,
    "capture": capture.section,
    "widgets": widgets.section,
    "heads": heads.section,
    "patterns": patterns.section,
}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=", ".join(SECTIONS))
    parser.add_argument("--quick", action="store_true", help="the smallest size, few repetitions")
    parser.add_argument("--check", action="store_true", help="exit 1 when a target is missed")
    parser.add_argument(
        "--cpu-time",
        action="store_true",
        help="count the time this process computes: for a machine busy with other things",
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    options = parser.parse_args(arguments)
    unknown = set(options.sections) - set(SECTIONS)
    if unknown:
        parser.error(f"no section {', '.join(sorted(unknown))}; there are {', '.join(SECTIONS)}")
    torch.set_num_threads(options.threads)
    clock = time.process_time if options.cpu_time else time.perf_counter
    print(f"# Benchmarks\n\n{_machine()}, seed {options.seed}, time.{clock.__name__}")
    missed: list[str] = []
    for name in options.sections or SECTIONS:
        print(f"measuring {name}", file=sys.stderr)
        table = SECTIONS[name](Settings(options.seed, options.quick, clock))
        print(f"\n{markdown(table)}", flush=True)
        missed += table.missed
    print(f"\n{len(missed)} targets missed" + "".join(f"\n- {line}" for line in missed))
    return int(options.check and bool(missed))


def _machine() -> str:
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        cpu = names[0].partition(":")[2].strip() if names else cpu
    return (
        f"{cpu}, {platform.system()}, Python {platform.python_version()}, "
        f"PyTorch {torch.__version__}, {torch.get_num_threads()} threads"
    )


if __name__ == "__main__":
    sys.exit(main())
