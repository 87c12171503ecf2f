"""The seal of a certificate: a ring with a segment for each page, as long as it has numbers."""

from math import cos, pi, sin

from attnkit.verify.compare import Verdict

OUTER, INNER, GAP = 96, 74, 0.012
SIZE = 2 * OUTER + 8


def seal(verdicts: list[Verdict], within: int, measured: int) -> str:
    """An SVG; a page with something outside or not measured has a broken, paler segment."""
    # The root, so that a page of few numbers can still be seen beside one of a thousand.
    weights = [max(len(verdict.lines) + verdict.missed, 1) ** 0.5 for verdict in verdicts]
    whole, at, parts = sum(weights) or 1, 0.0, []
    for verdict, weight in zip(verdicts, weights, strict=True):
        share = weight / whole
        gap = GAP if len(verdicts) > 1 else 0.0001
        kind = "yes" if verdict.good else "no"
        inner = INNER if verdict.good else (INNER + OUTER) / 2
        parts.append(
            f'<path class="{kind}" d="{_segment(at + gap / 2, at + share - gap / 2, inner)}"/>'
        )
        at += share
    good = sum(verdict.good for verdict in verdicts)
    words = (
        f"{within:,} of {measured:,} measured numbers within their tolerance; "
        f"{good} of {len(verdicts)} pages without exception"
    )
    return (
        f'<svg class="seal" viewBox="-{SIZE / 2:g} -{SIZE / 2:g} {SIZE} {SIZE}" role="img" '
        f'aria-label="{words}">{"".join(parts)}'
        f'<text class="large" y="4">{within:,}</text>'
        f'<text y="26">of {measured:,} within</text></svg>'
    )


def _segment(start: float, end: float, inner: float) -> str:
    """The path of a piece of the ring; 0 and 1 are at the top."""
    large = int(end - start > 0.5)
    (a, b), (c, d) = _point(start, OUTER), _point(end, OUTER)
    (e, f), (g, h) = _point(end, inner), _point(start, inner)
    return (
        f"M{a:.2f} {b:.2f}A{OUTER} {OUTER} 0 {large} 1 {c:.2f} {d:.2f}L{e:.2f} {f:.2f}"
        f"A{inner:g} {inner:g} 0 {large} 0 {g:.2f} {h:.2f}Z"
    )


def _point(turn: float, radius: float) -> tuple[float, float]:
    return radius * sin(2 * pi * turn), -radius * cos(2 * pi * turn)
