"""Edges that are no parentage: one stored row for each pair, a supersede told from a link, quarantine for the rest."""

import pytest

from memory.interchange.contextfs.kernel.accounting import accounting
from tests.interchange.foreign import ForeignFile
from tests.interchange.reading import by_code, plan_of


def test_links_are_stored_once_under_the_first_label_of_their_pair(foreign_file: ForeignFile) -> None:
    for name in "abcdef":
        foreign_file.memory(name)
    foreign_file.pair("b", "references", "a").edge("a", "contains", "b")
    foreign_file.edge("c", "related_to", "a").edge("a", "related_to", "c").edge("d", "contradicts", "c")
    foreign_file.edge("a", "depends_on", "b").edge("b", "depends_on", "a")
    plan = plan_of(foreign_file.done())
    links = [link.edge for link in plan.namespaces[0].links]
    assert [(link.from_id, link.relation, link.to_id, len(link.rows), len(link.inverse_rows)) for link in links] == [
        ("a", "depends_on", "b", 1, 0),
        ("a", "related_to", "c", 1, 1),
        ("b", "depends_on", "a", 1, 0),
        ("b", "part_of", "a", 1, 0),
        ("b", "references", "a", 1, 1),
        ("c", "contradicts", "d", 1, 0),
    ]
    assert {link.kind for link in links} == {"link"}
    assert {link.is_symmetric for link in links if link.relation in {"related_to", "contradicts"}} == {True}
    codes = {code: len(findings) for code, findings in by_code(plan).items()}
    assert codes == {"one-way-link": 2, "label-has-no-inverse": 2}


def test_a_supersede_is_a_derivation_only_if_it_says_when(foreign_file: ForeignFile) -> None:
    stamp = "2026-03-05T10:00:00+00:00"
    for name in "abcd":
        foreign_file.memory(name)
    foreign_file.pair("b", "supersedes", "a", metadata={"reason": "new policy", "superseded_at": stamp})
    foreign_file.edge("c", "supersedes", "a").edge("a", "superseded_by", "d")
    links = {link.edge.from_id: link.edge for link in plan_of(foreign_file.done()).namespaces[0].links}
    assert {name: link.kind for name, link in links.items()} == {"b": "supersede", "c": "link", "d": "link"}
    superseded_at = links["b"].superseded_at
    assert superseded_at is not None
    assert superseded_at.text == stamp
    assert links["d"].to_id == "a"


def test_a_withdrawn_link_is_withdrawn_only_if_all_its_rows_are(foreign_file: ForeignFile) -> None:
    foreign_file.memory("a").memory("b").memory("c")
    gone = {"deleted_at": "2026-03-05T10:00:00+00:00"}
    foreign_file.pair("a", "references", "b", **gone).edge("a", "references", "c", **gone)
    foreign_file.edge("c", "referenced_by", "a")
    plan = plan_of(foreign_file.done())
    assert {link.edge.to_id: link.edge.is_withdrawn for link in plan.namespaces[0].links} == {"b": True, "c": False}
    assert len(by_code(plan)["edge-withdrawn"]) == 3


@pytest.mark.parametrize(
    ("edge", "code", "namespace"),
    [
        (("a", "references", "ghost"), "endpoint-missing", "app"),
        (("ghost", "references", "a"), "endpoint-missing", "app"),
        (("ghost", "supersedes", "phantom"), "endpoint-missing", None),
        (("a", "references", "a"), "self-link", "app"),
        (("a", "likes", "b"), "relation-unknown", "app"),
        (("ghost", "likes", "phantom"), "relation-unknown", None),
        (("a", "references", "same-"), "abbreviation-ambiguous", "app"),
        (("a", "supersedes", "far-younger"), "cross-namespace", "app"),
        (("a", "references", "far-younger"), "cross-namespace", "other"),
        (("far-younger", "referenced_by", "a"), "cross-namespace", "other"),
        (("far-younger", "references", "a"), "cross-namespace", "other"),
        (("a", "supersedes", "caught"), "captured", "app"),
    ],
)
def test_an_edge_without_two_records_of_one_namespace_is_quarantined(
    edge: tuple[str, str, str], code: str, namespace: str | None, foreign_file: ForeignFile
) -> None:
    for name in ("a", "b", "same-1", "same-2", "caught-1"):
        foreign_file.memory(name)
    foreign_file.memory("caught", "other").memory("far-younger", "other").edge(*edge)
    plan = plan_of(foreign_file.done())
    (finding,) = [finding for finding in plan.every_finding() if finding.is_quarantine]
    assert (finding.code, finding.namespace) == (code, namespace)
    assert [ref.key for ref in finding.rows] == [(edge[0], edge[2], edge[1])]
    assert not [link for part in plan.namespaces for link in part.links]


def test_both_halves_of_a_quarantined_pair_are_one_finding(foreign_file: ForeignFile) -> None:
    foreign_file.memory("a").edge("a", "related_to", "ghost").edge("ghost", "related_to", "a")
    foreign_file.pair("a", "references", "ghost")
    plan = plan_of(foreign_file.done())
    assert [(finding.relation, len(finding.rows)) for finding in by_code(plan)["endpoint-missing"]] == [
        ("references", 2),
        ("related_to", 2),
    ]


@pytest.mark.parametrize("edge", [("abcd1234", "supersedes", "b"), ("b", "superseded_by", "abcd1234")])
def test_an_abbreviated_end_of_a_link_is_expanded_in_the_namespace_of_the_other(
    edge: tuple[str, str, str], foreign_file: ForeignFile
) -> None:
    foreign_file.memory("abcd1234-001").memory("abcd1234-002", "other").memory("b").edge(*edge)
    plan = plan_of(foreign_file.done())
    ((link,),) = [part.links for part in plan.namespaces if part.namespace == "app"]
    assert (link.edge.from_id, link.edge.to_id) == ("abcd1234-001", "b")
    (finding,) = by_code(plan)["abbreviation-expanded"]
    assert finding.before == {"texts": ["abcd1234"]}


def test_two_spellings_of_one_link_become_one(foreign_file: ForeignFile) -> None:
    foreign_file.memory("abcd1234-001").memory("b")
    foreign_file.edge("b", "references", "abcd1234").edge("b", "references", "abcd1234-001")
    plan = plan_of(foreign_file.done())
    (link,) = plan.namespaces[0].links
    assert len(link.edge.rows) == 2
    assert accounting(plan).contested == ()
