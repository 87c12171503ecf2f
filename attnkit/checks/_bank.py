"""Exercises of an instructor's own: files in a folder, run by their path."""

from __future__ import annotations

import ast
import hashlib
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

from attnkit.checks._kinds import AnyExercise
from attnkit.checks._recording import given_back

#: Folders with exercises, separated as in PATH.
VARIABLE = "ATTNKIT_BANK"


class BankError(ValueError):
    """A bank that cannot be loaded; the message names the file and says why."""


def banks_of_environment() -> list[Path]:
    """The folders that ``ATTNKIT_BANK`` names."""
    named = os.environ.get(VARIABLE, "").split(os.pathsep)
    return [Path(folder).resolve() for folder in named if folder.strip()]


def read_bank(folder: Path, taken: Mapping[str, str]) -> dict[str, AnyExercise]:
    """Exercises of all files by id. ``taken``: ids that are in use, and where.

    Raises:
        BankError: see :func:`attnkit.checks.load_bank`.
    """
    if not folder.is_dir():
        raise BankError(f"{folder} is no folder: a bank is a folder with *.py files in it")
    found: dict[str, AnyExercise] = {}
    owners = dict(taken)
    for path in sorted(folder.glob("[!.]*.py")):
        for exercise in _exercises_of(path):
            _examine(exercise, path)
            if exercise.id in owners:
                raise BankError(
                    f"{path}: the id {exercise.id!r} exists already, in {owners[exercise.id]}. "
                    "Give yours a name of its own."
                )
            owners[exercise.id], found[exercise.id] = str(path), exercise
    return found


def _exercises_of(path: Path) -> tuple[AnyExercise, ...]:
    try:
        source = path.read_text(encoding="utf-8")
        tree = ast.parse(source, filename=str(path))
    except (SyntaxError, ValueError, OSError) as error:
        raise BankError(f"{path} cannot be read as Python: {error}") from error
    if not any("EXERCISES" in _assigned(statement) for statement in tree.body):
        return ()
    exercises = _run(path, source).__dict__["EXERCISES"]
    if not isinstance(exercises, tuple | list) or not all(map(_is_exercise, exercises)):
        raise BankError(f"{path}: EXERCISES is a tuple of exercises, got {exercises!r:.200}")
    return tuple(exercises)


def _examine(exercise: AnyExercise, path: Path) -> None:
    """What would be found out too late, in front of a class."""
    if not re.fullmatch(r"[A-Za-z0-9_-]+", exercise.id):
        raise BankError(f"{path}: the id {exercise.id!r} has more than letters, digits, - and _")
    clash = getattr(exercise, "clash", str)()
    if clash:
        raise BankError(f"{path}: of {exercise.id!r}, {clash} for the values that are given")


def _assigned(statement: ast.stmt) -> list[str]:
    targets = getattr(statement, "targets", [getattr(statement, "target", None)])
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _run(path: Path, source: str) -> ModuleType:
    """The module that the file makes. It is compiled here: nothing is written beside the file."""
    number = hashlib.sha256(str(path).encode()).hexdigest()[:12]
    module = ModuleType(f"attnkit_bank_{number}_{path.stem}")
    module.__file__ = str(path)
    before = sys.modules.get(module.__name__)
    sys.modules[module.__name__] = module  # dataclasses look their module up
    import_path, folder = list(sys.path), os.getcwd()
    try:
        with given_back():
            exec(compile(source, str(path), "exec", dont_inherit=True), module.__dict__)
    except (Exception, SystemExit) as error:
        del sys.modules[module.__name__]
        if before is not None:
            sys.modules[module.__name__] = before
        line = _line(error, path)
        raise BankError(f"{path}{line} does not run: {type(error).__name__}: {error}") from error
    finally:
        sys.path[:] = import_path
        os.chdir(folder)
    return module


def _line(error: BaseException, path: Path) -> str:
    trace, line = error.__traceback__, ""
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(path):
            line = f", line {trace.tb_lineno},"
        trace = trace.tb_next
    return line


def _is_exercise(thing: object) -> bool:
    return isinstance(getattr(thing, "id", None), str) and all(
        callable(getattr(thing, name, None)) for name in ("probe", "diagnose", "varied")
    )
