"""The laws over our own namespaces: what operations make holds, and a planted fault is found with its counterexample."""

import pytest

from audit.laws import ours
from audit.laws.values import Report
from tests.world import World

pytestmark = pytest.mark.django_db

SOUND = {
    "L1": "holds", "L2": "holds", "L3": "holds", "L4i": "holds", "L4ii": "holds", "L5": "undecidable", "L6": "holds",
    "L7": "holds",
}  # fmt: skip


def verdicts(report: Report) -> dict[str, str]:
    return {finding.clause: report.verdict(finding.clause) for finding in report.findings}


def test_a_store_made_by_every_operation_holds_every_clause_that_the_evidence_decides() -> None:
    world = World()
    first, second = world.save("the limit is 40"), world.save("the limit is 50", type="fact")
    newer = world.evolve(first.id, content="the limit is 41")
    merged = world.merge(newer, second.id)
    parts = world.split(merged, "one half", "the other half")
    world.supersede(second.id, parts[0])
    world.link(parts[0], "related_to", parts[1])
    world.link(parts[0], "depends_on", first.id)
    world.withdraw(parts[1])
    world.erase(first.id)
    report = ours.check(world.now())
    assert verdicts(report) == SOUND
    assert (report.n_records, report.n_edges, report.count("no_inverse")) == (6, 8, 1)
    assert report.measures == {"seq": world.now().seq, "derived_records": 4, "records_disagreeing": 0}
