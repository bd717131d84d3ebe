"""The story's beliefs: what two relations mean, a confident reading that was wrong, seven hosts that compare a file.

Nine comparisons of seven hosts do not fit together; the exact answer blames one of them, and a person revokes it.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from audit.demo.steps import Answered, Step, at

SAFE, SAME = "is-safe", "same-liblzma"
HOSTS = tuple(f"build-{number}" for number in range(1, 8))
QUESTION = "Which hosts hold the file that build-1 holds?"
# (id, from, to, [same, different]): the fifth compared printed versions, not files.
COMPARED = (
    ("e1", 1, 2, (0.96, 0.04)), ("e2", 2, 3, (0.94, 0.06)), ("e3", 3, 4, (0.95, 0.05)), ("e4", 4, 5, (0.92, 0.08)),
    ("e5", 5, 1, (0.15, 0.85)), ("e6", 5, 6, (0.90, 0.10)), ("e7", 6, 7, (0.07, 0.93)), ("e8", 7, 1, (0.05, 0.95)),
    ("e9", 6, 1, (0.90, 0.10)),
)  # fmt: skip
COMPARING = at(3, 30, 12, 0)


def founding() -> list[Step]:
    """A12: what relations between things mean, and that forecasts are kept for their labels."""
    start = at(2, 1, 8, 0) + timedelta(seconds=40)
    laws = [
        Step(f"A12-{name}", start + timedelta(seconds=index), "triage-bot", f"relations/{name}", {"law": "cyclic:2"},
             method="PUT", re_enacted=False)
        for index, name in enumerate((SAFE, SAME))
    ]  # fmt: skip
    watch = Step(
        "A12-monitor", start + timedelta(seconds=5), "triage-bot", "monitors/default", {}, method="PUT",
        re_enacted=False,
    )  # fmt: skip
    return [*laws, watch]


def acts() -> list[Step]:
    """What is invented, in the order of the story."""
    return [*_one_miss(), *_seven_hosts()]


def observation(
    id: str, relation_type: str, source: str, target: str, *, masses: Sequence[float], seen: datetime, tool: str
) -> dict[str, Any]:
    """A payload of its own evidence family, marked as invented."""
    return {
        "schema_version": 2, "observation_id": id, "relation_type": relation_type, "source": source, "target": target,
        "posterior": list(masses), "evidence_family": f"{tool} {id}", "observed_at": seen.timestamp(),
        "provenance": {"re_enacted": True, "tool": tool},
    }  # fmt: skip


def _one_miss() -> list[Step]:
    """B01: as sure as 0.97, and wrong."""
    seen = at(3, 10, 9, 0)
    reading = observation("fc-561", SAFE, "xz-5.6.1", "baseline", masses=(0.97, 0.03), seen=seen, tool="release triage")
    label = {"observation_id": Answered("B01b", "observation_id"), "true_relation": "1"}
    return [
        Step("B01b", seen + timedelta(seconds=30), "triage-bot", "observations", reading),
        Step("D09", at(3, 29, 18, 0), "scan-bot", "outcomes", label),
    ]


def _seven_hosts() -> list[Step]:
    compared = [
        observation(
            id, SAME, f"build-{one}", f"build-{other}", masses=masses, seen=COMPARING + timedelta(minutes=index),
            tool="printed version" if id == "e5" else "file compare",
        )
        for index, (id, one, other, masses) in enumerate(COMPARED)
    ]  # fmt: skip
    batch = {"batch": Answered("F01", "seq")}
    query = {"schema_version": 2, "relation_type": SAME, "nodes": list(HOSTS), "root": HOSTS[0], "top_k": 2}
    return [
        Step("F01", at(3, 30, 12, 9), "scan-bot", "observations/batch", compared),
        Step("F10", at(3, 30, 12, 30), "scan-bot", "beliefs/saved", {"name": QUESTION, "query": query},
             refers_to=batch),
        Step("F11", at(3, 30, 13, 0), "reviewer-a", "observations/revoke", {
            "observation_id": "e5", "at": at(3, 30, 13, 0).timestamp(),
            "reason": "re_enacted: compared printed versions, not files",
        }, refers_to=batch),
    ]  # fmt: skip
