"""Call a student's function under watch and write down what it did, as arrays."""

from __future__ import annotations

import contextlib
import copy
import inspect
import json
import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from attnkit.checks._silence import quiet
from attnkit.checks._time_limit import OutOfTime, time_limit

#: Seconds for one call, and for all calls of one probe together.
CALL_SECONDS, PROBE_SECONDS = 3.0, 10.0
#: A result with more elements than this is not recorded: no exercise asks for one.
MAX_ELEMENTS = 100_000
_MAX_TEXT = 400


def text_array(record: Mapping) -> np.ndarray:
    """Pack a small record as the bytes of its JSON text, which safetensors can carry."""
    return np.frombuffer(json.dumps(record).encode(), dtype=np.uint8).copy()


def read_text(array: object) -> dict:
    """Unpack what :func:`text_array` packed; ValueError when it is anything else."""
    if not isinstance(array, np.ndarray) or array.dtype != np.uint8 or array.size > 20_000:
        raise ValueError("not a record")
    record = json.loads(array.tobytes().decode())
    if not isinstance(record, dict):
        raise ValueError("not a record")
    return record


@contextlib.contextmanager
def given_back() -> Iterator[None]:
    """Leave random states and torch modes as they were."""
    states = random.getstate(), np.random.get_state(), torch.get_rng_state()
    grad, dtype = torch.is_grad_enabled(), torch.get_default_dtype()
    try:
        yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])
        torch.set_rng_state(states[2])
        torch.set_grad_enabled(grad)
        torch.set_default_dtype(dtype)


class TooLarge(ValueError):
    """More numbers than anybody asked for; they are not copied (a view of one may be endless)."""

    def __init__(self, shape: Sequence[int]) -> None:
        super().__init__(f"shape {tuple(shape)}")
        self.shape = [int(length) for length in shape]


def as_array(value: Any) -> np.ndarray:
    """A number, tensor, array or nested list of them as a plain real array.

    Raises:
        TooLarge: for more than ``MAX_ELEMENTS`` numbers.
        TypeError, ValueError: for anything else.
    """
    if isinstance(value, torch.Tensor | np.ndarray):
        if math.prod(value.shape) > MAX_ELEMENTS:
            raise TooLarge(value.shape)
    elif isinstance(value, list | tuple) and len(value) > MAX_ELEMENTS:
        raise TooLarge([len(value)])
    if isinstance(value, torch.Tensor):
        tensor = value.detach().cpu()
        value = (tensor.half() if tensor.dtype == torch.bfloat16 else tensor).numpy()
    if isinstance(value, list | tuple):
        value = [as_array(item) for item in value]
    if value is None or isinstance(value, str | bytes | Mapping | set | frozenset):
        raise TypeError("not an array")
    array = np.array(value)
    if array.dtype == object:  # fractions, decimals, mixed lists of tensors
        array = array.astype(np.float64)
    if array.dtype.kind not in "biuf":
        raise TypeError("not an array of real numbers")
    if array.dtype.itemsize > 8:  # safetensors has no long double
        array = array.astype(np.float64)
    if array.size > MAX_ELEMENTS:
        raise TooLarge(array.shape)
    return np.array(array, dtype=array.dtype.newbyteorder("="), order="C")


def _safe_text(thing: object) -> str:
    try:
        return str(thing)[:_MAX_TEXT]
    except Exception:
        return ""


def type_name(value: object) -> str:
    """The name of a value's type, also where a metaclass has something else in its place."""
    return type.__dict__["__name__"].__get__(type(value))[:80]


def _kind(value: Any) -> str:
    dtype = getattr(value, "dtype", None)
    name = type_name(value)
    return name if dtype is None else f"{name} of {str(dtype)[:80]}"


def _unpack(result: Any, names: Sequence[str]) -> tuple[dict, dict[str, np.ndarray]]:
    """Status and arrays of what came back."""
    kind = type_name(result)
    if inspect.iscoroutine(result):
        result.close()
        return {"status": "type", "type": kind, "result": "The result"}, {}
    if result is None:
        return {"status": "nothing"}, {}
    several = len(names) > 1 and isinstance(result, tuple | list)
    parts: list[Any] = [*result] if several else [result]
    if several and len(parts) != len(names):
        return {"status": "count", "count": len(parts)}, {}
    arrays = {}
    for name, part in zip(names, parts, strict=False):
        try:
            arrays[name] = as_array(part)
        except TooLarge as error:
            return {"status": "size", "shape": error.shape, "result": name}, {}
        except (TypeError, ValueError, RuntimeError):
            whole = part is result and len(names) > 1
            result_name = "The result" if whole else name
            return {"status": "type", "type": _kind(part), "result": result_name}, {}
    if len(parts) != len(names):
        return {"status": "count", "count": 1, "type": kind}, arrays
    return {"status": "returned"}, arrays


def _altered(before: Any, after: Any) -> bool:
    if isinstance(before, torch.Tensor) and isinstance(after, torch.Tensor):
        if before.requires_grad != after.requires_grad or before.dtype != after.dtype:
            return True
        before, after = before.detach().numpy(), after.detach().numpy()
    if isinstance(before, dict | set) or isinstance(after, dict | set):
        return before != after
    try:
        before, after = np.asarray(before), np.asarray(after)
    except ValueError:  # lists of different lengths
        return before != after
    return before.shape != after.shape or not np.array_equal(before, after)


def copied(value: Any) -> Any:
    """A fresh copy of one argument, through and through: a Parameter stays a Parameter."""
    if isinstance(value, torch.nn.Parameter):
        return torch.nn.Parameter(value.detach().clone(), requires_grad=value.requires_grad)
    if isinstance(value, torch.Tensor):
        return value.clone()
    return copy.deepcopy(value)


def record_call(
    answer: Callable, arguments: Mapping[str, object], results: Sequence[str], seconds: float
) -> tuple[dict, dict[str, np.ndarray]]:
    """Call ``answer`` on copies of the arguments; return what happened and the result arrays.

    Whatever the answer raises is written down, except KeyboardInterrupt, which passes.
    """
    given = {name: copied(value) for name, value in arguments.items()}
    record: dict[str, Any] = {}
    arrays: dict[str, np.ndarray] = {}
    with quiet() as sink:
        try:
            with time_limit(seconds):
                record, arrays = _unpack(answer(*given.values()), results)
        except KeyboardInterrupt:
            raise
        except OutOfTime:
            record = {"status": "time", "seconds": round(seconds, 1)}
        except RecursionError:
            record = {"status": "recursion"}
        except BaseException as error:
            kind = "todo" if isinstance(error, NotImplementedError) else "raised"
            record = {
                "status": kind,
                "type": type_name(error),
                "message": _safe_text(error),
            }
            line = _line_of(error, answer)
            if line is not None:
                record["line"] = line
    record["changed"] = [name for name in given if _altered(arguments[name], given[name])]
    record["printed"] = sink.characters
    return record, arrays


def _line_of(error: BaseException, answer: Callable) -> int | None:
    """Line of the answer, counted from its ``def`` as line 1, at which the error came up."""
    code = getattr(answer, "__code__", None)
    trace, line = error.__traceback__, None
    while trace is not None:
        if code is not None and trace.tb_frame.f_code is code:
            line = trace.tb_lineno - code.co_firstlineno + 1
        trace = trace.tb_next
    return line
