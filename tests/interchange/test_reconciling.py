"""An import beside its source: what disagrees, what became of it, and what an owner may still add."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from memory.agents.accounts import create_person
from memory.base.actor import ROLE_POWERS, Actor
from memory.base.errors import Conflict, Forbidden, Invalid, NotFound
from memory.checks.rebuilding import rebuild
from memory.interchange.models import ImportFinding, ImportRun
from memory.interchange.operations import apply_ties
from memory.interchange.reconciling import Reconciled, reconciled
from memory.ledger.models import Entry, Namespace
from memory.ledger.operations.erasing import erase
from memory.ledger.queries import asof
from memory.ledger.queries.verification import scan
from memory.lineage.models import ANCESTRY, Edge
from memory.lineage.operations.links import link
from memory.records.models import Record
from tests.interchange.foreign import ForeignFile
from tests.interchange.importing import SYSTEM, imported, namespaces

pytestmark = pytest.mark.django_db

Store = Callable[[str], Path]


def each(path: Path, base: str = "kept") -> dict[str, Reconciled]:
    """{source namespace: its reconciliation} of a whole import."""
    report = imported(path, base)
    found = {}
    for source, namespace in namespaces(report).items():
        run = ImportRun.objects.filter(namespace=namespace).latest("seq")
        found[source] = reconciled(asof.now(namespace), run=run.id)
    return found


def owner(namespace: int) -> Actor:
    account = create_person("olga@example.org").pk
    return Actor(namespace, "person", person=account, role="owner", powers=ROLE_POWERS["owner"])


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [("large", 1_768, 42), ("violations", 8, 5), ("violations_before", 6, 3), ("clean_small", 0, 0)],
)
def test_the_targets_together_show_the_numbers_of_the_store(
    contextfs_store: Store, name: str, before: int, after: int
) -> None:
    found = each(contextfs_store(name)).values()
    assert sum(one.found.n_before for one in found) == before
    assert sum(one.found.n_after for one in found) == after
    assert sum(one.found.n_unexplained for one in found) == 0
    assert sum(one.n_erased for one in found) == 0


def test_a_record_that_disagrees_leads_to_what_it_became(contextfs_store: Store) -> None:
    for one in each(contextfs_store("violations")).values():
        for compared in one.rows:
            if compared.record is not None:
                assert compared.record in one.records


def test_the_report_of_a_dry_run_is_the_same(contextfs_store: Store) -> None:
    path = contextfs_store("violations")
    dry = imported(path, "dry", dry_run=True).reconciliation
    wet = imported(path, "wet").reconciliation
    assert dry == wet
    assert (dry.n_before, dry.n_after, len(dry.rows)) == (8, 5, 5)


@pytest.fixture
def quarantined(foreign_file: ForeignFile) -> int:
    """A namespace with two ancestry edges that links wrote, one of them to a record that is not there."""
    foreign_file.memory("a").memory("b").memory("c")
    foreign_file.edge("b", "evolved_from", "a").edge("c", "merged_from", "a").edge("c", "split_from", "nowhere")
    report = imported(foreign_file.done(), "kept")
    (namespace,) = namespaces(report).values()
    return namespace


def run_of(namespace: int) -> UUID:
    return ImportRun.objects.get(namespace=namespace).id


def here(namespace: int) -> Reconciled:
    return reconciled(asof.now(namespace), run=run_of(namespace))


def test_a_tie_of_which_both_ends_stand_is_offered_as_a_link(quarantined: int) -> None:
    offers = here(quarantined).offers
    assert Counter(offer.code for offer in offers) == {"edge-without-claim": 2}
    assert {offer.relation for offer in offers} == {"evolved_from", "merged_from"}
    assert all(offer.applied_by is None for offer in offers)


def test_chosen_ties_become_links_by_one_entry_and_no_ancestry(quarantined: int) -> None:
    digests = dict(Record.objects.filter(namespace=quarantined).values_list("id", "ancestry_digest"))
    offers = here(quarantined).offers
    done = apply_ties(owner(quarantined), run=run_of(quarantined), findings=[offer.finding for offer in offers])
    edges = Edge.objects.filter(namespace=quarantined, seq=done.seq)
    assert {(edge.source, edge.relation, edge.target) for edge in edges} == {
        (offer.source, "references", offer.target) for offer in offers
    }
    assert Entry.objects.get(namespace=quarantined, seq=done.seq).verb == "reconcile"
    assert not Edge.objects.filter(namespace=quarantined, relation__in=ANCESTRY).exists()
    assert dict(Record.objects.filter(namespace=quarantined).values_list("id", "ancestry_digest")) == digests
    assert [offer.applied_by for offer in here(quarantined).offers] == [done.seq, done.seq]
    assert scan(quarantined).is_clean
    assert all(
        each.n_differences == 0 for each in rebuild(replace(SYSTEM, namespace=quarantined), check=True).comparisons
    )


def test_a_point_before_the_act_still_offers_it(quarantined: int) -> None:
    before = Entry.objects.filter(namespace=quarantined).count()
    first = here(quarantined).offers[0]
    apply_ties(owner(quarantined), run=run_of(quarantined), findings=[first.finding])
    then = reconciled(asof.resolve(quarantined, known_at=f"seq:{before}"), run=run_of(quarantined))
    assert all(offer.applied_by is None for offer in then.offers)


def test_a_tie_is_applied_once_and_what_is_not_offered_never(quarantined: int) -> None:
    by, run = owner(quarantined), run_of(quarantined)
    first, second = (offer.finding for offer in here(quarantined).offers)
    keyed = replace(by, idempotency_key="once")
    done = apply_ties(keyed, run=run, findings=[first])
    again = apply_ties(keyed, run=run, findings=[first])
    assert (again.seq, again.replayed) == (done.seq, True)
    missing = ImportFinding.objects.filter(namespace=quarantined).exclude(id__in=[first, second])
    for wrong in (first, uuid4(), *(row.id for row in missing)):
        with pytest.raises(Invalid):
            apply_ties(by, run=run, findings=[wrong])
    with pytest.raises(Invalid):
        apply_ties(by, run=run, findings=[])
    with pytest.raises(NotFound):
        apply_ties(by, run=uuid4(), findings=[second])
    reviewer = replace(by, role="reviewer", powers=ROLE_POWERS["reviewer"])
    with pytest.raises(Forbidden):
        apply_ties(reviewer, run=run, findings=[second])


def test_a_link_that_somebody_made_already_is_a_conflict(quarantined: int) -> None:

    offer = here(quarantined).offers[0]
    by = owner(quarantined)
    link(by, source=offer.source, relation="references", target=offer.target)
    with pytest.raises(Conflict):
        apply_ties(by, run=run_of(quarantined), findings=[offer.finding])


def test_the_one_record_that_an_abbreviation_can_mean_is_offered(contextfs_store: Store) -> None:
    codes = {offer.code for one in each(contextfs_store("violations")).values() for offer in one.offers}
    assert "captured" in codes


def test_rows_that_are_erased_are_counted_and_not_compared(quarantined: int) -> None:
    record = Record.objects.filter(namespace=quarantined).order_by("seq", "item").first()
    assert record is not None
    erase(owner(quarantined), items=[(record.seq, record.item)], reason="request")
    found = here(quarantined)
    assert found.n_erased > 0
    assert found.found.n_records == 2


def test_an_import_that_is_not_there_is_not_found(quarantined: int) -> None:
    with pytest.raises(NotFound):
        reconciled(asof.now(quarantined), run=uuid4())
    other = Namespace.objects.exclude(pk=quarantined).first()
    assert other is None
