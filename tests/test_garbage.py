"""A build looks for lost cycles seldom, and does look."""

import subprocess
import sys

LOOKS = """
import gc
from bookext import garbage
garbage.setup(None)
looks = lambda: sum(generation["collections"] for generation in gc.get_stats())
before = looks()
kept = [[] for _ in range(100_000)]
assert looks() == before, "a page's nodes set the collector off"
lost = [[one] for one in kept * 3]
assert looks() > before, "what is lost is never freed"
assert gc.get_freeze_count() > 1000
"""


def test_the_collector_is_seldom_but_not_off():
    done = subprocess.run([sys.executable, "-c", LOOKS], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
