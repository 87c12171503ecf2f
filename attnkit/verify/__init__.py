"""Measure again, on one's own machine, every number of the book: ``python -m attnkit.verify``.

The chapters' own cells run once more. What they glue into the prose, print, and say of their
pictures is set beside what the book printed (``attnkit/data/printed.json``), each number with a
tolerance that has a reason.
"""
