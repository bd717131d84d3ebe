"""One dead end with its whole life, and the forms of what may be done with it by whom."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

from django.forms import Form
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from audit import recorded
from audit.access import Visit, page, problem_of
from audit.navigation import Link
from audit.pages.tombstones.forms import EvidenceForm, FalseBlockForm, KeepForm, RetestForm, RetireForm, ReviveForm
from audit.pages.tombstones.words import REASONS, Card, Rests, card, in_line, names_of, plain, rests, who
from memory.base.errors import DomainError
from memory.tombstones.saying import Said
from memory.tombstones.story import Block, Evidence, Step, Story, story

STEPS = {
    "buried": ("active", "buried"), "evidence": ("met", "evidence filed"), "revive": ("retest_only", "revived"),
    "retest_passed": ("retired", "re-test passed: retired"),
    "retest_failed": ("blocked", "re-test failed: active again"),
    "retire": ("retired", "retired"), "keep": ("active", "kept after its review"),
    "false_block": ("failed", "a block was said to be false"), "right_block": ("ok", "a block was said to be right"),
}  # fmt: skip
VERDICTS = {"right": ("ok", "right"), "false": ("failed", "false"), "": ("not_checked", "no verdict yet")}


@dataclass(frozen=True, slots=True)
class ShownStep:
    """One thing that happened: its mark and words, by whom, and where it is recorded. `note` is None once erased."""

    mark: str
    words: str
    note: str | None
    about: str
    rests: tuple[Rests, ...]
    said: Said
    who: str
    url: str


@dataclass(frozen=True, slots=True)
class ShownBlock:
    """A check that met it: the act that was asked for, what it was told, and what was said of it later."""

    block: Block
    mark: str
    words: str
    scope: str
    verdict: tuple[str, str]
    who: str
    url: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What an act on the page answered: its status, the form as it was filled in, and why it was refused."""

    status: int = 200
    forms: Mapping[str, Form] = field(default_factory=dict)
    error: DomainError | None = None


@require_safe
@page("tombstones")
def detail(request: HttpRequest, visit: Visit, tombstone: UUID) -> HttpResponse:
    return shown(request, visit, tombstone)


def shown(request: HttpRequest, visit: Visit, tombstone: UUID, *, answer: Answer | None = None) -> HttpResponse:
    """The page; `answer` where an act on it was refused."""
    given = answer or Answer()
    told = story(visit.at, id=tombstone)
    row = told.row
    parts: tuple[Block | Evidence | Step, ...] = (*told.blocks, *told.evidence, *told.steps)
    names = names_of([row.said, *(part.said for part in parts)])
    one = card(row, names, carry=visit.carry)
    may_write = visit.actor.may("write") and visit.frame.can_write
    context = {
        "told": recorded.told(request, carry=visit.carry),
        "card": one,
        "row": row,
        "sign": row.sign,
        "evidence_of": _by_condition(told, names, carry=visit.carry),
        "blocks": [_block(each, names, carry=visit.carry) for each in told.blocks],
        "n_checks": row.n_checks,
        "steps": _steps(one, told, names, carry=visit.carry),
        "may_write": may_write,
        "may_own": visit.actor.may("own") and visit.frame.can_write,
        "forms": _forms(one, given.forms) if may_write else {},
        "problem": None if given.error is None else problem_of(request, given.error),
        "base_url": f"/tombstones/{tombstone}",
        "trail": (Link("Dead ends", f"/tombstones{visit.carry}"), Link(one.title, "")),
    }
    return render(request, "tombstones/detail.html", context, status=given.status)


def conditions_of(one: Card) -> tuple[tuple[str, str], ...]:
    """The conditions to choose from."""
    return tuple(
        (f"#{at}", plain(text) or f"condition {at}, its text is erased") for at, _, text, _, _ in one.conditions
    )


def _forms(one: Card, given: Mapping[str, Form]) -> dict[str, Form]:
    """A fresh form for each act, but for the one that was refused."""
    initial = {"key": uuid4().hex}
    fresh: dict[str, Form] = {
        "evidence": EvidenceForm(initial=initial, conditions=conditions_of(one)),
        "false_block": FalseBlockForm(initial=initial),
        "revive": ReviveForm(initial=initial),
        "retest": RetestForm(initial=initial),
        "retire": RetireForm(initial=initial),
        "keep": KeepForm(initial=initial),
    }
    return {**fresh, **given}


def _by_condition(
    told: Story, names: Mapping[int, str], *, carry: str
) -> list[tuple[tuple[Evidence, tuple[Rests, ...], str], ...]]:
    """The evidence for each condition, by its number from 1; the first is of none."""
    most = max((one.position for one in told.evidence), default=0)
    return [
        tuple(
            (one, rests(one.mentions, carry=carry), who(one.said, names))
            for one in told.evidence
            if one.position == position
        )
        for position in range(most + 1)
    ]


def _block(one: Block, names: Mapping[int, str], *, carry: str) -> ShownBlock:
    mark, words = REASONS[one.reason]
    scope = in_line(one.scope) if one.scope is not None else ""
    return ShownBlock(
        one, mark, words, scope, VERDICTS[one.verdict], who(one.said, names), f"/ledger/{one.said.seq}{carry}"
    )  # fmt: skip


def _steps(one: Card, told: Story, names: Mapping[int, str], *, carry: str) -> list[ShownStep]:
    """The whole life but for its checks, in the order of the ledger."""

    def step(kind: str, note: str | None, mentions: tuple[Any, ...], said: Said, about: str = "") -> ShownStep:
        mark, words = STEPS[kind]
        return ShownStep(
            mark, words, note, about, rests(mentions, carry=carry), said, who(said, names), f"/ledger/{said.seq}{carry}"
        )  # fmt: skip

    found = [step("buried", None if one.row.is_erased else one.row.sign.evidence, one.row.mentions, one.row.said)]
    found += [
        step("evidence", each.note, each.mentions, each.said, f"for condition {each.position}")
        for each in told.evidence
    ]
    found += [step(each.kind, each.note, each.mentions, each.said) for each in told.steps]
    return sorted(found, key=lambda each: each.said.seq)
