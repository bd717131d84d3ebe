"""Whatever rows a file holds: a lawful plan, every row accounted for, every code with a case that gives it."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.interchange.contextfs.kernel.accounting import accounting
from memory.interchange.contextfs.kernel.findings import CODES
from memory.interchange.contextfs.kernel.plan import Plan
from tests.interchange.foreign import CLOCKS, ForeignFile
from tests.interchange.reading import by_code, plan_of, records_of, shape


def test_a_table_that_lost_its_key_gives_each_record_once(tmp_path: Path) -> None:
    keyless = tuple(
        column.replace(" PRIMARY KEY", "")
        for column in (
            "id TEXT",
            "content TEXT",
            "type TEXT",
            "namespace_id TEXT",
            "created_at TEXT",
            "updated_at TEXT",
        )
    )
    file = ForeignFile(tmp_path / "foreign.db", memory_columns=(*keyless, "metadata TEXT", "tags TEXT"))
    file.memory("one", content="first").memory("one", content="second").memory("two")
    plan = plan_of(file.done())
    assert sorted(records_of(plan)) == ["one", "two"]
    (finding,) = by_code(plan)["row-unusable"]
    assert finding.before == {"table": "memories", "faults": ["key: repeats that of another row"]}
    assert (accounting(plan).n_unaccounted, accounting(plan).contested) == (0, ())


def zoo(file: ForeignFile) -> ForeignFile:
    """One case of each code that a single snapshot can give."""
    stamp = "2026-03-01T00:00:00+00:00"
    for name in ("abcd1234-001", "same-1", "same-2", "caught-1", "a", "b", "c"):
        file.memory(name)
    file.memory("caught", "other").memory("far", "other")
    file.derived("lost", "evolved_from", "a", edges=False).derived("short", "evolved_from", "abcd1234")
    file.derived("copied", "evolved_from", "a", metadata={"split_from": "b"}).derived(
        "half", "evolved_from", "a", edges=False
    )
    file.edge("half", "evolved_from", "a").derived("orphan", "evolved_from", "nobody").edge("b", "evolved_from", "c")
    file.derived("unsure", "split_from", "same-").derived("taken", "evolved_from", "caught")
    file.derived("loop", "evolved_from", "loop").derived("mixed", "merged_from", "a", "far")
    file.memory("shapeless", metadata={"evolved_from": 7, "evolution_timestamp": stamp})
    file.memory("double", metadata={"evolved_from": "a", "split_from": "b"})
    file.edge("a", "references", "ghost").edge("a", "references", "a").edge("a", "likes", "b").edge(
        "a", "references", "b"
    )
    file.edge("a", "implements", "b").memory("bad", content="\0").memory("stale", content_hash="0" * 16)
    file.memory("withdrawn", deleted_at=stamp).edge("a", "references", "withdrawn")
    file.edge("b", "references", "c", deleted_at=stamp).derived("twice", "merged_from", "a", "a")
    file.memory("late", created_at="2027-01-01T00:00:00+00:00").derived("early", "evolved_from", "late")
    file.memory("json", tags="no json").memory("kind", type="rumour").memory("when", created_at="yesterday")
    file.memory("west", created_at="2026-03-01T00:00:00", metadata={"evolution_timestamp": "2026-03-01T06:00:00+00:00"})
    file.db.execute("CREATE TABLE sessions (id TEXT PRIMARY KEY, namespace_id TEXT)")
    return file.row("sessions", id="s-1", namespace_id="app")


def test_each_code_of_a_single_snapshot_is_given_and_has_a_clause(tmp_path: Path) -> None:
    plan = plan_of(zoo(ForeignFile(tmp_path / "zoo.db", revision=None)).done())
    of_two_snapshots = {"row-altered", "row-gone", "late-ancestry"}
    assert by_code(plan).keys() == CODES.keys() - of_two_snapshots
    assert {meaning.clause for meaning in CODES.values()} <= {"", "L1", "L2", "L3", "L4", "L5", "L6", "L7"}
    assert (accounting(plan).n_unaccounted, accounting(plan).contested) == (0, ())


names = st.sampled_from(["aaaa1", "aaaa1x", "aaaa2", "bbbb1", "bbbb2", "cccc1", "aaaa", "ghost"])
relations = st.sampled_from(
    [*CLOCKS, "evolved_into", "merged_into", "split_into", "supersedes", "superseded_by", "related_to", "implements"]
)


@st.composite
def stores(draw: st.DrawFn) -> tuple[list[dict[str, Any]], list[tuple[str, str, str, bool]]]:
    """Rows that no program would write together: claims and edges drawn apart from each other."""
    records = []
    for identifier in sorted(draw(st.sets(names, min_size=1))):
        metadata: dict[str, Any] = {}
        for relation in draw(st.sets(st.sampled_from(sorted(CLOCKS)))):
            targets = draw(st.lists(names, min_size=1, max_size=3))
            metadata[relation] = targets if relation == "merged_from" else targets[0]
            metadata[CLOCKS[relation]] = f"2026-03-01T00:00:{draw(st.integers(10, 13))}+00:00"
        records.append(
            {
                "identifier": identifier,
                "namespace": draw(st.sampled_from(["app", "app", "other"])),
                "metadata": metadata,
                "created_at": f"2026-03-0{draw(st.integers(1, 3))}T00:00:00+00:00",
            }
        )
    edges = [
        (*edge, draw(st.booleans())) for edge in sorted(draw(st.sets(st.tuples(names, relations, names), max_size=25)))
    ]
    return records, edges


@settings(max_examples=60)
@given(stores(), st.randoms(use_true_random=False))
def test_any_rows_give_a_lawful_plan_that_does_not_depend_on_their_order(
    tmp_path_factory: pytest.TempPathFactory,
    rows: tuple[list[dict[str, Any]], list[tuple[str, str, str, bool]]],
    random: Any,
) -> None:
    records, edges = rows
    plans = []
    for shuffled in (False, True):
        records, edges = list(records), list(edges)
        if shuffled:
            random.shuffle(records)
            random.shuffle(edges)
        file = ForeignFile(tmp_path_factory.mktemp("any") / "foreign.db")
        file.db.execute("BEGIN")
        for record in records:
            file.memory(**record)
        for from_id, relation, to_id, is_supersede in edges:
            metadata = {"superseded_at": "2026-03-01T00:00:00+00:00"} if is_supersede else {}
            file.edge(from_id, relation, to_id, metadata=metadata, created_at="2026-03-01T00:00:00")
        file.db.execute("COMMIT")
        plans.append(plan_of(file.done()))
    assert_lawful(plans[0])
    assert shape(plans[0]) == shape(plans[1])


def assert_lawful(plan: Plan) -> None:
    account = accounting(plan)
    assert (account.n_unaccounted, account.contested) == (0, ())
    for part in plan.namespaces:
        placed: set[str] = set()
        for record in part.records:
            # An order in which parents come first is a proof that there is no cycle.
            assert {parent.parent_id for parent in record.parents} <= placed
            placed.add(record.foreign_id)
            assert len({(parent.relation, parent.parent_id) for parent in record.parents}) == len(record.parents)
            if record.parents:
                assert record.derivation is not None
        for link in part.links:
            assert {link.edge.from_id, link.edge.to_id} <= placed
            assert link.edge.from_id != link.edge.to_id
        keys = [(link.edge.from_id, link.edge.relation, link.edge.to_id) for link in part.links]
        assert len(set(keys)) == len(keys)
