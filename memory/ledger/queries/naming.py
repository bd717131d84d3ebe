"""Names of the dictionary in use: which rows hold the id of a name, so that one that nothing uses any more can go.

- A row whose own content is erased uses its name no longer; a row that never held content always does.
- What a row is about (a fact's subject) keeps its name when the row's own content goes, so that one can still ask about
  it; that name goes where it is erased itself.
- Every slice registers its columns that hold ids of names; one that is missing here would leave an id without text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from django.db import models
from django.db.models import Exists, OuterRef

from memory.base.models import Evidence
from memory.ledger.models import Entry, Erasure, Item, Name
from memory.ledger.queries.addressed import Address

CHUNK = 400

_holders: dict[tuple[type[Evidence], str], bool] = {}


def held_in(model: type[Evidence], column: str, *, outlives: bool = False) -> None:
    """Register a column that holds ids of names; `outlives`: the name stays when the content of its row goes."""
    _holders[model, column] = outlives


def holders() -> tuple[tuple[type[Evidence], str], ...]:
    """Every registered (model, column)."""
    return tuple(_holders)


def unused_without(namespace: int, items: Sequence[Item]) -> list[Address]:
    """The addresses of the names that these items use and that nothing else will use once they are erased."""
    going = {(item.seq, item.item) for item in items}
    by_kind: dict[str, list[UUID]] = {}
    for item in items:
        by_kind.setdefault(item.kind, []).append(item.object)
    candidates: set[UUID] = set()
    for model, column in (holder for holder, outlives in _holders.items() if not outlives):
        objects = by_kind.get(model.item_kind, []) if model.item_kind else []
        for start in range(0, len(objects), CHUNK):
            rows: models.QuerySet[Any] = model._default_manager.filter(namespace=namespace)
            rows = rows.filter(id__in=objects[start : start + CHUNK], **{f"{column}__isnull": False})
            candidates.update(rows.values_list(column, flat=True))
    unused = [name for name in sorted(candidates) if not _is_used(namespace, name, going)]
    names = Name.objects.filter(namespace=namespace, id__in=unused).order_by("seq", "item")
    return list(names.values_list("seq", "item"))


def _is_used(namespace: int, name: UUID, going: set[Address]) -> bool:
    return any(_uses(model, column, namespace, name, going) for model, column in _holders)


def _uses(model: type[Evidence], column: str, namespace: int, name: UUID, going: Iterable[Address]) -> bool:
    rows: models.QuerySet[Any] = model._default_manager.filter(namespace=namespace, **{column: name})
    if model is Entry or _holders[model, column]:
        return rows.exists()
    erased = Erasure.objects.filter(
        namespace=OuterRef("namespace"), target_seq=OuterRef("seq"), target_item=OuterRef("item")
    )
    kept = set(going)
    standing = rows.filter(~Exists(erased)).values_list("seq", "item")
    return any(address not in kept for address in standing[: len(kept) + 1])
