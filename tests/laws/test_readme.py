"""The table of the laws in README is what the checkers say today.

What is read in the source of ContextFS 0.2.35 is kept as the command told it, with every place; where that source is at
hand, PALIMPSEST_CONTEXTFS_SOURCE names its folder and it is read again.
"""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from audit.laws import contextfs
from audit.laws.clauses import LAWS
from audit.laws.snapshots import check
from audit.laws.source.patterns import read_source
from tests.architecture.sources import ROOT

WORDS = {"holds": "holds", "violated": "fails"}
READ = {"pattern found": "found", "not found": "not found"}
KEPT = Path(__file__).parent / "fixtures" / "contextfs_source.json"
SOURCE = os.environ.get("PALIMPSEST_CONTEXTFS_SOURCE", "")


def kept() -> dict[str, Any]:
    """What `check_laws --source` told of the files in that wheel: {clause: verdict and places by pattern}."""
    return dict(json.loads(KEPT.read_text()))


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
    read = kept()["clauses"]
    table = readme.split("<!-- laws -->")[1].split("<!-- /laws -->", maxsplit=1)[0].strip().splitlines()[2:]
    assert [[cell.strip() for cell in row.strip("|").split("|")] for row in table] == [
        [
            f"{law.clause} {law.title}",
            WORDS[law.paper],
            READ[read[law.clause]["verdict"]],
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


def test_what_is_kept_of_the_source_says_found_where_it_names_places() -> None:
    read = kept()["clauses"]
    assert {clause: any(one["patterns"].values()) for clause, one in read.items()} == {
        clause: one["verdict"] == "pattern found" for clause, one in read.items()
    }


@pytest.mark.skipif(not SOURCE, reason="PALIMPSEST_CONTEXTFS_SOURCE names no folder with that source")
def test_the_source_reads_today_as_it_is_kept() -> None:
    told = read_source(Path(SOURCE)).as_json()
    clauses = {
        clause: {
            "verdict": one["verdict"],
            "patterns": {
                name: [f"{place['file']}:{place['line']}" for place in places]
                for name, places in one["patterns"].items()
            },
        }
        for clause, one in told["clauses"].items()
    }
    expected = kept()
    assert (told["files"], told["refusal"], told["unread"]) == tuple(
        expected[name] for name in ("files", "refusal", "unread")
    )
    assert clauses == expected["clauses"]
