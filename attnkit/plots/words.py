"""Numbers, labels and places of a figure as words that can be read aloud."""

import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

#: A screen reader reads an alternative text in one breath: what is longer belongs into the prose.
LONGEST = 800

_MATH_WORDS = {
    r"\sqrt": "√",
    r"\cdot": "·",
    r"\times": "×",
    r"\top": "ᵀ",
    r"\sigma": "σ",
    r"\alpha": "α",
    r"\partial": "∂",
    r"\leq": "≤",
    r"\geq": "≥",
}


def namer(axis: Any, where: Iterable[float]) -> Callable[[float], str]:
    """How a place on an axis is called: by its tick's label if that is a word, else its number."""
    labels = {}
    for place, text in zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=False):
        labels[round(float(place), 6)] = words_of(text)
    words = [labels.get(round(float(place), 6), "") for place in where]
    if not words or not all(words) or all(re.fullmatch(r"[−\d.,e+^×-]*", w) for w in words):
        return number
    return lambda place: labels.get(round(float(place), 6)) or number(place)


def numbers(values: Any) -> np.ndarray:
    return np.ma.filled(np.ma.asarray(values, dtype=float), np.nan)


def number(value: Any) -> str:
    value = float(value)
    if not np.isfinite(value):
        return "not a number" if np.isnan(value) else ("−∞" if value < 0 else "∞")
    if value == round(value) and abs(value) < 1e6:
        return f"{value:.0f}".replace("-0", "0") if value == 0 else f"{value:.0f}".replace("-", "−")
    return f"{value:.3g}".replace("-", "−")


def label_of(label: Any) -> str:
    text = str(label)
    return "" if text.startswith("_") else plain(text)


def words_of(text: Any) -> str:
    """The words of a matplotlib text: one that is drawn literally is read literally."""
    literal = not text.get_parse_math() and not text.get_usetex()
    return " ".join(text.get_text().split()) if literal else plain(text.get_text())


def plain(text: str) -> str:
    """Without TeX: $\\sqrt{d_k}$ is read out as √(d_k)."""

    def math(found: re.Match[str]) -> str:
        inner = re.sub(r"\\(?:mathdefault|mathrm|mathbf|mathit|text|operatorname)\s*", "", found[1])
        inner = re.sub(r"\\sqrt\s*\{([^{}]*)\}", r"√(\1)", inner)
        inner = re.sub(r"\\frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}", r"(\1)/(\2)", inner)
        for tex, word in _MATH_WORDS.items():
            inner = re.sub(re.escape(tex) + r"(?![a-zA-Z])\s*", word, inner)
        return re.sub(r"\\([a-zA-Z]+)|\\.|[{}]", lambda m: m[1] or "", inner)

    pair = re.sub(r"(?<!\\)\$([^$]+?)(?<!\\)\$", math, text)
    return " ".join(pair.replace(r"\$", "$").split())


def sentence(text: str) -> str:
    return text if not text or text[-1] in ".?!" else f"{text}."


def cut(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    more = ". The figure shows more."
    return text[: LONGEST - len(more)].rsplit(". ", 1)[0] + more
