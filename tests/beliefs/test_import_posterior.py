"""Stores that the peer wrote, at each schema: what arrives, what does not verify, and that the file stays as it was."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command
from posterior_memory_harness.harness import PosteriorMemoryHarness
from posterior_memory_harness.laws import cyclic_law, s3_law
from posterior_memory_harness.monitoring import CalibrationDriftMonitor, MonitorConfig
from posterior_memory_harness.store import SQLiteMemoryStore

from memory.agents.setup import system
from memory.base.errors import Invalid
from memory.beliefs.kernel.questions import query_document
from memory.beliefs.models import Forecast, MonitorRun, Observation, RelationLaw, Revocation
from memory.beliefs.profiles import profile_of
from memory.beliefs.queries.asking import ask
from memory.calibration.models import LabelOutcome
from memory.calibration.queries import reports
from memory.interchange.contextfs.kernel.vocabulary import ForeignStoreError
from memory.interchange.contextfs.operations import Options, Report
from memory.interchange.models import ImportedRow, ImportFinding, ImportRun
from memory.interchange.operations import import_file
from memory.interchange.posterior.reader import read_store
from memory.interchange.reports import as_text
from memory.ledger.models import Content, Entry, Namespace
from memory.ledger.operations.erasing import erase
from memory.ledger.queries import asof
from memory.ledger.queries.contents import contents_of
from memory.ledger.queries.verification import scan
from memory.management.posterior.running import run
from memory.management.refusals import Found
from tests.beliefs.test_capsule import close
from tests.browsers import browser
from tests.contract.callers import caller, places
from tests.interchange.test_api import upload
from tests.interchange.test_pages import act, looked_at
from tests.interchange.test_pages import upload as sent_form
from tests.ledger.shown import words
from tests.world import World

pytestmark = pytest.mark.django_db

LAWS = {"phase": "cyclic:4", "turn": "s3"}
NODES = [f"n{index}" for index in range(6)]
SMALL = {"reference_size": 8, "current_size": 6, "min_current_size": 2, "max_tracked": 200}
TOOLS = ("tracker", "llm", None)
LINEAGE = ("source_event_id", "lineage_root_id", "derived_from_json", "encoder_revision", "calibration_revision")


def documents(namespace: str, *, second: bool) -> Iterator[dict[str, Any]]:
    """Observations of both laws: priors, trust, tags, lineages, echoes, intervals, one loop and parallel edges."""
    draw = np.random.default_rng(5)
    for index in range(40):
        relation, size = (("phase", 4), ("turn", 6))[index % 2]
        source, target = draw.choice(len(NODES), 2, replace=False)
        told: dict[str, Any] = {
            "observation_id": f"{namespace}:{index}", "namespace": namespace, "relation_type": relation,
            "source": NODES[source], "target": NODES[target], "posterior": draw.dirichlet(np.full(size, 0.5)).tolist(),
            "evidence_family": f"family {index % 30}", "observed_at": 100.0 + index / 3,
            "trust": [1.0, 0.7][index % 5 == 0],
            "provenance": {"tool": TOOLS[index % 3]} if TOOLS[index % 3] else {"note": "é", "n": index},
            "tags": ["kept"] if index % 4 else [], "valid_until": 200.0 if index % 7 == 0 else None,
        }  # fmt: skip
        if index % 6 == 0:
            told["prior"] = draw.dirichlet(np.full(size, 5.0)).tolist()
        if second:
            told["schema_version"] = 2
            if index % 9 == 0:
                told["source_event_id"] = f"event {index % 4}"
        yield told
        if second and index == 20:
            yield told | {
                "observation_id": f"{namespace}:echo", "independent_evidence": False, "observed_at": 150.0,
                "derived_from": [f"{namespace}:{index}"], "posterior": [0.25] * 4,
            }  # fmt: skip


def fill(path: Path, *namespaces: str, second: bool = True, monitored: bool = True) -> None:
    """Write a store with the peer: observations, revocations, and labels with one correction."""
    store = SQLiteMemoryStore(path)
    monitor = CalibrationDriftMonitor(MonitorConfig(**SMALL)) if monitored else None
    harness = PosteriorMemoryHarness(store, monitor=monitor)
    harness.register_relation("phase", cyclic_law(4))
    harness.register_relation("turn", s3_law())
    for namespace in namespaces:
        for document in documents(namespace, second=second):
            harness.observe_payload(document)
        store.revoke(f"{namespace}:7", 160.0)
        if monitored:
            for index in range(0, 36, 2):
                harness.record_outcome(
                    f"{namespace}:{index}",
                    str(index % 4),
                    labeled_at=300.0 + index,
                    outcome_event_id=f"{namespace}/{index}",
                )
            harness.correct_outcome(
                f"{namespace}:4", "3", reason=" seen again ", labeled_at=400.0, outcome_event_id=f"{namespace}/again"
            )


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One namespace, schema 3."""
    path = tmp_path_factory.mktemp("peer") / "peer.db"
    fill(path, "team")
    return path


@pytest.fixture
def peer(written: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copy(written, tmp_path / "peer.db"))


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """The file, changed and closed, so that no journal is left beside it."""
    with closing(sqlite3.connect(path)) as file, file:
        yield file


@pytest.fixture
def home(settings: Any, tmp_path: Path) -> Path:
    """Where the files of uploads lie."""
    settings.PALIMPSEST_HOME = tmp_path
    return tmp_path


def taken(path: Path, base: str = "team", *, laws: dict[str, str] | None = None, **options: Any) -> Report:
    is_dry = options.pop("dry_run", False)
    given = Options(base, laws=LAWS if laws is None else laws, **options)
    return import_file(system(0), path, format="posterior", options=given, dry_run=is_dry)


def here(name: str = "team") -> int:
    return Namespace.objects.get(name=name).pk


QUERIES: list[dict[str, Any]] = [
    {"relation_type": "phase", "nodes": NODES, "root": "n0", "as_of": 155.0, "top_k": 4},
    {"relation_type": "turn", "nodes": NODES[:5], "root": "n1", "as_of": 190.0, "tags": ["kept"], "top_k": 6},
    {"relation_type": "turn", "seeds": ["n2"], "root": "n2", "as_of": 250.0, "max_hops": 1, "max_nodes": 4},
    {"relation_type": "phase", "seeds": ["n3", "n0"], "root": "n0", "as_of": 170.0, "retrieval_policy": "cycle_aware"},
]


def both_answer_alike(path: Path, source: str, target: str) -> None:
    """The peer's answer and ours to every query, by every key."""
    harness = PosteriorMemoryHarness(SQLiteMemoryStore(path))
    harness.register_relation("phase", cyclic_law(4))
    harness.register_relation("turn", s3_law())
    at = asof.now(here(target))
    for query in QUERIES:
        asked = {"schema_version": 2, **query}
        expected = harness.query_payload(asked | {"namespace": source})
        assert expected["used_observation_ids"]
        found = ask(at, query=query_document(asked | {"namespace": target}), profile="compat")
        close(found.capsule(profile="compat"), expected | {"namespace": target}, str(query))


def test_a_store_arrives_whole_and_answers_as_the_peer_does(peer: Path) -> None:
    before = peer.read_bytes()
    report = taken(peer)
    assert (report.targets, report.codes) == ({"team": "team"}, {})
    assert peer.read_bytes() == before
    assert [one.name for one in peer.parent.iterdir()] == ["peer.db"]
    namespace = here()
    assert profile_of(namespace) == "compat"
    with opened(peer) as file:
        stored = {
            table: file.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0]
            for table in ("observations", "monitor_predictions", "monitor_outcomes", "monitor_runs", "relation_laws")
        }
    counts = [model.objects.filter(namespace=namespace).count()
              for model in (Observation, Forecast, LabelOutcome, MonitorRun, RelationLaw)]  # fmt: skip
    assert counts == list(stored.values())
    assert Revocation.objects.get(namespace=namespace).at == 160.0
    assert not RelationLaw.objects.filter(namespace=namespace, is_attested=True).exists()
    assert scan(namespace).is_clean
    assert run(["verify"]) == 0
    both_answer_alike(peer, "team", "team")


def test_reports_and_claimed_instants_are_those_of_the_peer(peer: Path) -> None:
    taken(peer)
    at = asof.now(here())
    store = SQLiteMemoryStore(peer)
    harness = PosteriorMemoryHarness(store, monitor=CalibrationDriftMonitor(MonitorConfig(**SMALL)))
    for as_of in (None, 1e12):
        expected = harness.calibration_report(namespace="team", as_of=as_of)
        close(reports.tree(at, run_id="default", profile="compat", as_of=as_of), expected, f"as of {as_of}")
    statuses = {one["overall"]["status"] for one in expected["relations"].values()}
    assert statuses & {"alert", "healthy"}
    with opened(peer) as file:
        tracked = {at for (at,) in file.execute("SELECT tracked_at FROM monitor_predictions")}
        recorded = {at for (at,) in file.execute("SELECT recorded_at FROM monitor_outcomes")}
    assert set(Forecast.objects.filter(namespace=at.namespace).values_list("tracked_at", flat=True)) == tracked
    assert set(LabelOutcome.objects.filter(namespace=at.namespace).values_list("recorded_at", flat=True)) == recorded


def test_imported_again_a_store_adds_nothing_and_grown_it_adds_what_is_new(peer: Path) -> None:
    taken(peer)
    before = Entry.objects.count()
    again = taken(peer)
    assert [(one.seq, one.n_records, one.n_skipped) for one in again.applied] == [(None, 0, 41)]
    assert Entry.objects.count() == before
    store = SQLiteMemoryStore(peer)
    harness = PosteriorMemoryHarness(store, monitor=CalibrationDriftMonitor(MonitorConfig(**SMALL)))
    harness.register_relation("phase", cyclic_law(4))
    harness.observe_payload(
        next(documents("team", second=True)) | {"observation_id": "late", "evidence_family": "late"}
    )
    harness.record_outcome("late", "2", labeled_at=500.0, outcome_event_id="late/1")
    store.revoke("team:9", 170.0)
    assert " would take 1 observation, 1 label, 1 revocation, 0 findings" in as_text(taken(peer, dry_run=True))
    (grown,) = taken(peer).applied
    assert (grown.n_records, grown.n_labels, grown.n_revocations, grown.n_findings) == (1, 1, 1, 0)
    assert Revocation.objects.filter(namespace=here()).count() == 2
    both_answer_alike(peer, "team", "team")


def older(path: Path, version: int) -> None:
    """Undo the peer's migrations: 3 added the lineage columns, 2 the monitor tables, 1 the history."""
    with opened(path) as file:
        named = "SELECT sql FROM sqlite_master WHERE name = 'memory_schema_migrations_no_delete'"
        (guard,) = file.execute(named).fetchone()
        file.execute("DROP TRIGGER memory_schema_migrations_no_delete")
        for column in LINEAGE:
            file.execute(f"ALTER TABLE observations DROP COLUMN {column}")
        file.execute("DELETE FROM memory_schema_migrations WHERE version > 2")
        if version < 2:
            for table in ("monitor_outcomes", "monitor_predictions", "monitor_laws", "monitor_runs", "relation_laws"):
                file.execute(f"DROP TABLE {table}")
            file.execute("DELETE FROM memory_schema_migrations WHERE version > 1")
        if version < 1:
            file.execute("DROP TABLE memory_schema_migrations")
        else:
            file.execute(guard)
        file.execute(f"PRAGMA user_version = {version}")


@pytest.mark.parametrize("version", [0, 1, 2])
def test_stores_of_older_schemas_arrive_and_answer_as_the_peer_does(version: int, tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    fill(path, "old", second=False, monitored=version == 2)
    older(path, version)
    assert read_store(path).version == max(version, 1)
    before = path.read_bytes()
    report = taken(path, "old")
    assert (report.codes, path.read_bytes() == before) == ({}, True)
    namespace = here("old")
    assert Observation.objects.filter(namespace=namespace).count() == 40
    # Without a registered law the importer alone vouches for it.
    attested = RelationLaw.objects.filter(namespace=namespace, is_attested=True).count()
    assert attested == (0 if version == 2 else 2)
    both_answer_alike(path, "old", "old")


def test_each_namespace_of_the_source_has_a_target_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "two.db"
    fill(path, "Team A", "team b")
    dry = taken(path, "lab", dry_run=True)
    assert (dry.targets, [one.n_records for one in dry.applied]) == (
        {"Team A": "lab.team-a", "team b": "lab.team-b"}, [41, 41],
    )  # fmt: skip
    assert not Namespace.objects.exists()
    report = taken(path, "lab", mapping={"team b": "second"})
    assert report.targets == {"Team A": "lab.team-a", "team b": "second"}
    assert report.codes == {"run-divided": 2}
    both_answer_alike(path, "Team A", "lab.team-a")
    both_answer_alike(path, "team b", "second")
    assert MonitorRun.objects.filter(namespace__name="second").count() == 1


def test_what_does_not_verify_is_a_finding_with_its_row_and_the_rest_arrives(peer: Path) -> None:
    with opened(peer) as file:
        for table in ("monitor_outcomes", "monitor_predictions"):
            file.execute(f"DROP TRIGGER {table}_no_update")
        # The peer leaves its observations open to change.
        file.execute("UPDATE observations SET posterior_json = '[1.0,0.0,0.0,0.0]' WHERE observation_id = 'team:0'")
        file.execute("UPDATE observations SET tags_json = '[1]' WHERE observation_id = 'team:1'")
        file.execute("UPDATE observations SET revoked_at = 1.0 WHERE observation_id = 'team:3'")
        file.execute("UPDATE monitor_outcomes SET labeled_at = 301.0 WHERE outcome_event_id = 'team/2'")
        file.execute("UPDATE monitor_predictions SET tracked_at = 5.0 WHERE observation_id = 'team:5'")
    report = taken(peer)
    assert report.codes == {
        "forecast-differs": 1, "forecast-hash": 1, "observation-unreadable": 1, "outcome-hash": 1,
        "outcome-refused": 1, "revocation-unusable": 1,
    }  # fmt: skip
    namespace = here()
    assert Observation.objects.filter(namespace=namespace).count() == 40
    findings = {row.code: row for row in ImportFinding.objects.filter(namespace=namespace)}
    kept = ImportedRow.objects.get(namespace=namespace, object=findings["outcome-hash"].id)
    raw = contents_of(namespace, [(kept.seq, kept.item)])[kept.seq, kept.item]["raw"]
    assert raw["row"]["labeled_at"] == 301.0
    assert findings["forecast-differs"].record is not None
    before = Entry.objects.count()
    taken(peer)
    assert Entry.objects.count() == before


def test_laws_are_named_by_the_importer_and_must_be_those_of_the_store(peer: Path) -> None:
    with pytest.raises(Invalid, match="none for turn"):
        taken(peer, laws={"phase": "cyclic:4"})
    with pytest.raises(Invalid, match="no_such"):
        taken(peer, laws=LAWS | {"no_such": "s3"})
    with pytest.raises(Invalid, match="by these nothing of it stands"):
        taken(peer, laws={"phase": "cyclic:5", "turn": "cyclic:6"})
    assert not Namespace.objects.exists()
    other = taken(peer, laws={"phase": "cyclic:4", "turn": "cyclic:6"})
    assert other.codes["law-differs"] == 20
    assert Observation.objects.filter(namespace=here()).count() == 21
    right = taken(peer)
    assert "law-differs" not in right.codes
    assert Observation.objects.filter(namespace=here()).count() == 41
    both_answer_alike(peer, "team", "team")


@pytest.mark.sqlite_only
def test_other_files_are_refused(tmp_path: Path, peer: Path) -> None:
    with opened(peer) as file:
        file.execute("PRAGMA user_version = 4")
    with pytest.raises(ForeignStoreError, match="schema_revision_newer"):
        read_store(peer)
    empty = tmp_path / "other.db"
    with opened(empty) as file:
        file.execute("CREATE TABLE observations (observation_id TEXT)")
    with pytest.raises(ForeignStoreError, match="missing_column"):
        read_store(empty)


def test_the_command_takes_laws_from_files(peer: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    law = tmp_path / "c4.json"
    law.write_text(json.dumps(cyclic_law(4).to_dict()))
    call_command("import", "posterior", str(peer), namespace="team", law=[f"phase={law}", "turn=s3"], verbosity=0)
    told = capsys.readouterr().out
    assert "team -> team took 41 observations, 19 labels, 1 revocation" in told
    assert "claims" not in told
    assert Observation.objects.filter(namespace=here()).count() == 41
    with pytest.raises(Found, match="20 observations were written by another law") as found:
        call_command("import", "posterior", str(peer), namespace="other", law=["phase=cyclic:4", "turn=cyclic:6"])
    assert found.value.returncode == 3


def test_an_owner_imports_an_upload_and_attests_its_laws(peer: Path, home: Path) -> None:
    world = World("lab")
    laws = [f"phase={json.dumps(cyclic_law(4).to_dict())}", "turn=s3"]
    refused = upload(caller(world, world.alice), peer.read_bytes(), format="posterior", law=laws[:1])
    assert (refused.status_code, places(refused)[0][0]) == (422, "law")
    dry = upload(caller(world, world.alice), peer.read_bytes(), format="posterior", law=laws, dry_run="true")
    assert [one["n_records"] for one in dry.json()["report"]["applied"]] == [41]
    assert not Observation.objects.exists()
    done = upload(caller(world, world.alice), peer.read_bytes(), format="posterior", law=laws).json()["report"]
    assert done["targets"] == {"team": "lab"}
    (applied,) = done["applied"]
    assert Observation.objects.filter(namespace=world.namespace).count() == applied["n_records"] == 41
    read = caller(world, world.alice).get(f"/imports/{applied['run']}").json()
    assert (read["format"], read["state"]) == ("posterior", "done")
    assert upload(caller(world, world.scout), peer.read_bytes(), format="posterior", law=laws).status_code == 403


@pytest.mark.sqlite_only
def test_an_owner_brings_a_store_in_by_the_form(peer: Path, home: Path) -> None:
    world = World("acme")
    client = browser(world.alice)
    sent = {"format": "posterior", "laws": "phase = cyclic:4\nturn=s3"}
    lawless = client.get(looked_at(client, peer.read_bytes(), format="posterior"))
    assert "none for phase, turn" in words(lawless.text)
    assert sent_form(client, peer.read_bytes(), format="posterior", laws="phase").status_code == 422
    address = looked_at(client, peer.read_bytes(), **sent)
    assert "Import 41 observations, 19 labels into 1 namespace" in words(client.get(address).text)
    answer = client.post(act(address, "import"), follow=True)
    entered = ImportRun.objects.get(namespace=world.namespace)
    assert f'href="/imports/{entered.id}?ns=acme"' in answer.text
    assert Observation.objects.filter(namespace=world.namespace).count() == 41
    shown = client.get(f"/imports/{entered.id}?ns=acme")
    assert shown.status_code == 200
    assert "Edges beside claims" not in shown.text


def test_an_erasure_of_an_observation_takes_its_raw_rows_along(peer: Path) -> None:
    with opened(peer) as file:
        told = ('{"note": "a secret"}', "team:9")
        file.execute("UPDATE observations SET provenance_json = ? WHERE observation_id = ?", told)
    taken(peer)
    namespace = here()
    marked = Content.objects.filter(namespace=namespace, payload__contains="a secret")
    assert marked.count() == 2
    raw = marked.get(part="raw")
    row = Observation.objects.get(namespace=namespace, id=ImportedRow.objects.get(
        namespace=namespace, seq=raw.seq, item=raw.item).object)  # fmt: skip
    erase(system(namespace), items=[(row.seq, row.item)], reason="request")
    assert not marked.exists()
    assert run(["verify"]) == 0
    assert [one.n_records for one in taken(peer).applied] == [0]
