"""The acts of people that join records: a link, a merge, and the settling of what a merge left open.

Invariants
- What is suggested comes here filled in and is done only when somebody sends the form.
- The form of a merge says which law each rule of valid time keeps; a refused one keeps what was typed.
- To settle is to evolve: the version says in its metadata what holds. What is not chosen stays open.
"""

from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from django import forms
from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.views.decorators.http import require_http_methods

from audit import recorded
from audit.access import Visit, page, require
from audit.pages.records.verbs import REASONS, Act, ActForm, act_page
from audit.secrets import covered
from audit.templatetags.console import untrusted
from audit.templatetags.records import spaced
from memory.base.canonical import canonical
from memory.base.errors import DomainError, Invalid
from memory.base.text import CONTENT_CHARS, NOTE_CHARS
from memory.ledger.queries.asof import instant
from memory.lineage.operations import derivations, links, merging
from memory.lineage.operations.deriving import Cause
from memory.lineage.queries.making import LAWS, MergeConflict, making
from memory.records.queries import detail as reads

MOST_VALUE_CHARS = 200
STRATEGIES = (
    ("union", "union: all tags, and each key of metadata on which those that have it agree"),
    ("intersection", "intersection: the tags of all, and the keys on which all agree"),
    ("latest", "latest: tags and metadata of the record whose validity began last; it reads time"),
    ("oldest", "oldest: tags and metadata of the record whose validity began first; it reads time"),
)
VALID_TIMES = tuple((rule, f"{rule}: {LAWS[rule]}") for rule in ("intersection", "hull", "explicit"))
LEAVE_OPEN = "open"

LINK = Act(
    "link", "Link this record",
    "From this entry on the two records stand in a relation. Nothing is copied, neither is changed, and what each came "
    "from stays as it is.",
    "Link", "write",
)  # fmt: skip
MERGE = Act(
    "merge", "Merge this record with others",
    "One new record says what the sources say together; they stay. What they differ in is left out and shown as open.",
    "Merge", "write",
)  # fmt: skip
SETTLE = Act(
    "settle", "Settle what the merge left open",
    "A new version of this record says what holds. The differing values stay with the merge; what you leave open stays "
    "open.",
    "Record what holds", "write",
)  # fmt: skip


class ReasonedForm(ActForm):
    """What a derivation carries: why, and a note."""

    reason = forms.ChoiceField(label="Why", choices=REASONS)
    note = forms.CharField(
        label="Note", max_length=NOTE_CHARS, required=False, widget=forms.Textarea(attrs={"rows": 2})
    )

    field_order: tuple[str, ...] = ()

    @property
    def cause(self) -> Cause:
        return Cause(self.cleaned_data["reason"], self.cleaned_data["note"])


class LinkForm(ActForm):
    relation = forms.ChoiceField(label="This record …", choices=[(name, spaced(name)) for name in links.LABELS])
    target = forms.CharField(
        label="… the record", max_length=64, help_text="Its id, or the beginning of it.",
        widget=forms.TextInput(attrs={"class": "mono", "spellcheck": "false", "autocomplete": "off"}),
    )  # fmt: skip


class MergeForm(ReasonedForm):
    others = forms.CharField(
        label="The other records", max_length=10_000, help_text="Ids, or the beginnings of them, one a line.",
        widget=forms.Textarea(attrs={"rows": 3, "class": "mono", "spellcheck": "false"}),
    )  # fmt: skip
    content = forms.CharField(
        label="Text", max_length=CONTENT_CHARS, required=False, strip=False, widget=forms.Textarea(attrs={"rows": 6}),
        help_text="Without one the distinct texts of the sources are joined, whole.",
    )  # fmt: skip
    strategy = forms.ChoiceField(
        label="Tags and metadata", choices=STRATEGIES, initial="union", widget=forms.RadioSelect
    )
    valid_time = forms.ChoiceField(
        label="True when", choices=VALID_TIMES, initial="intersection", widget=forms.RadioSelect
    )
    valid_from = forms.CharField(
        label="From", required=False, max_length=40, help_text="With explicit alone: RFC 3339, or nothing for open."
    )
    valid_to = forms.CharField(label="Until", required=False, max_length=40)

    field_order = ("others", "content", "strategy", "valid_time", "valid_from", "valid_to", "reason", "note")


class SettleForm(ReasonedForm):
    """One choice for each open conflict; values are named by their place, and read again from the merge."""

    def __init__(self, *args: Any, conflicts: tuple[MergeConflict, ...], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.conflicts = conflicts
        for number, conflict in enumerate(conflicts):
            choices = [(str(index), untrusted(shown_value(said.value))) for index, said in enumerate(conflict.said)]
            self.fields[f"choice_{number}"] = forms.ChoiceField(
                label=untrusted(covered(conflict.key)), choices=[(LEAVE_OPEN, "leave open"), *choices],
                initial=LEAVE_OPEN, widget=forms.RadioSelect,
            )  # fmt: skip
        self.order_fields([*(f"choice_{number}" for number in range(len(conflicts))), "reason", "note"])

    @property
    def chosen(self) -> dict[str, Any]:
        """{key: the value that holds}."""
        picked = [(one, self.cleaned_data[f"choice_{number}"]) for number, one in enumerate(self.conflicts)]
        return {one.key: one.said[int(place)].value for one, place in picked if place != LEAVE_OPEN}


def shown_value(value: Any) -> str:
    """A value of metadata in a line, secrets covered."""
    text = covered(value if isinstance(value, str) else canonical(value).decode())
    return text if len(text) <= MOST_VALUE_CHARS else f"{text[: MOST_VALUE_CHARS - 1]}…"


@require_http_methods(["GET", "HEAD", "POST"])
@page("records", power=LINK.power)
def link(request: HttpRequest, visit: Visit, record: UUID) -> HttpResponseBase:
    """Relate the record to another one."""
    require(visit, LINK.power)
    asked = {name: request.GET.get(name, "") for name in ("relation", "target")}
    form = LinkForm(request.POST or None, initial={"key": uuid4().hex, **asked})
    if request.method != "POST" or not form.is_valid():
        return act_page(request, visit, record, act=LINK, form=form)
    given = form.cleaned_data
    try:
        target = _named(visit, given["target"])
        done = links.link(visit.once(given["key"]), source=record, relation=given["relation"], target=target)
    except DomainError as error:
        return act_page(request, visit, record, act=LINK, form=form, error=error)
    recorded.tell(request, "The link is recorded", seq=done.seq, replayed=done.replayed)
    return HttpResponseRedirect(f"/records/{record}{visit.carry}")


@require_http_methods(["GET", "HEAD", "POST"])
@page("records", power=MERGE.power)
def merge(request: HttpRequest, visit: Visit, record: UUID) -> HttpResponseBase:
    """One record out of this one and others."""
    require(visit, MERGE.power)
    others = "\n".join(request.GET.getlist("with"))
    form = MergeForm(request.POST or None, initial={"key": uuid4().hex, "others": others})
    if request.method != "POST" or not form.is_valid():
        return act_page(request, visit, record, act=MERGE, form=form)
    given = form.cleaned_data
    try:
        done = merging.merge(
            visit.once(given["key"]), cause=form.cause, strategy=given["strategy"],
            records=[record, *(_named(visit, word) for word in given["others"].split())],
            content=given["content"].replace("\r\n", "\n") or None, valid_time=given["valid_time"],
            interval=_interval(given),
        )  # fmt: skip
    except DomainError as error:
        return act_page(request, visit, record, act=MERGE, form=form, error=error)
    recorded.tell(request, "The merged record is recorded", seq=done.seq, replayed=done.replayed)
    return HttpResponseRedirect(f"/records/{done.records[0]}{visit.carry}")


def _interval(given: dict[str, Any]) -> Any:
    ends = {name: _instant(given[name], loc=name) for name in ("valid_from", "valid_to")}
    if given["valid_time"] == "explicit":
        return merging.explicit_interval(ends["valid_from"], ends["valid_to"])
    if unwanted := next((name for name, end in ends.items() if end is not None), None):
        raise Invalid.at(unwanted, expected="nothing, unless the rule is explicit")
    return None


def _instant(text: str, *, loc: str) -> datetime | None:
    return instant(text.strip(), loc=loc) if text.strip() else None


@require_http_methods(["GET", "HEAD", "POST"])
@page("records", power=SETTLE.power)
def settle(request: HttpRequest, visit: Visit, record: UUID) -> HttpResponseBase:
    """A new version that says what holds where the sources of a merge differ."""
    require(visit, SETTLE.power)
    found = reads.record(visit.at, id=record)
    # Open in this version, whatever came of it since: the same form sent twice names the same choices.
    conflicts = tuple(one for one in making(visit.at, record=record).conflicts if one.key not in found.metadata)
    form = SettleForm(request.POST or None, initial={"key": uuid4().hex}, conflicts=conflicts)
    if request.method != "POST" or not form.is_valid():
        return act_page(request, visit, record, act=SETTLE, form=form, found=found)
    try:
        if not form.chosen:
            raise Invalid.at("choice", expected="at least one value that holds")
        done = derivations.evolve(
            visit.once(form.cleaned_data["key"]), record=record, base=found.digest.hex(), cause=form.cause,
            changes={"metadata": {**found.metadata, **form.chosen}},
        )  # fmt: skip
    except DomainError as error:
        return act_page(request, visit, record, act=SETTLE, form=form, error=error, found=found)
    recorded.tell(request, "What holds is recorded", seq=done.seq, replayed=done.replayed)
    return HttpResponseRedirect(f"/records/{done.records[0]}{visit.carry}")


def _named(visit: Visit, text: str) -> UUID:
    """The one record that an id or the beginning of one names. Raises Invalid, NotFound, Ambiguous."""
    return reads.resolved(visit.at, prefix=text.strip().lower())
