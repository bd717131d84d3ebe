"""A question in an address: the same JSON as the API takes, without the namespace, which the address names already.

- Every question has one address, so that a copied link asks the same.
- The point of the page wins over an instant in the question; a question that is typed becomes an address first.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django import forms
from django.http import HttpRequest

from audit.access import Visit
from audit.frame import address, pairs_of
from audit.navigation import CARRIED
from memory.base.canonical import strict_loads
from memory.base.errors import Invalid
from memory.beliefs.kernel.questions import MAX_NODES, QueryDocument, query_document
from memory.beliefs.kernel.reading import shown

GRAPH = "/beliefs/graph"
NAME_CHARACTERS = 512


class QuestionForm(forms.Form):
    """A question by hand: a relation type, the node that is looked from, and the nodes that are looked at."""

    relation_type = forms.CharField(label="Relation type", max_length=NAME_CHARACTERS)
    root = forms.CharField(
        label="Seen from", max_length=NAME_CHARACTERS, help_text="The root: what the others are told from."
    )
    nodes = forms.CharField(
        label="Nodes", required=False, widget=forms.Textarea(attrs={"rows": 4}),
        help_text="One a line. With none, the graph around the root is searched, two steps far.",
    )  # fmt: skip

    def document(self) -> dict[str, Any]:
        """The question as the API takes it, without its namespace."""
        data = self.cleaned_data
        nodes = [line.strip() for line in str(data["nodes"]).splitlines() if line.strip()]
        root = str(data["root"]).strip()
        told = {"schema_version": 2, "relation_type": str(data["relation_type"]).strip(), "root": root}
        if not nodes:
            return {**told, "seeds": [root]}
        return {**told, "nodes": list(dict.fromkeys([root, *nodes]))[:MAX_NODES]}


def graph_url(document: Mapping[str, Any], *, carried: tuple[tuple[str, str], ...], **more: str) -> str:
    """The address of the page that answers a question."""
    return address(GRAPH, [*carried, ("query", query_text(document)), *more.items()])


def query_text(document: Mapping[str, Any]) -> str:
    """A question as its address has it: one text for one question."""
    told = {key: value for key, value in document.items() if key != "namespace"}
    # In ASCII, so that no mark which turns text stands in an address or in a hidden field.
    return json.dumps(told, separators=(",", ":"), sort_keys=True)


def asked(request: HttpRequest, visit: Visit) -> QueryDocument:
    """The question of the address.   Raises Invalid."""
    try:
        document = strict_loads(request.GET["query"])
    except ValueError as error:
        raise Invalid.at("query", expected="a question as JSON", got=str(error)[:80]) from error
    if not isinstance(document, dict):
        raise Invalid.at("query", expected="a question as a JSON object", got=shown(document))
    query = query_document({**document, "namespace": visit.namespace})
    return replace(query, as_of=None) if visit.at.valid_pinned else query


def with_pairs(request: HttpRequest, path: str = GRAPH, **more: str) -> str:
    """The address of the page with some pairs changed; an empty one goes."""
    kept = pairs_of(request, without=(*more, "again"))
    return address(path, [*kept, *more.items()])


def carried(visit: Visit) -> tuple[tuple[str, str], ...]:
    return tuple((name, value) for name, value in visit.frame.carried if name in CARRIED)
