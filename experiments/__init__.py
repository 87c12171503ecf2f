"""Scripts that make what attnkit/data holds: ``python -m experiments.NAME``."""
