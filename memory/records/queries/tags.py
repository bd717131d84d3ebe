"""Records by their tags, which stand in their details alone: what is erased of a record has no tag."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import or_
from typing import Any

from django.db.models import BooleanField, Exists, F, Func, OuterRef, Q, Value

from memory.ledger.models import Content


class _Tagged(Func):
    """Whether a payload, JSON as text, holds the text among its `tags`, word for word."""

    output_field = BooleanField()

    def as_sqlite(self, compiler: Any, connection: Any, **_: Any) -> Any:
        payload, tag = self.source_expressions
        sql, params = compiler.compile(payload)
        tag_sql, tag_params = compiler.compile(tag)
        statement = f"EXISTS (SELECT 1 FROM json_each({sql}, '$.tags') AS tag WHERE tag.value = {tag_sql})"
        return statement, (*params, *tag_params)

    def as_postgresql(self, compiler: Any, connection: Any, **_: Any) -> Any:
        payload, tag = self.source_expressions
        sql, params = compiler.compile(payload)
        tag_sql, tag_params = compiler.compile(tag)
        return f"(({sql})::jsonb -> 'tags') ? {tag_sql}", (*params, *tag_params)


def tagged(tags: Sequence[str]) -> Exists:
    """True of a record state whose details hold any of the tags."""
    own = {"namespace": OuterRef("namespace"), "seq": OuterRef("seq"), "item": OuterRef("item"), "part": "details"}
    any_of = reduce(or_, (Q(_Tagged(F("payload"), Value(tag))) for tag in tags))
    return Exists(Content.objects.filter(any_of, **own))
