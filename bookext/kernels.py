"""How the kernels of the book and of nbval start: with a profile of the book's own, without ports.

A profile of whoever builds the book could change what its cells print. Ours leaves out besides what
no chapter needs: the grammar of internationalised addresses, which takes longer to load than most
cells to run (``glue`` imports nbformat, that jsonschema, that the grammar), and the kernel's remark
that it talks over TCP.

Whoever starts a kernel looks for five free ports, and the kernel takes them a second later: what
another process has taken meanwhile it misses, and it ends. Files have names of their own.
"""

import os
import tempfile
from pathlib import Path

from jupyter_client.manager import KernelManager

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


#: Characters that the path of a socket may have, on the system that allows the fewest.
LONGEST = 103


def without_ports() -> None:
    """Let each kernel that this process starts listen on files, where there are such sockets."""
    begin = KernelManager.__init__
    room = LONGEST - len(os.fsencode(tempfile.gettempdir())) - len("/kernel-12345678-ipc-5")
    if os.name != "posix" or room < 0 or begin.__name__ == "on_files":
        return

    def on_files(self, *args, **options):
        begin(self, *args, **options)
        if not self.connection_file:
            handle, self.connection_file = tempfile.mkstemp(".json", "kernel-")
            os.close(handle)
            self.transport = "ipc"  # the sockets are beside that file

    KernelManager.__init__ = on_files


def setup(app):
    without_ports()
    app.connect("config-inited", use_profile, priority=390)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
