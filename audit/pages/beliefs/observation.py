"""One observation: what it says by label, of which nodes, from whom and from what, and what became of it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from audit import recorded
from audit.access import Visit, page, person_names
from audit.charts.beliefs import Probability, probability_bars
from audit.charts.figures import Figure
from audit.components import Definition
from audit.exports import csv_answer
from audit.navigation import Link
from audit.pages.beliefs.address import carried, graph_url
from audit.pages.beliefs.words import AUTHORITY, between, instant_words, named, relation_url
from audit.secrets import covered
from audit.templatetags.console import count
from memory.beliefs.kernel.factors import floored
from memory.beliefs.queries.observed import ForecastRow, ObservationStory, Reached, observation
from memory.calibration.queries.outcomes import OutcomeRow, outcomes
from memory.tombstones.saying import Said

FLAGS = {
    "mass_outside_prior": "it has mass where its prior has none",
    "observed_in_future": "it claims to be of more than a day after it was recorded",
    "rescaled": "its vector does not sum to 1 and is rescaled",
    "uninformative_vector": "its vector says nothing",
}
NAMES = {
    "evidence_family": "family", "source_event_id": "source event", "lineage_root_id": "lineage root",
    "encoder_revision": "encoder", "calibration_revision": "calibration",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ReachedRow:
    """A revocation that reaches it, as a row of its life; `is_due` if its instant is still to come."""

    badge: str
    is_due: bool
    words: str
    note: str | None
    who: str
    recorded_at: datetime | None
    entry: Link


@require_safe
@page("beliefs")
def shown(request: HttpRequest, visit: Visit, observation_id: UUID) -> HttpResponse:
    story = observation(visit.at, id=observation_id)
    names = person_names({one.person for one in story.said.values() if one.person is not None})
    is_revoked = any(not _is_due(visit, one) for one in story.reached)
    provenance = story.provenance
    context = {
        "told": recorded.told(request, carry=visit.carry),
        "story": story,
        "stored_id": str(observation_id),
        "title": between(story.names["source"], story.names["target"]),
        "figure": _figure(story),
        "csv_url": f"/beliefs/observations/{observation_id}.csv{visit.carry}",
        "definitions": _definitions(visit, story),
        "strip": _strip(visit, story, names),
        "provenance": "" if not provenance else covered(json.dumps(provenance, ensure_ascii=False, indent=2)),
        "flags": [FLAGS.get(flag, flag.replace("_", " ")) for flag in story.flags],
        "parents": [_link(visit, one.id, one.observation_id) for one in story.parents],
        "children": [_link(visit, one.id, one.observation_id) for one in story.children],
        "n_more_children": count(story.n_children - len(story.children)) if story.n_children > len(story.children)
        else "",
        "reached": [_reached(visit, story, one, names) for one in story.reached],
        "forecasts": [_forecast(visit, story, one) for one in story.forecasts],
        "outcomes": [_outcome(visit, story, one) for one in outcomes(visit.at, observation=observation_id)],
        "state": "erased" if story.is_erased else "revoked" if is_revoked else "current",
        "may_revoke": may_revoke(visit, story),
        "revoke_url": f"/beliefs/observations/{observation_id}/revoke{visit.carry}",
        "graph_url": _graph(visit, story),
        "authority": AUTHORITY,
        "trail": (Link("Beliefs", f"/beliefs{visit.carry}"), Link(named(story.observation_id), "")),
    }  # fmt: skip
    return render(request, "beliefs/observation.html", context)


@require_safe
@page("beliefs")
def as_csv(request: HttpRequest, visit: Visit, observation_id: UUID) -> Any:
    figure = _figure(observation(visit.at, id=observation_id))
    columns = [column.label for column in figure.columns]
    rows = [dict(zip(columns, row, strict=True)) for row in figure.rows]
    return csv_answer(visit, "observation", columns=columns, rows=rows)


def may_revoke(visit: Visit, story: ObservationStory) -> bool:
    """Whether the person may, and it is not revoked by itself already."""
    is_own = any(one.observation == story.row.id for one in story.reached)
    return visit.actor.may("write", "review") and visit.frame.can_write and not is_own


def _figure(story: ObservationStory) -> Figure:
    if story.posterior is None or story.relation is None or story.relation.law is None:
        return probability_bars((), node="this observation", method="as given", n_observations=0, id="vectors")
    labels = story.relation.law.labels
    posterior = floored(story.posterior[None])[0]
    prior = [1.0 / len(labels)] * len(labels) if story.prior is None else floored(story.prior[None])[0].tolist()
    rows = [Probability(label, prior[i], float(posterior[i])) for i, label in enumerate(labels)]
    method = "as given, rescaled" if "rescaled" in story.flags else "as given"
    return probability_bars(rows, node="The relation", method=method, n_observations=1, id="vectors")


def _definitions(visit: Visit, story: ObservationStory) -> list[Definition]:
    row = story.row
    relation = story.names["relation_type"]
    named_rows = [
        Definition(word, named(story.names[key]) if story.names[key] or _is_given(story, key) else "not given")
        for key, word in NAMES.items()
    ]
    return [
        Definition("from", named(story.names["source"])),
        Definition("to", named(story.names["target"])),
        Definition("relation type", named(relation),
                   url=relation_url(relation, carry=visit.carry) if relation else ""),
        Definition("trust", f"{row.trust:g}"),
        Definition("independent", "yes" if row.is_independent else "no: it never speaks for itself"),
        Definition("observed at", instant_words(row.observed_at)),
        Definition("valid", f"{instant_words(row.valid_from)} to {instant_words(row.valid_until)}, both ends included"),
        *named_rows,
        Definition("tags", ", ".join(covered(tag) for tag in story.tags) or "none"),
    ]  # fmt: skip


def _is_given(story: ObservationStory, key: str) -> bool:
    column = {"source_event_id": "source_event", "lineage_root_id": "lineage_root"}.get(key, key)
    return getattr(story.row, column) is not None


def _strip(visit: Visit, story: ObservationStory, names: dict[int, str]) -> list[Definition]:
    seq = story.row.seq
    said = story.said.get(seq)
    found = [Definition("recorded", "" if said is None else f"{said.recorded_at:%Y-%m-%d %H:%M:%S} UTC"),
             Definition("by", _who(said, names))]  # fmt: skip
    if said is not None and said.run is not None:
        found.append(Definition("run", str(said.run)[:8], url=f"/runs/{said.run}{visit.carry}"))
    return [*found, Definition("ledger seq", count(seq), url=f"/ledger/{seq}{visit.carry}", is_code=True)]


def _who(said: Said | None, names: dict[int, str]) -> str:
    if said is None:
        return "unknown"
    if said.person is not None:
        return names.get(said.person, f"person {said.person}")
    return named(said.agent_name, absent="an agent whose name is erased" if said.agent else "the system")


def _forecast(visit: Visit, story: ObservationStory, one: ForecastRow) -> tuple[Link, str, str]:
    """The run with the segment that it is scored in, the family of its source, and when it was tracked."""
    url = f"/calibration/segments/{one.run_id}/{story.row.relation_type}/{one.family_id}{visit.carry}"
    return Link(named(one.run), url), named(one.source_family), instant_words(one.tracked_at, absent="as recorded")


def _outcome(visit: Visit, story: ObservationStory, one: OutcomeRow) -> tuple[str, str, bool, Link]:
    """What its relation turned out to be, when that was seen, whether it corrects the one before, and its entry."""
    law = None if story.relation is None else story.relation.law
    label = "erased" if law is None else law.labels[one.true_index]
    entry = Link(count(one.seq), f"/ledger/{one.seq}{visit.carry}")
    return label, instant_words(one.labeled_at), one.is_correction, entry


def _reached(visit: Visit, story: ObservationStory, one: Reached, names: dict[int, str]) -> ReachedRow:
    is_own = one.observation == story.row.id
    whose = "" if is_own else f"with {named(one.observation_id)}, which it goes back to, "
    older = "; an older one of its lineage may speak again" if one.is_reexposing else ""
    words = f"{whose}from {instant_words(one.at)} on{older}"
    said = story.said.get(one.seq)
    note = None if one.note is None else covered(one.note)
    recorded_at = said.recorded_at if said else None
    entry = Link(count(one.seq), f"/ledger/{one.seq}{visit.carry}")
    is_due = _is_due(visit, one)
    badge = "will be revoked" if is_due else "revoked"
    return ReachedRow(badge, is_due, words, note, _who(said, names), recorded_at, entry)


def _is_due(visit: Visit, one: Reached) -> bool:
    """Whether the revocation is not in force yet at the instant that the page asks about."""
    return one.at > visit.at.valid_at.timestamp()


def _link(visit: Visit, id: UUID, observation_id: str) -> Link:
    return Link(named(observation_id), f"/beliefs/observations/{id}{visit.carry}")


def _graph(visit: Visit, story: ObservationStory) -> str:
    """The graph around it: two steps from its source."""
    source, target = story.names["source"], story.names["target"]
    if not (source and target and story.names["relation_type"]):
        return ""
    seeds = list(dict.fromkeys([source, target]))
    document = {"schema_version": 2, "relation_type": story.names["relation_type"], "root": source, "seeds": seeds}
    return graph_url(document, carried=carried(visit), node=target)
