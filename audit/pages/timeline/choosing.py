"""What there is to choose a timeline from: the lines of records with the most versions, and a field that finds."""

from __future__ import annotations

from typing import Any

from audit.access import Visit
from audit.navigation import Link
from audit.pages.timeline.asking import Asked
from audit.secrets import covered
from audit.templatetags.console import count
from memory.lineage.queries.spans import longest_lines


def context(visit: Visit, given: Asked) -> dict[str, Any]:
    """The lists of the page, each of them newest first among equals."""
    lines = longest_lines(visit.at)
    listed = [
        {
            "label": covered(one.first_line) or "no text", "n": count(one.n_versions),
            "url": given.setting(record=str(one.newest)), "at": one.recorded_at,
        }
        for one in lines
    ]  # fmt: skip
    return {
        "lines": listed,
        "asked": given,
        "empty": {
            "kind": "nothing_yet", "title": "No versions yet",
            "how": "The first one comes when an agent saves what it saw, or asserts a fact.",
            "action": Link("Agents", f"/agents{visit.carry}"),
        }
        if not listed
        else None,
    }  # fmt: skip
