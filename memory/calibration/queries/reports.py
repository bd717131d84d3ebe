"""Reports of a monitor run, with every key of the peer's, and an audit of our own.

- `as_of` cuts by claimed instants, the point by its seq; both apply. A past seq answers the same for ever; erasure is
  the one visible exception.
- Under the native profile windows are locked; under compat they are sorted anew by each label.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

from memory.base.asof import AsOf
from memory.base.errors import Invalid
from memory.beliefs.profiles import Profile
from memory.calibration import reading
from memory.calibration.kernel import metrics as scores
from memory.calibration.kernel import reporting
from memory.calibration.kernel.reporting import Document, Scope, Segment
from memory.calibration.kernel.windows import Rule
from memory.calibration.models import EVERY_FAMILY, SegmentState
from memory.calibration.queries.alarms import segment_alarms
from memory.calibration.queries.runs import Run, run_named
from memory.calibration.queries.watches import label_lag, standing_watch
from memory.calibration.reading import Cut, Windows
from memory.ledger.models import Namespace
from memory.ledger.queries.contents import name_ids, names_of

RECENT = 100
"""Labels whose lag a report tells."""

RULES: Mapping[Profile, Rule] = {"native": "locked", "compat": "sorted"}


def report(
    at: AsOf, *, run_id: str, profile: Profile, relation_type: str | None = None, source_family: str | None = None,
    as_of: float | None = None,
) -> Document:  # fmt: skip
    """One report of a scope: of all relation types together, or of one; of all source families, or of one.

    Raises NotFound (no such run).
    """
    run = run_named(at, run_id)
    cut = cut_of(at, as_of)
    scope = Scope(_namespace(at), relation_type, source_family, cut.as_of)
    relation, family = _named(at, relation_type), _named(at, source_family)
    unknown = _unknown(at, run, relation_type=(relation_type, relation), source_family=(source_family, family))
    audit = None if profile == "compat" else {**(_point(at, profile) or {}), **unknown}
    if (relation_type is not None and relation is None) or (source_family is not None and family is None):
        return reporting.report(run.config, scope=scope, segments=[], audit=audit)
    rows = reading.segments_of(
        at.namespace, run=run.id, relation=relation, families=[EVERY_FAMILY if family is None else family]
    )
    texts = names_of(at.namespace, [row.relation_type for row in rows])
    segments = [_segment(at, run, row, texts, profile=profile, cut=cut) for row in rows]
    return _document(run, scope, segments, audit=audit)


def tree(at: AsOf, *, run_id: str, profile: Profile, as_of: float | None = None) -> Document:
    """Every relation type, each with all its forecasts and with those of each source family.   Raises NotFound."""
    run = run_named(at, run_id)
    cut = cut_of(at, as_of)
    scope = Scope(_namespace(at), as_of=cut.as_of)
    rows = reading.segments_of(at.namespace, run=run.id)
    texts = names_of(at.namespace, [name for row in rows for name in (row.relation_type, row.source_family)])
    nested: Document | None = None if profile == "compat" else {}
    overall: dict[str, Document] = {}
    families: dict[str, dict[str, Document]] = {}
    for row in rows:
        segment = _segment(at, run, row, texts, profile=profile, cut=cut)
        if segment.counted.n_tracked == 0:
            continue
        within = replace(scope, relation_type=segment.relation_type)
        if row.source_family == EVERY_FAMILY:
            overall[segment.relation_type] = _document(run, within, [segment], audit=nested)
        else:
            family = texts.get(row.source_family, "")
            told = _document(run, replace(within, source_family=family), [segment], audit=nested)
            families.setdefault(segment.relation_type, {})[family] = told
    relations = {name: (document, families.get(name, {})) for name, document in overall.items()}
    return reporting.tree(run.config, scope=scope, relations=relations, audit=_point(at, profile))


def _namespace(at: AsOf) -> str:
    return Namespace.objects.values_list("name", flat=True).get(pk=at.namespace)


def _named(at: AsOf, text: str | None) -> UUID | None:
    return None if text is None else name_ids(at.namespace, [text]).get(text)


def _unknown(at: AsOf, run: Run, **asked: tuple[str | None, UUID | None]) -> Document:
    """Which of the names asked about no forecast of the run has at the point; nothing where all have one."""
    rows = SegmentState.objects.filter(namespace=at.namespace, monitor_run=run.id, first_seq__lte=at.seq)
    told = [
        column
        for column, (text, name) in asked.items()
        if text is not None and (name is None or not rows.filter(**{column: name}).exists())
    ]
    return {"unknown": told} if told else {}


def cut_of(at: AsOf, as_of: float | None) -> Cut:
    """The cut of a point.   Raises Invalid where two claimed instants are asked for."""
    if at.source_at is None:
        return Cut(at.seq, as_of)
    claimed = at.source_at.timestamp()
    if as_of is not None and as_of != claimed:
        raise Invalid.at("as_of", expected="the instant that known_at=source: names, or none", got=as_of)
    return Cut(at.seq, claimed)


def _segment(
    at: AsOf, run: Run, row: SegmentState, texts: Mapping[UUID, str], *, profile: Profile, cut: Cut
) -> Segment:
    rule = RULES[profile]
    found = reading.windows(at.namespace, row, config=run.config, rule=rule, cut=cut)
    audit = None if profile == "compat" else _audit(at, run, row, found)
    return Segment(texts.get(row.relation_type, ""), found.counted, found.reference, found.current, audit)


def _document(run: Run, scope: Scope, segments: list[Segment], *, audit: Document | None) -> Document:
    tracked = [segment for segment in segments if segment.counted.n_tracked]
    return reporting.report(run.config, scope=scope, segments=tracked, audit=audit)


def _point(at: AsOf, profile: Profile) -> Document | None:
    """What the answer rests on; nothing beside the peer's keys under compat."""
    return None if profile == "compat" else {"seq": at.seq, "provisional": at.provisional}


def _audit(at: AsOf, run: Run, row: SegmentState, found: Windows) -> Document:
    """What we say beside the peer's keys."""
    told: dict[str, Any] = {
        "window_rule": "locked_reference",
        "pending": found.counted.n_tracked - found.counted.n_labeled,
        "calibration": {
            name: reporting.audit_of(sums, n_bins=run.config.ece_bins)
            for name, sums in (("reference", found.reference), ("current", found.current))
            if sums is not None and scores.n_rows(sums)
        },
    }
    lag = label_lag(at, row, n_recent=RECENT)
    told["label_lag_seconds"] = None if lag is None else {"median": lag.median, "ninth_decile": lag.ninth_decile}
    if row.source_family != EVERY_FAMILY:
        told["watch"] = _watched(at, row)
    return told


def _watched(at: AsOf, row: SegmentState) -> Document:
    told = standing_watch(at, row)
    return {
        **{name: getattr(told, name) for name in told.__slots__},
        "alarms": [
            {
                "id": str(alarm.id), "instrument": alarm.instrument, "seq": alarm.seq, "label": alarm.label,
                "acknowledged": alarm.acknowledged is not None, "closed": alarm.closed is not None,
            }
            for alarm in segment_alarms(at, row)
        ],
    }  # fmt: skip
