"""The table of the laws in README is what the checkers say today."""

from collections.abc import Callable
from pathlib import Path

import pytest

from audit.laws import contextfs
from audit.laws.clauses import LAWS
from audit.laws.snapshots import check
from tests.architecture.sources import ROOT

WORDS = {"holds": "holds", "violated": "fails"}


@pytest.fixture(scope="module")
def readme() -> str:
    return (ROOT / "README.md").read_text()


def test_the_table_shows_the_paper_the_patterns_and_the_data_as_they_are(
    readme: str, contextfs_store: Callable[[str], Path]
) -> None:
    clean, faulty, before = (
        contextfs.load(contextfs_store(name)) for name in ("clean_small", "violations", "violations_before")
    )
    reports = (check(clean), check(faulty), check(faulty, before=before))
    table = readme.split("<!-- laws -->")[1].split("<!-- /laws -->", maxsplit=1)[0].strip().splitlines()[2:]
    assert [[cell.strip() for cell in row.strip("|").split("|")] for row in table] == [
        [
            f"{law.clause} {law.title}",
            WORDS[law.paper],
            "found" if law.paper == "violated" else "not found",
            *(report.verdict(law.clause) for report in reports),
        ]
        for law in LAWS
    ]


def test_the_reconciliation_that_it_tells_is_the_one_that_is_counted(
    readme: str, contextfs_store: Callable[[str], Path]
) -> None:
    for name, sentence in (
        ("large", "from {before:,} to {after} of {derived:,} derived ones"),
        ("violations", "from {before} to {after} of {derived} in"),
    ):
        measures = check(contextfs.load(contextfs_store(name))).measures
        told = sentence.format(
            before=measures["records_disagreeing"],
            after=measures["records_disagreeing_after_own_claim_rule"],
            derived=measures["derived_records"],
        )
        assert told in readme
