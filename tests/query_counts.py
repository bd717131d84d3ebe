"""Counting the queries of a page against its reviewed baseline.

- A page costs the same whatever it holds: the baseline has one number for each state (0, 1 or 50 rows; now or past).
- Who the person is counts as one query, however many tables tell it: session, account, memberships.
- A number that differs fails, lower ones too, so that the file says what is true.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

BASELINES = Path(__file__).parent / "architecture" / "query_counts.json"
IDENTITY = ("django_session", "auth_user", "memory_membership")
NO_QUERIES = ("SAVEPOINT", "RELEASE SAVEPOINT", "ROLLBACK TO SAVEPOINT", "BEGIN")


def baselines() -> dict[str, dict[str, int]]:
    """{page: {"budget": n, state: n, …}}."""
    found: dict[str, dict[str, int]] = json.loads(BASELINES.read_text())
    return found


def count_queries(client: Client, path: str) -> int:
    """How many queries one GET of the page costs; it must answer 200."""
    with CaptureQueriesContext(connection) as captured:
        response = client.get(path)
    assert response.status_code == 200, (path, response.status_code)
    return counted(query["sql"] for query in captured.captured_queries)


def counted(statements: Iterable[str]) -> int:
    """Statements, those that say who the person is counted once."""
    asked = [statement for statement in statements if not statement.startswith(NO_QUERIES)]
    others = [statement for statement in asked if _table(statement) not in IDENTITY]
    return len(others) + (len(others) < len(asked))


def _table(statement: str) -> str:
    """The first table that a statement reads."""
    _, _, rest = statement.partition(" FROM ")
    return rest.replace('"', "").split(" ")[0] if rest else ""


def assert_baseline(page: str, found: Mapping[str, int]) -> None:
    """The counts of the page are those on file, state by state, and within the budget of the page."""
    kept = dict(baselines()[page])
    budget = kept.pop("budget")
    assert dict(found) == kept, f"{page}: found {dict(found)}, on file {kept}"
    assert max(found.values()) <= budget
