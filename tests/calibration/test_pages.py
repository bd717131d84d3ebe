"""The pages of calibration: verdicts first, nothing drawn of too few labels, and who may say what of an alarm."""

from __future__ import annotations

import re
from html import unescape
from typing import Any
from urllib.parse import quote

import pytest

from audit.pages.calibration.measured import FALSE_ALARMS, POWER
from audit.pages.calibration.words import segment_path
from memory.calibration.models import AlarmTurn
from memory.calibration.queries.alarms import AlarmRow
from memory.calibration.queries.verdicts import SegmentRow, segments
from tests.browsers import browser
from tests.calibration.filled import drifting, filled
from tests.calibration.labelling import alarmed, watch, watched
from tests.query_counts import assert_baseline, count_queries
from tests.world import World

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_only]

FUTURE = "valid_at=2030-01-01T00:00:00Z"
EVERYTHING = "?open=wealth,metrics,confidences,lag,scores,forecasts"
HOSTILE = "<script>window.ran=1</script> \u202ecod"


@pytest.fixture
def world() -> World:
    return drifting(n=100)


def text_of(answer: Any) -> str:
    """What a reader sees."""
    shown = re.sub(r"<script type=\"application/json\".*?</script>", " ", answer.text, flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", shown)).split())


def rows_of(world: World) -> dict[str, SegmentRow]:
    return {row.source_family: row for row in segments(world.now())}


def alarm_of(world: World) -> AlarmRow:
    return rows_of(world)["scanner"].alarms[-1]


def before(alarm: AlarmRow) -> str:
    """The point of the entry before the one that opened it."""
    return f"?known_at=seq:{alarm.seq - 1}&{FUTURE}"


def test_every_source_has_one_verdict_line_alarms_first_with_its_figure_beside_them(world: World) -> None:
    client = browser(world.charlie)
    shown = text_of(client.get("/calibration"))
    assert "1 with an alarm, 1 calibrated, 1 with too few labels to say" in shown
    assert re.search(r"scanner alarm since \d+ \w+ \d{4}: over-confident at 0\.\d\d", shown)
    assert shown.index("scanner alarm") < shown.index("reviewer calibrated")
    assert "newcomer too few to say (3 of 5) rel · triage 3 labels 2 labels pending" in shown
    assert "Of the last 20 labels" in shown[shown.index("scanner · rel · triage") :]
    assert "Ever miscalibrated bets against" not in shown
    assert "Ever miscalibrated bets against" in text_of(client.get("/calibration?how=open"))
    for one in FALSE_ALARMS:
        assert f"{one.streams} {one.instrument} {one.percent}" in shown
    for found in POWER:
        assert f"{found.change} {found.instrument} {found.percent} {found.delay}" in shown
    lines = b"".join(client.get("/calibration.csv").streaming_content).decode().splitlines()
    assert [line.split(",")[3] for line in lines[1:]].count("alarm") == 1


def test_what_stands_behind_a_verdict_folds_and_what_is_open_is_in_the_address(world: World) -> None:
    client = browser(world.charlie)
    here = segment_path(rows_of(world)["scanner"].key)
    folded = client.get(here)
    assert 'aria-expanded="true"' not in folded.text
    links = [unescape(link) for link in re.findall(r'href="([^"]+)" aria-expanded="false"', folded.text)]
    assert len(links) == 6
    assert 'data-plot="wealth-plot"' in client.get(links[0].partition("#")[0]).text
    shown = text_of(client.get(here + EVERYTHING))
    for words in (
        "The first alarm came with label", "Stated and true differ most", "half came within",
        "12 forecasts are pending", "smooth calibration error", "By label, in the window that is shown",
        "Labels 81 to 100", "did not",
    ):  # fmt: skip
        assert words in shown
    for name in ("reliability", "wealth", "metrics", "confidences", "lag", "forecasts"):
        told = b"".join(client.get(f"{here}.csv?figure={name}").streaming_content).decode()
        assert len(told.splitlines()) > 2
    for wrong in (f"{here}.csv?figure=none", f"{here}?open=none", f"{here}?open=forecasts&window=none"):
        assert client.get(wrong).status_code == 422
    assert client.get(segment_path((world.person("dora", role="owner").person or 0,) * 3)).status_code == 404


def test_of_too_few_labels_nothing_is_drawn(world: World) -> None:
    here = segment_path(rows_of(world)["newcomer"].key)
    answer = browser(world.charlie).get(here + EVERYTHING.replace("wealth,", "").replace(",lag", ""))
    shown = text_of(answer)
    assert "data-plot=" not in answer.text
    assert "too few to say (3 of 5)" in shown
    assert "too few 3 of 5 labels have come, 2 pending." in shown
    assert "too few (3 of 20), 2 pending" in shown
    assert "accuracy the share that came true too few too few" in shown


def test_an_alarm_names_the_label_that_tipped_it_and_both_sides_of_it(world: World) -> None:
    alarm = alarm_of(world)
    here = f"/calibration/alarms/{alarm.id}"
    client = browser(world.charlie)
    answer = client.get(here)
    shown = text_of(answer)
    assert re.search(rf"of {alarm.observation_id} tipped it: \d+\.\d\d nats, the threshold is 5\.30", shown)
    assert f"/beliefs/observations/{alarm.observation}" in answer.text
    assert re.search(r"Before it 20 forecasts stated .* after it \d+ stated", shown)
    assert "Acknowledging and closing are for reviewers" not in shown
    assert "<textarea" not in answer.text
    for name in ("around", "lag"):
        assert len(b"".join(client.get(f"{here}.csv?figure={name}").streaming_content).decode().splitlines()) > 2
    assert client.get(f"{here}.csv?figure=none").status_code == 422
    assert client.get(here + before(alarm)).status_code == 404


def test_a_reviewer_acknowledges_and_closes_with_a_reason_once(world: World) -> None:
    alarm = alarm_of(world)
    here = f"/calibration/alarms/{alarm.id}"
    bob = browser(world.bob)
    assert "Calibration 1 open" in text_of(bob.get("/calibration"))
    assert "scanner · rel" in text_of(bob.get("/inbox?kind=calibration"))
    refused = bob.post(f"{here}/acknowledge", {"key": "one", "reason": ""})
    assert refused.status_code == 422
    assert "The alarm is not acknowledged" in text_of(refused)
    for _ in range(2):
        assert bob.post(f"{here}/acknowledge", {"key": "one", "reason": "the probe was turned"}).url == here
    assert AlarmTurn.objects.filter(kind="acknowledge").count() == 1
    shown = text_of(bob.get(here))
    assert "the probe was turned" in shown
    assert "waits until a person" not in shown
    assert "it stays open until one closes it" in shown
    assert "acknowledged, recorded as seq" in shown
    assert "Calibration 1 open" not in shown
    again = bob.post(f"{here}/acknowledge", {"key": "two", "reason": "again"})
    assert again.status_code == 409
    assert "was acknowledged by entry" in text_of(again)
    assert bob.post(f"{here}/close", {"key": "three", "reason": "mended"}).status_code == 302
    assert "closed" in text_of(bob.get(here))
    assert re.search(r"scanner (outside its bands, )?no alarm yet", text_of(bob.get("/calibration")))
    assert bob.get(f"{here}/close").url == here


def test_an_auditor_says_nothing_of_an_alarm_and_nobody_does_in_the_past(world: World) -> None:
    here = f"/calibration/alarms/{alarm_of(world).id}"
    given = {"key": "one", "reason": "the probe was turned"}
    for act in ("acknowledge", "close"):
        assert browser(world.charlie).post(f"{here}/{act}", given).status_code == 403
        past = f"{here}/{act}?known_at=seq:{world.now().seq - 1}&{FUTURE}"
        assert browser(world.bob).post(past, given).status_code == 409
        assert browser(world.bob, checks_csrf=True).post(f"{here}/{act}", given).status_code == 403
    assert not AlarmTurn.objects.exists()


def test_before_an_alarm_there_was_none(world: World) -> None:
    alarm = alarm_of(world)
    client = browser(world.bob)
    shown = text_of(client.get("/calibration" + before(alarm)))
    assert re.search(r"scanner (calibrated|outside its bands, no alarm yet)", shown)
    assert "with an alarm" not in shown.partition("How often it cries wolf")[0]
    then = text_of(client.get(f"/calibration?known_at=seq:1&{FUTURE}")).partition("Calibration 0")[2]
    assert "scanner" not in then
    assert "No forecast was watched by then" in then
    assert "No point in time" not in then


def test_hostile_names_stay_text_everywhere() -> None:
    world = World()
    world.bind(HOSTILE, law="cyclic:4")
    watch(world, HOSTILE, reference_size=6, current_size=6, min_current_size=3)
    filled(world, family=HOSTILE, n=40, turns_at=0, relation_type=HOSTILE, n_pending=1)
    (row,) = segments(world.now())
    client = browser(world.alice)
    addresses = ["/calibration", segment_path(row.key) + EVERYTHING]
    addresses += [f"/calibration/alarms/{alarm.id}" for alarm in row.alarms]
    assert len(addresses) > 2
    for address in addresses:
        answer = client.get(address)
        assert answer.status_code == 200, address
        assert "<script>window" not in answer.text
        assert "\u202e" not in answer.text.replace(quote("\u202e"), "")


def test_a_page_costs_the_same_however_much_it_shows() -> None:
    world = watched("lab", labels=4)
    client = browser(world.bob)
    found = {"now 0": count_queries(client, "/calibration")}
    alarm = alarmed(world, run_id="one")
    found["now 1"] = count_queries(client, "/calibration")
    for n in range(5):
        alarmed(world, run_id=f"more {n}", observation_id=f"sure {n}")
    seq = world.now().seq
    found["now 20"] = count_queries(client, "/calibration")
    world.observe("late", "a", "b", [0.4, 0.3, 0.2, 0.1], provenance={"tool": "an oracle"})
    found["past 20"] = count_queries(client, f"/calibration?known_at=seq:{seq}&{FUTURE}")
    here = segment_path(segments(world.now())[0].key)
    details = {"now 1": count_queries(client, here), "open 1": count_queries(client, here + EVERYTHING)}
    assert_baseline("calibration:index", found)
    assert_baseline("calibration:segment", details)
    assert_baseline("calibration:alarm", {"now 20": count_queries(client, f"/calibration/alarms/{alarm}")})
