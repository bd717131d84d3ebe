"""What a lineage drawing and its list are made from."""

from dataclasses import dataclass, replace
from typing import Literal

KINDS = {
    "record": "record",
    "fact": "fact",
    "action": "action",
    "rule": "rule",
    "claim": "claim",
    "tombstone": "dead end",
    "run": "run",
}
"""The words on screen of the kinds of nodes; a kind that is not listed is printed as it is."""

RELATIONS = {
    "derived": "derived",
    "supersedes": "superseded",
    "conflicts": "in conflict",
    "verifies": "verified",
    "refers": "referred to",
    "buries": "dead end",
}
"""The words on screen of the relations, read from the ancestor to what rests on it."""

type Change = Literal["", "added", "removed", "kept"]
type Cut = Literal["", "nodes", "links", "depth"]


@dataclass(frozen=True, slots=True)
class Node:
    """One record, fact, action, rule, claim or dead end of the slice.

    ``kind`` and ``state`` are wire words; ``depth`` counts levels from the focus, negative for ancestors.
    ``n_hidden_up`` and ``n_hidden_down`` are the neighbours left out on either side; the URLs beside them show one
    level more or one less there, and are empty where that is not offered. ``change`` says what became of the node
    between two points that are compared.
    """

    id: str
    label: str
    kind: str
    state: str
    url: str
    depth: int = 0
    is_focus: bool = False
    is_on_path: bool = False
    is_match: bool = False
    change: Change = ""
    n_hidden_up: int = 0
    n_hidden_down: int = 0
    expand_up_url: str = ""
    expand_down_url: str = ""
    collapse_up_url: str = ""
    collapse_down_url: str = ""

    @property
    def kind_word(self) -> str:
        return KINDS.get(self.kind, self.kind)


@dataclass(frozen=True, slots=True)
class Link:
    """One edge. ``source`` is the ancestor, ``target`` what rests on it; ``relation`` is a wire word."""

    source: str
    target: str
    relation: str = "derived"
    is_on_path: bool = False
    change: Change = ""

    @property
    def relation_word(self) -> str:
        return RELATIONS.get(self.relation, self.relation)

    @property
    def turned(self) -> "Link":
        return replace(self, source=self.target, target=self.source)


@dataclass(frozen=True, slots=True)
class Graph:
    """A slice of the lineage and how much there is in all. ``cut_by`` names the cap that cut it, if one did.

    ``is_claimed``: it is told as a source says that it knew, which nothing here proves.
    """

    nodes: tuple[Node, ...]
    links: tuple[Link, ...]
    n_nodes_total: int
    n_links_total: int
    cut_by: Cut = ""
    is_claimed: bool = False

    @property
    def depth(self) -> int:
        return max((abs(node.depth) for node in self.nodes), default=0)

    @property
    def is_whole(self) -> bool:
        """True if nothing of the lineage is left out."""
        return len(self.nodes) >= self.n_nodes_total and len(self.links) >= self.n_links_total

    @property
    def title(self) -> str:
        shown = f"{len(self.nodes)} of {self.n_nodes_total} nodes, {len(self.links)} of {self.n_links_total} links"
        cut = f", cut by the cap on {self.cut_by}" if self.cut_by else ""
        claimed = ", claimed by the source, not proven here" if self.is_claimed else ""
        return f"Lineage: {shown}{cut}{claimed}"

    @property
    def focus(self) -> Node | None:
        return next((node for node in self.nodes if node.is_focus), None)
