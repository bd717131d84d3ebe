"""What an erasure must reach among facts: what was said of a fact, and the facts of a subject that is named."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from django.db.models import Q

from memory.facts.models import Adjudication, FactState, Retraction, Supersession
from memory.facts.reviewing import KIND
from memory.ledger.models import Item, Name
from memory.ledger.queries.addressed import Address
from memory.ledger.queries.subjects import Subject
from memory.records.models import Review

CHUNK = 400


def notes_of_facts(namespace: int, items: Sequence[Item]) -> list[Address]:
    """The items that hold what was said about these facts."""
    facts = [item.object for item in items if item.kind == "fact"]
    found: set[Address] = set()
    for start in range(0, len(facts), CHUNK):
        chunk = facts[start : start + CHUNK]
        for rows in (
            Supersession.objects.filter(namespace=namespace, old__in=chunk),
            Retraction.objects.filter(namespace=namespace, fact__in=chunk),
            Adjudication.objects.filter(Q(a__in=chunk) | Q(b__in=chunk), namespace=namespace),
            Review.objects.filter(namespace=namespace, kind=KIND, object__in=chunk),
        ):
            found.update(rows.values_list("seq", "item"))
    return sorted(found)


def facts_of_subject(namespace: int, subject: Subject) -> Iterator[Address]:
    """The facts whose own subject is called so: their values are about it without spelling it."""
    first = next((word for word in subject.folded.split() if word.isascii()), "")
    named = Name.objects.filter(namespace=namespace, text__icontains=first)
    ids = [id for id, text in named.values_list("id", "text") if subject.named_in(text).is_whole]
    for start in range(0, len(ids), CHUNK):
        rows = FactState.objects.filter(
            namespace=namespace, subject__in=ids[start : start + CHUNK], erased_seq__isnull=True
        )
        yield from rows.values_list("seq", "item")
