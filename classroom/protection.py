"""What an answer is kept from doing here, and what it is not.

``python -m classroom.protection`` prints it for this machine; ``grade`` prints it too.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import NamedTuple

from classroom.assignment import ClassroomError

ROOT = Path(__file__).resolve().parent.parent

#: Why an answer left no record: name and message. A detail and a line of the cell may go with it.
FAILURES = {
    "syntax-error": "Python cannot read an answer cell, so nothing of it was run.",
    "raised-outside": "An answer cell itself raises an error when it is run, before its answer is "
    "called.",
    "name-not-defined": "The answer uses a name that is not there. Only the answer cells of this "
    "exercise are run, behind what the notebook defines above its exercises: what an answer needs, "
    "imports included, has to stand in one of these.",
    "too-slow": "The answer was stopped because it took too long: does a loop in it never end?",
    "too-much-memory": "The answer was stopped because it asked for more memory than it may have.",
    "too-many-processes": "The answer was stopped because it started more processes or threads "
    "than it may have; the exercise needs none.",
    "too-much-output": "The answer was stopped because it printed more than it may.",
    "ended-the-process": "The answer ended the Python process that ran it, so that there was "
    "nothing left to call.",
    "no-record": "What the answer does could not be written down: it has changed Python itself, "
    "closed what it was to be written to, or written something else there.",
    "worker-failed": "The grader itself failed on this answer. It counts for nothing, good or bad: "
    "run grade again.",
}  # fmt: skip


class Protection(NamedTuple):
    """One thing that an answer is kept from, whether that is so here, and what that means."""

    name: str
    active: bool
    says: str


# name, the steps of which any one will do, said when active, said when not
_TABLE = (
    (
        "limits",
        ("limits",),
        "time, processes, printed text and the size of files are limited for each answer",
        "nothing is limited but time and printed text",
    ),
    (
        "memory",
        ("memory",),
        "memory is limited for each answer",
        "an answer may take all the memory there is",
    ),
    (
        "own processes",
        ("process-namespace",),
        "an answer sees no process but its own, and all it has started ends with it",
        "an answer sees the other processes; what it starts is looked for and ended, and may "
        "escape where the system does not tell who started what",
    ),
    (
        "own files",
        ("own-files",),
        "an answer sees the system's libraries, Python and attnkit, read-only, and an empty folder "
        "of its own in memory",
        "files are not put out of sight",
    ),
    (
        "no writing",
        ("own-files", "landlock"),
        "an answer can write in its own folder only",
        "an answer can write wherever the user who runs it can",
    ),
    (
        "no reading",
        ("own-files", "landlock"),
        "homes, other submissions and the assignment cannot be read",
        "an answer can read what the user who runs it can: other submissions, say",
    ),
    (
        "no network",
        ("network-namespace", "system-calls"),
        "an answer reaches no network, and no service of this machine",
        "an answer can use the network",
    ),
    (
        "own user",
        ("own-user",),
        "answers run as a user without files or groups",
        "answers run as the user who runs the grader (who runs it as root gets users for them)",
    ),
    (
        "no new rights",
        ("no-new-privileges",),
        "programs with special rights (sudo) give an answer none",
        "programs with special rights give them to an answer too",
    ),
    (
        "system calls",
        ("system-calls",),
        "calls that attack the system itself or other processes are refused",
        "all calls of the system are open to an answer",
    ),
)

NOT_PROTECTED = """\
What this does not protect against
- A hole in the operating system: answers run on your kernel, not on a machine of their own. Grade
  strangers' work on a machine that may be lost.
- Reading what is shown: Python, the installed packages and the public part of attnkit, whose own
  functions solve some exercises. An answer that only calls them computes the right thing and is
  scored so. A note tells of an import of them; the text is in the student's notebook.
- The right answers in memory: the process that runs an answer was copied from one that knows the
  exercises. What knows the right answer is taken away before the answer begins, and a determined
  search of the memory may still find parts of it. Such a search stands in the answer's text.
- Forged records: an answer can write a record of its own making. It scores only if the results
  in it are right, so the forger has to know them.
- Two answers side by side may slow each other down: times are limits, not measurements.
- Other systems than Linux: macOS has limits for time, processes and files, not reliably for memory;
  the network, other files and other processes stay open. Windows cannot run answers at all.
- A notebook that you open yourself: in Jupyter a student's code runs with all your rights.
"""


def protections(steps: frozenset[str] | None = None) -> list[Protection]:
    """What is active on this machine, for the user who asks. It is tried, not guessed; or what
    certain ``steps`` (those of :class:`classroom.worker.Workers`) amount to.

    Raises:
        ClassroomError: where no answer can be run.
    """
    steps = _steps() if steps is None else steps
    return [
        Protection(name, active := not steps.isdisjoint(needs), says if active else otherwise)
        for name, needs, says, otherwise in _TABLE
    ]


def report(found: list[Protection] | None = None) -> str:
    """The protections as lines of text, and what is not protected against."""
    found = protections() if found is None else found
    wide = max(len(p.name) for p in found)
    lines = [
        f"{'yes' if p.active else 'NO ':3}  {p.name:{wide}}  {p.says[0].upper()}{p.says[1:]}."
        for p in found
    ]
    return "\n".join(["What holds answers in, on this machine", *lines, "", NOT_PROTECTED])


def need_fork() -> None:
    """Raises:
    ClassroomError: where processes cannot be copied, with what to do instead."""
    if not hasattr(os, "fork"):
        raise ClassroomError(
            "Answers are run in copies of a process, which this system cannot make. On Windows "
            "run the grader in WSL (https://learn.microsoft.com/windows/wsl/), or use nbgrader: "
            "the notebooks of an assignment work in it as they are."
        )


@cache
def _steps() -> frozenset[str]:
    need_fork()
    command = [sys.executable, "-P", "-m", "classroom.protection", "--steps"]
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o711)
        environment = {"PYTHONPATH": str(ROOT), "LANG": "C.UTF-8", "TMPDIR": folder}
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, timeout=60
        )
    try:
        return frozenset(json.loads(done.stdout))
    except ValueError:
        raise ClassroomError(f"no answer can be run here: {done.stderr.strip()}") from None


def _try_steps() -> frozenset[str]:
    """Take the steps, as for an answer."""
    from classroom import sandbox, tree, trying

    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "root"
        root.mkdir()
        guard = sandbox.Guard(
            steps=frozenset(sandbox.STEPS),
            limits=sandbox.Limits(),
            visible=tree.visible([ROOT / "attnkit"]),
            root=str(root),
        )
        os.chmod(folder, 0o711)
        try:
            return trying.tried(guard, sandbox.free_users(1)[0], folder)[0].steps
        except sandbox.Unsafe as unsafe:
            sys.exit(str(unsafe))


if __name__ == "__main__":
    if sys.argv[1:] == ["--steps"]:
        print(json.dumps(sorted(_try_steps())))
    else:
        print(report())
