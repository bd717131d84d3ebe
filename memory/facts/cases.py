"""Conflict cases: for which entities, and for which seqs, facts stood that could not all hold.

Invariants
- A case is computed, never declared; its id follows from subject and attribute, so that it is the same whenever it is
  open again and in a restored store.
- After each write only the facts that it touched are compared with what overlaps them; `replay` says the same from
  nothing but the facts and the declarations.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from uuid import UUID

from memory.base import sql
from memory.facts.kernel.conflict import case_id, clash, clashes, periods
from memory.facts.kernel.status import Statement
from memory.facts.kernel.values import UNDECLARED, Spec
from memory.facts.models import ConflictCase, FactState
from memory.facts.queries.counting import counting_rows
from memory.facts.queries.overlapping import overlapping
from memory.facts.specs import history
from memory.facts.states import Entity, acts, counting
from memory.facts.tallies import Counts
from memory.ledger.queries.addressed import Address

Turn = tuple[int, Sequence[Statement], Sequence[Statement], Spec]


def after(
    namespace: int, seq: int, rows: Sequence[FactState], specs: Mapping[UUID, Spec], counts: Mapping[Entity, Counts],
    *, may_close: bool,
) -> None:  # fmt: skip
    """Open and close cases for what entry `seq` has brought or changed. `counts` are those after it.

    may_close : false where facts only came, since no new fact ends a contradiction.
    """
    entities = dict.fromkeys((row.subject, row.attribute) for row in rows)
    standing = _open(namespace, entities)
    asked: dict[Entity, list[FactState]] = {}
    for row in rows:
        entity = (row.subject, row.attribute)
        if entity not in standing and counting(row, seq) and _can_clash(specs[row.attribute], counts.get(entity, {})):
            asked.setdefault(entity, []).append(row)
    opened = list(_contradicting(namespace, seq, asked, specs))
    sql.insert(ConflictCase, [(namespace, case_id(*entity), *entity, seq, None) for entity in opened])
    for entity in standing if may_close else ():
        if not _still(namespace, entity, specs[entity[1]], seq):
            _close(namespace, entity, seq)


def _contradicting(
    namespace: int, seq: int, asked: Mapping[Entity, list[FactState]], specs: Mapping[UUID, Spec]
) -> Iterator[Entity]:
    """The entities of which one of the facts is contradicted.

    One fact of each is compared, then two, four and so on: most entities are decided by their first.
    """
    waiting, start, size = dict(asked), 0, 1
    while waiting:
        wave = [row for members in waiting.values() for row in members[start : start + size]]
        for row, others in overlapping(namespace, wave, seq=seq):
            entity = (row.subject, row.attribute)
            if entity in waiting and _contradicted(row, others, specs[row.attribute], seq):
                del waiting[entity]
                yield entity
        start, size = start + size, size * 2
        waiting = {entity: members for entity, members in waiting.items() if len(members) > start}


def _can_clash(spec: Spec, counts: Mapping[str, int]) -> bool:
    """Whether anything of the entity could exclude another; most attributes have many values and no denials."""
    return spec.cardinality == "one" or bool(spec.exclusive) or counts.get("n_denials", 0) > 0


def _contradicted(row: FactState, others: Iterable[FactState], spec: Spec, seq: int) -> bool:
    own = counting(row, seq)
    told = (counting(other, seq) for other in others)
    return own is not None and any(one is not None and clash(own, one, spec) is not None for one in told)


def _open(namespace: int, entities: Iterable[Entity]) -> list[Entity]:
    wanted = {case_id(*entity): entity for entity in entities}
    ids = sorted(wanted)
    found: list[Entity] = []
    for start in range(0, len(ids), 400):
        rows = ConflictCase.objects.filter(
            namespace=namespace, id__in=ids[start : start + 400], closed_seq__isnull=True
        )
        found.extend(wanted[case] for case in rows.values_list("id", flat=True))
    return found


def _still(namespace: int, entity: Entity, spec: Spec, seq: int) -> bool:
    rows = counting_rows(namespace, [entity], seq=seq)[entity]
    told = [one for row in rows if (one := counting(row, seq)) is not None]
    return next(clashes(told, spec), None) is not None


def _close(namespace: int, entity: Entity, seq: int) -> None:
    rows = ConflictCase.objects.filter(namespace=namespace, id=case_id(*entity), closed_seq__isnull=True)
    # What one entry opens and closes was never open.
    if not rows.filter(opened_seq=seq).delete()[0]:
        rows.update(closed_seq=seq)


def replay(namespace: int, entity: Entity, rows: Sequence[FactState], specs: Sequence[tuple[int, Spec]]) -> None:
    """Write the cases of the entity anew."""
    case = case_id(*entity)
    ConflictCase.objects.filter(namespace=namespace, id=case).delete()
    spans = periods(_turns(rows, specs))
    sql.insert(ConflictCase, [(namespace, case, *entity, opened, closed) for opened, closed in spans])


def renew(namespace: int, attribute: UUID, *, gone: Collection[Address] = frozenset()) -> None:
    """Write the cases of all entities of the attribute anew: its declaration changed, or loses the pairs of `gone`."""
    specs = history(namespace, attribute, gone=gone)
    rows = FactState.objects.filter(namespace=namespace, attribute=attribute).order_by("subject", "doc")
    for subject, members in _grouped(rows.iterator(chunk_size=2_000)):
        replay(namespace, (subject, attribute), members, specs)


def _grouped(rows: Iterable[FactState]) -> Iterator[tuple[UUID, list[FactState]]]:
    members: list[FactState] = []
    for row in rows:
        if members and members[-1].subject != row.subject:
            yield members[0].subject, members
            members = []
        members.append(row)
    if members:
        yield members[0].subject, members


def _turns(rows: Sequence[FactState], specs: Sequence[tuple[int, Spec]]) -> Iterator[Turn]:
    """What ended and began at each seq, under the declaration of then. Erased facts are as if they had never been."""
    touched: dict[int, list[FactState]] = {seq: [] for seq, _ in specs}
    for row in rows:
        if row.erased_seq is None:
            for seq in acts(row):
                touched.setdefault(seq, []).append(row)
    declared, spec = dict(specs), UNDECLARED
    for seq in sorted(touched):
        spec = declared.get(seq, spec)
        pairs = [(counting(row, seq - 1), counting(row, seq)) for row in touched[seq]]
        changed = [(was, now) for was, now in pairs if was != now]
        yield (
            seq, [was for was, _ in changed if was is not None], [now for _, now in changed if now is not None], spec,
        )  # fmt: skip
