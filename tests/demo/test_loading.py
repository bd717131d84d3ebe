"""The story as it is played: through the API, once, with one root; and what the folder of the demo holds then."""

import json
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.contrib.auth.models import User

from audit.demo import digits, loading, seeding
from audit.demo.cast import AGENTS, PEOPLE
from audit.demo.door import Unexpected
from audit.demo.steps import Step
from audit.demo.story import story
from memory.agents.accounts import person_of_link
from memory.agents.queries import role_of
from memory.agents.setup import FIRST_NAMESPACE, ensure_namespace, first_run
from memory.checks.models import CheckRun
from memory.ledger.models import Entry, Namespace
from tests.demo.test_loaded import ROOT

pytestmark = pytest.mark.django_db


def test_a_loading_that_was_cut_short_goes_on_to_the_same_root() -> None:
    steps = story()
    loading.load(steps[:7])
    cut = loading.load(steps[:40])
    assert cut.n_replayed == 7 + len(PEOPLE) + len(AGENTS)
    assert loading.load().root.hex() == ROOT


def test_an_answer_that_the_story_does_not_expect_ends_the_loading() -> None:
    first = next(step for step in story() if step.key == "L01")
    wrong = replace(first, body={**first.body, "type": "Not A Type"})
    with pytest.raises(Unexpected, match="Step L01 was answered 422"):
        loading.load([wrong])


def seeded(home: Path) -> tuple[seeding.Seeded, list[str]]:
    told: list[str] = []
    return seeding.seed(home, say=told.append), told


@pytest.mark.slow
@pytest.mark.sqlite_only
def test_the_folder_is_filled_once_tells_of_what_and_goes_on_where_it_was_cut_short(tmp_path: Path) -> None:
    seeding.make_people()
    first_run(owner_email=PEOPLE[0].email)
    done, told = seeded(tmp_path)
    assert (done.is_first, done.is_current) == (True, True)
    names = sorted(Namespace.objects.values_list("name", flat=True))
    assert {loading.NAMESPACE, digits.NAMESPACE, FIRST_NAMESPACE} <= set(names)
    foreign = [name for name in names if name.startswith("demo.")]
    assert len(foreign) == 6
    for name in names:
        assert any(name in line for line in told) or name == FIRST_NAMESPACE
        for person in PEOPLE:
            assert role_of(ensure_namespace(name), person.id, datetime.now(UTC)) == person.role
    _require_every_check_has_run_and_holds()
    size = Entry.objects.count()
    again, silent = seeded(tmp_path)
    assert (again.is_first, again.is_current, silent) == (False, True, [])
    assert Entry.objects.count() == size
    # Checks look again at whatever they find; what was filled in stands once.
    filled = Entry.objects.exclude(verb="record_check")
    size = filled.count()
    (tmp_path / seeding.MARK).unlink()
    done, _ = seeded(tmp_path)
    assert done.is_first
    assert filled.count() == size


def _require_every_check_has_run_and_holds() -> None:
    runs = Counter(CheckRun.objects.values_list("namespace__name", "verdict"))
    names = {namespace for namespace, _ in runs}
    assert names == set(Namespace.objects.exclude(name=FIRST_NAMESPACE).values_list("name", flat=True))
    for name in names:
        assert runs[name, "ok"] == 2
        assert runs[name, "violated"] == runs[name, "failed"] == 0
        assert (runs[name, "holds"], runs[name, "undecidable"]) == (7, 1)


def test_a_folder_of_other_data_is_used_and_told(tmp_path: Path) -> None:
    (tmp_path / seeding.MARK).write_text(json.dumps({"data": "of another version"}))
    done, told = seeded(tmp_path)
    assert (done.is_first, done.is_current, told) == (False, False, [])


def test_links_are_made_for_all_at_first_and_for_the_owner_later() -> None:
    seeding.make_people()
    assert [person.name for person, _ in seeding.fresh_links(with_owner=False, is_first=True)] == [
        "owner-b", "reviewer-a", "auditor-a",
    ]  # fmt: skip
    ((owner, path),) = seeding.fresh_links(with_owner=True, is_first=False)
    signed_in = person_of_link(*path.split("/")[-2:])
    assert signed_in is not None
    assert (owner.name, signed_in.pk) == ("owner-a", PEOPLE[0].id)


def test_the_cast_has_the_same_ids_whoever_was_there_before() -> None:
    User.objects.create_user("somebody@example.org")
    seeding.make_people()
    seeding.make_people()
    assert {user.pk for user in User.objects.filter(username__endswith="@localhost")} == {p.id for p in PEOPLE}


def test_data_of_another_story_has_another_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    before = seeding.data_digest()
    assert seeding.data_digest() == before
    longer = [*story(), Step("Z", datetime(2024, 6, 1, tzinfo=UTC), "triage-bot", "records", {})]
    monkeypatch.setattr(seeding, "story", lambda: longer)
    assert seeding.data_digest() != before
