"""Where an import goes: namespaces that stand, or are founded for it.

Invariants
- Who imports into a standing namespace owns it; being an owner elsewhere opens nothing. The host's commands may.
- A namespace that is founded for an import has an owner from its first moment, where there is anyone to own it.
- Founded again with the same seed, a namespace draws the same identifiers, whatever was drawn before.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace

from django.db import transaction
from django.db.models import Q

from memory.agents.operations import admit_member
from memory.agents.people import members
from memory.agents.queries import role_of
from memory.base import clock, ids
from memory.base.actor import ROLE_POWERS, Actor
from memory.base.errors import Forbidden, Invalid
from memory.base.text import NAMESPACE_PATTERN
from memory.interchange import sources
from memory.ledger.models import Namespace
from memory.ledger.operations.founding import found
from memory.ledger.queries.closed import require_open


def standing(names: Iterable[str]) -> dict[str, Namespace]:
    """Those of the namespaces that exist, by name."""
    return {row.name: row for row in Namespace.objects.filter(name__in=sorted(set(names))).order_by("pk")}


def owners_of(name: str) -> list[int]:
    """The people who own the namespace of that name; nobody where there is none."""
    namespace = standing([name]).get(name)
    return [row.person for row in members(namespace.pk) if row.role == "owner"] if namespace is not None else []


def require_own(by: Actor, names: Iterable[str]) -> dict[str, Namespace]:
    """The standing ones of the target namespaces.

    Raises Invalid (a name), Forbidden (one that `by` does not own, or that is closed).
    """
    wanted = list(names)
    for name in wanted:
        if not NAMESPACE_PATTERN.fullmatch(name):
            raise Invalid.at("namespace", expected=f"a name like {NAMESPACE_PATTERN.pattern}", got=name)
    stand = standing(wanted)
    for name, namespace in stand.items():
        _require_owner(by, namespace.pk, name)
        require_open(namespace.pk)
    return stand


def left_behind(by: Actor, base: str, *, source: str, present: Collection[str]) -> dict[str, Namespace]:
    """Namespaces below `base` that hold rows of the source, of source namespaces that it has no more.

    present : the source namespaces that the file has now. What such a namespace holds is gone from the source.
    """
    below = Namespace.objects.filter(Q(name=base) | Q(name__startswith=f"{base}.")).order_by("pk")
    found = {}
    for namespace in below:
        told = {run.namespace for run in sources.told_by_runs(namespace, source=source)}
        if told and not told & set(present) and _owns(by, namespace.pk):
            found[namespace.name] = namespace
    return found


def _owns(by: Actor, namespace: int) -> bool:
    return by.kind == "system" or (
        by.kind == "person" and by.person is not None and role_of(namespace, by.person, clock.now()) == "owner"
    )


def _require_owner(by: Actor, namespace: int, name: str) -> None:
    if not _owns(by, namespace):
        raise Forbidden(f"An import into {name} is an act for an owner of it; you are none.")


def within(by: Actor, namespace: int) -> Actor:
    """The importer as the actor of a target namespace, one act after another.   `require_own` was asked before."""
    plain = replace(by, namespace=namespace, idempotency_key="")
    return plain if by.kind == "system" else replace(plain, role="owner", powers=ROLE_POWERS["owner"])


def founder(by: Actor, *, owners: Iterable[int] = ()) -> Callable[[str], Namespace]:
    """What answers the namespace of a name, founded where it is absent: the importer and `owners` then own it.

    Appends: `create_namespace` and one `admit_member` for each owner. Raises Invalid (name), Conflict (founded since).
    """
    # The founder first: from the first member on, only who holds a role there may give one.
    persons = list(dict.fromkeys([*([by.person] if by.person is not None else []), *sorted(owners)]))

    def ensure(name: str) -> Namespace:
        namespace = standing([name]).get(name)
        if namespace is not None:
            return namespace
        with transaction.atomic(), ids.forked(f"found/{name}"):
            namespace = found(within(by, 0), name=name)
            for person in persons:
                admit_member(within(by, namespace.pk), person=person, role="owner")
        return namespace

    return ensure
