"""Facts by what somebody types into a search field: the beginning of an id, or a part of a subject's name. One query.

Held facts are left out: nobody has confirmed them.
"""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.db.models import OuterRef, Q, Subquery

from memory.base.asof import AsOf
from memory.facts.models import FactState
from memory.ledger.models import Name


@dataclass(frozen=True, slots=True)
class Found:
    """A fact by its id, or the first one of a subject and attribute by name; a name that is erased is empty."""

    id: UUID
    subject: str
    attribute: str


def with_digits(at: AsOf, digits: str, *, limit: int) -> list[Found]:
    """The facts whose ids begin with the hex digits."""
    low, high = (UUID(hex=digits.ljust(32, filling)) for filling in "0f")
    return _found(at, Q(id__gte=low, id__lte=high), limit)


def of_subjects(at: AsOf, text: str, *, limit: int) -> list[Found]:
    """Subjects whose name has the text, with each of their attributes, the last to be known first."""
    named = Name.objects.filter(namespace=at.namespace, text__icontains=text).values("id")
    return _found(at, Q(is_first=True, subject__in=named), limit)


def _found(at: AsOf, wanted: Q, limit: int) -> list[Found]:
    unheld = Q(held_seq__isnull=True) | Q(confirmed_seq__lte=at.seq)
    names = Name.objects.filter(namespace=at.namespace)
    rows = FactState.objects.filter(wanted, unheld, namespace=at.namespace, seq__lte=at.seq).annotate(
        subject_text=Subquery(names.filter(id=OuterRef("subject")).values("text")[:1]),
        attribute_text=Subquery(names.filter(id=OuterRef("attribute")).values("text")[:1]),
    )
    told = rows.order_by("-doc").values_list("id", "subject_text", "attribute_text")[:limit]
    return [Found(id, subject or "", attribute or "") for id, subject, attribute in told]
