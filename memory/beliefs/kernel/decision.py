"""The decision projection: one node of a capsule, for whoever acts on it.

Invariants
- It neither infers nor ranks: what it shows is the capsule's. A capsule that carries instructions, or whose candidates
  are not sorted probabilities, is refused; natively also one whose candidates sum to more than one.
- How sure a capsule is that a client hands in, nobody here knows: no certainty is told of it.
- An unreliable answer is withheld unless the caller asks for it in so many words.
- A decision grants nothing: it is evidence too.

Source: posterior-memory-harness 0.9.0, its projection, version 1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Literal

from memory.base.errors import Invalid
from memory.beliefs.kernel.documents import Profile
from memory.beliefs.kernel.questions import DecisionOptions
from memory.beliefs.kernel.reading import identifier, members, number, shown

Source = Literal["computed", "handed_in"]

SUM_TOLERANCE = 1e-6


def decision(
    capsule: Mapping[str, object], *, options: DecisionOptions, profile: Profile, certainty: str | None = None,
    source: Source = "computed",
) -> dict[str, object]:  # fmt: skip
    """The projection of a capsule on its focus.

    capsule : of `capsule.capsule` (all states as candidates, for as many alternatives as asked), or a client's own.
    certainty : of the answer where the capsule has no `audit` that tells it.   source : who made the capsule.
    Raises Invalid, naming the place in the capsule.
    """
    if capsule.get("instructions") != []:
        raise Invalid.at("capsule", "instructions", expected="an empty list", got=shown(capsule.get("instructions")))
    candidates = _candidates(*_focus(capsule, options.focus_node), profile)
    audit = _audit(capsule)
    found = audit.get("certainty") if certainty is None else certainty
    if found == "unreliable" and not options.allow_unreliable:
        expected = "an answer that is not unreliable, or allow_unreliable"
        raise Invalid.at("capsule", "audit", "certainty", expected=expected, got="unreliable", code="unreliable")
    conflicts = [members(one, "capsule", "conflicts", i) for i, one in enumerate(_list(capsule, "conflicts"))]
    diagnostics = capsule.get("inference_diagnostics")
    told: dict[str, object] = {
        "schema_version": 1,
        "kind": "memory_decision",
        "namespace": capsule.get("namespace"),
        "relation_type": capsule.get("relation_type"),
        "focus_node": options.focus_node,
        "highest_probability_state": candidates[0]["state"],
        "highest_probability": candidates[0]["probability"],
        "alternatives": candidates[1 : 1 + options.alternatives],
        "evidence_count": len(_list(capsule, "used_observation_ids")),
        "focus_conflict_count": sum(options.focus_node in (one.get("source"), one.get("target")) for one in conflicts),
        "inference_backend": capsule.get("inference_backend"),
        "approximate": capsule.get("approximate"),
        "inference_stable": diagnostics.get("stable") if isinstance(diagnostics, Mapping) else None,
        "instructions": [],
    }
    if profile == "native":
        near, sure = _near(audit, options.focus_node), found if source == "computed" else None
        told["audit"] = {"certainty": sure, "source": source, "evidence_near_focus": near}
    return told


def _focus(capsule: Mapping[str, object], focus: str) -> tuple[tuple[str | int, ...], Mapping[str, object]]:
    found = [
        (("capsule", "beliefs", index), belief)
        for index, belief in enumerate(_list(capsule, "beliefs"))
        if isinstance(belief, Mapping) and belief.get("node") == focus
    ]
    if len(found) != 1:
        got = f"it {len(found)} times"
        raise Invalid.at("focus_node", expected="a node of exactly one belief", got=got, code="not_listed")
    return found[0]


def _candidates(
    place: tuple[str | int, ...], belief: Mapping[str, object], profile: Profile
) -> list[dict[str, object]]:  # fmt: skip
    given = belief.get("candidates")
    if not isinstance(given, list) or not given:
        raise Invalid.at(*place, "candidates", expected="a list of candidates", got=shown(given))
    found: list[tuple[str, float]] = []
    for index, candidate in enumerate(given):
        here = (*place, "candidates", index)
        told = members(candidate, *here)
        probability = number(told.get("probability"), *here, "probability")
        if not 0.0 <= probability <= 1.0:
            raise Invalid.at(*here, "probability", expected="a number in 0..1", got=shown(probability))
        found.append((identifier(told.get("state"), *here, "state"), probability))
    if any(left < right for (_, left), (_, right) in pairwise(found)):
        raise Invalid.at(*place, "candidates", expected="candidates by probability, descending", got="another order")
    total = math.fsum(probability for _, probability in found)
    if profile == "native" and total > 1.0 + SUM_TOLERANCE:
        raise Invalid.at(*place, "candidates", expected="probabilities whose sum is at most 1", got=shown(total))
    return [{"state": state, "probability": probability} for state, probability in found]


def _list(capsule: Mapping[str, object], key: str) -> list[object]:
    value = capsule.get(key, [])
    if not isinstance(value, list):
        raise Invalid.at("capsule", key, expected="a list", got=shown(value), code="wrong_type")
    return value


def _audit(capsule: Mapping[str, object]) -> Mapping[str, object]:
    audit = capsule.get("audit", {})
    return members(audit, "capsule", "audit")


def _near(audit: Mapping[str, object], focus: str) -> object:
    """How many used observations lie in the focus's connected component; None where the capsule does not tell."""
    evidence = audit.get("evidence", [])
    rows = evidence if isinstance(evidence, list) else []
    told = [row.get("connected_count") for row in rows if isinstance(row, Mapping) and row.get("node") == focus]
    return told[0] if told else None
