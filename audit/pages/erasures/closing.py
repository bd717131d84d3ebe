"""The end of a namespace: what closing it takes, the reason and its name typed, and the act.

Invariants
- A GET writes nothing; it counts what goes by what it is, and says what stays and what is out of reach.
- Under a hold, or where nothing can be written, the page says so and holds no form that acts.
- A form carries a key: sent twice, it is answered twice and written once.
"""

from typing import Any
from uuid import uuid4

from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from audit import recorded
from audit.access import Visit, page, problem_of, require
from audit.navigation import Link
from audit.pages.erasures import shown
from audit.pages.erasures.forms import ErasureForm
from memory.base.errors import DomainError
from memory.ledger.operations.closing import close_namespace, closing_preview
from memory.ledger.queries.receipts import OUT_OF_REACH, STAYS


@require_http_methods(["GET", "HEAD", "POST"])
@page("erasures", power="own", applies=False)
def close(request: HttpRequest, visit: Visit) -> HttpResponseBase:
    """See what closing the namespace takes; close it."""
    require(visit, "own")
    if request.method != "POST":
        return _shown(request, visit, form=ErasureForm(initial={"key": uuid4().hex}, phrase=visit.namespace))
    form = ErasureForm(request.POST, phrase=visit.namespace)
    if not form.is_valid():
        return _shown(request, visit, form=form)
    told = form.cleaned_data
    try:
        done = close_namespace(
            visit.once(told["key"]), confirm=told["typed"], reason=told["reason"], note=told["note"].strip()
        )
    except DomainError as refusal:
        return _shown(request, visit, form=form, refused=refusal)
    recorded.tell(request, "The namespace is closed, recorded", seq=done.seq, replayed=done.replayed)
    return HttpResponseRedirect(f"/{'erasures' if done.refs else 'ledger'}/{done.seq}{visit.carry}")


def _shown(
    request: HttpRequest, visit: Visit, *, form: ErasureForm, refused: DomainError | None = None
) -> HttpResponse:
    found = closing_preview(visit.actor)
    kinds = [(shown.kind_words(kind), n) for kind, n in sorted(found.by_kind.items(), key=lambda pair: -pair[1])]
    context: dict[str, Any] = {
        "trail": (Link("Erasures", f"/erasures{visit.carry}"), Link("Close the namespace", "")),
        "action_url": f"/erasures/close{visit.carry}",
        "found": found,
        "kinds": kinds,
        "n_items": sum(n for _, n in kinds),
        "gone_out": shown.gone_out(found.exports),
        "stays": STAYS,
        "out_of_reach": OUT_OF_REACH,
        "hold": found.hold,
        "form": form,
        "problem": problem_of(request, refused) if refused is not None else None,
    }
    status = refused.status if refused is not None else 422 if form.is_bound and form.errors else 200
    return render(request, "erasures/close.html", context, status=status)
