"""What people type about dead ends. The domain validates again; here each field has its words."""

import re
from datetime import datetime
from typing import Any
from uuid import UUID

from django import forms

from audit.pages.agents.forms import midnight
from audit.pages.records.verbs import ActForm
from audit.pages.tombstones.words import scope_of
from memory.agents.operations import MOST_FALSE_BLOCKS
from memory.base.schemas import is_id
from memory.base.text import NAME_CHARS, NOTE_CHARS
from memory.tombstones.content import MOST_ORIGINS, NewTombstone, Revival

ORIGINS = re.compile(r"(?P<text>.*?)\s*\((?P<n>\d{1,2}) origins?\)")
MISSING = {"required": "Missing: without it this is a ban and no dead end."}
SCOPE_HELP = "One condition a line, as package: xz. A value, a comparison (<5.6, >1GB), or several divided by a bar."


def area(rows: int = 2) -> forms.Textarea:
    return forms.Textarea(attrs={"rows": rows})


def day_input() -> forms.DateInput:
    return forms.DateInput(attrs={"type": "date"})


def references_field() -> forms.CharField:
    return forms.CharField(
        label="It rests on", required=False, max_length=NOTE_CHARS, widget=area(),
        help_text="Ids of records, facts or checks that stand here, one a line.",
    )  # fmt: skip


class Referring(ActForm):
    """A form with ids of what it rests on."""

    references = references_field()

    def clean_references(self) -> tuple[UUID, ...]:
        words = str(self.cleaned_data["references"]).split()
        wrong = next((word for word in words if not is_id(word)), None)
        if wrong is not None:
            raise forms.ValidationError(f"{wrong[:60]} is no full id.")
        return tuple(UUID(word) for word in words)


class BurialForm(Referring):
    """A route to be buried. The browser asks for nothing by itself, so that all that is missing is told at once."""

    use_required_attribute = False

    route = forms.CharField(
        label="What failed", max_length=NAME_CHARS, error_messages=MISSING,
        help_text="The route as one would say it before taking it: deploy xz from the 5.6 series.",
    )  # fmt: skip
    scope = forms.CharField(
        label="Where it failed", max_length=NOTE_CHARS, widget=area(3), error_messages=MISSING,
        help_text=f"{SCOPE_HELP} It blocks only where all of them hold.",
    )  # fmt: skip
    out_of_scope = forms.CharField(
        label="Not where", max_length=NOTE_CHARS, required=False, widget=area(),
        help_text="Conditions that exempt as soon as one of them is stated and holds, as upstream_code: <5.6.",
    )  # fmt: skip
    evidence = forms.CharField(
        label="What shows that it failed", max_length=NOTE_CHARS, required=False, widget=area(3),
        help_text="In words, or by ids below; one of the two is needed.",
    )  # fmt: skip
    revival = forms.CharField(
        label="What would open it again", max_length=NOTE_CHARS, widget=area(3), error_messages=MISSING,
        help_text="One condition a line; all must be met. Add (2 origins) where one source is not enough.",
    )  # fmt: skip
    retest = forms.CharField(
        label="How it is to be tried again", max_length=NOTE_CHARS, widget=area(), error_messages=MISSING
    )
    retest_on = forms.DateField(label="Tried again by", required=False, widget=day_input(), help_text="Midnight UTC.")
    review_on = forms.DateField(
        label="Reviewed by", widget=day_input(), error_messages=MISSING,
        help_text="Midnight UTC. From then on it waits for an owner.",
    )  # fmt: skip
    field_order = (
        "route", "scope", "out_of_scope", "evidence", "references", "revival", "retest", "retest_on", "review_on",
    )  # fmt: skip

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        if not given.get("evidence", "").strip() and not given.get("references") and "references" not in self.errors:
            self.add_error("evidence", MISSING["required"])
        return given

    def given(self) -> NewTombstone:
        data = self.cleaned_data
        exempt = scope_of(data["out_of_scope"])
        if isinstance(exempt, str) and exempt:
            exempt = {"": exempt}
        return NewTombstone(
            route=data["route"], scope=scope_of(data["scope"]), out_of_scope=exempt or {}, evidence=data["evidence"],
            references=data["references"], revival=tuple(_revival(line) for line in data["revival"].splitlines()
                                                         if line.strip()),
            retest=data["retest"], retest_at=_begin(data["retest_on"]), review_at=midnight(data["review_on"]),
        )  # fmt: skip

    def clean_out_of_scope(self) -> str:
        text = str(self.cleaned_data["out_of_scope"])
        if text.strip() and isinstance(scope_of(text), str):
            raise forms.ValidationError("Each line needs a key, as upstream_code: <5.6.")
        return text

    def clean_revival(self) -> str:
        text = str(self.cleaned_data["revival"])
        for line in text.splitlines():
            if not 1 <= _revival(line).n_origins <= MOST_ORIGINS:
                raise forms.ValidationError(f"A condition asks for 1 to {MOST_ORIGINS} origins.")
        return text


def _revival(line: str) -> Revival:
    match = ORIGINS.fullmatch(line.strip())
    return Revival(match["text"], int(match["n"])) if match else Revival(line.strip())


def _begin(day: Any) -> datetime | None:
    return None if day is None else midnight(day)


class CheckForm(forms.Form):
    """A question about a route; it is asked by GET and writes nothing."""

    route = forms.CharField(label="Route", max_length=NAME_CHARS)
    scope = forms.CharField(label="Where", max_length=NOTE_CHARS, widget=area(3), help_text=SCOPE_HELP)


class EvidenceForm(Referring):
    condition = forms.ChoiceField(label="It speaks for")
    until_on = forms.DateField(
        label="It holds until", widget=day_input(), help_text="Midnight UTC. From then on it counts no more."
    )
    origin = forms.CharField(
        label="Origin", max_length=NAME_CHARS, required=False,
        help_text="The root of it: what goes back to one root counts once. Left empty, you are the origin.",
    )  # fmt: skip
    note = forms.CharField(label="What shows it", max_length=NOTE_CHARS, required=False, widget=area())
    field_order = ("condition", "until_on", "origin", "note", "references")

    def __init__(self, *args: Any, conditions: tuple[tuple[str, str], ...], **kwargs: Any) -> None:
        super().__init__(*args, **{"auto_id": "evidence_%s", **kwargs})
        self.fields["condition"].choices = conditions  # type: ignore[attr-defined]


class FalseBlockForm(Referring):
    reason = forms.CharField(label="Why it was false", max_length=NOTE_CHARS, required=False, widget=area())
    check = forms.UUIDField(widget=forms.HiddenInput, required=False)
    field_order = ("reason", "references")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"auto_id": "false_block_%s", **kwargs})


class ReviveForm(ActForm):
    reason = forms.CharField(label="Note", max_length=NOTE_CHARS, required=False, widget=area())

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"auto_id": "revive_%s", **kwargs})


class RetestForm(Referring):
    outcome = forms.ChoiceField(
        label="The re-test", widget=forms.RadioSelect,
        choices=(("passed", "passed: it is retired"), ("failed", "failed: it blocks again, what was filed is cleared")),
    )  # fmt: skip
    reason = forms.CharField(label="What it showed", max_length=NOTE_CHARS, required=False, widget=area())
    next_on = forms.DateField(
        label="Look again by", required=False, widget=day_input(), help_text="After a failure only. Midnight UTC."
    )
    field_order = ("outcome", "reason", "references", "next_on")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"auto_id": "retest_%s", **kwargs})

    @property
    def next_at(self) -> datetime | None:
        return _begin(self.cleaned_data["next_on"])


class KeepForm(ActForm):
    review_on = forms.DateField(label="Reviewed again by", widget=day_input(), help_text="Midnight UTC.")
    reason = forms.CharField(label="Why it stands", max_length=NOTE_CHARS, widget=area())

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"auto_id": "keep_%s", **kwargs})


class RetireForm(ActForm):
    reason = forms.CharField(label="Why it ends", max_length=NOTE_CHARS, widget=area())

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"auto_id": "retire_%s", **kwargs})


class LimitForm(forms.Form):
    limit = forms.IntegerField(
        label="False blocks that demote", min_value=1, max_value=MOST_FALSE_BLOCKS,
        help_text="Counted over all dead ends from the next entry on, one by one.",
    )  # fmt: skip
