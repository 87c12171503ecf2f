"""Runs one answer in a process of its own and records what it does.

Everything here is imported before the first line of a student's, and everything after that line
may have been changed by it: what comes out is judged by :mod:`classroom.keeper`, as a stranger's.
"""

from __future__ import annotations

import errno
import json
import os
import resource
import sys
import types
from collections.abc import Callable, Mapping
from typing import NoReturn

import numpy as np

from attnkit import checks
from attnkit.checks import _registry
from classroom import wire
from classroom.cells import compiled
from classroom.endings import CANNOT_WRITE, LONGEST_DETAIL, LONGEST_RECORD

Probe = Callable[[object], Mapping[str, np.ndarray]]
#: What an exercise has to know to judge an answer, and not to record what it does.
_KEYS = ("right", "misconceptions", "holds", "draw", "key")
#: Records that are not of a call.
_NO_CALLS = {"answer", "prediction", "explanation", "measure"}
#: Failures of one cell behind which a notebook goes on with the next.
_NOT_THE_END = {"raised-outside", "name-not-defined"}
_NO_ROOM = ("can't allocate memory", "std::bad_alloc")
_NO_THREAD = ("can't start new thread", "Resource temporarily unavailable")


class Trouble(Exception):
    """An answer that left no record: the name of the failure, a detail, the line of the cell."""


def prepare(job: Mapping, namespace: dict[str, object]) -> Callable[[int], NoReturn]:
    """What comes before the first line of the student's; the rest is to be called with the place
    where the record goes.

    Raises:
        ValueError: for an exercise that nobody knows.
    """
    probe = _probe(job["check"], job["variation"])
    _take_keys_away(namespace)
    return lambda record: _run(job, probe, namespace, record)


def _run(job: Mapping, probe: Probe, namespace: dict[str, object], record: int) -> NoReturn:
    """Run the cells of a job, evaluate its expression, and write the record or the failure."""
    leave, write, pack, me = os._exit, wire.write, wire.pack, os.getpid()
    reserve = bytearray(2 << 20)
    code = CANNOT_WRITE
    try:
        try:
            value = _evaluated(job["sources"], job["expression"], namespace)
            status, detail, line, arrays = "recorded", "", None, _recorded(probe, value)
        except Trouble as trouble:
            del reserve
            _more_room()
            (status, detail, line), arrays = trouble.args, b""
        if os.getpid() != me:  # the answer has forked, and this is not the one that was asked
            leave(0)
        write(record, pack({"status": status, "detail": detail, "line": line}, arrays))
        code = 0
    finally:
        leave(code)


def _more_room() -> None:
    """Memory up to the upper bound, so that its lack can be told."""
    upper = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (upper, upper))


def _recorded(probe: Probe, value: object) -> bytes:
    """The bytes of the record.

    Raises:
        Trouble: when there is none.
    """
    try:
        arrays = probe(value)
        _first_failure(arrays)
        data = checks.to_bytes(arrays)
    except Trouble:
        raise
    except BaseException as error:
        raise Trouble(*_failure(error, "no-record"), None) from None
    if len(data) > LONGEST_RECORD:
        raise Trouble("no-record", "the results are too large", None)
    return data


def _probe(check: str, variation: str) -> Probe:
    """How to record this exercise, without what it takes to judge it."""
    exercise = checks.exercise(check, variation)
    for name in _KEYS:
        if name in vars(exercise):
            object.__setattr__(exercise, name, ())
    options = getattr(exercise, "options", None)
    if options:
        letters = tuple(types.SimpleNamespace(letter=option.letter) for option in options)
        object.__setattr__(exercise, "options", letters)
    return exercise.probe


class _Unsaid:
    """What ``check`` gives to an answer that calls it: nothing is said here."""

    name, message, correct = "not-said-here", "The verdict comes with the grades.", False

    def require(self) -> _Unsaid:
        return self


def _take_keys_away(namespace: dict[str, object]) -> None:
    """Make the answers of other exercises harder to get at; they cannot be put out of reach."""
    real = {id(getattr(checks, name)) for name in ("check", "diagnose")}
    silent = lambda *args, **kwargs: _Unsaid()  # noqa: E731
    for name, value in list(namespace.items()):
        if id(value) in real:
            namespace[name] = silent
    checks.check = checks.diagnose = silent
    _registry.book = dict
    _registry._BANKS.clear()
    checks.__dict__.pop("_exercises", None)
    for name in list(sys.modules):
        package, _, leaf = name.rpartition(".")
        if package == checks.__name__ and leaf.startswith(("chapter", "_wrong")):
            del sys.modules[name]
            checks.__dict__.pop(leaf, None)


def _evaluated(sources: list[str], expression: str, namespace: dict[str, object]) -> object:
    """Run the cells and give the value of the expression.

    As in a notebook, what a cell has defined before it raises an error is there: an answer with
    the stub's last line still behind it is an answer.
    """
    names = [f"<answer cell {number}>" for number in range(1, len(sources) + 1)]
    codes = []
    for source, name in zip(sources, names, strict=True):
        try:
            codes.append(compiled(source, name))
        except (SyntaxError, ValueError) as error:  # ValueError: no text that can be encoded
            line = getattr(error, "lineno", None)
            said = getattr(error, "msg", None) or str(error)
            raise Trouble("syntax-error", _short(said) + _which(name, names), line) from None
        except BaseException as error:  # so deep or so large that it cannot be read
            detail = f"{type(error).__name__}: {_text(error)}"
            raise Trouble("syntax-error", _short(detail) + _which(name, names), None) from None
    asked = compile(expression, "<expression>", "eval")
    for name in asked.co_names:  # the notebook may use the name for something of its own
        namespace.pop(name, None)
    stopped: Trouble | None = None
    for code in codes:
        try:
            _attempt(lambda code=code: exec(code, namespace), names)
        except Trouble as trouble:
            if trouble.args[0] not in _NOT_THE_END:
                raise
            stopped = stopped or trouble
    try:
        return _attempt(lambda: eval(asked, namespace), names)
    except Trouble as trouble:
        raise (stopped or trouble) from None


def _attempt(act: Callable[[], object], names: list[str]) -> object:
    try:
        return act()
    except BaseException as error:
        name, line = _place(error, names)
        status, detail = _failure(error, "raised-outside")
        raise Trouble(status, detail + _which(name, names), line) from None


def _failure(error: BaseException, otherwise: str) -> tuple[str, str]:
    """The name of what an exception means, and a detail."""
    detail = _short(f"{type(error).__name__}: {_text(error)}")
    if isinstance(error, MemoryError) or any(words in detail for words in _NO_ROOM):
        return "too-much-memory", detail
    again = isinstance(error, OSError) and error.errno == errno.EAGAIN
    if again or any(words in detail for words in _NO_THREAD):
        return "too-many-processes", detail
    if isinstance(error, NameError) and not isinstance(error, UnboundLocalError):
        return "name-not-defined", _short(str(error.name or _text(error)))
    if not isinstance(error, Exception):  # SystemExit, KeyboardInterrupt
        return "ended-the-process", detail
    return otherwise, detail


def _first_failure(arrays: Mapping[str, np.ndarray]) -> None:
    """Tell missing memory, processes and names by their own names, when the first call had them."""
    calls = [k for k in arrays if k.endswith("/record") and k.partition("/")[0] not in _NO_CALLS]
    for key in calls[:1]:
        record = json.loads(arrays[key].tobytes())
        if record.get("status") != "raised":
            return
        kind, message = str(record.get("type")), str(record.get("message"))
        detail = _short(f"{kind}: {message}")
        if kind.endswith("MemoryError") or any(words in message for words in _NO_ROOM):
            raise Trouble("too-much-memory", detail, None)
        if any(words in message for words in _NO_THREAD):
            raise Trouble("too-many-processes", detail, None)
        if kind == "NameError" and message.startswith("name '"):
            raise Trouble("name-not-defined", message.split("'")[1], None)


def _place(error: BaseException, names: list[str]) -> tuple[str, int | None]:
    """The cell and the line in it from which the error came, the innermost one."""
    trace, found = error.__traceback__, ("", None)
    while trace is not None:
        if trace.tb_frame.f_code.co_filename in names:
            found = trace.tb_frame.f_code.co_filename, trace.tb_lineno
        trace = trace.tb_next
    return found


def _which(name: str, names: list[str]) -> str:
    return f" (in {name.strip('<>')})" if name and len(names) > 1 else ""


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except BaseException:
        return ""


def _short(text: str) -> str:
    return text[: LONGEST_DETAIL - 40]
