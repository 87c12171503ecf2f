"""What holds an answer in, wall by wall: where one is missing, the others still stand."""

from __future__ import annotations

import json
import os
import re
import secrets
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from classroom import endings, sandbox, tree, trying, wire
from classroom.processes import began, below
from classroom.protection import ROOT, protections, report
from classroom.sandbox import LINUX, STEPS, Guard, Limits

HELD = Path(__file__).with_name("held.py")
HIDDEN = ROOT / "attnkit/checks"
MARK = f"left{secrets.token_hex(4)}"
LEAVES = f"""\
import ctypes, os, signal, time
ctypes.CDLL(None).prctl(15, b'{MARK}')
for number in (1, 2, 15):
    signal.signal(number, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 99)
        time.sleep(30)
    os._exit(0)
said = "done"
"""
NAMESPACES = {
    "user-namespace", "process-namespace", "own-files", "network-namespace", "memory-namespace"
}  # fmt: skip
# What is tried, by the protection that keeps from it (two words), and what is said where it stands.
TRIED = {
    "no network": ("import socket\nsocket.socket().connect(('127.0.0.1', 9))", "refused"),
    "no network without a connection": (
        "import socket as s\ns.socket(type=s.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 9))", "refused"
    ),
    "no writing": ("open(PLACE, 'w')", "refused"),
    "no writing where there is something to see": ("open(SHOWN + '/new', 'w')", "refused"),
    "no reading": ("open(PLACE).read()", "refused"),
    "own files": ("import os\nsaid = os.path.exists(HIDDEN + '/__init__.py')", "False"),
    "own processes": ("import os\nsaid = os.getpid()", "1"),
    "own user": ("import os\nsaid = os.getuid() >= 61184 and os.getgroups() == []", "True"),
    "system calls": ("import ctypes\nsaid = ctypes.CDLL(None).unshare(0x10000000)", "-1"),
    "limits": (
        "import resource as r\nsaid = r.getrlimit(r.RLIMIT_CPU), r.getrlimit(r.RLIMIT_CORE)",
        "((7, 9), (0, 0))",
    ),
    "memory": ("said = len(b'x' * (300 << 20))", "MemoryError: "),
    "no new rights": (
        "import ctypes\nsaid = ctypes.CDLL(None).prctl(39, 0, 0, 0, 0)", "1"
    ),
}  # fmt: skip
ALSO = {
    "a place to write": ("open('note', 'w').write('x')\nsaid = open('note').read()", "x"),
    "Python's own": ("import zipfile, decimal\nsaid = decimal.Decimal(1)", "1"),
    "devices": ("said = len(open('/dev/urandom', 'rb').read(4))", "4"),
    "an environment": ("import os\nsaid = 'PYTHONPATH' in os.environ", "False"),
    "processes left behind": (LEAVES, "done"),
    "no rights of root": ("import os\ntry: os.setuid(0)\nexcept OSError: said = 'no'", "no"),
}


def guarded(steps, folder: Path) -> dict:
    """What becomes of all of them under a guard of these steps."""
    place = folder / "private" / "somebody else's.txt"
    place.parent.mkdir()
    place.write_text("a secret")
    place.chmod(0o666)
    for above in (place.parent, folder, *folder.parents[:-1]):
        if above.stat().st_uid == os.getuid():
            above.chmod(above.stat().st_mode | 0o055)
    shown = folder / "shown"
    shown.mkdir()
    shown.chmod(0o777)
    words = f"SHOWN = {str(shown)!r}\nPLACE = {str(place)!r}\nHIDDEN = {str(HIDDEN)!r}\n"
    order = {
        "steps": sorted(steps),
        "limits": list(Limits(seconds=5, memory_mb=200)),
        "hidden": [str(HIDDEN)],
        "shown": str(shown),
        "mark": MARK,
        "codes": {name: words + code for name, (code, _) in {**TRIED, **ALSO}.items()},
    }
    done = subprocess.run(
        [sys.executable, str(HELD)],
        input=json.dumps(order),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout) | {"kept": place.read_text() == "a secret"}


def everybody_reads_python() -> bool:
    """Not so where root alone has it: then answers need files of their own to see it."""
    files = Path(os.__file__), Path(sys.prefix, "lib"), ROOT / "attnkit"
    return os.getuid() != 0 or all(
        above.stat().st_mode & 0o5 == 0o5 for file in files for above in file.parents
    )


@pytest.fixture(scope="module", params=["every wall", "no namespaces", "no filters"])
def walls(request, tmp_path_factory):
    """With all that this machine has, and with either half of it."""
    without = {"no namespaces": NAMESPACES, "no filters": {"landlock", "system-calls"}}
    if not everybody_reads_python():
        without["no namespaces"] = NAMESPACES - {"own-files"}
    return guarded(set(STEPS) - without.get(request.param, set()), tmp_path_factory.mktemp("walls"))


@pytest.mark.parametrize("name", [*TRIED, *ALSO])
def test_every_wall_that_is_said_to_stand_stands(walls, name):
    said = walls["said"][name]["detail"]
    active = {p.name for p in protections(frozenset(walls["steps"])) if p.active}
    if name in ALSO:
        assert said.startswith(ALSO[name][1]), said
    elif re.split(" with| where", name)[0] in active:
        expected = TRIED[name][1]
        away = said.startswith(("PermissionError", "FileNotFoundError")) or (
            "unreachable" in said or "Read-only" in said
        )
        assert away if expected == "refused" else said == expected, said


def test_on_linux_either_half_keeps_from_writing_reading_and_the_network(walls):
    active = {p.name for p in protections(frozenset(walls["steps"])) if p.active}
    assert walls["kept"] or "no writing" not in active
    if LINUX and not walls["refused"]:
        assert {"no network", "no writing", "no reading", "memory", "limits"} <= active


def test_nothing_that_an_answer_has_started_outlives_it(walls):
    assert walls["said"]["processes left behind"]["detail"] == "done"
    assert walls["alive"] == 0


def attempts(monkeypatch, *outcomes):
    """Have the attempts end like this, one after the other; the guards that were tried."""
    left, seen = list(outcomes), []

    def attempt(guard, uid, folder):
        seen.append(guard.steps)
        return left.pop(0)

    monkeypatch.setattr(trying, "_attempt", attempt)
    monkeypatch.setattr(sandbox, "LINUX", True)
    return seen


def ordinary(monkeypatch, uid=1000):
    monkeypatch.setattr(os, "getuid", lambda: uid)


GUARD = Guard(frozenset(STEPS), Limits())


def test_a_refused_step_is_left_out_and_the_others_stay(monkeypatch):
    ordinary(monkeypatch)
    seen = attempts(monkeypatch, ("network-namespace", "not permitted"), None)
    guard, refused = trying.tried(GUARD, 0, "")
    assert seen[0] - guard.steps == {"network-namespace"}
    assert refused == {"network-namespace": "not permitted"}


def test_without_files_of_its_own_an_answer_gets_landlock(monkeypatch):
    ordinary(monkeypatch)
    seen = attempts(monkeypatch, ("own-files", "not permitted"), None)
    guard, _ = trying.tried(GUARD, 0, "")
    assert "landlock" not in seen[0]
    assert "landlock" in guard.steps


def test_what_needs_a_user_namespace_goes_with_it(monkeypatch):
    ordinary(monkeypatch)
    attempts(monkeypatch, ("user-namespace", "not permitted"), None)
    guard, _ = trying.tried(GUARD, 0, "")
    assert guard.steps.isdisjoint(NAMESPACES)


@pytest.mark.parametrize("trouble", [("", "RuntimeError('x')"), ("", "the process ended")])
def test_what_goes_wrong_otherwise_leaves_nothing_out_but_stops(monkeypatch, trouble):
    ordinary(monkeypatch)
    attempts(monkeypatch, trouble, None)
    with pytest.raises(sandbox.Unsafe, match="does not work here"):
        trying.tried(GUARD, 0, "")


def test_with_the_rights_of_root_nothing_is_run(monkeypatch):
    ordinary(monkeypatch, uid=0)
    attempts(monkeypatch, ("own-user", "not permitted"), None)
    with pytest.raises(sandbox.Unsafe, match="as an ordinary user"):
        trying.tried(GUARD, 0, "")
    with pytest.raises(sandbox.Unsafe, match="as an ordinary user"):
        replace(GUARD, steps=frozenset()).arm(0, "")


def test_solutions_and_tests_are_not_among_what_an_answer_sees(monkeypatch):
    elsewhere = [path for path in sys.path if not Path(path).is_relative_to(ROOT)]
    monkeypatch.setattr(sys, "path", [str(ROOT), *elsewhere])
    seen = [Path(path) for path in tree.visible([ROOT / "attnkit"])]
    assert ROOT / "attnkit" in seen or any(path in ROOT.parents for path in seen)
    for private in ("chapters", "tests", "classroom", "_build"):
        assert not any((ROOT / private).is_relative_to(path) for path in seen)


def test_users_of_answers_are_nobody_yet():
    users = sandbox.free_users(3)
    assert len(set(users)) == 3
    assert all(61184 <= user < 65000 for user in users)


def test_the_processes_below_one_are_found_and_not_mistaken_for_later_ones():
    with subprocess.Popen(["sleep", "9"]) as process:
        if LINUX:
            assert process.pid in below(os.getpid())
            assert began(process.pid).isdigit()
        process.kill()
    assert began(process.pid) == ""


def frame(header: object, body: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return wire.LENGTHS.pack(len(text), len(body)) + text + body


GOOD = {"status": "recorded", "detail": "", "line": 3}
FORGED = {
    "ours": {**GOOD, "status": "worker-failed"},
    "unknown": {**GOOD, "status": "praised"},
    "a list for a status": {**GOOD, "status": ["recorded"]},
    "no detail": {"status": "recorded", "line": 1},
    "a number for a detail": {**GOOD, "detail": 5},
    "no object": [1],
    "no JSON": b"\xff\xfe",
    "nested without end": b"[" * 3000,
    "a long header": {**GOOD, "detail": "x" * 5000},
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_header_is_no_record(name):
    assert endings.said(frame(FORGED[name], b"x")).status == "no-record"


def test_what_a_header_says_is_taken_with_care():
    ending = endings.said(frame({**GOOD, "detail": "a\x1b[31m\nb" + "c" * 900, "line": True}, b"x"))
    assert ending.status == "recorded"
    assert ending.line is None
    assert ending.detail.isprintable() and len(ending.detail) <= endings.LONGEST_DETAIL
    assert endings.said(frame({**GOOD, "status": "raised-outside"}, b"x")).arrays == b""


def test_frames_come_in_pieces():
    whole = wire.pack({"a": 1}, b"body") + wire.pack({"b": "é"})
    frames = wire.Frames()
    found = [one for byte in whole for one in frames.feed(bytes([byte]))]
    assert found == [({"a": 1}, b"body"), ({"b": "é"}, b"")]
    with pytest.raises(wire.WireError, match="allowed"):
        list(wire.Frames(10, 10).feed(wire.pack({}, b"x" * 11)))


def test_the_report_says_what_is_active_and_what_is_not_protected_against():
    nothing = report(protections(frozenset()))
    assert nothing.count("NO ") == len(protections(frozenset()))
    assert "does not protect against" in nothing and "Windows" in nothing
    assert report(protections(frozenset(STEPS))).count("yes ") == len(protections(frozenset()))
