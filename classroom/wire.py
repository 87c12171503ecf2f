"""Messages between the processes that run answers: a JSON header and bytes, never a pickle.

A frame is two lengths (four bytes each, big-endian), the header as JSON text, and a body. Whoever
reads says how long a frame may be; what an answer's process has written is read with care.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Iterator

LENGTHS = struct.Struct(">II")
#: The longest header and body that the grader's own processes send each other.
LONGEST = 64 << 20


class WireError(ValueError):
    """Bytes that are no frame, or too long a one."""


def pack(header: dict, body: bytes = b"") -> bytes:
    """One frame."""
    text = json.dumps(header).encode("ascii")
    return LENGTHS.pack(len(text), len(body)) + text + body


def write(fd: int, data: bytes) -> None:
    """Write everything, also into a pipe that takes a part at a time."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]


class Frames:
    """Puts frames together from the pieces that a pipe gives."""

    def __init__(self, longest_header: int = LONGEST, longest_body: int = LONGEST) -> None:
        self._longest = longest_header, longest_body
        self._bytes = bytearray()

    def feed(self, data: bytes) -> Iterator[tuple[dict, bytes]]:
        """The frames that are complete with these bytes.

        Raises:
            WireError: when a length is too large, or the header is no JSON object.
        """
        self._bytes += data
        while len(self._bytes) >= LENGTHS.size:
            header, body = LENGTHS.unpack_from(self._bytes)
            if header > self._longest[0] or body > self._longest[1]:
                raise WireError(f"a frame of {header} + {body} bytes; {self._longest} are allowed")
            end = LENGTHS.size + header + body
            if len(self._bytes) < end:
                return
            text = bytes(self._bytes[LENGTHS.size : LENGTHS.size + header])
            content = bytes(self._bytes[LENGTHS.size + header : end])
            del self._bytes[:end]
            yield _plain(text), content

    @property
    def unfinished(self) -> bool:
        """Whether bytes have come that are no whole frame."""
        return bool(self._bytes)


def _plain(text: bytes) -> dict:
    try:
        header = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise WireError(f"a header that is no JSON: {error}") from None
    if not isinstance(header, dict):
        raise WireError("a header that is no JSON object")
    return header
