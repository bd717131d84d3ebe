"""The list of erased commitments that a receipt carries, as it is given to a restore.

A list is the JSON of a receipt, or any JSON that holds commitments, or one commitment on each line. It names no text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from memory.base.canonical import CanonicalError, MalformedJson, strict_loads
from memory.base.errors import Invalid, TooLarge

MOST_BYTES = 64 * 1024**2
COMMITMENT = re.compile(r"[0-9a-f]{64}")
EXPECTED = "the commitments of a receipt: JSON, or 64 hexadecimal digits on each line"


def read_list(stream: BinaryIO) -> frozenset[bytes]:
    """The commitments of the list.   Raises Invalid (it holds none, or something else), TooLarge."""
    data = stream.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise TooLarge(f"A list of erased commitments has at most {MOST_BYTES} bytes.")
    found = frozenset(bytes.fromhex(text) for text in _texts(data))
    if not found:
        raise Invalid.at("erased", expected=EXPECTED, got="none")
    return found


def _texts(data: bytes) -> Iterator[str]:
    lines = [line.strip() for line in data.decode("utf-8", "replace").splitlines() if line.strip()]
    if all(COMMITMENT.fullmatch(line) for line in lines):
        yield from lines
        return
    try:
        yield from _inside(strict_loads(data), is_list=False)
    except (MalformedJson, CanonicalError) as error:
        raise Invalid.at("erased", expected=EXPECTED, got=error) from error


def _inside(value: Any, *, is_list: bool) -> Iterator[str]:
    """Every commitment under a key that says so: digests of other things stand in a receipt too."""
    if isinstance(value, str):
        if is_list and COMMITMENT.fullmatch(value):
            yield value
    elif isinstance(value, list):
        for one in value:
            yield from _inside(one, is_list=is_list)
    elif isinstance(value, dict):
        for name, one in value.items():
            yield from _inside(one, is_list=is_list or name in ("commitment", "commitments"))
