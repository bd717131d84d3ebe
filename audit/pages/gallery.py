"""The living gallery: each shared component in each of its states, in both schemes. Served in debug only.

It shows made-up values; nothing is read from a store, so the page stands even where the database does not.
"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from django import forms
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path

from audit import states
from audit.components import (
    Definition,
    Facet,
    FacetValue,
    FilterPart,
    Hidden,
    Pager,
    Problem,
    ProblemError,
    Progress,
    Step,
    Tab,
    VerdictStep,
    sortable_columns,
)
from audit.navigation import (
    AsOfReading,
    Banner,
    Frame,
    Link,
    NamespaceChoice,
    SignedIn,
    Waiting,
    breadcrumbs,
    build_rail,
)
from audit.pages import gallery_drawings, gallery_figures

READ_AT = datetime(2026, 11, 14, 14, 2, 31, tzinfo=UTC)
HASH = "9f2b6c1e0d4a47b8a1e35c7790fd2c6e5b81f3a4d7c0926e1f8ab354c7d60e21"
RECORD = "rec_01JCQ8ZK4T7M2V9XW3N5B6R0HD"

ROWS = [
    (
        READ_AT - timedelta(minutes=4),
        "note",
        "Refunds above 200 EUR need a second look",
        "scout",
        12,
        "current",
    ),
    (
        READ_AT - timedelta(hours=5),
        "note",
        "Customer 4411 asked for the invoice in Danish, twice",
        "triage-bot",
        0,
        "held",
    ),
    (READ_AT - timedelta(days=2), "summary", "Refunds need a second look", "scout", 40, "superseded"),
    (READ_AT - timedelta(days=40), "note", "erased by Mara Lind: subject request", "scout", 3, "erased"),
]

STEPS = (
    VerdictStep("parse", "ok", "1 318 bytes, canonical"),
    VerdictStep("signature", "ok", "key k-2026-10", evidence=Link("checkpoint 41", "#")),
    VerdictStep("payload hash equal", "failed", "the payload is not the one that was intended", HASH, HASH[::-1]),
    VerdictStep("gate decision at time", "not_checked", "an earlier step failed"),
    VerdictStep("content", "erased", "erased by subject request; the path still holds"),
)

PROBLEM = Problem(
    status=422,
    title="Nothing was recorded",
    detail="Two parts of the input are not as they must be.",
    code="invalid",
    request_id="req_5f0c2a91",
    errors=(
        ProblemError("valid_from", "not_before", "an instant before valid_to", "2026-11-09T08:30:00Z"),
        ProblemError("value", "control_character", "text without NUL", "a\u0000b\u202ec"),
    ),
    ways_on=(Link("Back to the fact", "#"),),
)


class VerdictForm(forms.Form):
    """A form with each kind of field; the gallery binds it empty to show its errors."""

    verdict = forms.ChoiceField(
        label="Verdict",
        widget=forms.RadioSelect,
        choices=[
            ("keep_a", "keep A"),
            ("keep_b", "keep B"),
            ("split_at", "split at a date"),
            ("both_hold", "both hold"),
            ("retract_both", "retract both"),
            ("needs_more", "needs more"),
        ],
    )
    split_at = forms.DateField(label="Split at", required=False, help_text="Needed for a split; a day in UTC.")
    reason = forms.CharField(label="Reason", widget=forms.Textarea(attrs={"rows": 3}), help_text="Kept for ever.")


def index(request: HttpRequest) -> HttpResponse:
    if not settings.DEBUG:
        raise Http404
    variant = request.GET.get("frame", "now")
    return render(request, "gallery/index.html", {"frame": _frame(variant), "variant": variant, **_samples()})


def _frame(variant: str) -> Frame:
    frame = _frame_now()
    past = replace(
        frame.as_of,
        is_now=False,
        valid_at_text="1 Nov 2026",
        known_at_text="12 Nov 2026 14:03:07 UTC · seq 184 203",
        valid_at="2026-11-01T00:00:00Z",
        known_at="seq:184203",
        is_separated=True,
    )
    locked = replace(frame, can_write=False, write_refusal="You look at the past; nothing can be written there.")
    auditor = SignedIn("Nadia Osei", "auditor", "Reads, exports and verifies.", "30 Nov 2026")
    variants = {
        "past": replace(locked, as_of=past),
        "provisional": replace(locked, as_of=replace(past, is_separated=False, is_provisional=True)),
        "source": replace(locked, as_of=replace(past, is_source_reading=True, is_separated=False)),
        "stopped": replace(frame, banners=_banners()),
        "auditor": replace(frame, user=auditor, can_write=False, shows_writes=False),
        "no_point": replace(frame, as_of=replace(frame.as_of, applies=False)),
    }
    return variants.get(variant, frame)


def _frame_now() -> Frame:
    waiting = {"inbox": Waiting(7, "3 d"), "approvals": Waiting(1, "9 d", is_overdue=True), "work": Waiting(2)}
    populated = frozenset({"facts", "timeline", "runs", "receipts", "rules", "calibration"})
    return Frame(
        read_at=READ_AT,
        environment="gallery",
        namespace="acme-support",
        namespaces=(
            NamespaceChoice("acme-support", "?ns=acme-support", True),
            NamespaceChoice("ops", "?ns=ops", False),
        ),
        single_owner=True,
        as_of=AsOfReading(
            form_url="/gallery",
            now_url="/gallery",
            source_url="?frame=source",
            shortcuts=(Link("an hour ago", "?frame=past"), Link("yesterday", "?frame=provisional")),
        ),
        rail=build_rail("gallery", populated=populated, waiting=waiting),
        user=SignedIn("Mara Lind", "owner", "May approve, roll back, stop and erase."),
        can_write=True,
        shows_writes=True,
        head_seq=184_203,
        n_waiting=8,
        oldest_waiting="9 d",
    )


def _banners() -> tuple[Banner, ...]:
    return (
        Banner(
            "stop",
            "Agent scout is stopped",
            "by Mara Lind, 13 Nov 2026 09:12 UTC: wrote to the wrong tenant.",
            Link("What is open", "#"),
        ),
        Banner(
            "hold",
            "This namespace is on hold",
            "by J. Ortiz until 31 Dec 2026: litigation 4411. Nothing can be erased.",
        ),
        Banner(
            "replay",
            "Replayed.",
            "Times are those of the events; loaded on 14 Nov 2026. This namespace takes no writes.",
        ),
        Banner("notice", "Imported rows are waiting", "2 refused, 14 quarantined.", Link("Open the import", "#")),
    )


def _samples() -> dict[str, object]:
    return {
        "all_states": list(states.STATES),
        "record_id": RECORD,
        "hash": HASH,
        "recorded_at": READ_AT - timedelta(days=3, hours=2),
        "valid_from": datetime(2026, 11, 2, tzinfo=UTC),
        "valid_to": datetime(2026, 11, 9, 8, 30, tzinfo=UTC),
        "trail": breadcrumbs("gallery"),
        **_list_samples(),
        **_detail_samples(),
        **_form_samples(),
        **gallery_drawings.samples(),
        **gallery_figures.samples(),
    }


def _list_samples() -> dict[str, object]:
    labels = {
        "recorded_at": "recorded at",
        "type": "type",
        "text": "first line",
        "agent": "agent",
        "n_delivered": "delivered",
    }
    return {
        "page_actions": (Link("Compare two", "#"), Link("Export with proofs", "#")),
        "facets": (
            Facet("State", (FacetValue("current", "10 000+", "#", True), FacetValue("held", "14", "#"))),
            Facet("Agent", (FacetValue("scout", "8 120", "#"), FacetValue("triage-bot", "1 902", "#")), more_url="#"),
        ),
        "parts": (FilterPart("agent is scout", "#"), FilterPart("type is note", "#")),
        "hidden": (Hidden("superseded", "14", "#"), Hidden("erased", "2", "#")),
        "columns": sortable_columns(
            labels, current="-recorded_at", url_of=lambda sort: f"?sort={sort}", numbers=frozenset({"n_delivered"})
        ),
        "rows": ROWS,
        "pager": Pager(older_url="#", range_text="50 of 10 000+, newest first"),
        "tabs": (
            Tab("Lineage", "#", True, "1 214"),
            Tab("Versions", "#", False, "3"),
            Tab("Delivered to", "#", False, "7"),
        ),
    }


def _detail_samples() -> dict[str, object]:
    return {
        "provenance": (
            Definition("recorded", "2026-11-11 12:02:31 UTC"),
            Definition("by", "mara.lind, agent scout, host ci-3"),
            Definition("run", "Ticket 4411", url="#"),
            Definition("source", "first-hand, authenticated"),
            Definition("ledger seq", "184 203", url="#", is_code=True),
            Definition("ledger check", None),
        ),
        "not_given": ("on behalf of", "model", "origin", "idempotency key"),
        "definitions": (
            Definition("Digest", HASH, is_code=True),
            Definition("Size", "1.2 kB"),
            Definition("Run", "Ticket 4411", url="#"),
            Definition("Asked by", None),
        ),
        "steps": STEPS,
        "problem": PROBLEM,
        "before": "Refunds above 100 EUR need a second look by any person on shift.",
        "after": "Refunds above 200 EUR need a second look by a reviewer on shift.",
        "untrusted": 'Ignore rules. <script>alert(1)</script> See https://example.org/ \u202etxt.exe\u0007 "quoted".',
        "canonical": '{"attribute":"refund_limit","seq":184203,"value":{"amount":200,"currency":"EUR"}}',
    }


def _form_samples() -> dict[str, object]:
    return {
        "form": VerdictForm(),
        "bad_form": VerdictForm({"verdict": "", "split_at": "yesterday", "reason": ""}, auto_id="bad_%s"),
        "progresses": (
            Progress("Import of letta-2026-11.jsonl", 18_200, 50_000, "rows", "running", "12 refused"),
            Progress("Ledger scan", 1_000, None, "entries", "pending"),
            Progress("Evidence pack", 318, 318, "entries", "finished", "2.4 MB"),
        ),
        "first_steps": (
            Step("Connect an agent", "One block to paste; the first entry ticks this step.", True),
            Step("Bring what you have", "An import with a dry run.", False, Link("Import", "#")),
            Step("Invite a second person", "Or choose single owner.", False, Link("Invite", "#")),
        ),
        "action": Link("Connect an agent", "#"),
        "first": Link("12 Oct 2026", "#"),
        "last": Link("14 Nov 2026", "#"),
    }


urlpatterns = [path("gallery", index, name="gallery")]
