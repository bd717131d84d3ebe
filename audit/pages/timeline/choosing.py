"""What there is to choose a timeline from: the subjects and the lines of records with the most versions."""

from __future__ import annotations

from typing import Any

from audit.access import Visit
from audit.frame import address, words
from audit.navigation import Link
from audit.pages.timeline.asking import Asked, point_pairs
from audit.secrets import covered
from memory.facts.queries.stretches import busiest_subjects
from memory.lineage.queries.spans import longest_lines
from memory.records.queries.stubs import span


def context(visit: Visit, given: Asked) -> dict[str, Any]:
    """The lists of the page, each with the most versions first; a question narrows the subjects alone."""
    found = [
        {"label": one.subject, "n": one.n_facts, "url": given.setting(subject=one.subject, q=""), "at": one.newest_at}
        for one in busiest_subjects(visit.at, text=given.q)
    ]
    lines = [] if given.q else longest_lines(visit.at)
    listed = [
        {
            "label": covered(one.first_line) or "no text", "n": one.n_versions,
            "url": given.setting(record=str(one.newest)), "at": one.recorded_at,
        }
        for one in lines
    ]  # fmt: skip
    return {
        "subjects": found,
        "lines": listed,
        "asked": given,
        "kept": given.without("q"),
        "records_url": address("/records", [*given.without("q"), ("q", given.q)]) if given.q else "",
        "empty": _empty(visit, given) if not (found or listed) else None,
    }


def _empty(visit: Visit, given: Asked) -> dict[str, Any]:
    if given.q:
        asked_of = f"a subject's name has {given.q}"
        return {"kind": "no_match", "words": asked_of, "clear_url": given.setting(q="")}
    if not visit.at.is_now:
        return {"kind": "not_then", "source_url": visit.frame.as_of.source_url, **_ends(visit, given)}
    return {
        "kind": "nothing_yet", "title": "No versions yet",
        "how": "The first one comes when an agent saves what it saw, or asserts a fact.",
        "action": Link("Agents", f"/agents{visit.carry}"),
    }  # fmt: skip


def _ends(visit: Visit, given: Asked) -> dict[str, Link | None]:
    """The first and the last point with records."""
    ends = span(visit.at)
    if ends is None:
        return {"first": None, "last": None}
    return {
        name: Link(words(at), given.setting(**point_pairs(at, f"seq:{seq}")))
        for name, at, seq in (("first", ends.first_at, ends.first_seq), ("last", ends.last_at, ends.last_seq))
    }
