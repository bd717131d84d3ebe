"""What several scenarios say: acts at stated instants, all pages of a list, the records of an answer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import pytest

from memory.base import clock, instants
from tests.contract.callers import Caller


@contextmanager
def at_instants(*told: str) -> Iterator[None]:
    """Inside the block the entries that are written have these instants, one after another."""
    readings = iter([instants.read(one) for one in told])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clock, "read", lambda: next(readings))
        yield


def every_page(who: Caller, *, is_backwards: bool = False, **query: Any) -> list[list[dict[str, Any]]]:
    """The items of each page of the records, by the cursors of the answers; backwards, those before the last one."""
    pages, after = [], ""
    answer: dict[str, Any] = {}
    while True:
        answer = who.get("/records", **query, **({"after": after} if after else {})).json()
        pages.append(answer["items"])
        if not answer["next"]:
            break
        after = answer["next"]
    if not is_backwards:
        return pages
    before = []
    while answer["previous"]:
        answer = who.get("/records", **query, after=answer["previous"]).json()
        before.append(answer["items"])
    return before


def ids_of(answer: dict[str, Any]) -> set[UUID]:
    return {UUID(row["id"]) for row in answer["items"]}
