"""The commands that read: query, decision, health. None of them makes a store, a namespace or a run."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from memory.base.errors import Invalid
from memory.beliefs.kernel.answering import Used, answer, stacked
from memory.beliefs.kernel.capsule import capsule
from memory.beliefs.kernel.decision import decision
from memory.beliefs.kernel.discovery import EdgesInMemory, retrieve_around
from memory.beliefs.kernel.documents import Profile
from memory.beliefs.kernel.laws import Law
from memory.beliefs.kernel.monitoring import MonitorConfig
from memory.beliefs.kernel.questions import DecisionOptions, QueryDocument, decision_options, query_document
from memory.beliefs.kernel.retrieval import Retrieved, retrieve_listed
from memory.beliefs.queries.asking import ask
from memory.beliefs.queries.deciding import decide
from memory.calibration.kernel import reporting
from memory.calibration.kernel.reporting import Scope
from memory.calibration.queries import reports
from memory.ledger.models import Namespace
from memory.ledger.queries import asof
from memory.management.posterior import reading, stores
from memory.management.posterior.arguments import Arguments

Document = dict[str, Any]


def query(asked: Arguments, store: Path | None) -> Document:
    """The answer to a query, or with a focus the decision on it.   Raises DomainError, SchemaFault, OSError."""
    text = reading.text_at(asked.payload)
    first = query_document(reading.related(text, asked, profile="compat"))
    law = reading.law_of(asked)
    options = None
    if asked.command == "decision":
        options = decision_options(asked.focus_node, alternatives=asked.alternatives)
    if stores.is_absent(store):
        return _of_nothing(first, law, options, reading.profile_in(None, asked))
    with stores.reading(store):
        namespace = reading.standing(first.namespace)
        profile = reading.profile_in(namespace, asked)
        document = query_document(reading.related(text, asked, profile=profile))
        if namespace is None:
            return _of_nothing(document, law, options, profile)
        return _answered(namespace, document, law, options, profile)


def _answered(
    namespace: Namespace, document: QueryDocument, law: Law, options: DecisionOptions | None, profile: Profile
) -> Document:
    reading.require_law(namespace.pk, document.relation_type, law)
    at = asof.now(namespace.pk)
    if options is not None:
        return decide(at, query=document, options=options, profile=profile, law=law)
    return ask(at, query=document, profile=profile, law=law).capsule(profile=profile)


def _of_nothing(document: QueryDocument, law: Law, options: DecisionOptions | None, profile: Profile) -> Document:
    """The answer where nothing was ever observed: it rests on the priors alone."""
    retrieved = _retrieved(document, profile)
    empty = np.empty(0, dtype=np.intp)
    nothing = stacked([], size=law.size)
    used = Used(ids=(), source=empty, target=empty, posterior=nothing, prior=nothing, trust=np.empty(0))
    found = answer(document, law=law, nodes=[str(node) for node in retrieved.nodes], used=used)
    if options is None:
        return capsule(found, retrieved=retrieved, profile=profile, top_k=None)
    top_k = None if profile == "compat" else law.size
    return decision(capsule(found, retrieved=retrieved, profile=profile, top_k=top_k), options=options, profile=profile)


def _retrieved(document: QueryDocument, profile: Profile) -> Retrieved:
    limit, policy = document.max_observations, document.retrieval_policy
    if not document.is_discovery:
        return retrieve_listed(
            [], nodes=document.nodes, root=document.root, limit=limit, policy=policy, profile=profile
        )  # fmt: skip
    return retrieve_around(
        EdgesInMemory([]), seeds=document.nodes, root=document.root, max_hops=document.max_hops,
        max_nodes=document.max_nodes, limit=limit, policy=policy,
    )  # fmt: skip


def health(asked: Arguments, store: Path | None) -> Document:
    """How well calibrated a run's forecasts are in a namespace.   Raises DomainError, SchemaFault, OSError."""
    if asked.as_of is not None and not math.isfinite(asked.as_of):
        raise Invalid.at("--as-of", expected="a finite number", got=asked.as_of)
    if stores.is_absent(store):
        raise reading.no_run(asked.monitor_run)
    with stores.reading(store):
        every = reading.every(None)
        named = [one for one in every if one.name == asked.namespace] if asked.namespace is not None else every
        if asked.namespace is None and len(every) > 1:
            names = ", ".join(one.name for one in every[:10])
            raise Invalid.at("--namespace", expected=f"one of {names}", code="missing")
        among = named or every
        config = next((found for one in among if (found := reading.run_named(one.pk, asked.monitor_run))), None)
        if config is None:
            raise reading.no_run(asked.monitor_run)
        reading.require_config(asked, config)
        return (
            _reported(asked, named[0], profile=reading.profile_in(named[0], asked)) if named else _empty(asked, config)
        )


def _reported(asked: Arguments, namespace: Namespace, *, profile: Profile) -> Document:
    at = asof.now(namespace.pk)
    if asked.relation_type is None and asked.source_family is None:
        return reports.tree(at, run_id=asked.monitor_run, profile=profile, as_of=asked.as_of)
    return reports.report(
        at, run_id=asked.monitor_run, profile=profile, relation_type=asked.relation_type,
        source_family=asked.source_family, as_of=asked.as_of,
    )  # fmt: skip


def _empty(asked: Arguments, config: MonitorConfig) -> Document:
    """The report of a namespace that does not stand."""
    scope = Scope(asked.namespace, asked.relation_type, asked.source_family, asked.as_of)
    if asked.relation_type is None and asked.source_family is None:
        return reporting.tree(config, scope=scope, relations={})
    return reporting.report(config, scope=scope, segments=[])
