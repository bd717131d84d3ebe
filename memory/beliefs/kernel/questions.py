"""The payloads of a query and of a decision: what may be asked, and its defaults.

Invariants
- Exactly one of `nodes` and `seeds` is present, null counting as present; the root is among them.
- Hops and node limits belong to seeds; the retrieval policy belongs to version 2.
- Node priors are checked by `node_priors` whether or not there is evidence; one on the root has no effect and is told.

Source: posterior-memory-harness 0.9.0, its input contract, versions 1 and 2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal

from memory.base.errors import Invalid
from memory.beliefs.kernel.documents import tags
from memory.beliefs.kernel.factors import POINT_MASS_ERROR
from memory.beliefs.kernel.fields import (
    Field,
    Schema,
    a_boolean,
    a_number,
    a_text,
    a_word,
    an_integer,
    payload_schema,
    read_fields,
    text_schema,
    texts,
)
from memory.beliefs.kernel.groups import Floats
from memory.beliefs.kernel.laws import Law
from memory.beliefs.kernel.masses import Masses, masses, some_masses, vector
from memory.beliefs.kernel.reading import boolean, identifier, integer, members, number, only, shown

InferenceWish = Literal["auto", "exact", "beam"]
Policy = Literal["recent", "coverage", "cycle_aware"]

MAX_NODES = 256
MAX_OBSERVATIONS = 4096
MAX_HOPS = 8
MAX_ALTERNATIVES = 16
MAX_SETTING = 2**53 - 1
POLICIES: tuple[Policy, ...] = ("recent", "coverage", "cycle_aware")

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
    found = read_fields(given, _FIELDS, second=_SECOND)
    is_discovery = "seeds" in given
    if is_discovery == ("nodes" in given):
        got = "both" if is_discovery else "neither"
        raise Invalid.at("nodes", expected="exactly one of nodes and seeds", got=got, code="choice")
    place = "seeds" if is_discovery else "nodes"
    listed, seeds = found.pop("nodes"), found.pop("seeds")
    query = QueryDocument(**found, nodes=seeds if is_discovery else listed, is_discovery=is_discovery)
    if query.root not in query.nodes:
        raise Invalid.at("root", expected=f"one of the {place}", got=shown(query.root), code="not_listed")
    for key in _REACH:
        if not is_discovery and key in given:
            raise Invalid.at(key, expected="no such field beside nodes", got=shown(given[key]), code="unknown")
    if is_discovery and query.max_nodes < len(query.nodes):
        expected = f"an integer in {len(query.nodes)}..{MAX_NODES}"
        raise Invalid.at("max_nodes", expected=expected, got=query.max_nodes, code="out_of_range")
    for node in query.node_priors:
        if node not in query.nodes:
            raise Invalid.at("node_priors", shown(node), expected=f"one of the {place}", code="not_listed")
    return query


def query_schema() -> Schema:
    """The JSON Schema of a query, as far as a schema can tell."""
    return payload_schema(_FIELDS, second=_SECOND, oneOf=_EITHER)


def decision_document(document: object) -> DecisionDocument:
    """A query, or `capsule`, together with `focus_node`, `alternatives` and `allow_unreliable`.   Raises Invalid."""
    given = members(document)
    options = {key: value for key, value in given.items() if key in _OPTIONS}
    chosen = DecisionOptions(**read_fields(options, _OPTIONS))
    rest = {key: value for key, value in given.items() if key not in _OPTIONS}
    if "capsule" in rest:
        return DecisionDocument(chosen, **read_fields(rest, _HANDED))
    return DecisionDocument(chosen, query=query_document(rest))


def decision_schema() -> Schema:
    """The JSON Schema of a decision on a query, or on a capsule."""
    on_query = payload_schema({**_FIELDS, **_OPTIONS}, second=_SECOND, oneOf=_EITHER)
    return {"type": "object", "anyOf": [on_query, payload_schema({**_HANDED, **_OPTIONS})]}


def decision_options(
    focus_node: object, *, alternatives: object = 2, allow_unreliable: object = False
) -> DecisionOptions:
    """Checked options.   Raises Invalid."""
    given = {"focus_node": focus_node, "alternatives": alternatives, "allow_unreliable": allow_unreliable}
    return DecisionOptions(**read_fields(given, _OPTIONS))


def inference_settings(document: object) -> InferenceSettings:
    """The settings of the peer's library, checked by its rules; all but one concern its beam.   Raises Invalid."""
    given = members(document, "inference_config")
    only(given, known=_SETTINGS, required=())
    for key in ("max_exact_assignments", "beam_size"):
        integer(given.get(key, 1), key, least=1, most=MAX_SETTING)
    integer(given.get("beam_stability_multiplier", 2), "beam_stability_multiplier", least=2, most=MAX_SETTING)
    boolean(given.get("beam_stability_check", True), "beam_stability_check")
    for key in ("beam_marginal_tv_tolerance", "beam_entropy_tolerance"):
        number(given.get(key, 0.0), key, least=0)
    error = number(given.get("point_mass_error", POINT_MASS_ERROR), "point_mass_error")
    if not 0.0 < error < 1.0:
        raise Invalid.at("point_mass_error", expected="a number between 0 and 1", got=shown(error), code="out_of_range")
    return InferenceSettings(error)


def node_priors(query: QueryDocument, law: Law) -> dict[str, Floats]:
    """Raw prior masses by node, each (S,), the root's among them.   Raises Invalid for another length or label."""
    return {node: vector(given, law, "node_priors", shown(node)) for node, given in sorted(query.node_priors.items())}


def _priors(value: object, key: str) -> dict[str, Masses]:
    given = members(value, key).items()
    return {identifier(node, key, shown(node)): masses(prior, key, shown(node)) for node, prior in given}


_SECOND = ("retrieval_policy",)
_REACH = ("max_hops", "max_nodes")
_NODES = replace(texts(least=1, most=MAX_NODES), is_nullable=False)
_FIELDS: Mapping[str, Field] = {
    "namespace": a_text(),
    "relation_type": a_text(),
    "root": a_text(),
    "nodes": _NODES,
    "seeds": _NODES,
    "as_of": a_number(default=None),
    "tags": tags(),
    "max_observations": an_integer(least=1, most=MAX_OBSERVATIONS, default=512),
    "top_k": an_integer(least=1, most=MAX_NODES, default=3),
    "hard_top1": a_boolean(default=False),
    "inference": a_word("auto", "exact", "beam", default="auto"),
    "retrieval_policy": a_word(*POLICIES, default="recent"),
    "node_priors": Field(
        _priors,
        {"type": "object", "propertyNames": text_schema(), "additionalProperties": some_masses().schema},
        MappingProxyType({}),
    ),
    "max_hops": an_integer(least=1, most=MAX_HOPS, default=2),
    "max_nodes": an_integer(least=1, most=MAX_NODES, default=32),
}
_EITHER = [
    {"required": ["nodes"], "not": {"anyOf": [{"required": [key]} for key in ("seeds", *_REACH)]}},
    {"required": ["seeds"], "not": {"required": ["nodes"]}},
]
_OPTIONS: Mapping[str, Field] = {
    "focus_node": a_text(),
    "alternatives": an_integer(least=0, most=MAX_ALTERNATIVES, default=2),
    "allow_unreliable": a_boolean(default=False),
}
_HANDED: Mapping[str, Field] = {"capsule": Field(members, {"type": "object"})}
