"""What the reads of slices take and answer: around one record, compared with another point, or the whole in pages."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, Field

from memory.base.asof import AsOf
from memory.base.schemas import LIST_ITEMS, Id, Instant, Read
from memory.lineage.queries.comparing import Comparison
from memory.lineage.queries.graph import GROUPS, MOST_DEPTH, GraphLink, GraphNode, Slice
from memory.lineage.queries.pages import LineagePage

Change = Literal["added", "removed", "kept"]
GRAPH_OFFSET = 1_000_000


class GraphFilter(BaseModel):
    """Which slice of the lineage: the record in its middle, levels up and down, and groups of relations.

    With `after` the whole is read in pages instead; `against` compares the slice with that of another point.
    """

    focus: Id
    up: Annotated[int, Field(ge=0, le=MOST_DEPTH)] = 1
    down: Annotated[int, Field(ge=0, le=MOST_DEPTH)] = 1
    relations: Annotated[str, Field(max_length=100, description=f"some of {', '.join(GROUPS)}, with commas")] = ""
    to: Annotated[Id | None, Field(description="show the way to this record, whatever the levels")] = None
    against: Annotated[str, Field(max_length=60, description="another point: seq:N, an instant, source:<instant>")] = ""
    after: Annotated[int | None, Field(ge=0, le=GRAPH_OFFSET, description="the value of `next` that goes on")] = None
    limit: Annotated[int, Field(ge=1, le=LIST_ITEMS)] = LIST_ITEMS

    @property
    def groups(self) -> frozenset[str]:
        return frozenset(word.strip() for word in self.relations.split(",") if word.strip())


class NodeOut(BaseModel):
    """A record of the slice. `depth` is negative for what the focus rests on; hidden neighbours are counted.

    `change` and `state_against` are told where two points are compared.
    """

    id: UUID
    label: str
    state: str
    recorded_at: Instant
    depth: int
    n_hidden_up: int = 0
    n_hidden_down: int = 0
    change: Change | None = None
    state_against: str | None = None

    @classmethod
    def of(cls, node: GraphNode, *, change: Change | None = None, against: str | None = None) -> NodeOut:
        own = ("id", "label", "state", "recorded_at", "depth", "n_hidden_up", "n_hidden_down")
        return cls(**{name: getattr(node, name) for name in own}, change=change, state_against=against)


class LinkOut(BaseModel):
    """`newer` rests on `older` by the relation."""

    older: UUID
    newer: UUID
    relation: str
    group: str
    change: Change | None = None

    @classmethod
    def of(cls, link: GraphLink, *, change: Change | None = None) -> LinkOut:
        return cls(older=link.older, newer=link.newer, relation=link.relation, group=link.group, change=change)


class ChangesOut(BaseModel):
    """How much changed from the other point to this one."""

    seq: int
    provisional: bool
    added: int
    removed: int
    kept: int
    added_links: int
    removed_links: int
    kept_links: int

    @classmethod
    def of(cls, found: Comparison, against: AsOf) -> ChangesOut:
        words: tuple[Change, ...] = ("added", "removed", "kept")
        nodes = {word: found.count(word)[0] for word in words}
        links = {f"{word}_links": found.count(word)[1] for word in words}
        return cls(seq=against.seq, provisional=against.provisional, **nodes, **links)


class GraphOut(Read):
    """A slice of the lineage, and how much it leaves out. `total_is_capped`: the totals are lower bounds.

    `next` is the value of `after` that reads the whole on in pages; `path` is the way to `to`, both ends named.
    """

    focus: UUID
    nodes: list[NodeOut]
    links: list[LinkOut]
    total: int
    total_links: int
    total_is_capped: bool
    n_ancestors: int
    n_descendants: int
    truncated: bool
    next: int | None
    cut_by: str
    groups: dict[str, int]
    path: list[UUID]
    hidden: dict[str, int]
    against: ChangesOut | None = None

    @classmethod
    def of(cls, found: Slice, **told: Any) -> GraphOut:
        nodes, links = [NodeOut.of(node) for node in found.nodes], [LinkOut.of(link) for link in found.links]
        return cls._sliced(found, nodes, links, **told)

    @classmethod
    def compared(cls, found: Comparison, against: AsOf, **told: Any) -> GraphOut:
        nodes = [
            NodeOut.of(node, change=found.nodes[node.id], against=found.state_against.get(node.id))
            for node in found.slice.nodes
        ]
        links = [LinkOut.of(link, change=found.links[link]) for link in found.slice.links]
        return cls._sliced(found.slice, nodes, links, against=ChangesOut.of(found, against), **told)

    @classmethod
    def paged(cls, found: Slice, page: LineagePage, **told: Any) -> GraphOut:
        """One page of the whole; `found` is the slice of the focus alone, which counts it."""
        nodes = [
            NodeOut(
                id=one.row.id, label=one.row.first_line, state=one.row.state, recorded_at=one.row.recorded_at,
                depth=one.depth,
            )
            for one in page.items
        ]  # fmt: skip
        answer = cls._sliced(found, nodes, [LinkOut.of(link) for link in page.links], **told)
        return answer.model_copy(update={"next": page.next, "truncated": page.next is not None})

    @classmethod
    def _sliced(cls, found: Slice, nodes: list[NodeOut], links: list[LinkOut], **told: Any) -> GraphOut:
        truncated = len(nodes) < found.n_nodes
        return cls(
            focus=found.focus, nodes=nodes, links=links, total=found.n_nodes, total_links=found.n_links,
            total_is_capped=found.is_capped, n_ancestors=found.n_ancestors, n_descendants=found.n_descendants,
            truncated=truncated, next=0 if truncated else None, cut_by=found.cut_by, groups=dict(found.groups),
            path=list(found.path), hidden=dict(found.hidden), **told,
        )  # fmt: skip
