"""What a settled case still tells: what was decided of which values, what ended it else, and what an erasure leaves."""

from __future__ import annotations

import re
from html import unescape
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.test import Client

from audit.templatetags.console import day
from memory.facts.kernel.conflict import case_id
from memory.facts.models import Fact, FactState
from memory.facts.operations import ending
from memory.facts.operations.adjudicating import Asked, adjudicate
from memory.facts.queries.queue import queue
from memory.ledger.operations.erasing import erase
from tests.browsers import browser
from tests.contract.callers import caller
from tests.facts.stating import SHOP, SPRING, SUMMER, contradict, declare, state
from tests.world import World

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_only]


@pytest.fixture
def world() -> World:
    return World("shop")


@pytest.fixture
def alice(world: World) -> Client:
    return browser(world.alice)


def words(html: str) -> str:
    return re.sub(r"\s+([,.:])", r"\1", re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", html)))).strip()


def settle(world: World, case: UUID, verdict: str, **given: Any) -> None:
    adjudicate(world.alice, case=case, asked=Asked(verdict, "the register says so", **given))


def only_case(world: World) -> UUID:
    (one,) = queue(world.now())
    return one.id


def erase_value(world: World, fact: UUID) -> None:
    row = Fact.objects.get(namespace=world.namespace, id=fact)
    erase(world.alice, items=[(row.seq, row.item)], reason="request", note="")


def case_of(world: World, case: UUID, **point: Any) -> Any:
    return caller(world, world.alice).get(f"/facts/conflicts/{case}", **point).json()


def test_each_verdict_names_the_values_that_it_was_given_on_whatever_a_and_b_are_now(
    world: World, alice: Client
) -> None:  # fmt: skip
    first, second, third = contradict(world, "extension", 5433, 5434, 5435, valid_from=SPRING)
    case = only_case(world)
    settle(world, case, "needs_more", a=first, b=second)
    settle(world, case, "keep_b", a=first, b=second)
    page = words(alice.get(f"/facts/conflicts/{case}").text)
    assert "Needs more: not yet decided between 5433 (A) and 5434 (B)" in page
    assert "Keep B: kept 5434 (B), took back 5433 (A)" in page
    settle(world, case, "split_at", a=third, b=second, split_at=SUMMER)
    found = case_of(world, case)
    assert [(one["verdict"], one["a_value"], one["b_value"]) for one in found["verdicts"]] == [
        ("needs_more", 5433, 5434), ("keep_b", 5433, 5434), ("split_at", 5435, 5434),
    ]  # fmt: skip
    assert (found["is_open"], found["closed_seq"]) == (False, world.now().seq)
    shown = alice.get(f"/facts/conflicts/{case}").text
    assert f"Split at a date: until {day(SUMMER)}: 5434 (B), from then on: 5435 (A)" in words(shown)
    assert f'href="/facts/{first}"' in shown
    opened, closed = (f'<a href="/ledger/{found[name]}">' for name in ("opened_seq", "closed_seq"))
    assert re.search(rf"The case was open from .*{opened}.* until .*{closed}", shown, re.DOTALL)
    before = case_of(world, case, known_at=f"seq:{world.now().seq - 1}")
    assert (before["is_open"], before["closed_seq"], len(before["verdicts"])) == (True, None, 2)


@pytest.mark.parametrize("verdict", ["keep_a", "keep_b", "retract_both", "both_hold"])
def test_the_banner_of_a_verdict_names_and_links_the_case_that_it_settled(
    world: World, alice: Client, verdict: str
) -> None:  # fmt: skip
    contradict(world, "extension", 5433, 5434, valid_from=SPRING)
    case = only_case(world)
    contradict(world, "tax_rate", 19, 7, valid_from=SPRING)
    page = alice.get(f"/facts/conflicts/{case}").text
    form = page[page.index('id="verdict-form"') :]
    sent = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', form))
    answer = alice.post(f"/facts/conflicts/{case}/verdict", {**sent, "verdict": verdict, "reason": "so"}, follow=True)
    assert str(case) not in answer.redirect_chain[0][0]
    head = world.now().seq
    assert re.search(
        rf'is recorded as <a href="/ledger/{head}">seq {head}</a> for '
        rf'<a href="/facts/conflicts/{case}">{SHOP} · extension</a>',
        answer.text,
    )
    told = {
        "keep_a": "kept 5433 (A), took back 5434 (B)", "keep_b": "kept 5434 (B), took back 5433 (A)",
        "retract_both": "took back 5433 (A), took back 5434 (B)", "both_hold": "both hold: 5433 (A) and 5434 (B)",
    }  # fmt: skip
    assert told[verdict] in words(alice.get(f"/facts/conflicts/{case}").text)


@pytest.mark.parametrize("is_settled", [True, False])
def test_a_case_whose_value_is_erased_stays_readable_without_the_value(
    world: World, alice: Client, is_settled: bool
) -> None:  # fmt: skip
    first, second = contradict(world, "owner", "a name that must go", "Ada", valid_from=SPRING)
    case = only_case(world)
    if is_settled:
        settle(world, case, "keep_b", a=first, b=second)
    erase_value(world, first)
    found = case_of(world, case)
    assert (found["is_open"], found["has_erased"], found["subject"], found["opened_seq"]) == (False, True, SHOP, None)
    assert [(one["a_value"], one["b_value"], one["reason"]) for one in found["verdicts"]] == (
        [(None, "Ada", None)] if is_settled else []
    )
    page = alice.get(f"/facts/conflicts/{case}").text
    assert "The value of one side is erased" in page
    assert "a name that must go" not in page
    assert "data-verdict-form" not in page
    if is_settled:
        assert "Keep B: kept Ada (B), took back erased (A)" in words(page)
        assert re.search(rf'href="/facts/{first}"><span class="absent">erased', page)
    sent = {"verdict": "keep_a", "reason": "so"}
    assert caller(world, world.alice).post(f"/facts/conflicts/{case}/verdict", sent).status_code == 409
    # Before the facts were known, and of an id that belongs to nothing, there is no case.
    assert alice.get(f"/facts/conflicts/{case}?known_at=seq:1", follow=True).status_code == 404
    assert alice.get(f"/facts/conflicts/{uuid4()}").status_code == 404
    quiet = FactState.objects.get(namespace=world.namespace, id=state(world, "city", "Berlin"))
    assert alice.get(f"/facts/conflicts/{case_id(quiet.subject, quiet.attribute)}").status_code == 404


@pytest.mark.parametrize("act", ["retracted", "superseded", "declared"])
def test_a_case_that_no_verdict_ended_says_which_act_did(world: World, alice: Client, act: str) -> None:
    declare(world, "extension")
    first = state(world, "extension", 5433, valid_from=SPRING)
    state(world, "extension", 5434, valid_from=SUMMER)
    case = only_case(world)
    if act == "retracted":
        ending.retract(world.scout, fact=first, retracted_as="wrong", reason="misread the sign")
    elif act == "superseded":
        ending.supersede(world.scout, fact=first, at=SUMMER, new=None, reason="misread the sign")
    else:
        declare(world, "extension", "many")
    head = world.now().seq
    page = alice.get(f"/facts/conflicts/{case}").text
    section = page[page.index('id="ended-title"') : page.index('id="earlier-title"')]
    if act == "declared":
        assert re.search(
            rf"declared the attribute {SHOP} · extension · .* · seq {head}$", words(section[: section.rindex("</p>")])
        )
    else:
        told = rf"agent scout {act} a fact of {SHOP} · extension: 5433 · .* · seq {head} misread the sign"
        assert re.search(told, words(section))
        assert f'href="/facts/{first}"' in section
    assert f'href="/ledger/{head}"' in section
    assert "None." in words(page[page.index('id="earlier-title"') :])
