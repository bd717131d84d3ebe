"""How long a namespace means to keep text.

A retention erases nothing by itself: erasing is an owner's act. It says what has been kept for too long.
"""

from __future__ import annotations

from datetime import timedelta

from django.db.models import OuterRef, Subquery

from memory.agents.models import Setting
from memory.agents.operations import UNLIMITED
from memory.base.canonical import strict_loads
from memory.ledger.models import Content

NAME = "retention"


def retention(namespace: int) -> timedelta | None:
    """For how long text is kept; None where nothing is said or it is unlimited. One query."""
    told = Content.objects.filter(
        namespace=OuterRef("namespace"), seq=OuterRef("seq"), item=OuterRef("item"), part="value"
    )
    rows = Setting.objects.filter(namespace=namespace, name=NAME).order_by("-seq")
    payload = rows.annotate(told=Subquery(told.values("payload")[:1])).values_list("told", flat=True).first()
    value = UNLIMITED if payload is None else str(strict_loads(payload))
    return None if value == UNLIMITED else timedelta(days=int(value))
