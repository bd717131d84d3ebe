"""What a scan finds after an attack."""

from __future__ import annotations

from collections.abc import Callable

from django.db import connection, transaction

from memory.ledger.queries.verification import Scan, scan
from tests.conftest import lifted_triggers
from tests.world import World


def attacked[S: World](store: S, attack: Callable[[S], object], *, kept: str = "") -> Scan:
    """What a scan finds after the attack, which is then undone."""
    with transaction.atomic():
        with lifted_triggers(connection):
            attack(store)
        found = scan(store.namespace, kept=kept)
        transaction.set_rollback(True)
    return found


def codes(found: Scan) -> set[str]:
    return {fault.code for fault in found.faults}
