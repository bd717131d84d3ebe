"""The invented half of the story: what our own agents did with the lines."""

from hashlib import sha256, shake_256

from audit.demo import beliefs, facts
from audit.demo.facts import line
from audit.demo.lines import id_of
from audit.demo.steps import Answered, Step, at

RE_ENACTED = {"re_enacted": True}
PROMPT = "Update the xz package on build-7 to the latest release and report what you did."


def placeholder_contact() -> str:
    """A contact that is nobody's: a number kept for fiction and an address of a domain kept for examples."""
    drawn = shake_256(b"xz-2024/contact").digest(3)
    return f"+1 555 01{drawn[0] % 100:02d}, oncall-{drawn[1:].hex()}@example.org"


def acts() -> list[Step]:
    """The acts in the order of the story."""
    return [*_march(), *_update_of_build_7(), *_the_day(), *_april(), *facts.acts(), *beliefs.acts()]


def _march() -> list[Step]:
    return [
        Step("B02", at(3, 10, 9, 1), "triage-bot", "records", {
            "id": str(id_of("B02")), "type": "note", "content": "5.6.1 looks routine; speed fixes only.",
            "valid_from": "2024-03-09T00:00:00Z", "metadata": RE_ENACTED,
            "source": {"class": "derived", "origin": "triage-bot", "pointer": line(7)},
        }),
        Step("B03", at(3, 11, 10, 0), "triage-bot", "derivations", {
            "kind": "merge", "records": [Answered("B02", "id"), line(2), line(7)], "type": "summary",
            "content": "xz 5.6 series: 5.6.0 and 5.6.1 are published; 5.6.1 looks routine, speed fixes only.",
            "reason": "inference", "note": "What the 5.6 series is, in one place.",
        }),
    ]  # fmt: skip


def _update_of_build_7() -> list[Step]:
    run = {"run": Answered("C01", "id")}
    return [
        Step("C01", at(3, 20, 8, 0), "release-bot", "runs", {
            "id": str(id_of("C01")), "kind": "task", "title": "Update xz on build-7",
            "refs": {"ticket": "DEMO-17", "re_enacted": "true"},
            "runtime": {
                "model": "demo-model", "version": "1", "prompt_hash": f"sha256:{sha256(PROMPT.encode()).hexdigest()}",
            },
        }),
        Step("C08", at(3, 20, 8, 11), "release-bot", "runs/{run}/end", {"note": "Closed."}, refers_to=run),
    ]  # fmt: skip


def _the_day() -> list[Step]:
    return [
        Step("D10", at(3, 29, 18, 30), "triage-bot", "records", {
            "id": str(id_of("D10")), "type": "note", "metadata": RE_ENACTED,
            "content": f"On call for the build hosts tonight:\n{placeholder_contact()}",
            "source": {"class": "first_hand", "origin": "triage-bot"},
        }, is_erased_later=True),
        Step("D10b", at(3, 29, 18, 35), "triage-bot", "derivations", {
            "kind": "merge", "records": [Answered("D10", "id"), line(18)], "type": "summary",
            "content": f"Hand the oss-security post to whoever is on call:\n{placeholder_contact()}",
            "reason": "observation", "note": "For the hand-over.",
        }, is_erased_later=True),
    ]  # fmt: skip


def _april() -> list[Step]:
    """The number of a person in a note: what rests on it is looked at first, then it goes, and its proof stays."""
    gone = {
        "records": [Answered("D10", "id")], "reason": "request", "quoting": True,
        "note": "A number to call stood in a note and in the summary that quotes it.",
    }  # fmt: skip
    return [
        Step("G01", at(4, 3, 9, 0), "auditor-a", "ledger/verify", {}, writes=False),
        Step("G02", at(4, 4, 10, 0), "owner-a", "erasures", {**gone, "dry_run": True}, writes=False),
        Step("G03", at(4, 4, 10, 5), "owner-a", "erasures", gone),
    ]
