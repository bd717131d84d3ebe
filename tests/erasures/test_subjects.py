"""Erasing by subject: whatever names it is found, in every place that holds text, and goes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.agents import operations as agents
from memory.agents import runs
from memory.agents.queries import setting
from memory.base.actor import RunGiven
from memory.base.errors import Conflict, IdempotencyMismatch, Invalid
from memory.interchange.contextfs.operations import Options
from memory.interchange.operations import import_file
from memory.ledger.models import Item, Name
from memory.ledger.operations.erasing import erase, erase_subject
from memory.ledger.queries import subjects
from memory.ledger.queries.subjects import Subject, find_by, naming_items, subject_of
from memory.ledger.queries.verification import scan
from memory.records.queries import detail
from tests.erasures.canary import new_canary, tables_with
from tests.interchange.foreign import ForeignFile
from tests.statements import after_first, in_thread
from tests.world import CORRECTION, World

pytestmark = pytest.mark.django_db

Plant = Callable[[World, str], object]


@pytest.fixture
def canary() -> str:
    return new_canary()


def found(world: World, text: str) -> list[tuple[str, tuple[str, ...], bool]]:
    """(kind, parts, as a word) of whatever names the subject."""
    return [(one.kind, one.parts, one.is_whole) for one in naming_items(world.namespace, subject_of(text))]


def imported_row(world: World, canary: str, **row: object) -> None:
    path = Path(world.folder) / "other.db"
    path.unlink(missing_ok=True)
    ForeignFile(path).memory("only", **{"content": "a note", **row}).done()
    import_file(world.alice, path, format="contextfs", options=Options(world.name, source="another"))


def quarantined(world: World, canary: str) -> None:
    path = Path(world.folder) / "edges.db"
    store = ForeignFile(path).memory("one", content="a note")
    store.edge("one", "references", canary)
    store.done()
    import_file(world.alice, path, format="contextfs", options=Options(world.name, source="another"))


def of_run(**given: object) -> Plant:
    def plant(world: World, canary: str) -> None:
        named = {key: value.format(canary) if isinstance(value, str) else value for key, value in given.items()}
        refs = tuple((key, text.format(canary)) for key, text in named.pop("refs", ()))
        runs.open_run(replace(world.scout, run=RunGiven(refs=refs, **named)))

    return plant


PLACES: dict[str, Plant] = {
    "content": lambda w, c: w.save(f"The key is {c}."),
    "summary": lambda w, c: w.save("a note", summary=f"about {c}"),
    "tag": lambda w, c: w.save("a note", tags=("a", c)),
    "key of the metadata": lambda w, c: w.save("a note", metadata={"k": {c: 1}}),
    "value of the metadata": lambda w, c: w.save("a note", metadata={"k": [c]}),
    "origin": lambda w, c: w.save("a note", origin=c),
    "pointer": lambda w, c: w.save("a note", pointer=f"https://example.org/{c}/"),
    "reason of a withdrawal": lambda w, c: w.withdraw(w.save("a note").id, reason=f"{c} asked"),
    "reason of a restoration": lambda w, c: (w.withdraw(r := w.save("a note").id), w.restore(r, reason=c)),
    "note of a derivation": lambda w, c: w.evolve(w.save("a").id, content="b", cause=replace(CORRECTION, note=c)),
    "conflict of a merge": lambda w, c: w.merge(
        w.save("one", metadata={"who": c}).id, w.save("two", metadata={"who": "another"}).id
    ),
    "title of a run": of_run(title="asked by {}"),
    "reference of a run": of_run(title="asked", refs=[("ticket", "{}")]),
    "runtime of a run": lambda w, c: runs.open_run(replace(w.scout, run=RunGiven(runtime=(("model", c),)))),
    "host": lambda w, c: w.save("a note", by=replace(w.scout, host=f"{c}-laptop")),
    "on behalf of": lambda w, c: w.save("a note", by=replace(w.scout, on_behalf_of=f"Ms {c}")),
    "name of an agent": lambda w, c: agents.create_agent(w.alice, name=f"bot of {c}"),
    "type of a record": lambda w, c: w.save("a note", type=f"file-{c}"),
    "reason of a freeze": lambda w, c: agents.freeze(w.alice, agent=w.scout_id, reason=c),
    "note of an erasure": lambda w, c: w.erase(w.save("a note").id, note=c),
    "raw row of an import": lambda w, c: imported_row(w, c, content=f"the words of {c}"),
    "column of a raw row": lambda w, c: imported_row(w, c, source_file=f"/home/{c}/notes"),
    "source of an import": lambda w, c: imported_row(w, c, project=c),
    "finding of an import": quarantined,
}  # fmt: skip


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World()
    made.folder = str(tmp_path)  # type: ignore[attr-defined]
    return made


@pytest.mark.parametrize("place", PLACES)
def test_a_subject_is_found_wherever_it_stands_and_goes(world: World, canary: str, place: str) -> None:
    PLACES[place](world, canary)
    assert found(world, canary) != []
    assert tables_with(canary) != []
    erase_subject(world.alice, subject=canary, reason="request")
    assert found(world, canary) == []
    assert tables_with(canary) == []
    assert scan(world.namespace).faults == []


def test_the_value_of_a_setting_is_neither_found_nor_erased(world: World) -> None:
    made = agents.change_setting(world.alice, name="approval_mode", value="single_owner")
    assert found(world, "single_owner") == []
    with pytest.raises(Conflict):
        erase(world.alice, items=[(made.seq, 0)], reason="request")
    assert setting(world.namespace, "approval_mode", "two_person") == "single_owner"


def test_what_names_nothing_of_the_subject_stays(world: World, canary: str) -> None:
    kept = world.save("something else").id
    world.save(f"about {canary}")
    erase_subject(world.alice, subject=canary, reason="request")
    assert detail.record(world.now(), id=kept).content == "something else"


def test_a_subject_of_another_namespace_is_left_there(world: World, canary: str) -> None:
    other = World("mill")
    there = other.save(f"about {canary}").id
    world.save(f"about {canary}")
    erase_subject(world.alice, subject=canary, reason="request")
    assert detail.record(other.now(), id=there).content == f"about {canary}"


@pytest.mark.parametrize(
    ("text", "is_whole"),
    [
        ("Anna Berg asked", True),
        ("ask ANNA   BERG", True),
        ("ask anna\nberg, now", True),
        ("<anna berg>", True),
        ("Annas Bergs", None),
        ("Joanna Bergman", False),
        ("anna bergs", False),
        ("anna_berg", None),
        ("Joanna Bergman and Anna Berg", True),
    ],
)
def test_a_phrase_is_told_from_a_part_of_longer_words(world: World, text: str, is_whole: bool | None) -> None:
    world.save(text)
    assert [whole for _, _, whole in found(world, "Anna Berg")] == ([] if is_whole is None else [is_whole])


def test_inside_longer_words_only_nothing_is_erased_by_the_subject_alone(world: World) -> None:
    kept = world.save("an annual report").id
    with pytest.raises(Conflict):
        erase_subject(world.alice, subject="annual rep", reason="request")
    assert detail.record(world.now(), id=kept).content == "an annual report"


@pytest.mark.parametrize(
    ("subject", "text"),
    [
        ("straße", "die STRAßE"),
        ("José", "Jose\u0301 asked"),
        ("Jose\u0301", "JOSÉ asked"),
        ("田中", "昨日田中さんに"),
        ('say "no"', 'they say "no" again'),
        ("a\\b", "path a\\b here"),
        ("50 %", "take 50 % of it"),
        ("Zoë", "ask zoë"),
    ],
)
def test_case_accents_and_signs_do_not_hide_a_subject(world: World, subject: str, text: str) -> None:
    world.save(text)
    assert [whole for _, _, whole in found(world, subject)] == [True]


def test_text_inside_the_json_of_a_raw_row_is_read(world: World, canary: str) -> None:
    imported_row(world, canary, metadata='{"who": "J\\u00f6rg"}')
    assert ("imported_row", ("raw",), True) in found(world, "Jörg")


def test_a_sign_that_is_a_wildcard_elsewhere_stands_for_itself(world: World) -> None:
    world.save("abc")
    assert found(world, "a%c") == []
    assert found(world, "a_c") == []


@pytest.mark.parametrize("text", ["", " ", "a", "%%", "_-", "x" * 401, "a\0b"])
def test_what_is_no_subject_is_refused(world: World, text: str) -> None:
    with pytest.raises(Invalid):
        erase_subject(world.alice, subject=text, reason="request")


texts = st.lists(st.text(st.sampled_from('aAbB äÄßéE\u0301"\\%_\n-1'), min_size=1, max_size=12), min_size=1, max_size=8)


@settings(max_examples=60)
@given(given_texts=texts, subject=st.text(st.sampled_from('abA äßé"\\%1'), min_size=2, max_size=5))
def test_the_database_leaves_out_nothing_that_names_the_subject(given_texts: list[str], subject: str) -> None:
    try:
        wanted = subject_of(subject)
    except Invalid:
        return
    world = World(f"lab{len(World.__dict__)}-{new_canary()}")
    saved = world.save_all(*given_texts)
    expected = {one.id for one, text in zip(saved, given_texts, strict=True) if wanted.named_in(text).is_named}
    assert {one.object for one in naming_items(world.namespace, wanted) if one.kind == "record"} == expected


def test_a_finder_of_a_slice_above_adds_what_names_the_subject_by_its_id(
    world: World, canary: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subjects, "_finders", [])
    saved = world.save("a note of a type", type=f"file-{canary}")

    def typed(namespace: int, subject: Subject) -> list[tuple[int, int]]:
        name = Name.objects.get(namespace=namespace, text__contains=subject.text)
        assert name is not None
        return list(Item.objects.filter(namespace=namespace, object=saved.id).values_list("seq", "item"))

    assert ("record", (), True) not in found(world, canary)
    find_by(typed)
    assert ("record", (), True) in found(world, canary)
    erase_subject(world.alice, subject=canary, reason="request")
    assert detail.record(world.now(), id=saved.id).content is None


@pytest.mark.django_db(transaction=True)
def test_what_names_the_subject_just_before_the_lock_goes_too(world: World, canary: str) -> None:
    world.save(f"about {canary}")
    with after_first("FROM memory_name", lambda: in_thread(lambda: world.save(f"again about {canary}"))):
        erase_subject(world.alice, subject=canary, reason="request")
    assert tables_with(canary) == []


# Under a key.


def test_a_repeated_request_is_answered_once_the_subject_is_gone(world: World, canary: str) -> None:
    world.save(f"about {canary}")
    alice = replace(world.alice, idempotency_key="once")
    first = erase_subject(alice, subject=canary, reason="request")
    again = erase_subject(alice, subject=canary, reason="request")
    assert (again.seq, again.refs, again.replayed) == (first.seq, first.refs, True)


def test_a_key_is_refused_for_a_subject_that_stands(world: World, canary: str) -> None:
    world.save(f"about {canary}")
    alice = replace(world.alice, idempotency_key="once")
    erase_subject(alice, subject=canary, reason="request")
    world.save("about somebody else")
    with pytest.raises(IdempotencyMismatch):
        erase_subject(alice, subject="somebody else", reason="request")
    world.save(f"again about {canary}")
    with pytest.raises(IdempotencyMismatch):
        erase_subject(alice, subject=canary, reason="request")


def test_nothing_that_names_the_subject_is_nothing_to_erase(world: World, canary: str) -> None:
    with pytest.raises(Conflict):
        erase_subject(world.alice, subject=canary, reason="request")
