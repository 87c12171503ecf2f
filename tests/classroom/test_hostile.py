"""Answers that attack whoever runs them: none scores, none harms, none stops the others.

Six of them run every time, all in ``make test-hostile``. What a machine cannot protect against is
said by ``protections()``; where it says so, the harm is not looked for.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
from pathlib import Path

import pytest
from running import RIGHT, SETUP, SHORT, Class, answer, diagnosis, in_a_call

from classroom.protection import ROOT, protections
from classroom.worker import Workers

#: The name that processes of these answers give themselves, so that they can be found.
MARK = f"evil{secrets.token_hex(4)}"
WRONG = "def attention(query, key, value):\n    return 1\n"
NAMED = f"import ctypes, os, signal, sys, time\nctypes.CDLL(None).prctl(15, b'{MARK}')\n"
DETACHED = """\
for _ in range(2):
    if os.fork() == 0:
        os.setsid()
        for number in range(1, 65):
            try: signal.signal(number, signal.SIG_IGN)
            except Exception: pass
        if os.fork() == 0:
            os.closerange(0, 100)
            time.sleep(60)
"""
PATCHED = """\
import builtins, json
yes = lambda *a, **k: True
np.allclose = np.array_equal = np.testing.assert_allclose = torch.allclose = yes
builtins.isinstance = yes
builtins.len = lambda x: 5
json.dumps = lambda *a, **k: '{"status": "returned", "changed": []}'
np.asarray = np.array = lambda *a, **k: np.zeros(3)
"""
EQUAL = """\
class Equal:
    def __eq__(self, other): return True
    def __getattr__(self, name): return self
    def __call__(self, *a, **k): return self
    def __len__(self): return 2
    def __iter__(self): return iter([self, self])
    def __array__(self, *a, **k): return self
    def __bool__(self): return True
    __hash__ = __lt__ = __gt__ = __sub__ = __abs__ = None
def attention(*a): return Equal()
"""
SWALLOWS = """\
def attention(query, key, value):
    while True:
        try:
            while True: pass
        except BaseException: pass
"""
EVERYWHERE = """\
for fd in range(1, 64):
    try: os.write(fd, data)
    except OSError: pass
"""


def forged(header: str, body: str = "b''") -> str:
    """Write a record of one's own and end."""
    return f"""\
import struct, os
header, body = {header}, {body}
os.write(3, struct.pack('>II', len(header), len(body)) + header + body)
os._exit(0)
"""


RECORDED = """b'{"status": "recorded", "detail": "", "line": null}'"""
# Each with what may become of it. Run every time:
SIX = {
    "loops in C and lets nothing through": (
        answer("sum(range(10**12))"), {"too-slow"}
    ),
    "forks without end": (
        answer(NAMED + "while True:\n    try: os.fork()\n    except OSError: pass"),
        {"too-slow", "too-many-processes"},
    ),
    "takes all memory": (
        in_a_call("x = []\nwhile True: x.append(bytes(10**7))"), {"too-much-memory"}
    ),
    "floods the output": (
        answer("import os\nwhile True: os.write(1, b'x' * 10**5)"), {"too-much-output"}
    ),
    "patches what compares": (
        answer(WRONG + PATCHED), {"no-record", "unreadable-record", "wrong-type", "raised-outside"}
    ),
    "leaves processes behind": (answer(NAMED + DETACHED, WRONG), {"wrong-count", "wrong-type"}),
}  # fmt: skip

REST = {
    "swallows the alarm": (answer(SWALLOWS), {"too-slow"}),
    "ignores signals": (
        answer(NAMED + "for n in (1, 2, 14, 15, 24): signal.signal(n, signal.SIG_IGN)\n"
               "while True: time.sleep(1)"),
        {"too-slow"},
    ),
    "stops itself": (answer(NAMED + "os.kill(os.getpid(), 19)\ntime.sleep(9)"),
                     {"too-slow", "raised-outside"}),
    "takes memory with PyTorch": (answer("x = torch.zeros(10**10)"), {"too-much-memory"}),
    "swallows the lack of memory": (
        answer("x = []\nwhile True:\n    try: x.append(bytearray(10**6))\n    except: pass"),
        {"too-slow", "too-much-memory"},
    ),
    "takes memory in many processes": (
        answer(NAMED + "for _ in range(5): os.fork()\nx = b'x' * (150 << 20)\ntime.sleep(9)"),
        {"too-much-memory", "too-many-processes"},
    ),
    "fills the folder": (
        answer("f = open('big', 'wb')\nwhile True: f.write(b'x' * 10**6)"), {"raised-outside"}
    ),
    "fills shared memory": (
        answer("for n in range(99): open(f'/dev/shm/{n}', 'wb').write(b'x' * 10**6)"),
        {"raised-outside"},
    ),
    "recurses": (in_a_call("return attention(query, key, value)"), {"endless-recursion"}),
    "recurses until it crashes": (
        in_a_call("import sys\nsys.setrecursionlimit(10**9)\nreturn attention(query, key, value)"),
        {"ended-the-process", "endless-recursion", "too-much-memory", "too-slow"},
    ),
    "floods in a call": (
        in_a_call("while True: __import__('os').write(2, b'x' * 10**5)"), {"too-much-output"}
    ),
    "equals everything": (answer(EQUAL), {"wrong-type", "wrong-count", "raised"}),
    "ends everything": (in_a_call("import os\nos._exit(0)"), {"ended-the-process"}),
    "kills whoever is near": (
        answer("import os, signal\nfor pid in (os.getppid(), 1, -1, 0):\n"
               "    for number in (19, 9):\n        try: os.kill(pid, number)\n"
               "        except OSError: pass", WRONG),
        {"wrong-type", "wrong-count", "ended-the-process"},
    ),
    "writes rubbish to every file": (
        answer("import os\ndata = b'A' * 9\n" + EVERYWHERE, RIGHT), {"no-record"}
    ),
    "writes a flood to every file": (
        answer("import os\ndata = b'A' * 50_000_000\n" + EVERYWHERE, RIGHT),
        {"no-record", "too-much-output", "ended-the-process"},
    ),
    "forges a failure of ours": (
        answer(forged(RECORDED.replace("recorded", "worker-failed"))),
        {"no-record"},
    ),
    "forges a record of nothing": (
        answer(forged(RECORDED, "b'x' * 99")),
        {"no-record"},
    ),
    "forges a header without end": (answer(forged("b'[' * 3_000")), {"no-record"}),
    "promises four gigabytes": (
        answer("import os\nos.write(3, b'\\xff' * 8)\nos._exit(0)"), {"no-record"}
    ),
    "patches what writes the record": (
        answer("import sys\nsys.modules['classroom.wire'].pack = lambda *a: b'x'\n"
               "sys.modules['attnkit.checks'].to_bytes = lambda *a: b'y'\n" + RIGHT),
        {"no-record"},
    ),
    "asks for the right answer": (
        answer("from attnkit import checks\nattention = checks.exercise('ch3-attention').right"),
        {"raised-outside"},
    ),
    "asks the frames for the right answer": (
        in_a_call("import sys\nframe = sys._getframe()\nwhile frame:\n"
                  "    for v in list(frame.f_locals.values()):\n"
                  "        if callable(getattr(v, 'right', 0)): return v.right(query, key, value)\n"
                  "    frame = frame.f_back\nreturn 1"),
        {"wrong-type", "wrong-count"},
    ),
    "interrupts": (in_a_call("raise KeyboardInterrupt"), {"ended-the-process"}),
    "leaves": (in_a_call("import sys\nsys.exit(0)"), {"raised", "ended-the-process"}),
    "goes on in a thread": (
        answer("import threading\ndef f():\n    while True: pass\n"
               "for _ in range(3): threading.Thread(target=f).start()", WRONG),
        {"wrong-type", "wrong-count", "too-slow"},
    ),
    "asks for more": (
        answer("import resource as r\nfor k in (r.RLIMIT_AS, r.RLIMIT_NPROC, r.RLIMIT_FSIZE):\n"
               "    try: r.setrlimit(k, (-1, -1))\n    except (ValueError, OSError): pass\n"
               "x = bytearray(600 << 20)"),
        {"too-much-memory"},
    ),
    "becomes root": (answer("import os\nos.setuid(0)"), {"raised-outside"}),
    "makes namespaces": (
        answer("import ctypes\nassert ctypes.CDLL(None).unshare(0x10020000) == 0, 'refused'"),
        {"raised-outside"},
    ),
}  # fmt: skip
#: What is run only where one of these protections is active: elsewhere it would do harm.
NEEDS = {
    "kills whoever is near": {"own processes", "own user", "system calls"},
    "forks without end": {"limits"},
    **{name: {"memory"} for name in (*SIX, *REST) if "memory" in name},
    "recurses until it crashes": {"memory"},
    "asks for more": {"memory"},
}
#: What answers do not score with, whatever else becomes of them, by the harm that is looked for.
HARM = {
    "network": (
        "import socket\nfor kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):\n"
        "    try:\n        s = socket.socket(socket.AF_INET, kind)\n"
        "        s.connect(('127.0.0.1', {port}))\n        s.send(b'hello')\n"
        "    except OSError: pass"
    ),
    "writing": (
        "for path in {places}:\n    try: open(path, 'w').write('x')\n    except OSError: pass"
    ),
    "reading": "seen = open({secret}).read()\nraise ValueError(seen)",
    "reading the book": "raise ValueError(open({book}).read()[:300])",
    "looking at processes": (
        "import glob\nraise ValueError(' '.join(\n"
        "    open(path).read() for path in glob.glob('/proc/[0-9]*/cmdline')))"
    ),
}


def active() -> set[str]:
    return {protection.name for protection in protections() if protection.active}


def alive() -> list[int]:
    """The processes that these answers have left."""
    found = []
    for entry in os.scandir("/proc") if os.path.isdir("/proc") else ():
        with contextlib.suppress(OSError):
            if Path(entry.path, "comm").read_text().strip() == MARK:
                found.append(int(entry.name))
    return found


def harmless(name: str) -> bool:
    return name not in NEEDS or not active().isdisjoint(NEEDS[name])


@pytest.fixture(scope="module")
def running():
    """Nothing hostile is run before it is certain that it is held in as ``protections`` says."""
    with Workers(SETUP, limits=SHORT) as started:
        assert {p.name for p in protections(steps=started.steps) if p.active} == active()
        yield started


def table(cases: dict):
    """The answers of a table, with an honest one at either end."""
    honest = {"before": answer(RIGHT), "after": answer("# after\n" + RIGHT)}
    return honest | {name: case[0] for name, case in cases.items() if harmless(name)}


@pytest.fixture(scope="module")
def six(running):
    return Class(running, table(SIX))


@pytest.fixture(scope="module")
def rest(running):
    return Class(running, table(REST))


@pytest.mark.parametrize("name", SIX)
def test_six_hostile_answers_get_their_line(six, name):
    if harmless(name):
        assert diagnosis(six[name]) in SIX[name][1], six[name]
    assert {diagnosis(six["before"]), diagnosis(six["after"])} == {"right"}


@pytest.mark.hostile
@pytest.mark.parametrize("name", REST)
def test_hostile_answers_get_their_line(rest, name):
    if harmless(name):
        assert diagnosis(rest[name]) in REST[name][1], rest[name]
    assert {diagnosis(rest["before"]), diagnosis(rest["after"])} == {"right"}


def test_nothing_of_them_is_alive_afterwards(six):
    assert six["leaves processes behind"]
    assert alive() == []


@pytest.mark.hostile
def test_nothing_of_all_of_them_is_alive_afterwards(rest):
    assert rest["stops itself"]
    assert alive() == []


@pytest.fixture(scope="module")
def harm(running, tmp_path_factory):
    """Run what would do harm; return what became of it, and where to look for it."""
    folder = tmp_path_factory.mktemp("submissions")
    secret = folder / "gradebook.csv"
    secret.write_text("the secret of somebody else")
    for path in (folder, *folder.parents):
        with contextlib.suppress(OSError):
            path.chmod(path.stat().st_mode | 0o055) if path.parent != path else None
    places = [secret, folder / "new", Path.home() / MARK, Path("/tmp") / MARK,
              Path("/dev/shm") / MARK, ROOT / MARK, Path("/var/tmp") / MARK]  # fmt: skip
    server, datagrams = socket.socket(), socket.socket(type=socket.SOCK_DGRAM)
    with server, datagrams:
        server.bind(("127.0.0.1", 0))
        server.listen()
        port = server.getsockname()[1]
        datagrams.bind(("127.0.0.1", port))
        book = str(ROOT / "chapters/03-scaled-dot-product.md")
        values = {"port": port, "places": list(map(str, places)), "secret": repr(str(secret)),
                  "book": repr(book)}  # fmt: skip
        tried = {name: answer(code.format(**values)) for name, code in HARM.items()}
        ran = Class(running, tried)
        ran["network"]  # all of them
        heard = [s for s in (server, datagrams) if _heard(s)]
    yield ran, secret, places, heard
    for path in places[2:]:
        path.unlink(missing_ok=True)


def _heard(listening: socket.socket) -> bool:
    listening.setblocking(False)
    try:
        listening.accept() if listening.type == socket.SOCK_STREAM else listening.recv(9)
    except BlockingIOError:
        return False
    return True


@pytest.mark.hostile
def test_no_answer_reaches_a_network(harm):
    assert not harm[3] or "no network" not in active()


@pytest.mark.hostile
def test_no_answer_writes_anywhere(harm):
    _, secret, places, _ = harm
    if "no writing" in active():
        assert secret.read_text() == "the secret of somebody else"
        assert not [path for path in places[1:] if path.exists()]


@pytest.mark.hostile
def test_no_answer_reads_what_others_have_written_or_the_book(harm):
    ran = harm[0]
    said = {name: ran[name].detail for name in ("reading", "reading the book")}
    if "no reading" in active():
        assert all(text.startswith(("FileNotFound", "PermissionError")) for text in said.values())


@pytest.mark.hostile
def test_no_answer_sees_the_processes_of_others(harm):
    said = harm[0]["looking at processes"].detail
    if "own processes" in active():
        assert "pytest" not in said
        assert said.count("classroom.preloaded") <= 1
