"""Sphinx extensions of the course. Each module has its own ``setup``; this one calls them all."""

from importlib import import_module

#: In the order in which they are set up.
PARTS: list[str] = [
    "garbage",
    "address",
    "kernels",
    "cache",
    "failures",
    "ahead",
    "public",
    "kernel_only",
    "wheel",
    "notebooks",
    "instructor",
    "launch",
    "binder",
    "alttext",
    "language",
    "mathml",
    "theme",
    "assistive",
    "reach",
    "search",
    "widgets",
    "former",
    "offline",
    "promised",
    "timing",
]


def setup(app):
    for part in PARTS:
        import_module(f"bookext.{part}").setup(app)
    return {"version": "0.1", "parallel_read_safe": False, "parallel_write_safe": True}
