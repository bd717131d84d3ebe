"""How a namespace begins: its own row is item 0 of its first entry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from django.db import transaction

from memory.base import clock, gate, ids
from memory.base.actor import Actor
from memory.base.errors import Conflict, Invalid
from memory.base.text import NAMESPACE_PATTERN
from memory.ledger.drafts import Draft
from memory.ledger.models import CLOCKS, Head, Namespace
from memory.ledger.operations.appending import NameBook, opened

SYSTEM = gate.Requirement(("own",))


def found(by: Actor, *, name: str, host_clock: str = "host", drafts: Sequence[Draft] = (), names: NameBook | None = None
          ) -> Namespace:  # fmt: skip
    """Create the namespace and append its first entry, with `drafts` as further items of it.

    Locks: the new head. Appends: `create_namespace`. Raises Invalid (name, clock), Conflict (name taken).
    """
    if not NAMESPACE_PATTERN.fullmatch(name):
        raise Invalid.at("name", expected=f"a name like {NAMESPACE_PATTERN.pattern}", got=name)
    if host_clock not in CLOCKS:
        raise Invalid.at("clock", expected=" or ".join(CLOCKS), got=host_clock)
    with transaction.atomic():
        if Namespace.objects.filter(name=name).exists():
            raise Conflict(f"The namespace {name} exists.")
        created_at = by.event_at or clock.read()
        namespace = Namespace.objects.create(
            uid=ids.new_id(), name=name, clock=host_clock, secret=ids.new_secret(), created_at=created_at
        )
        Head.objects.create(namespace=namespace, size=0, last_at=created_at - clock.TICK)
        row = {"uid": namespace.uid, "name": name, "clock": host_clock}
        with opened(replace(by, namespace=namespace.pk), verb="create_namespace", need=SYSTEM, names=names) as entry:
            entry.add(Draft("namespace", namespace.uid, Namespace, row, is_stored=True), *drafts)
    return namespace
