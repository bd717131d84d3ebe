"""What a person says about a store to import, a copy to take out and an archive to bring back.

The domain validates again; here each field has its words.
"""

from collections.abc import Mapping
from typing import Any

from django import forms

from memory.base.schemas import is_id
from memory.base.text import NAME_CHARS, NAMESPACE_PATTERN
from memory.interchange.exporting import agent_called
from memory.interchange.slices import Selection
from memory.interchange.tasks import MOST_BYTES, Asked
from memory.ledger.queries.asof import instant

STORES = (("contextfs", "ContextFS"), ("posterior", "posterior-memory-harness"))
PLAIN = {"autocomplete": "off", "spellcheck": "false"}


class UploadForm(forms.Form):
    """A file and where it goes. It is always looked at first: nothing is written by this form."""

    file = forms.FileField(
        label="The store", help_text=f"The SQLite file of another memory, at most {MOST_BYTES // 1024**2} MB.",
        max_length=400,
    )  # fmt: skip
    base = forms.RegexField(
        f"^{NAMESPACE_PATTERN.pattern}$", label="Target namespace", widget=forms.TextInput(attrs=PLAIN),
        help_text="Where it goes. Of several source namespaces each gets its own: this name, a dot, its name.",
        error_messages={"invalid": "Small letters, digits, dots, dashes and underscores, at most 100."},
    )  # fmt: skip
    format = forms.ChoiceField(label="Written by", choices=STORES, required=False)
    laws = forms.CharField(
        label="Laws", max_length=200_000, required=False,
        widget=forms.Textarea(attrs={"rows": 3, "class": "mono", "placeholder": "phase=cyclic:4", **PLAIN}),
        help_text="For posterior-memory-harness, which keeps of a law only its fingerprint. One on each line, for each"
        " relation type: its name, equals sign, cyclic:N, s3 or a group as JSON. You vouch for them.",
    )  # fmt: skip
    source = forms.CharField(
        label="Name of the source", max_length=NAME_CHARS, required=False, widget=forms.TextInput(attrs=PLAIN),
        help_text="A later snapshot under this name adds what is new. Left empty it goes by its fingerprint.",
    )  # fmt: skip
    only = forms.CharField(
        label="One source namespace alone", max_length=NAME_CHARS, required=False, widget=forms.TextInput(attrs=PLAIN)
    )
    mapping = forms.CharField(
        label="Other targets", max_length=20_000, required=False,
        widget=forms.Textarea(attrs={"rows": 3, "class": "mono", "placeholder": "billing-svc=billing", **PLAIN}),
        help_text="One on each line: source namespace, equals sign, target.",
    )  # fmt: skip
    erase_deleted = forms.BooleanField(
        label="Leave the text of deleted rows out", required=False,
        help_text="Their shape comes over, their text does not. Otherwise they arrive withdrawn and can be read.",
    )  # fmt: skip
    more = ("laws", "source", "only", "mapping", "erase_deleted")

    def clean_format(self) -> str:
        return self.cleaned_data["format"] or STORES[0][0]

    def clean_mapping(self) -> Mapping[str, str]:
        return self._pairs("mapping", "Each line is SOURCE=TARGET, and each source stands once.")

    def clean_laws(self) -> Mapping[str, str]:
        return self._pairs("laws", "Each line is TYPE=LAW, and each relation type stands once.")

    def _pairs(self, name: str, refusal: str) -> Mapping[str, str]:
        found: dict[str, str] = {}
        for line in filter(str.strip, self.cleaned_data[name].splitlines()):
            left, mark, right = (part.strip() for part in line.partition("="))
            if not (mark and left and right) or left in found:
                raise forms.ValidationError(refusal)
            found[left] = right
        return found

    def asked(self) -> Asked:
        """What a dry run is asked for."""
        given: dict[str, Any] = self.cleaned_data
        return Asked(
            name=given["file"].name, base=given["base"], mapping=given["mapping"], only=given["only"],
            source=given["source"], erase_deleted=given["erase_deleted"], format=given["format"], laws=given["laws"],
            dry_run=True,
        )  # fmt: skip


FORMATS = (
    ("jsonl", "Archive: everything, to restore it elsewhere (JSONL)"),
    ("prov", "Provenance for other tools (PROV-JSON)"),
    ("openlineage", "Run events for a lineage server (OpenLineage)"),
    ("public", "What is public: compiled, redacted and current (JSON)"),
)
CODE = {**PLAIN, "class": "mono"}
INSTANT = {**CODE, "placeholder": "2026-11-02T00:00:00Z"}


def _text(label: str, *, attributes: dict[str, str], help_text: str = "", most: int = 40) -> forms.CharField:
    return forms.CharField(
        label=label, required=False, max_length=most, help_text=help_text, widget=forms.TextInput(attrs=attributes)
    )


class ExportForm(forms.Form):
    """What to take out. An archive takes no filter; the domain says so in words."""

    format = forms.ChoiceField(label="Format", choices=FORMATS)
    focus = _text("Around one record", attributes=CODE, help_text="Its id: all it rests on and all that rests on it.")
    agent = _text("By one agent", attributes=CODE, help_text="Its name or id.", most=NAME_CHARS)
    run = _text("Of one run", attributes=CODE, help_text="Its id.")
    since = _text("From", attributes=INSTANT, help_text="Entries from this instant on.")
    until = _text("To", attributes=INSTANT, help_text="Entries before this instant.")
    more = ("focus", "agent", "run", "since", "until")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        # It stands beside the form of an upload, which has a format too.
        super().__init__(*args, **{"auto_id": "export_%s", **kwargs})

    def clean_focus(self) -> str:
        return self._id("focus")

    def clean_run(self) -> str:
        return self._id("run")

    def _id(self, name: str) -> str:
        value = str(self.cleaned_data[name]).strip()
        if value and not is_id(value):
            raise forms.ValidationError("A full-length id is expected.")
        return value

    def selection(self, namespace: int) -> Selection:
        """Raises Invalid (an instant), NotFound (an agent)."""
        given = self.cleaned_data
        since, until = (instant(given[name], loc=name) if given[name] else None for name in ("since", "until"))
        agent = agent_called(namespace, given["agent"]) if given["agent"] else None
        return Selection(since, until, given["run"] or None, agent, given["focus"] or None)


class RestoreForm(forms.Form):
    """An archive, and what must not come back with it."""

    key = forms.CharField(widget=forms.HiddenInput, max_length=64, required=False)
    archive = forms.FileField(
        label="The archive", max_length=400,
        help_text="A file that was exported as an archive. It is restored under its own name, which must be free here.",
    )  # fmt: skip
    erased = forms.FileField(
        label="Erased since", required=False, max_length=400,
        help_text="The receipt of an erasure, or its list of commitments: what they stand for does not come back.",
    )  # fmt: skip
