"""The payloads of a query and of a decision: what may be asked, and its defaults.

Invariants
- Exactly one of `nodes` and `seeds` is present, null counting as present; the root is among them.
- Hops and node limits belong to seeds; the retrieval policy belongs to version 2.
- Node priors are checked by `node_priors` whether or not there is evidence; one on the root has no effect and is told.

Source: posterior-memory-harness 0.9.0, its input contract, versions 1 and 2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, cast

from memory.base.errors import Invalid
from memory.beliefs.kernel.documents import schema_version, tags
from memory.beliefs.kernel.factors import POINT_MASS_ERROR
from memory.beliefs.kernel.groups import Floats
from memory.beliefs.kernel.laws import Law
from memory.beliefs.kernel.masses import Masses, masses, vector
from memory.beliefs.kernel.reading import (
    boolean,
    identifier,
    identifiers,
    integer,
    members,
    number,
    number_or_none,
    one_of,
    only,
    shown,
)

InferenceWish = Literal["auto", "exact", "beam"]
Policy = Literal["recent", "coverage", "cycle_aware"]

MAX_NODES = 256
MAX_OBSERVATIONS = 4096
MAX_HOPS = 8
MAX_ALTERNATIVES = 16
MAX_SETTING = 2**53 - 1
POLICIES: tuple[Policy, ...] = ("recent", "coverage", "cycle_aware")

_REQUIRED = ("namespace", "relation_type", "root")
_KEYS_1 = frozenset(
    (*_REQUIRED, "schema_version", "nodes", "seeds", "as_of", "tags", "max_observations", "top_k", "hard_top1",
     "inference", "node_priors", "max_hops", "max_nodes")
)  # fmt: skip
_KEYS_2 = _KEYS_1 | {"retrieval_policy"}
_SETTINGS = frozenset(
    ("max_exact_assignments", "beam_size", "point_mass_error", "beam_stability_check", "beam_stability_multiplier",
     "beam_marginal_tv_tolerance", "beam_entropy_tolerance")
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class QueryDocument:
    """A valid query. `nodes` are the listed nodes, or the seeds from which others are discovered."""

    namespace: str
    relation_type: str
    root: str
    nodes: tuple[str, ...]
    is_discovery: bool = False
    as_of: float | None = None
    tags: tuple[str, ...] = ()
    max_observations: int = 512
    top_k: int = 3
    hard_top1: bool = False
    inference: InferenceWish = "auto"
    retrieval_policy: Policy = "recent"
    node_priors: Mapping[str, Masses] = field(default_factory=dict)
    max_hops: int = 2
    max_nodes: int = 32


@dataclass(frozen=True, slots=True)
class InferenceSettings:
    """What of the peer's inference settings changes an answer: the mass that a hardened posterior leaves to others."""

    point_mass_error: float = POINT_MASS_ERROR


@dataclass(frozen=True, slots=True)
class DecisionOptions:
    """What of a capsule is projected. `allow_unreliable` lets an answer through that is withheld otherwise."""

    focus_node: str
    alternatives: int = 2
    allow_unreliable: bool = False


@dataclass(frozen=True, slots=True)
class DecisionDocument:
    """A decision on a query, or on a capsule that the client hands in; exactly one of the two."""

    options: DecisionOptions
    query: QueryDocument | None = None
    capsule: Mapping[str, object] | None = None


def query_document(document: object) -> QueryDocument:
    """The query of a payload.   Raises Invalid, naming the place."""
    given = members(document)
    only(given, known=_KEYS_1 if schema_version(given) == 1 else _KEYS_2, required=_REQUIRED)
    is_discovery = "seeds" in given
    if is_discovery == ("nodes" in given):
        got = "both" if is_discovery else "neither"
        raise Invalid.at("nodes", expected="exactly one of nodes and seeds", got=got, code="choice")
    place = "seeds" if is_discovery else "nodes"
    nodes = identifiers(given[place], place, least=1, most=MAX_NODES)
    root = identifier(given["root"], "root")
    if root not in nodes:
        raise Invalid.at("root", expected=f"one of the {place}", got=shown(root), code="not_listed")
    max_hops, max_nodes = _reach(given, len(nodes), is_discovery)
    return QueryDocument(
        namespace=identifier(given["namespace"], "namespace"),
        relation_type=identifier(given["relation_type"], "relation_type"),
        root=root,
        nodes=nodes,
        is_discovery=is_discovery,
        as_of=number_or_none(given, "as_of"),
        tags=tags(given.get("tags")),
        max_observations=integer(
            given.get("max_observations", 512), "max_observations", least=1, most=MAX_OBSERVATIONS
        ),
        top_k=integer(given.get("top_k", 3), "top_k", least=1, most=MAX_NODES),
        hard_top1=boolean(given.get("hard_top1", False), "hard_top1"),
        inference=cast(
            InferenceWish, one_of(given.get("inference", "auto"), "inference", words=("auto", "exact", "beam"))
        ),
        retrieval_policy=cast(
            Policy, one_of(given.get("retrieval_policy", "recent"), "retrieval_policy", words=POLICIES)
        ),
        node_priors=_priors(given.get("node_priors", {}), nodes, place),
        max_hops=max_hops,
        max_nodes=max_nodes,
    )


def decision_document(document: object) -> DecisionDocument:
    """A query, or `capsule`, together with `focus_node`, `alternatives` and `allow_unreliable`.   Raises Invalid."""
    given = members(document)
    if "focus_node" not in given:
        raise Invalid.at("focus_node", expected="a value", got="nothing", code="missing")
    options = decision_options(
        given["focus_node"],
        alternatives=given.get("alternatives", 2),
        allow_unreliable=given.get("allow_unreliable", False),
    )
    rest = {key: value for key, value in given.items() if key not in DecisionOptions.__slots__}
    if "capsule" in rest:
        only(rest, known=("capsule", "schema_version"), required=("capsule",))
        return DecisionDocument(options, capsule=members(rest["capsule"], "capsule"))
    return DecisionDocument(options, query=query_document(rest))


def decision_options(
    focus_node: object, *, alternatives: object = 2, allow_unreliable: object = False
) -> DecisionOptions:
    """Checked options.   Raises Invalid."""
    return DecisionOptions(
        identifier(focus_node, "focus_node"),
        integer(alternatives, "alternatives", least=0, most=MAX_ALTERNATIVES),
        boolean(allow_unreliable, "allow_unreliable"),
    )


def inference_settings(document: object) -> InferenceSettings:
    """The settings of the peer's library, checked by its rules; all but one concern its beam.   Raises Invalid."""
    given = members(document, "inference_config")
    only(given, known=_SETTINGS, required=())
    for key in ("max_exact_assignments", "beam_size"):
        integer(given.get(key, 1), key, least=1, most=MAX_SETTING)
    integer(given.get("beam_stability_multiplier", 2), "beam_stability_multiplier", least=2, most=MAX_SETTING)
    boolean(given.get("beam_stability_check", True), "beam_stability_check")
    for key in ("beam_marginal_tv_tolerance", "beam_entropy_tolerance"):
        if number(given.get(key, 0.0), key) < 0:
            raise Invalid.at(key, expected="a number that is not negative", got=shown(given[key]), code="out_of_range")
    error = number(given.get("point_mass_error", POINT_MASS_ERROR), "point_mass_error")
    if not 0.0 < error < 1.0:
        raise Invalid.at("point_mass_error", expected="a number between 0 and 1", got=shown(error), code="out_of_range")
    return InferenceSettings(error)


def node_priors(query: QueryDocument, law: Law) -> dict[str, Floats]:
    """Raw prior masses by node, each (S,), the root's among them.   Raises Invalid for another length or label."""
    return {node: vector(given, law, "node_priors", shown(node)) for node, given in sorted(query.node_priors.items())}


def _reach(given: Mapping[str, object], n_seeds: int, is_discovery: bool) -> tuple[int, int]:
    for key in ("max_hops", "max_nodes"):
        if not is_discovery and key in given:
            raise Invalid.at(key, expected="no such field beside nodes", got=shown(given[key]), code="unknown")
    hops = integer(given.get("max_hops", 2), "max_hops", least=1, most=MAX_HOPS)
    return hops, integer(given.get("max_nodes", 32), "max_nodes", least=n_seeds if is_discovery else 1, most=MAX_NODES)


def _priors(value: object, nodes: tuple[str, ...], place: str) -> dict[str, Masses]:
    given = members(value, "node_priors")
    for node in sorted(set(given) - set(nodes)):
        raise Invalid.at("node_priors", shown(node), expected=f"one of the {place}", got="another", code="not_listed")
    return {node: masses(prior, "node_priors", shown(node)) for node, prior in given.items()}
