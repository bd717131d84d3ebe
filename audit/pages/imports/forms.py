"""What an owner says about a store to import. The domain validates again; here each field has its words."""

from collections.abc import Mapping
from typing import Any

from django import forms

from memory.base.text import NAME_CHARS, NAMESPACE_PATTERN
from memory.interchange.tasks import MOST_BYTES, Asked

PLAIN = {"autocomplete": "off", "spellcheck": "false"}


class UploadForm(forms.Form):
    """A file and where it goes. It is always looked at first: nothing is written by this form."""

    file = forms.FileField(
        label="The store", help_text=f"The SQLite file of a ContextFS store, at most {MOST_BYTES // 1024**2} MB.",
        max_length=400,
    )  # fmt: skip
    base = forms.RegexField(
        f"^{NAMESPACE_PATTERN.pattern}$", label="Target namespace", widget=forms.TextInput(attrs=PLAIN),
        help_text="Where it goes. Of several source namespaces each gets its own: this name, a dot, its name.",
        error_messages={"invalid": "Small letters, digits, dots, dashes and underscores, at most 100."},
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
    more = ("source", "only", "mapping", "erase_deleted")

    def clean_mapping(self) -> Mapping[str, str]:
        found: dict[str, str] = {}
        for line in filter(str.strip, self.cleaned_data["mapping"].splitlines()):
            source, mark, target = (part.strip() for part in line.partition("="))
            if not (mark and source and target) or source in found:
                raise forms.ValidationError("Each line is SOURCE=TARGET, and each source stands once.")
            found[source] = target
        return found

    def asked(self) -> Asked:
        """What a dry run is asked for."""
        given: dict[str, Any] = self.cleaned_data
        return Asked(
            name=given["file"].name, base=given["base"], mapping=given["mapping"], only=given["only"],
            source=given["source"], erase_deleted=given["erase_deleted"], dry_run=True,
        )  # fmt: skip
