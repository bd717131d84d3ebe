"""Projections: what is derived, how it is made anew, and how it forgets.

- A projector is a pure function of evidence and content; it never reads a clock.
- Every Projection model and every index outside the models has one; `rebuild --check` compares `dump` before and after.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from django.db import models

from memory.base.models import ContentRef

Row = tuple[Any, ...]


class Projector(Protocol):
    """One derived table or index."""

    name: str

    def rebuild(self, namespace: int) -> None:
        """Delete the namespace's rows and derive them anew."""

    def forget(self, namespace: int, refs: Sequence[ContentRef], *, seq: int) -> int:
        """Drop every trace of the named content, which still stands when this is called; answers how many rows it hit.

        seq : the entry that erases it, which is about to be written.
        """

    def dump(self, namespace: int) -> Iterable[Row]:
        """All rows of the namespace in key order."""


_projectors: dict[str, Projector] = {}


def register(projector: Projector) -> None:
    _projectors[projector.name] = projector


def registered() -> tuple[Projector, ...]:
    return tuple(_projectors.values())


def rows_of(model: type[models.Model], namespace: int) -> Iterable[Row]:
    """The rows of a projection table in key order, buffers as bytes."""
    names = [field.attname for field in model._meta.concrete_fields]
    rows = model._default_manager.filter(namespace=namespace).order_by("pk").values_list(*names)
    return (tuple(bytes(v) if isinstance(v, memoryview) else v for v in row) for row in rows.iterator())
