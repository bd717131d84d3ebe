"""What people type about facts. The domain validates again; here each field has its words."""

from __future__ import annotations

import math
import re
from datetime import datetime
from typing import Any
from uuid import UUID

from django import forms

from memory.base import instants
from memory.base.canonical import INTEGER_LIMIT
from memory.base.schemas import is_id
from memory.base.text import NAME_CHARS, NOTE_CHARS, TYPE_PATTERN
from memory.facts.content import VALUE_CHARS
from memory.facts.kernel.values import Value
from memory.facts.schemas import REFERENCES

EITHER = "a day such as 2026-11-01, or an instant such as 2026-11-01 10:00"
PLAIN: dict[str, Any] = {"autocomplete": "off", "spellcheck": "false"}
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_WALL_CLOCK = re.compile(r"(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(:\d{2}(?:\.\d{1,6})?)?(?:Z| UTC)?")
_INTEGER = re.compile(r"-?\d{1,15}")


class InstantField(forms.CharField):
    """A day or an instant; what has no offset is UTC."""

    def __init__(self, **given: Any) -> None:
        attrs = {**PLAIN, "class": "mono", "placeholder": "2026-11-01"}
        super().__init__(max_length=60, widget=forms.TextInput(attrs=attrs), **given)

    def clean(self, value: Any) -> datetime | None:
        """The instant, None where nothing was typed. Raises ValidationError."""
        text = super().clean(value)
        if not text:
            return None
        if _DAY.fullmatch(text):
            text = f"{text}T00:00:00Z"
        elif match := _WALL_CLOCK.fullmatch(text):
            text = f"{match[1]}T{match[2]}{match[3] or ':00'}Z"
        try:
            return instants.read(text)
        except ValueError:
            raise forms.ValidationError(f"Expected {EITHER}.") from None


class ActForm(forms.Form):
    """What every form of an act carries: its key, hidden."""

    key = forms.CharField(widget=forms.HiddenInput, max_length=64, required=False)


class SupersedeForm(ActForm):
    at = InstantField(label="It holds no more from", help_text=f"{EITHER[0].upper()}{EITHER[1:]}, in UTC.")
    by = forms.CharField(
        label="The fact that takes its place", max_length=64, required=False,
        help_text="Its whole id. Empty where nothing does.",
        widget=forms.TextInput(attrs={**PLAIN, "class": "mono"}),
    )  # fmt: skip
    reason = forms.CharField(label="Reason", max_length=NOTE_CHARS, widget=forms.Textarea(attrs={"rows": 3}))

    def clean_by(self) -> UUID | None:
        return _id(self.cleaned_data["by"])


class RetractForm(ActForm):
    retracted_as = forms.ChoiceField(
        label="It was", widget=forms.RadioSelect,
        choices=(
            ("wrong", "wrong: it never held"), ("outdated", "outdated: it held once, and nobody knows until when"),
            ("duplicate", "a duplicate: another fact says the same"),
        ),
    )  # fmt: skip
    reason = forms.CharField(label="Reason", max_length=NOTE_CHARS, widget=forms.Textarea(attrs={"rows": 3}))


class AssertForm(ActForm):
    subject = forms.CharField(label="Subject", max_length=NAME_CHARS, widget=forms.TextInput(attrs=PLAIN),
                              help_text="What it is about, under one name always.")  # fmt: skip
    attribute = forms.RegexField(
        re.compile(rf"\A{TYPE_PATTERN.pattern}\Z"), label="Attribute", max_length=64,
        widget=forms.TextInput(attrs={**PLAIN, "class": "mono"}),
        help_text="A small word such as refund_limit: letters, digits, dot, dash, underscore.",
        error_messages={"invalid": "Expected small letters, digits, dot, dash and underscore, a letter first."},
    )  # fmt: skip
    value = forms.CharField(label="Value", max_length=VALUE_CHARS, strip=False, widget=forms.TextInput(attrs=PLAIN))
    read_as = forms.ChoiceField(
        label="Read it as", choices=(("text", "text"), ("number", "a number"), ("truth", "true or false"))
    )
    stance = forms.ChoiceField(
        label="It", choices=(("asserts", "asserts the value"), ("denies", "denies the value")), initial="asserts"
    )
    valid_from = InstantField(label="Holds from", required=False, help_text="Empty: from the instant of recording on.")
    valid_to = InstantField(
        label="Holds until", required=False, help_text="The first instant at which it holds no more."
    )
    source_class = forms.ChoiceField(
        label="How you know", initial="first_hand",
        choices=(("first_hand", "first-hand: you saw it"), ("relayed", "relayed: somebody told it"),
                 ("derived", "derived: it follows from something")),
    )  # fmt: skip
    origin = forms.CharField(label="Origin", max_length=400, required=False, widget=forms.TextInput(attrs=PLAIN),
                             help_text="Where it first comes from. Messages of one origin count once.")  # fmt: skip
    references = forms.CharField(
        label="What it rests on", required=False, max_length=40 * REFERENCES,
        widget=forms.Textarea(attrs={"rows": 2, "class": "mono", "spellcheck": "false"}),
        help_text="Ids of records or facts, with spaces between.",
    )  # fmt: skip
    note = forms.CharField(label="Note", max_length=NOTE_CHARS, required=False,
                           widget=forms.Textarea(attrs={"rows": 2}))  # fmt: skip

    def clean_references(self) -> tuple[UUID, ...]:
        found = [_id(word) for word in self.cleaned_data["references"].split()]
        return tuple(dict.fromkeys(one for one in found if one is not None))

    def clean(self) -> dict[str, Any]:
        given = super().clean() or self.cleaned_data
        if "value" in given and "read_as" in given:
            try:
                given["value"] = _read(given["value"], given["read_as"])
            except forms.ValidationError as error:
                self.add_error("value", error)
        return given


class VerdictForm(ActForm):
    """A verdict on a case. `version`, `a` and `b` are what was shown."""

    version = forms.CharField(widget=forms.HiddenInput, max_length=64)
    a = forms.UUIDField(widget=forms.HiddenInput)
    b = forms.UUIDField(widget=forms.HiddenInput)
    verdict = forms.ChoiceField(
        label="Verdict", error_messages={"required": "Choose one of the six."},
        choices=(
            ("keep_a", "keep A"), ("keep_b", "keep B"), ("split_at", "split at a date"), ("both_hold", "both hold"),
            ("retract_both", "retract both"), ("needs_more", "needs more"),
        ),
    )  # fmt: skip
    split_at = InstantField(label="The date of the split", required=False)
    reason = forms.CharField(label="Reason", max_length=NOTE_CHARS, widget=forms.Textarea(attrs={"rows": 2}))

    def clean(self) -> dict[str, Any]:
        given = super().clean() or self.cleaned_data
        if given.get("verdict") == "split_at" and not given.get("split_at") and "split_at" not in self.errors:
            self.add_error("split_at", f"A split needs its date: {EITHER}.")
        if given.get("verdict") != "split_at":
            given["split_at"] = None
        return given


class PreviewForm(VerdictForm):
    """The same before a reason is given."""

    reason = forms.CharField(required=False, max_length=NOTE_CHARS)


def _id(text: str) -> UUID | None:
    text = text.strip()
    if not text:
        return None
    if not is_id(text):
        raise forms.ValidationError(f"Expected a whole id, got “{text[:60]}”.")
    return UUID(text)


def _read(text: str, kind: str) -> Value:
    """The typed value. Raises ValidationError."""
    if kind == "truth":
        if text.strip().lower() not in ("true", "false"):
            raise forms.ValidationError("Expected true or false.")
        return text.strip().lower() == "true"
    if kind == "number":
        if _INTEGER.fullmatch(text.strip()) and abs(int(text)) <= INTEGER_LIMIT:
            return int(text)
        try:
            number = float(text)
        except ValueError:
            raise forms.ValidationError("Expected a number such as 250 or 0.5.") from None
        if not math.isfinite(number):
            raise forms.ValidationError("Expected a finite number.")
        return number
    return text
