"""What an owner types on the page of agents and people. The domain validates again; here each field has its words."""

from datetime import UTC, date, datetime, time
from typing import Any

from django import forms

from memory.agents.operations import MOST_RETENTION_DAYS, UNLIMITED
from memory.agents.policy import POLICY_CHARS
from memory.base import clock
from memory.base.text import NAME_CHARS, NOTE_CHARS

ROLES = (
    ("reviewer", "reviewer: settles, confirms, withdraws with a reason"),
    ("auditor", "auditor: reads, exports, verifies; ends by itself"),
    ("owner", "owner: also approves, erases, manages people and agents"),
)
FIRST_SCOPES = ("read", "write")
SCOPES = (
    ("read", "read: lists, recall, proofs"),
    ("write", "write: records, derivations, runs"),
    ("control", "control: leases, intents, gate checks"),
)
DEFAULT_DAYS = 90
MOST_DAYS = 366


class TokenForm(forms.Form):
    """What a token may do and how long."""

    scopes = forms.MultipleChoiceField(
        label="It may", choices=SCOPES, initial=FIRST_SCOPES, widget=forms.CheckboxSelectMultiple
    )
    days = forms.IntegerField(
        label="It ends after (days)", min_value=1, max_value=MOST_DAYS, initial=DEFAULT_DAYS,
        help_text=f"1 to {MOST_DAYS}. It can be revoked before.",
    )  # fmt: skip


class ConnectForm(TokenForm):
    """A new agent with its first token; `operator` is the person who answers for it."""

    name = forms.CharField(
        label="Name of the agent", max_length=NAME_CHARS,
        widget=forms.TextInput(attrs={"placeholder": "triage-bot", "autocomplete": "off", "spellcheck": "false"}),
        help_text="What every page calls it. It stays.",
    )  # fmt: skip
    operator = forms.TypedChoiceField(
        label="Who answers for it", coerce=int, empty_value=None, required=False,
        help_text="In two-person mode this person never approves what the agent proposed.",
    )  # fmt: skip
    field_order = ("name", "operator", "scopes", "days")

    def __init__(self, *args: Any, people: tuple[tuple[int, str], ...], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["operator"].choices = [("", "nobody is named"), *people]  # type: ignore[attr-defined]


def _require_to_come(day: date | None) -> date | None:
    if day is not None and midnight(day) <= clock.now():
        raise forms.ValidationError("This must be a day to come.")
    return day


class InviteForm(forms.Form):
    email = forms.EmailField(
        label="Email address", max_length=150, widget=forms.EmailInput(attrs={"autocomplete": "off"})
    )
    role = forms.ChoiceField(label="Role", choices=ROLES)
    ends_on = forms.DateField(
        label="The role ends on", required=False, widget=forms.DateInput(attrs={"type": "date"}),
        help_text="At midnight UTC. Left empty an auditor gets 90 days; the others stay until they are removed.",
    )  # fmt: skip

    def clean_ends_on(self) -> date | None:
        return _require_to_come(self.cleaned_data["ends_on"])

    @property
    def expires_at(self) -> datetime | None:
        return _begin_of(self.cleaned_data["ends_on"])


class HoldForm(forms.Form):
    reason = forms.CharField(
        label="Reason", max_length=NOTE_CHARS, widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Stands on every page while the hold does, and in the ledger for ever.",
    )  # fmt: skip
    until_on = forms.DateField(
        label="Until", required=False, widget=forms.DateInput(attrs={"type": "date"}),
        help_text="Midnight UTC of that day. Left empty it stands until it is lifted.",
    )  # fmt: skip

    def clean_until_on(self) -> date | None:
        return _require_to_come(self.cleaned_data["until_on"])

    @property
    def until_at(self) -> datetime | None:
        return _begin_of(self.cleaned_data["until_on"])


class RetentionForm(forms.Form):
    days = forms.IntegerField(
        label="Keep text for (days)", min_value=1, max_value=MOST_RETENTION_DAYS, required=False,
        help_text="Left empty, until an owner erases it. Nothing goes by itself.",
    )  # fmt: skip

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        # Beside it stands the form of a token, which asks for days too.
        super().__init__(*args, **{"auto_id": "retention_%s", **kwargs})

    @property
    def value(self) -> str:
        """The setting, as the domain takes it."""
        days = self.cleaned_data["days"]
        return UNLIMITED if days is None else str(days)


class PolicyForm(forms.Form):
    value = forms.CharField(
        label="Rows", max_length=POLICY_CHARS, required=False,
        widget=forms.Textarea(attrs={"rows": 6, "class": "mono", "spellcheck": "false"}),
        help_text=(
            "One row a line, the first that matches decides. Conditions: kind, agent, type, attribute, class. "
            "Then: auto, hold 14 d, or auto after 2 independent origins. Left empty, everything counts at once."
        ),
    )  # fmt: skip

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"auto_id": "policy_%s", **kwargs})

    def clean_value(self) -> str:
        """The rows. Raises ValidationError where none were sent: only a field that is sent empty lifts the policy."""
        if self.add_prefix("value") not in self.data:
            raise forms.ValidationError("Expected the rows of the policy; they may be empty, not missing.")
        return str(self.cleaned_data["value"])


def midnight(day: date) -> datetime:
    """The instant at which a day begins, in UTC."""
    return datetime.combine(day, time(), tzinfo=UTC)


def _begin_of(day: date | None) -> datetime | None:
    return midnight(day) if day is not None else None
