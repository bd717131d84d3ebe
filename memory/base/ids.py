"""The only source of chance of the domain: identifiers and salts.

- An identifier is a random UUID; a salt is 32 random bytes.
- The source can be injected, so that the same list of operations gives the same bytes.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from uuid import UUID

SALT_BYTES = 32

_source: ContextVar[Callable[[int], bytes]] = ContextVar("palimpsest_chance", default=os.urandom)


def new_id() -> UUID:
    return new_ids(1)[0]


def new_ids(count: int) -> list[UUID]:
    """`count` random UUIDs (version 4) from one draw."""
    drawn = _source.get()(16 * count)
    return [UUID(bytes=drawn[start : start + 16], version=4) for start in range(0, len(drawn), 16)]


def new_salts(count: int) -> list[bytes]:
    drawn = _source.get()(SALT_BYTES * count)
    return [drawn[start : start + SALT_BYTES] for start in range(0, len(drawn), SALT_BYTES)]


def new_secret(size_bytes: int = 32) -> bytes:
    return _source.get()(size_bytes)


@contextmanager
def seeded(seed: str) -> Iterator[None]:
    """Inside the block identifiers and salts follow from `seed` alone."""
    counter = 0

    def draw(size_bytes: int) -> bytes:
        nonlocal counter
        counter += 1
        return hashlib.shake_256(f"{seed}/{counter}".encode()).digest(size_bytes)

    draw.seed = seed  # type: ignore[attr-defined]
    token = _source.set(draw)
    try:
        yield
    finally:
        _source.reset(token)


@contextmanager
def forked(label: str) -> Iterator[None]:
    """Inside the block a seeded source goes on from (seed, label), whatever was drawn before; a random one as ever.

    So that a part of a job that is done again draws what it drew the first time.
    """
    seed = getattr(_source.get(), "seed", None)
    if seed is None:
        yield
        return
    with seeded(f"{seed}/{label}"):
        yield
