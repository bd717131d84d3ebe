"""The store after random labels and corrections, at random points: against naive recomputation, and the peer itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from posterior_memory_harness import MemoryObservation
from posterior_memory_harness.monitoring import CalibrationDriftMonitor, MonitorConfig, _metrics, _ScoredPrediction

from memory.beliefs.kernel.acts import outcome_document
from memory.beliefs.kernel.documents import observation_document
from memory.beliefs.operations.observing import Asked, observe
from memory.calibration.operations.recording import record
from memory.calibration.queries.reports import report, tree
from tests.calibration.labelling import SMALL, watched
from tests.calibration.test_reports import same
from tests.world import World

pytestmark = pytest.mark.django_db

LABELS = ("0", "1", "2")


@dataclass
class Both:
    """One random history, told to the store and to the peer; `arrivals` are forecasts in the order of first labels."""

    world: World
    peer: CalibrationDriftMonitor
    posteriors: dict[str, tuple[str, tuple[float, ...]]] = field(default_factory=dict)
    histories: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    n_places: int = 0

    def issue(self, family: str, posterior: list[float], at: float) -> None:
        name = f"o{len(self.posteriors)}"
        given = {
            "observation_id": name, "namespace": self.world.name, "relation_type": "rel", "source": "a", "target": "b",
            "posterior": posterior, "evidence_family": name, "observed_at": at, "provenance": {"tool": family},
        }  # fmt: skip
        document = observation_document({**given, "tracked_at": at + 0.5}, profile="compat")
        observe(self.world.scout, documents=[document], asked=Asked("compat"))
        seen = MemoryObservation(**{**given, "posterior": tuple(posterior), "prior": (1 / 3, 1 / 3, 1 / 3)})
        built = self.peer.build_prediction(seen, tracked_at=at + 0.5, support_labels=LABELS)
        assert built is not None
        self.peer._insert_prediction(_numbered(built, len(self.posteriors) + 1, "prediction_seq"), replay=False)
        self.posteriors[name] = family, built.posterior

    def tell(self, name: str, true: int, *, labeled_at: float, recorded_at: float) -> None:
        is_correction = name in self.histories
        reason = "misread" if is_correction else None
        given = {
            "observation_id": name, "true_relation": str(true), "labeled_at": labeled_at, "recorded_at": recorded_at,
            "correction_reason": reason,
        }  # fmt: skip
        (done,) = record(self.world.scout, documents=[outcome_document(given, profile="compat")])
        event = self.peer.prepare_outcome(
            name, str(true), LABELS, labeled_at=labeled_at, recorded_at=recorded_at, correction_reason=reason
        )
        assert (event is not None) == done.recorded
        if event is not None:
            self.n_places += 1
            self.peer.apply_outcome(_numbered(event, self.n_places, "outcome_seq"))
            self.histories.setdefault(name, []).append((done.seq, true))

    def naive(self, family: str | None, seq: int) -> Any:
        """Metrics of both windows by the locked rule, from nothing but what was told by the entry."""
        told = [
            (posterior, [true for at, true in self.histories[name] if at <= seq])
            for name in self.histories
            for own, posterior in [self.posteriors[name]]
            if family in (None, own)
        ]
        scored = [_ScoredPrediction(posterior, truths[-1]) for posterior, truths in told if truths]
        size = SMALL["reference_size"]
        if len(scored) < size + SMALL["min_current_size"]:
            return None
        return _metrics(scored[:size], 10), _metrics(scored[size:][-SMALL["current_size"] :], 10)


def _numbered(event: Any, number: int, key: str) -> Any:
    object.__setattr__(event, key, number)
    return event


@pytest.fixture(params=[0, 1])
def both(request: pytest.FixtureRequest) -> tuple[Both, Any]:
    generator = np.random.default_rng(request.param)
    told = Both(watched("lab"), CalibrationDriftMonitor(MonitorConfig(**SMALL, run_id="r")))
    for moment in range(70):
        waiting = [name for name in told.posteriors if name not in told.histories]
        kind = generator.choice(["issue", "label", "correct"], p=[0.4, 0.4, 0.2])
        if kind == "issue" or not waiting:
            told.issue("tu"[moment % 2], generator.dirichlet([1, 1, 1]).tolist(), float(moment))
            continue
        name = str(generator.choice(waiting if kind == "label" or not told.histories else sorted(told.histories)))
        # Labels claim to be older than they are, and corrections never less new than what they correct.
        labeled_at = 100.0 + moment if name in told.histories else 80.0 + float(generator.integers(0, 20))
        told.tell(name, int(generator.integers(3)), labeled_at=labeled_at, recorded_at=200.0 + moment)
    return told, generator


def test_reports_are_what_naive_recomputation_gives_at_any_entry(both: tuple[Both, Any]) -> None:
    told, generator = both
    head = told.world.now().seq
    n_compared = 0
    for seq in [head, *generator.integers(head // 2, head, size=6).tolist()]:
        for family in (None, "t", "u"):
            found = report(told.world.at(seq), run_id="r", profile="native", relation_type="rel", source_family=family)
            expected = told.naive(family, seq)
            if expected is None:
                assert found["status"] == "insufficient_data"
                continue
            n_compared += 1
            for window, metrics in zip(("reference", "current"), expected, strict=True):
                assert found[window] == pytest.approx(metrics, abs=1e-12), (seq, family, window)
    assert n_compared > 5


def test_the_peer_reports_the_same_history_alike_at_any_claimed_instant(both: tuple[Both, Any]) -> None:
    told, generator = both
    for as_of in [None, 150.0, *generator.uniform(195, 275, size=5).tolist()]:
        found = tree(told.world.now(), run_id="r", profile="compat", as_of=as_of)
        same(found, _placed(told.peer.report_all(as_of=as_of), told.world.name))


def _placed(expected: Any, namespace: str) -> Any:
    if isinstance(expected, dict):
        named = {"namespace": namespace} if "namespace" in expected else {}
        return {**{key: _placed(value, namespace) for key, value in expected.items()}, **named}
    return expected
