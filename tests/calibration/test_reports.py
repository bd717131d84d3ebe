"""The peer's eleven runs, replayed by hand and reported by the kernel; labels that are told, against the peer's own."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from posterior_memory_harness.monitoring import (
    CalibrationDriftMonitor,
    MonitorIdempotencyConflictError,
    MonitorOutcomeConflictError,
)

from memory.base.errors import Conflict, Invalid
from memory.beliefs.kernel.acts import outcome_document
from memory.beliefs.kernel.monitoring import MonitorConfig, parse_config, source_family
from memory.calibration.kernel import labelling, reporting, windows
from memory.calibration.kernel import metrics as scores
from memory.calibration.kernel.labelling import Told
from memory.calibration.kernel.reporting import Counted, Scope, Segment
from tests.calibration.peer_cases import law_of, monitor_cases, normalised

pytestmark = pytest.mark.sqlite_only


@dataclass
class Forecast:
    place: int
    given: dict[str, Any]
    tracked_at: float
    labels: list[tuple[int, dict[str, Any]]] = field(default_factory=list)

    @property
    def family(self) -> str | None:
        return source_family(self.given.get("provenance", {}))


@dataclass
class Replayed:
    """A run's journal, and reports made of it by recomputing everything."""

    case: dict[str, Any]
    forecasts: dict[str, Forecast] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.config = parse_config(self.case["config"])
        n_labels = 0
        for event in self.case["events"]:
            if "expected_error" in event:
                continue
            if event["op"] == "observe":
                given = event["payload"]
                self.forecasts[given["observation_id"]] = Forecast(len(self.forecasts) + 1, given, event["tracked_at"])
            elif event["expected"]:
                n_labels += 1
                self.forecasts[event["observation_id"]].labels.append((n_labels, event))

    def report(self, **scope: Any) -> Any:
        return reporting.report(self.config, scope=_scope(scope), segments=self._segments(**scope))

    def tree(self, *, namespace: str | None = None, as_of: float | None = None) -> Any:
        asked = {"namespace": namespace, "as_of": as_of}
        relations = {}
        for name in {forecast.given["relation_type"] for forecast in self._selected(**asked)}:
            within = {**asked, "relation_type": name}
            families = {forecast.family for forecast in self._selected(**within)}
            relations[name] = (
                self.report(**within),
                {str(family): self.report(**within, source_family=family) for family in families},
            )
        return reporting.tree(self.config, scope=_scope(asked), relations=relations)

    def _selected(self, **asked: Any) -> list[Forecast]:
        as_of = asked.get("as_of")
        return [
            forecast
            for forecast in self.forecasts.values()
            if asked.get("namespace") in (None, forecast.given["namespace"])
            and asked.get("relation_type") in (None, forecast.given["relation_type"])
            and asked.get("source_family") in (None, forecast.family)
            and (as_of is None or max(forecast.given["observed_at"], forecast.tracked_at) <= as_of)
        ]

    def _segments(self, **asked: Any) -> list[Segment]:
        by_relation: dict[str, list[Forecast]] = {}
        for forecast in self._selected(**asked):
            by_relation.setdefault(forecast.given["relation_type"], []).append(forecast)
        return [self._segment(name, members, asked.get("as_of")) for name, members in by_relation.items()]

    def _segment(self, name: str, members: list[Forecast], as_of: float | None) -> Segment:
        names, _ = law_of(self.case["relations"][name])
        labelled = []
        for forecast in members:
            visible = [
                (place, event)
                for place, event in forecast.labels
                if as_of is None or max(event["recorded_at"], event["labeled_at"]) <= as_of
            ]
            if visible:
                place, event = visible[-1]
                vector = normalised(forecast.given["posterior"])
                labelled.append((event["labeled_at"], place, vector, names.index(event["true_relation"])))
        labelled.sort()
        counted = Counted(
            len(members), len(labelled), max(forecast.place for forecast in members),
            max((place for _, place, _, _ in labelled), default=None),
        )  # fmt: skip
        sizes = {"reference_size": self.config.reference_size}
        reference = windows.reference_span(len(labelled), **sizes)
        current = windows.current_span(len(labelled), **sizes, current_size=self.config.current_size)
        return Segment(name, counted, self._sums(labelled, reference), self._sums(labelled, current))

    def _sums(self, labelled: list[Any], span: windows.Span) -> Any:
        if not span.n:
            return None
        members = labelled[span.start : span.end]
        vectors = np.array([vector for _, _, vector, _ in members])
        truth = np.array([index for _, _, _, index in members])
        return scores.summed(vectors, truth, n_bins=self.config.ece_bins)


def _scope(asked: dict[str, Any]) -> Scope:
    return Scope(**{"namespace": None, **asked})


def same(found: Any, expected: Any, where: str = "") -> None:
    """Equal keys and words; numbers within 1e-9."""
    if isinstance(expected, dict):
        assert set(found) == set(expected), where
        for key in expected:
            same(found[key], expected[key], f"{where}.{key}")
    elif isinstance(expected, list):
        assert len(found) == len(expected), where
        for index, pair in enumerate(zip(found, expected, strict=True)):
            same(*pair, f"{where}[{index}]")
    elif isinstance(expected, float) and not isinstance(found, bool):
        assert found == pytest.approx(expected, abs=1e-9), where
    else:
        assert found == expected, where


@pytest.mark.parametrize("case", monitor_cases(), ids=lambda case: case["id"])
def test_the_reports_of_the_peer_come_out_of_its_events(case: dict[str, Any]) -> None:
    run = Replayed(case)
    for asked in case["reports"]:
        found = run.tree(**asked["args"]) if asked["kind"] == "report_all" else run.report(**asked["args"])
        same(found, asked["expected"], f"{case['id']} {asked['args']}")


def test_an_audit_stands_beside_the_keys_of_the_peer_and_counts_what_is_erased() -> None:
    config = MonitorConfig(reference_size=2, current_size=2, min_current_size=1)
    vectors, truth = np.array([[0.8, 0.2], [0.6, 0.4]]), np.array([0, 1])
    sums = scores.summed(vectors, truth, n_bins=10)
    audit = reporting.audit_of(sums, n_bins=10)
    whole = Segment("r", Counted(4, 4, 4, 4), sums, sums, {"current": audit})
    found = reporting.report(config, scope=Scope("ns"), segments=[whole], audit={"seq": 7})
    assert (found["audit"]["seq"], found["audit"]["current"]["n"]) == (7, 2)
    assert found["counts"] == {"tracked": 4, "labeled": 4, "pending": 0, "reference": 2, "current": 2}
    gone = Segment("r", Counted(4, 4, 4, 4), sums, sums - sums, {})
    assert reporting.report(config, scope=Scope("ns"), segments=[gone])["status"] == "insufficient_data"


@dataclass
class Label:
    true_index: int
    labeled_at: float
    recorded_at: float


INSTANTS = st.one_of(st.none(), st.integers(0, 6).map(float))
TOLD = st.tuples(st.integers(0, 2), INSTANTS, st.integers(0, 6).map(float), st.sampled_from([None, " ", " why "]))


@given(st.lists(TOLD, max_size=7))
def test_labels_stand_repeat_or_are_refused_as_by_the_peer(events: list[Any]) -> None:
    from posterior_memory_harness import MemoryObservation

    peer = CalibrationDriftMonitor()
    seen = MemoryObservation(
        observation_id="o", namespace="n", relation_type="r", source="a", target="b", posterior=(0.2, 0.3, 0.5),
        prior=(0.4, 0.3, 0.3), evidence_family="f", observed_at=2.0,
    )  # fmt: skip
    peer.track(seen, tracked_at=2.0)
    ours: Label | None = None
    for number, (index, at, recorded_at, reason) in enumerate(events):
        expected: Any
        try:
            event = peer.prepare_outcome(
                "o", str(index), ("0", "1", "2"), labeled_at=recorded_at if at is None and reason is None else at,
                recorded_at=recorded_at, outcome_event_id=f"e{number}", correction_reason=reason,
            )  # fmt: skip
            expected = event is not None
            if event is not None:
                peer.apply_outcome(event)
        except MonitorOutcomeConflictError:
            expected = Conflict
        except MonitorIdempotencyConflictError:
            raise
        except ValueError:
            expected = Invalid
        try:
            document = {"observation_id": "o", "true_relation": str(index), "correction_reason": reason}
            read = outcome_document(document, profile="native").correction_reason
            told = Told(index, at, recorded_at, None if read is None else read.strip())
            if told.reason is not None and ours is None and at is None:
                continue  # the peer reads its own clock here
            instant = labelling.labeled_at(told, standing=ours, observed_at=2.0)
            found: Any = labelling.adds(told, at=instant, standing=ours)
            if found:
                ours = Label(index, instant, recorded_at)
        except (Conflict, Invalid) as refused:
            found = type(refused)
        assert found == expected
