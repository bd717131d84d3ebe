"""What both comparisons share: the form, the answer in place where it is short, and a task where it is long."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render

from audit.access import Visit, problem_of
from audit.components import Problem
from audit.frame import address, pairs_of
from audit.laws.bisimilarity import tasks
from memory.base.errors import DomainError

Given = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Comparison:
    """One page of comparison: `frame` is shown whatever was asked, `given` reads the address or raises DomainError."""

    template: str
    frame: Callable[[Visit], dict[str, Any]]
    given: Callable[[Visit, dict[str, str]], Given]
    answer: Callable[[Visit, Given, dict[str, Any]], dict[str, Any]]


def shown(
    request: HttpRequest, visit: Visit, comparison: Comparison, *, asked: dict[str, str], is_asked: bool
) -> HttpResponse:
    """The form, and the answer where something is asked; a POST has a large namespace compared by a worker."""
    context: dict[str, Any] = {}
    problem: Problem | None = None
    try:
        if is_asked:
            given = comparison.given(visit, asked)
            if request.method == "POST":
                job = tasks.ask(visit.actor, given=given)
                return HttpResponseRedirect(f"/laws/comparisons/{job.id}{visit.carry}")
            is_long = tasks.is_long(visit.at.namespace)
            context = {"given": given, "is_long": is_long, "post_url": address(request.path, pairs_of(request))}
            if not is_long:
                context |= comparison.answer(visit, given, tasks.outcome(visit.at.namespace, given))
    except DomainError as error:
        problem = problem_of(request, error)
    context |= {**comparison.frame(visit), "asked": asked, "problem": problem}
    return render(request, comparison.template, context, status=problem.status if problem else 200)
