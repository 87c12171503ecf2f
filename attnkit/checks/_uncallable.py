"""Whether something can be called with the arguments of an exercise."""

from __future__ import annotations

import inspect
from collections.abc import Mapping

from attnkit.checks._recording import type_name


def why_uncallable(answer: object, inputs: Mapping[str, object]) -> dict:
    """Why the answer cannot be called on these arguments; empty when it can."""
    if not callable(answer):
        return {"status": "uncallable", "type": type_name(answer)}
    try:
        signature = inspect.signature(answer)
        signature.bind(*inputs.values())
    except TypeError:
        try:
            wants = str(inspect.signature(answer))[:200]
        except (TypeError, ValueError):
            return {}
        return {"status": "arguments", "wants": wants}
    except Exception:  # built-in functions have no signature
        return {}
    return {}
