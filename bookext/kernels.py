"""How the kernels of the book and of nbval start: with a profile of the book's own.

A profile of whoever builds the book could change what its cells print. Ours leaves out besides what
no chapter needs: the grammar of internationalised addresses, which takes longer to load than most
cells to run (``glue`` imports nbformat, that jsonschema, that the grammar), and the kernel's remark
that it talks over TCP.
"""

import os
from pathlib import Path

PROFILE = """\
c.IPKernelApp.exec_lines = ["import sys; sys.modules.setdefault('rfc3987_syntax', None); del sys"]
c.IPKernelApp.log_level = 40
"""


def profile(root: Path) -> dict[str, str]:
    """Write the profile below ``root`` and return the variable that names it."""
    folder = root / "_build" / ".ipython"
    file = folder / "profile_default" / "ipython_kernel_config.py"
    for name in ("log", "pid", "security", "startup"):  # kernels that start together make them too
        (file.parent / name).mkdir(parents=True, exist_ok=True)
    if not file.exists() or file.read_text("utf-8") != PROFILE:
        file.write_text(PROFILE, "utf-8")
    return {"IPYTHONDIR": str(folder)}


def use_profile(app, config):
    """Give it to every kernel that is started from this process."""
    os.environ.update(profile(Path(app.srcdir)))


def setup(app):
    app.connect("config-inited", use_profile, priority=390)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
