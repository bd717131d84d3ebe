"""The story's facts and dead ends: what each line states as a value, what our agents concluded, what people decided.

Invariants
- A line that states a value becomes one fact with the line's own source, resting on the line's record. The facts of one
  day, or of one minute, are one batch, played half a second after the last of these lines.
- What a later release or fix ends is superseded by it; nothing is left to be settled by which line came last.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from audit.demo.lines import DERIVED_FROM, EMBARGOED, Line, id_of, played
from audit.demo.steps import Answered, Step, at

HALF_A_SECOND = timedelta(milliseconds=500)
INVENTED = "re_enacted: "
ONE_VALUE: Mapping[str, int | None] = {
    "latest_release": None, "first_affected_version": None, "shipped_version": None, "upstream_code": None,
    "ships_affected_code": 30 * 86_400, "affected": None, "safe_to_deploy": None, "reported_to_vendor_on": None,
}  # fmt: skip
POLICY = "agent=docs-bot type=procedure -> hold 14 d"
# (line that ends, line that ends it, why): what a later line says of the same.
ENDED_BY = (
    (2, 7, "a newer release is published"), (7, 78, "a newer release is published"),
    (8, 80, "a newer release is packaged"), (75, 76, "a fix is reported"),
    (18, 79, "the release notes say that it is removed"), (48, 69, "the repository is back"),
    (44, 72, "it is asked to be fuzzed again"),
)  # fmt: skip


def line(number: int) -> Answered:
    """The id of the record that a line became."""
    return Answered(f"L{number:02d}", "id")


def fact_id(number: int) -> str:
    """The id of the fact that a line states."""
    return str(id_of(f"fact/L{number:02d}"))


def batches(lines: Sequence[Line]) -> list[Step]:
    """The facts of the lines, a batch for each day, each minute, and the embargo."""
    by_number = {each.number: each for each in lines}
    grouped: dict[str, list[tuple[datetime, Line]]] = {}
    for instant, each in played(lines):
        if each.attribute:
            grouped.setdefault(_batch_of(instant, each), []).append((instant, each))
    return [
        Step(
            f"F-{key}", max(instant for instant, _ in members) + HALF_A_SECOND, "triage-bot", "facts/batch",
            [_stated(each, by_number) for _, each in members], re_enacted=False,
        )
        for key, members in grouped.items()
    ]  # fmt: skip


def _batch_of(instant: datetime, each: Line) -> str:
    if each.number in EMBARGOED:
        return "embargo"
    return instant.date().isoformat() if each.is_day else instant.strftime("%Y-%m-%dT%H:%M")


def _stated(each: Line, by_number: Mapping[int, Line]) -> dict[str, Any]:
    root = by_number[DERIVED_FROM.get(each.number, each.number)]
    return {
        "id": fact_id(each.number), "subject": each.subject, "attribute": each.attribute, "value": each.value,
        "valid_from": each.when.isoformat().replace("+00:00", "Z"),
        "source": {"class": each.source_class, "origin": root.host, "pointer": each.source},
        "references": [line(each.number)],
    }  # fmt: skip


def founding() -> list[Step]:
    """A09 and A11: what attributes are, what waits for a person, when false blocks demote a dead end."""
    start = at(2, 1, 8, 0)
    declared = [
        Step(
            f"A09-{attribute}", start + timedelta(seconds=10 + index), "triage-bot", f"attributes/{attribute}",
            {"cardinality": "one"} if freshness is None else {"cardinality": "one", "freshness_seconds": freshness},
            method="PUT", re_enacted=False,
        )
        for index, (attribute, freshness) in enumerate(ONE_VALUE.items())
    ]  # fmt: skip
    settings = {"review_policy": POLICY, "false_block_limit": "5"}
    return declared + [
        Step(f"A11-{name}", start + timedelta(seconds=20 + index), "owner-a", "settings",
             {"name": name, "value": value}, re_enacted=False)
        for index, (name, value) in enumerate(settings.items())
    ]  # fmt: skip


def ended(lines: Sequence[Line]) -> list[Step]:
    """A newer release ends the older one, and a fix what it fixes, half a second after both are facts."""
    batch = {item["id"]: step.at for step in batches(lines) for item in step.body if isinstance(item, dict)}
    when = {each.number: each.when for each in lines}
    return [
        Step(
            f"S{old:02d}", batch[fact_id(new)] + HALF_A_SECOND, "triage-bot", f"facts/{fact_id(old)}/supersede",
            {"at": when[new].isoformat().replace("+00:00", "Z"), "by": fact_id(new),
             "reason": INVENTED + why},
        )
        for old, new, why in ENDED_BY
    ]  # fmt: skip


def acts() -> list[Step]:
    """What is invented around the facts, in the order of the story."""
    told = [*_belief_and_its_fall(), *_build_7(), *_verdicts(), *_procedures(), *_retractions()]
    return [*told, *_dead_end(), *_way_back()]


def _fact(key: str, subject: str, attribute: str, value: str, note: str, **given: Any) -> dict[str, Any]:
    body = {"id": str(id_of(key)), "subject": subject, "attribute": attribute, "value": value}
    return {**body, "note": INVENTED + note, **given}


def _belief_and_its_fall() -> list[Step]:
    since = {"valid_from": "2024-03-09T00:00:00Z"}
    return [
        Step("B01", at(3, 10, 9, 0), "triage-bot", "facts", _fact(
            "B01", "xz-5.6.1", "safe_to_deploy", "true", "nothing was known against it", **since,
            confidence={"value": 0.97, "scale": "probability"}, source={"class": "derived", "origin": "triage-bot"},
            references=[line(7)],
        )),
        Step("E00", at(3, 25, 9, 0), "triage-bot", "facts", _fact(
            "E00", "ubuntu-24.04/beta", "planned_date", "2024-04-04", "from the published schedule",
            source={"class": "derived", "origin": "triage-bot"},
        )),
        Step("D01", at(3, 29, 16, 5), "triage-bot", "facts", _fact(
            "D01", "xz-5.6.1", "safe_to_deploy", "false", "the post names both tarballs", **since,
            source={"class": "relayed", "origin": "oss-security"}, references=[line(18)],
        )),
        Step("D02", at(3, 29, 16, 6), "triage-bot", "facts/{old}/supersede", {
            "at": "2024-03-09T00:00:00Z", "by": Answered("D01", "id"),
            "reason": f"{INVENTED}correction: it was never safe",
        }, refers_to={"old": Answered("B01", "id")}),
        Step("E07", at(3, 31, 8, 0), "triage-bot", f"facts/{fact_id(30)}/supersede", {
            "at": "2024-03-29T00:00:00Z", "by": fact_id(47),
            "reason": f"{INVENTED}correction: the beta of Fedora 40 did hold builds",
        }),
    ]  # fmt: skip


def _build_7() -> list[Step]:
    """Conflict 1: the printed version against the content."""
    return [
        Step("E01", at(3, 30, 9, 0), "scan-bot", "facts", _fact(
            "E01", "build-7/xz", "upstream_code", "5.6.1", "as `xz --version` prints it",
            source={"class": "derived", "origin": "xz --version"},
        )),
        Step("E02", at(3, 30, 9, 5), "scan-bot", "facts", _fact(
            "E02", "build-7/xz", "upstream_code", "5.4.5", "by the hash of the library on disk",
            source={"class": "first_hand", "origin": "hash of liblzma on disk"}, references=[line(28)],
        )),
        Step("E03", at(3, 31, 11, 0), "reviewer-a", "facts/verdict", {
            "subject": "build-7/xz", "attribute": "upstream_code", "verdict": "keep_b", "a": Answered("E01", "id"),
            "b": Answered("E02", "id"),
            "reason": f"{INVENTED}the printed version is packaging, not content; see the line of 30 March on that",
        }),
    ]  # fmt: skip


def _verdicts() -> list[Step]:
    """Conflict 2 is settled by both, conflict 3 stays open."""
    return [
        Step("E06", at(3, 30, 11, 40), "reviewer-a", "facts/verdict", {
            "subject": "CVE-2024-3094", "attribute": "reported_to_vendor_on", "verdict": "needs_more",
            "a": fact_id(11), "b": fact_id(12),
            "reason": f"{INVENTED}two first-hand dates a day apart; which one is the report, and which the answer?",
        }),
        Step("E05", at(4, 2, 10, 0), "owner-a", "facts/verdict", {
            "subject": "xz", "attribute": "first_affected_version", "verdict": "both_hold", "a": fact_id(20),
            "b": fact_id(27),
            "reason": f"{INVENTED}upstream's range and the packager's range answer different questions",
        }),
    ]  # fmt: skip


def _procedures() -> list[Step]:
    """What an agent proposes to everyone waits for a person: one is confirmed, one lapses."""

    def procedure(key: str, text: str, pointer: int) -> dict[str, Any]:
        return {
            "id": str(id_of(key)), "type": "procedure", "content": text, "metadata": {"re_enacted": True},
            "source": {"class": "derived", "origin": "docs-bot", "pointer": line(pointer)},
        }  # fmt: skip

    return [
        Step("E10", at(3, 31, 10, 0), "docs-bot", "records", procedure("E10", "Go back to 5.4.6 everywhere.", 32)),
        Step("E11", at(3, 31, 15, 0), "reviewer-a", "records/confirm", {
            "id": Answered("E10", "id"), "reason": f"{INVENTED}compared with what Homebrew and Wolfi did",
        }),
        Step("E12", at(4, 1, 16, 0), "docs-bot", "records", procedure("E12", "Every release since 2022 is bad.", 53)),
        Step("E13", at(4, 15, 16, 0), "system", "records/lapse", {}, refers_to={"held": Answered("E12", "id")}),
    ]  # fmt: skip


def _retractions() -> list[Step]:
    return [
        Step("E14", at(4, 4, 9, 0), "triage-bot", "facts/{fact}/retract", {
            "as": "outdated", "reason": f"{INVENTED}the beta was moved to 11 April",
        }, refers_to={"fact": Answered("E00", "id")}),
        Step("E15", at(4, 20, 9, 0), "reviewer-a", "facts/retract", {
            "id": fact_id(74), "as": "wrong", "reason": f"{INVENTED}5.2.4-1 was never affected; the scanner was",
        }),
    ]  # fmt: skip


_DEAD_END = {"tombstone": Answered("D08", "id")}
_ROUTE = "deploy xz from the 5.6 series"
_EXIT = "upstream release with the backdoor removed, seen by two sources"


def _asked(**scope: str) -> dict[str, Any]:
    return {"route": _ROUTE, "scope": {"package": "xz", "series": "5.6", **scope}}


def _false(key: str, instant: datetime, check: str, why: str, *numbers: int) -> Step:
    return Step(key, instant, "scan-bot", "tombstones/{tombstone}/false-block", {
        "check": Answered(check, "check"), "reason": f"{INVENTED}{why}",
        "evidence": {"references": [line(number) for number in numbers]},
    }, refers_to=_DEAD_END)  # fmt: skip


def _seen(key: str, instant: datetime, number: int, origin: str) -> Step:
    return Step(key, instant, "scan-bot", "tombstones/{tombstone}/evidence", {
        "condition": _EXIT, "valid_until": "2024-06-30T00:00:00Z", "origin": origin,
        "evidence": {"text": f"{INVENTED}read at its source", "references": [line(number)]},
    }, refers_to=_DEAD_END)  # fmt: skip


def _dead_end() -> list[Step]:
    """A route that failed, with its bounds and its exit, and the three times that it blocked what was right."""
    really = {"version": "5.6.1+really5.4.5-1"}
    return [
        Step("D08", at(3, 29, 17, 30), "scan-bot", "tombstones", {
            "route": _ROUTE, "scope": {"package": "xz", "series": "5.6"}, "out_of_scope": {"upstream_code": "<5.6"},
            "evidence": {"text": f"{INVENTED}the post and the advisory", "references": [line(18), line(19)]},
            "revival": [{"condition": _EXIT, "origins": 2}],
            "retest": {"plan": "deploy to build-1 and compare hashes", "at": "2024-04-30T00:00:00Z"},
            "review_at": "2024-06-30T00:00:00Z",
        }),
        Step("D12", at(3, 30, 8, 5), "release-bot", "tombstones/check", _asked(**really), refers_to=_DEAD_END),
        _false("D13", at(3, 30, 8, 7), "D12", "the string says 5.6.1, the content is 5.4.5", 14, 28),
        Step("D14", at(3, 30, 8, 20), "release-bot", "tombstones/check", _asked(**really, upstream_code="5.4.5"),
             refers_to=_DEAD_END),
        Step("E08a", at(4, 1, 8, 59), "scan-bot", "tombstones/check", _asked(host="arch", version="5.6.1-2"),
             refers_to=_DEAD_END),
        _false("E08", at(4, 1, 9, 0), "E08a", "patched Arch 5.6.1-2", 52),
        Step("E09a", at(4, 3, 11, 59), "scan-bot", "tombstones/check", _asked(host="arch", version="5.6.1-3"),
             refers_to=_DEAD_END),
        _false("E09", at(4, 3, 12, 0), "E09a", "patched Arch 5.6.1-3", 58),
    ]  # fmt: skip


def _way_back() -> list[Step]:
    """Two origins speak for the exit, an owner opens it, the re-test passes; what stays bad has a sign of its own."""
    reissued = "these tarballs are reissued by upstream and two sources confirm it"
    return [
        _seen("I01a", at(5, 30, 8, 0), 78, "the release"),
        _seen("I01b", at(5, 30, 8, 1), 79, "the repository"),
        Step("I02b", at(5, 30, 8, 59), "scan-bot", "tombstones", {
            "route": "deploy xz 5.6.0 or 5.6.1", "scope": {"package": "xz", "version": ["5.6.0", "5.6.1"]},
            "evidence": {"text": f"{INVENTED}the tarballs stay what they are", "references": [line(18)]},
            "revival": [{"condition": reissued, "origins": 2}],
            "retest": {"plan": "compare the tarball with its git tree", "at": "2025-05-30T00:00:00Z"},
            "review_at": "2025-05-30T00:00:00Z",
        }),
        Step("I02", at(5, 30, 9, 0), "owner-b", "tombstones/revive",
             {"id": Answered("D08", "id"), "reason": f"{INVENTED}both sources are read"}),
        Step("I02c", at(5, 30, 9, 30), "owner-b", "tombstones/retest",
             {"id": Answered("D08", "id"), "passed": True, "reason": f"{INVENTED}5.6.2 runs on build-1"}),
    ]  # fmt: skip
