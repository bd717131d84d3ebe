"""What every entry leaves behind for calibration: the places of the forecasts that it froze.

Beliefs write forecasts and know nothing of calibration; every entry is looked over once its rows stand.
"""

from __future__ import annotations

from memory.base import sql
from memory.beliefs.models import Forecast, Observation
from memory.calibration.issuing import Places, issued
from memory.calibration.models import ForecastState
from memory.ledger.operations.appending import OpenEntry


def followed(entry: OpenEntry) -> None:
    """Companion of every entry: once its rows stand, its forecasts get their places."""
    entry.then(lambda: _enter(entry))


def _enter(entry: OpenEntry) -> None:
    drafts = [(item, draft) for item, draft in enumerate(entry.drafts) if draft.kind == Forecast.item_kind]
    if not drafts:
        return
    about = {draft.object: draft.values for draft in entry.drafts if draft.kind == Observation.item_kind}
    forecasts = [
        issued(
            draft.values, about[draft.values["observation"]], item=item, recorded_at=entry.recorded_at,
            posterior=draft.parts["value"],
        )
        for item, draft in drafts
    ]  # fmt: skip
    places = Places.of(entry.by.namespace, {forecast.key for forecast in forecasts})
    sql.insert(ForecastState, [places.row(forecast, seq=entry.seq) for forecast in forecasts])
    places.store()
