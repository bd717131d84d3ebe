"""Sources of a merge and the bytes of what they say together; stands on the kernel alone."""

from __future__ import annotations

from uuid import UUID

from memory.base.canonical import canonical
from memory.lineage.kernel import Source, merged


def source(number: int, **given: object) -> Source:
    fields = {"type": "note", "content": f"text {number}", "tags": (), "metadata": {}, "origin": "", "pointer": ""}
    return Source(id=UUID(int=number), **{**fields, "valid_from": None, "valid_to": None, **given})  # type: ignore[arg-type]


FOUR = [
    source(1, type="issue", tags=("b", "a"), metadata={"owner": "Ann", "n": 1, "same": [1]}, origin="log"),
    source(2, type="doc", tags=("c",), metadata={"owner": "Bob", "same": [1]}, origin="log"),
    source(3, type="doc", content="text 1", tags=("a",), metadata={"owner": "Ann", "only": None}, origin="mail"),
    source(4, type="issue", content="Ärger", metadata={"n": 1.0, "same": [1]}, pointer="https://example.org"),
]


def payload(sources: list[Source], strategy: str = "union") -> bytes:
    result = merged(sources, strategy=strategy)  # type: ignore[arg-type]
    return canonical([
        result.content, result.type, result.type_rule, result.tags, result.metadata, result.origin, result.pointer,
        result.conflicts,
    ])  # fmt: skip
