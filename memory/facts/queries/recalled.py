"""What recall tells of subjects: each value that is known of them, and both sides where they contradict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from uuid import UUID

from memory.base.asof import AsOf
from memory.facts.queries.entities import of_subject
from memory.facts.queries.status import EntityStatus, FactLine, ValueLine, statuses
from memory.ledger.queries.contents import name_ids
from memory.records import fulltext
from memory.records.queries.recall import Beside, Besides

# Of one subject; the facts whose words are asked for come first.
MOST = 200


def facts_of_subjects(at: AsOf, subjects: Sequence[str], terms: Sequence[str]) -> Besides:
    """The values that count at the point, those that share most words with the question first.

    Attributes of which nothing is known there are counted as `unknown`, those beyond the bound as `limit`.
    """
    known = name_ids(at.namespace, subjects)
    asked = [entity for text in dict.fromkeys(subjects) if text in known for entity in of_subject(at, known[text])]
    told: list[Beside] = []
    most = MOST * len(subjects)
    hidden = Counter({"limit": max(0, len(asked) - most)})
    for one in statuses(at, asked[:most], tells_hidden=False):
        if not one.values:
            hidden["unknown"] += 1
        lines = {line.id: line for line in one.facts}
        told.extend(_told(one, value, lines, set(terms)) for value in one.values)
    return Besides(tuple(sorted(told, key=lambda one: -one.score)), +hidden)


def _told(one: EntityStatus, value: ValueLine, lines: dict[UUID, FactLine], terms: set[str]) -> Beside:
    newest = max((lines[fact] for fact in value.facts if fact in lines), key=lambda line: line.seq)
    shown = str(value.value).lower() if isinstance(value.value, bool) else str(value.value)
    text = f"{one.subject} {one.attribute}{' is not' if value.stance == 'denies' else ''}: {shown}"
    words = [word for word in dict.fromkeys(fulltext.words(text)) if word in terms]
    why = ((one.subject, 1.0), *((word, 1.0) for word in words if word != one.subject))
    return Beside(
        "fact", newest.id, one.attribute, text, why, newest.recorded_at, one.status, ", ".join(value.origins),
        newest.source_class,
    )  # fmt: skip
