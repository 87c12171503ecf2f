"""Ratios against the peers, measured in one run: ``python -m benchmarks``."""

import os

# PyTorch's profiler announces each of its starts and stops among the results; set before it loads.
os.environ.setdefault("KINETO_LOG_LEVEL", "6")
