"""The three kinds of table. A model says which it is by its base class; there is no fourth.

- Evidence: append-only, guarded by triggers, covered by the ledger. Ids, instants, enumerations, numbers, commitments:
  no text and no values. A row is item `item` of entry `seq` of its namespace.
- Content: the only home of text and values; a row may be deleted only where an Erasure row names it.
- Projection: a pure function of evidence and content, never of a clock; droppable, rebuilt, and able to forget.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from django.db import models
from django.db.models.constraints import BaseConstraint

# (seq, item, part): the address of one piece of content.
ContentRef = tuple[int, int, str]


class Evidence(models.Model):
    """Append-only. `item_kind` names the rows in the ledger; `uncommitted` columns are recomputed, not committed."""

    item_kind: ClassVar[str] = ""
    uncommitted: ClassVar[frozenset[str]] = frozenset()

    namespace = models.ForeignKey("memory.Namespace", on_delete=models.PROTECT, related_name="+", db_index=False)
    seq = models.BigIntegerField()
    item = models.IntegerField()

    class Meta:
        abstract = True


class Content(models.Model):
    """Text and values, each with its salt, bound to evidence by a commitment and deletable with an Erasure row."""

    namespace = models.ForeignKey("memory.Namespace", on_delete=models.PROTECT, related_name="+", db_index=False)
    seq = models.BigIntegerField()
    item = models.IntegerField()
    salt = models.BinaryField(max_length=32)

    class Meta:
        abstract = True


class Projection(models.Model):
    """Derived rows; base/projections.py says how each is made anew and how it forgets."""

    class Meta:
        abstract = True


class SameNamespaceKey(BaseConstraint):
    """A foreign key of several columns that starts with the namespace, so that the database refuses to join two.

    Django has no composite foreign keys; this constraint is part of CREATE TABLE on both engines.
    """

    def __init__(self, *, name: str, columns: Sequence[str], to: str, to_columns: Sequence[str]) -> None:
        self.columns, self.to, self.to_columns = tuple(columns), to, tuple(to_columns)
        super().__init__(name=name)

    def _body(self, model: Any, schema_editor: Any) -> str:
        quote = schema_editor.quote_name
        own = ", ".join(quote(model._meta.get_field(name).column) for name in self.columns)
        other = ", ".join(quote(name) for name in self.to_columns)
        return f"FOREIGN KEY ({own}) REFERENCES {quote(self.to)} ({other}) DEFERRABLE INITIALLY DEFERRED"

    def constraint_sql(self, model: Any, schema_editor: Any) -> str:
        return f"CONSTRAINT {schema_editor.quote_name(self.name)} {self._body(model, schema_editor)}"

    def create_sql(self, model: Any, schema_editor: Any) -> str:
        table = schema_editor.quote_name(model._meta.db_table)
        return f"ALTER TABLE {table} ADD {self.constraint_sql(model, schema_editor)}"

    def remove_sql(self, model: Any, schema_editor: Any) -> str:
        table = schema_editor.quote_name(model._meta.db_table)
        return f"ALTER TABLE {table} DROP CONSTRAINT {schema_editor.quote_name(self.name)}"

    def validate(self, *_args: Any, **_kwargs: Any) -> None:
        """The database checks it; there is nothing to ask before."""

    def deconstruct(self) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
        path, _, kwargs = super().deconstruct()
        return path, (), {**kwargs, "columns": self.columns, "to": self.to, "to_columns": self.to_columns}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SameNamespaceKey) and self.deconstruct() == other.deconstruct()

    def __hash__(self) -> int:
        return hash((self.name, self.columns, self.to, self.to_columns))


def entry_key(name: str) -> SameNamespaceKey:
    """The row belongs to an entry of its own namespace."""
    return SameNamespaceKey(
        name=name, columns=("namespace", "seq"), to="memory_entry", to_columns=("namespace_id", "seq")
    )


def record_key(name: str, column: str) -> SameNamespaceKey:
    """The column holds the id of a record of the same namespace."""
    return SameNamespaceKey(
        name=name, columns=("namespace", column), to="memory_record", to_columns=("namespace_id", "id")
    )


def one_of(column: str, values: Iterable[str], name: str) -> models.CheckConstraint:
    """An enumeration held by the database, not by choices on the column."""
    return models.CheckConstraint(condition=models.Q(**{f"{column}__in": sorted(values)}), name=name)
