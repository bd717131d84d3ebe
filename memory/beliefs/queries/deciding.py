"""A decision: one node of an answer, computed from its full marginals."""

from __future__ import annotations

from typing import Any

from memory.base.asof import AsOf
from memory.beliefs.kernel.answering import DEFAULT_SETTINGS
from memory.beliefs.kernel.decision import decision
from memory.beliefs.kernel.laws import Law
from memory.beliefs.kernel.questions import DecisionOptions, InferenceSettings, QueryDocument
from memory.beliefs.profiles import Profile
from memory.beliefs.queries.asking import ask


def decide(
    at: AsOf, *, query: QueryDocument, options: DecisionOptions, profile: Profile, law: Law | None = None,
    settings: InferenceSettings = DEFAULT_SETTINGS,
) -> dict[str, Any]:  # fmt: skip
    """The decision at the point. Under compat the candidates are those of the query's `top_k`, as with the peer.

    Raises as `ask` does, and Invalid (no such node, an answer that is unreliable).
    """
    found = ask(at, query=query, profile=profile, law=law, settings=settings)
    top_k = None if profile == "compat" else found.answer.law.size
    told: dict[str, Any] = decision(
        found.capsule(profile=profile, top_k=top_k), options=options, profile=profile,
        certainty=None if found.answer.inference is None else found.answer.inference.certainty,
    )  # fmt: skip
    if profile == "native":
        told["audit"] |= {"seq": at.seq, "provisional": at.provisional, "as_of": found.as_of}
    return told
