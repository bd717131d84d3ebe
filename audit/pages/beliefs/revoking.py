"""Revoking an observation: a page that says what it will reach, and a POST to the same address.

- A form carries a key: sent twice, it is answered twice and written once.
"""

from __future__ import annotations

from uuid import UUID, uuid4

from django import forms
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from audit import recorded
from audit.access import Visit, page, problem_of, require
from audit.navigation import Link
from audit.pages.beliefs.words import AUTHORITY, between, named
from audit.pages.records.verbs import ActForm
from audit.templatetags.console import count
from memory.base.errors import Conflict, DomainError, Erased
from memory.base.text import NOTE_CHARS
from memory.beliefs.kernel.acts import RevocationDocument
from memory.beliefs.operations.revoking import revoke as revoke_observation
from memory.beliefs.queries.observed import ObservationStory, cascade, observation

CASCADES = (("derived", "with all that is derived from it"), ("record", "this observation alone"))


class RevokeForm(ActForm):
    """Why, how far, and whether an older one of the lineage may speak again."""

    reason = forms.CharField(
        label="Reason",
        max_length=NOTE_CHARS,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Kept with the entry.",
    )
    cascade = forms.ChoiceField(label="Reaches", choices=CASCADES, widget=forms.RadioSelect, initial="derived")
    reexpose = forms.BooleanField(
        label="Let an older observation of the same lineage speak again", required=False,
        help_text="Without it the lineage says nothing more.",
    )  # fmt: skip

    def asked(self) -> RevocationDocument:
        data = self.cleaned_data
        return RevocationDocument(reason=data["reason"], cascade=data["cascade"], reexpose=data["reexpose"])


@require_http_methods(["GET", "HEAD", "POST"])
@page("beliefs", power="review")
def revoke(request: HttpRequest, visit: Visit, observation_id: UUID) -> HttpResponseBase:
    require(visit, "review")
    story = observation(visit.at, id=observation_id)
    if not story.observation_id:
        raise Erased("The id of this observation is erased; it says nothing any more.")
    if request.method != "POST":
        if any(one.observation == observation_id for one in story.reached):
            raise Conflict("This observation is revoked already.")
        return _shown(request, visit, story, RevokeForm(initial={"key": uuid4().hex}))
    form = RevokeForm(request.POST)
    if not form.is_valid():
        return _shown(request, visit, story, form)
    by = visit.once(form.cleaned_data["key"])
    try:
        done = revoke_observation(by, observation_id=story.observation_id, asked=form.asked())
    except DomainError as error:
        return _shown(request, visit, story, form, error=error)
    others = len(done.affected) - 1
    reach = f" with {count(others)} derived from it" if others else ""
    recorded.tell(request, f"Revoked{reach}, recorded", seq=done.seq, replayed=done.replayed)
    return HttpResponseRedirect(f"/beliefs/observations/{observation_id}{visit.carry}")


def _shown(
    request: HttpRequest, visit: Visit, story: ObservationStory, form: RevokeForm, *, error: DomainError | None = None
) -> HttpResponse:  # fmt: skip
    reach = cascade(visit.at, id=story.row.id)
    here = f"/beliefs/observations/{story.row.id}"
    context = {
        "form": form,
        "problem": None if error is None else problem_of(request, error),
        "title": between(story.names["source"], story.names["target"]),
        "name": named(story.observation_id),
        "reach": [
            Link(named(one.observation_id), f"/beliefs/observations/{one.id}{visit.carry}") for one in reach.told
        ],
        "n_reach": reach.n,
        "n_more": count(reach.n - len(reach.told)) if reach.n > len(reach.told) else "",
        "action_url": f"{here}/revoke{visit.carry}",
        "back_url": f"{here}{visit.carry}",
        "authority": AUTHORITY,
        "trail": (Link("Beliefs", f"/beliefs{visit.carry}"), Link(named(story.observation_id), f"{here}{visit.carry}"),
                  Link("Revoke", "")),
    }  # fmt: skip
    status = error.status if error is not None else 422 if form.errors else 200
    return render(request, "beliefs/revoke.html", context, status=status)
