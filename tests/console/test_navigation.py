"""The list of pages, the rail made from it, and the links that keep the question while one moves about."""

import pytest
from django.urls import resolve

from audit.navigation import (
    PAGES,
    Link,
    Rail,
    Waiting,
    advanced_pages,
    breadcrumbs,
    build_rail,
    carried_query,
    rail_key,
)


def shown(rail: Rail) -> dict[str, list[str]]:
    return {group.label: [entry.label for entry in group.entries] for group in rail.groups}


def active(rail: Rail) -> list[str]:
    return [entry.key for group in rail.groups for entry in group.entries if entry.is_active]


def test_keys_and_paths_of_pages_are_unique_and_parents_exist() -> None:
    keys = [page.key for page in PAGES]
    assert len(set(keys)) == len(keys)
    assert len({page.path for page in PAGES}) == len(PAGES)
    assert {page.parent for page in PAGES} - {""} <= set(keys)
    assert [page.key for page in PAGES if page.is_advanced and not page.parent] == []


def test_pages_without_rows_fold_under_more_and_none_is_lost() -> None:
    assert "Runs" in [entry.label for entry in build_rail("overview").folded]
    rail = build_rail("overview", populated=frozenset({"runs"}))
    assert shown(rail)["What was done"] == ["Runs"]
    n_shown = sum(len(group.entries) for group in rail.groups)
    assert n_shown + len(rail.folded) == len([page for page in PAGES if not page.is_advanced or page.group])


def test_a_page_with_something_open_is_never_folded() -> None:
    folded = {entry.key for entry in build_rail("overview").folded}
    assert "runs" in folded
    rail = build_rail("overview", waiting={"runs": Waiting(1, "9 d", is_overdue=True)})
    (entry,) = [entry for group in rail.groups for entry in group.entries if entry.key == "runs"]
    assert entry.waiting == Waiting(1, "9 d", is_overdue=True)


def test_nothing_open_shows_no_number() -> None:
    rail = build_rail("overview", waiting={"records": Waiting(0)})
    assert [entry.waiting for group in rail.groups for entry in group.entries if entry.key == "records"] == [None]


@pytest.mark.parametrize(
    ("key", "marked"), [("records", "records"), ("checkpoints", "ledger"), ("gallery", "overview")]
)
def test_an_advanced_page_marks_the_entry_it_stands_on(key: str, marked: str) -> None:
    assert rail_key(key) == marked
    assert active(build_rail(key)) == [marked]


def test_an_advanced_page_stands_on_the_rail_while_something_waits_on_it() -> None:
    assert "laws" not in [entry.key for group in build_rail("ledger").groups for entry in group.entries]
    rail = build_rail("laws", waiting={"laws": Waiting(2, "3 h")})
    assert shown(rail)["Trust"] == ["Ledger", "Invariants"]
    assert active(rail) == ["laws"]
    assert active(build_rail("laws", waiting={"laws": Waiting(0)})) == ["ledger"]


def test_invariants_and_erasures_are_under_more_until_something_waits_on_them() -> None:
    folded = [entry.label for entry in build_rail("overview").folded]
    assert [label for label in folded if label in ("Invariants", "Erasures", "Gallery")] == ["Invariants", "Erasures"]
    rail = build_rail("erasures", populated=frozenset({"erasures"}))
    assert shown(rail)["Trust"] == ["Ledger"]
    assert "Invariants" not in [entry.label for entry in build_rail("laws", waiting={"laws": Waiting(1)}).folded]


def test_beliefs_stand_under_trust_once_something_is_observed_and_are_marked_on_their_own_pages() -> None:
    assert "Beliefs" in [entry.label for entry in build_rail("overview").folded]
    rail = build_rail("overview", populated=frozenset({"beliefs"}))
    assert shown(rail)["Trust"] == ["Ledger", "Beliefs"]
    assert active(build_rail("beliefs")) == ["beliefs"]
    assert breadcrumbs("beliefs") == (Link("Beliefs", "/beliefs"),)


def test_the_rail_names_imports_as_their_page_does() -> None:
    assert "Imports and exports" in shown(build_rail("overview"))["Control"]


def test_a_page_that_is_not_listed_marks_nothing() -> None:
    assert active(build_rail("sign_in")) == []


def test_links_keep_namespace_and_point_and_drop_the_rest() -> None:
    carry = carried_query({"ns": "ops & co", "known_at": "seq:184203", "q": "refund", "valid_at": ""})
    assert carry == "?ns=ops+%26+co&known_at=seq:184203"
    rail = build_rail("records", carry=carry)
    assert {entry.url for group in rail.groups for entry in group.entries if entry.key == "records"} == {
        "/records" + carry
    }
    assert carried_query({"q": "refund"}) == ""


def test_breadcrumbs_lead_from_the_parent_to_the_page() -> None:
    assert [(link.label, link.url) for link in breadcrumbs("checkpoints", carry="?ns=ops")] == [
        ("Ledger", "/ledger?ns=ops"),
        ("Checkpoints", "/ledger/checkpoints?ns=ops"),
    ]
    assert breadcrumbs("nowhere") == ()


def test_a_page_names_the_advanced_pages_that_stand_on_it() -> None:
    assert [link.label for link in advanced_pages("ledger")] == ["Checkpoints", "Invariants", "Erasures"]


@pytest.mark.parametrize("path", [page.path for page in PAGES])
def test_every_listed_page_exists(path: str) -> None:
    assert resolve(path)
