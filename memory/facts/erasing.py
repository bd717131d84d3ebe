"""What an erasure must reach among facts: what was said of a fact, what repeats it, and the facts of a named subject.

Invariants
- A verdict that cuts a statement states it anew: the statement and what repeats it go together.
- The reason of a verdict stands beside each fact that it ends: where one of these notes goes, all of its entry go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import batched

from django.db.models import Q

from memory.facts.models import REPEATS, Adjudication, FactState, Retraction, Supersession
from memory.facts.reviewing import KIND
from memory.ledger.models import Item, Name, Reference
from memory.ledger.queries.addressed import Address, items_at
from memory.ledger.queries.subjects import Subject
from memory.records.models import Review

CHUNK = 400


def notes_of_facts(namespace: int, items: Sequence[Item]) -> list[Address]:
    """The items that hold what was said about these facts, and the facts that repeat them with theirs."""
    own = [item for item in items if item.kind == "fact"]
    repeating = _repeating(namespace, [(item.seq, item.item) for item in own])
    found: set[Address] = {(item.seq, item.item) for item in repeating}
    seqs: set[int] = set()
    for chunk in batched(sorted({item.object for item in (*own, *repeating)}), CHUNK):
        for rows in (
            Supersession.objects.filter(Q(old__in=chunk) | Q(new__in=chunk), namespace=namespace),
            Retraction.objects.filter(namespace=namespace, fact__in=chunk),
            Adjudication.objects.filter(Q(a__in=chunk) | Q(b__in=chunk), namespace=namespace),
        ):
            addresses = list(rows.values_list("seq", "item"))
            found.update(addresses)
            seqs.update(seq for seq, _ in addresses)
        reviews = Review.objects.filter(namespace=namespace, kind=KIND, object__in=chunk)
        found.update(reviews.values_list("seq", "item"))
    found.update(_notes_of_verdicts(namespace, seqs))
    return sorted(found)


def _notes_of_verdicts(namespace: int, seqs: Iterable[int]) -> Iterator[Address]:
    """Every note of those entries that are verdicts."""
    for chunk in batched(sorted(seqs), CHUNK):
        verdicts = Adjudication.objects.filter(namespace=namespace, seq__in=chunk).values("seq")
        for model in (Supersession, Retraction, Adjudication):
            yield from model._default_manager.filter(namespace=namespace, seq__in=verdicts).values_list("seq", "item")


def _repeating(namespace: int, facts: Sequence[Address]) -> list[Item]:
    """The facts that repeat these or are repeated by them, and so on."""
    known = set(facts)
    fresh: Sequence[Address] = facts
    while fresh:
        wanted = set(fresh)
        more: set[Address] = set()
        for chunk in batched(sorted({seq for seq, _ in wanted}), CHUNK):
            rows = Reference.objects.filter(Q(seq__in=chunk) | Q(to_seq__in=chunk), namespace=namespace, kind=REPEATS)
            for seq, item, to_seq, to_item in rows.values_list("seq", "from_item", "to_seq", "to_item"):
                pair = {(seq, item), (to_seq, to_item)}
                more |= pair if pair & wanted else set()
        fresh = sorted(more - known)
        known |= more
    return items_at(namespace, known - set(facts))


def facts_of_subject(namespace: int, subject: Subject) -> Iterator[Address]:
    """The facts whose own subject is called so: their values are about it without spelling it."""
    first = next((word for word in subject.folded.split() if word.isascii()), "")
    named = Name.objects.filter(namespace=namespace, text__icontains=first)
    ids = [id for id, text in named.values_list("id", "text") if subject.named_in(text).is_whole]
    for chunk in batched(ids, CHUNK):
        rows = FactState.objects.filter(namespace=namespace, subject__in=chunk, erased_seq__isnull=True)
        yield from rows.values_list("seq", "item")
