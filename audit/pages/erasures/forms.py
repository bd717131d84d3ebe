"""What an owner says of an erasure, and the words that its codes have on screen."""

from typing import Any

from django import forms

from memory.base.text import NOTE_CHARS

REASONS = (
    ("request", "asked for by the person it is about"),
    ("policy", "kept longer than the policy allows"),
    ("secret", "a secret that must not be kept"),
    ("mistake", "it was recorded by mistake"),
    ("source", "gone at the source it came from"),
)
REASON_WORDS = dict(REASONS)


class ErasureForm(forms.Form):
    """Why, in which words, and the phrase that confirms it; `key` lets the form be sent twice and written once."""

    key = forms.CharField(widget=forms.HiddenInput, max_length=64, required=False)
    reason = forms.ChoiceField(label="Reason", choices=REASONS)
    note = forms.CharField(
        label="In words", max_length=NOTE_CHARS, required=False, widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Kept with the entry, and a text like any other: do not repeat here what is to go.",
    )  # fmt: skip
    typed = forms.CharField(
        label="Confirm", max_length=100, strip=True,
        widget=forms.TextInput(attrs={"class": "mono", "autocomplete": "off", "spellcheck": "false"}),
    )  # fmt: skip

    def __init__(self, *args: Any, phrase: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.phrase = phrase
        self.fields["typed"].label = f"Type “{phrase}” to confirm"

    def clean_typed(self) -> str:
        typed: str = self.cleaned_data["typed"]
        if typed != self.phrase:
            raise forms.ValidationError(f"Type {self.phrase}, word for word.")
        return typed
