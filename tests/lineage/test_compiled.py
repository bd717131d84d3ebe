"""Compiled records: what they rest on, when they fall behind, and that nothing raw gets past them."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext
from hypothesis import given, settings
from hypothesis import strategies as some

from memory.agents.operations import change_setting
from memory.base import ids, projections
from memory.base.errors import Conflict, Erased, Invalid, Withdrawn
from memory.checks.rebuilding import rebuild
from memory.ledger.models import Name
from memory.lineage.models import Compilation, CoveredRecord
from memory.lineage.queries.compiled import compiled, compiled_records, rebuild_of
from memory.lineage.queries.freshness import Newer, freshness_of
from memory.records import reviewing
from memory.records.queries.recall import recall
from memory.records.reviewing import Target
from tests.browsers import browser
from tests.contract.callers import Caller, caller
from tests.lineage.compiling import Known, Model
from tests.world import World

pytestmark = pytest.mark.django_db

CANARY = "canary"


@pytest.fixture
def world() -> World:
    return World()


class Random:
    """Any history of calls, with a model of it beside."""

    def __init__(self, world: World, draw: some.DataObject) -> None:
        self.world, self.draw, self.model = world, draw, Model()
        self.agent, self.owner = caller(world, world.scout), caller(world, world.alice)

    def step(self) -> None:
        acts = ["save", "save", "compile", "compile", "publish", "publish", "evolve", "merge", "withdraw", "restore"]
        act = self.draw.draw(some.sampled_from([*acts, "erase", "supersede"] if self.model else ["save"]))
        getattr(self, f"_{act}")(len(self.model))

    def _any(self) -> UUID:
        return self.draw.draw(some.sampled_from(list(self.model)))

    def _topic(self) -> str:
        return self.draw.draw(some.sampled_from(["", "topic-a", "topic-b"]))

    def _call(self, path: str, body: dict[str, Any], by: Caller | None = None) -> dict[str, Any] | None:
        before = self.world.now().seq
        answer = (by or self.agent).post(path, body)
        if answer.status_code in (200, 201):
            return answer.json()  # type: ignore[no-any-return]
        assert answer.status_code in (409, 410, 412, 422), answer.content
        assert self.world.now().seq == before
        return None

    def _save(self, n: int) -> None:
        topic = self._topic()
        done = self._call("/records", {"type": "note", "content": f"{CANARY} {n}", "tags": [topic] if topic else []})
        assert done is not None
        self.model[UUID(done["id"])] = Known(done["seq"], topics=(topic,))

    def _compile(self, n: int) -> None:
        self._made(n, output="compiled", content=f"of the {CANARY} {n}", redacted=self.draw.draw(some.booleans()))

    def _publish(self, n: int) -> None:
        self._made(n, output="public", content=f"redacted {n}", redacted=self.draw.draw(some.booleans()))

    def _made(self, n: int, **given: Any) -> None:
        sources = list(dict.fromkeys(self._any() for _ in range(self.draw.draw(some.integers(1, 2)))))
        topic, asked = self._topic(), [str(source) for source in sources]
        is_lawful = given["output"] == "compiled" or (
            given["redacted"] and all(self.model[source].output for source in sources)
        )
        function = {"name": "digest", "version": "1"}
        if given["redacted"] and self.draw.draw(some.booleans()):
            # The store's own copying passes nothing on as redacted but what is public already.
            function, given["content"] = {"name": "concatenate", "version": "1"}, None
            is_public = {self.model[source].output for source in sources} == {"public"}
            is_lawful = is_lawful and (given["output"] == "compiled" or is_public)
        body = {"kind": "compile", "sources": asked, "function": function, "covers": topic or None, **given}
        if (done := self._call("/derivations", body)) is not None:
            assert is_lawful
            self.model[UUID(done["records"][0])] = Known(
                done["seq"], tuple(sources), given["output"], covers=topic
            )  # fmt: skip

    def _evolve(self, n: int) -> None:
        old = self._any()
        body = {"kind": "evolve", "record": str(old), "content": f"{CANARY} {n}"}
        answer = self.agent.post("/derivations", body, headers={"If-Match": "*"})
        if answer.status_code == 201:
            (new,), seq = answer.json()["records"], answer.json()["seq"]
            self.model[UUID(new)] = Known(seq, (old,), topics=self.model[old].topics)
            self.model[old].successor = (seq, UUID(new))

    def _merge(self, n: int) -> None:
        sources = (self._any(), self._any())
        body = {"kind": "merge", "records": [str(one) for one in sources], "content": f"{CANARY} {n}"}
        if (done := self._call("/derivations", body)) is not None:
            topics = tuple(topic for one in sources for topic in self.model[one].topics)
            self.model[UUID(done["records"][0])] = Known(done["seq"], sources, topics=topics)

    def _supersede(self, n: int) -> None:
        old, new = self._any(), self._any()
        if (done := self._call("/derivations", {"kind": "supersede", "old": str(old), "new": str(new)})) is not None:
            self.model[old].successor = (done["seq"], new)

    def _withdraw(self, n: int) -> None:
        self._hide(self._any(), hidden=True)

    def _restore(self, n: int) -> None:
        self._hide(self._any(), hidden=False)

    def _hide(self, record: UUID, *, hidden: bool) -> None:
        path = f"/records/{record}/{'withdraw' if hidden else 'restore'}"
        if (done := self._call(path, {"reason": "because"}, self.owner)) is not None:
            self.model[record].hidden.append((done["seq"], hidden))

    def _erase(self, n: int) -> None:
        record = self._any()
        if self._call("/erasures", {"records": [str(record)], "reason": "request"}, self.owner) is not None:
            self.model[record].is_erased = True


@settings(max_examples=20)
@given(draw=some.data())
def test_any_history_tells_states_as_a_naive_model_does_and_lets_nothing_raw_out(draw: some.DataObject) -> None:
    world = World(f"lab-{ids.new_id()}")
    random = Random(world, draw)
    for _ in range(draw.draw(some.integers(4, 16))):
        random.step()
    exported = random.agent.get("/export", format="public")
    assert CANARY.encode() not in exported.content
    head = world.now().seq
    assert {UUID(item["id"]) for item in exported.json()["items"]} == random.model.public(head)
    made = [record for record, known in random.model.items() if known.output]
    for seq in sorted({head, head - 2, head - 5, *(random.model[one].seq for one in made)}):
        standing = [record for record in made if random.model[record].seq <= seq]
        told = {record: one.word for record, one in freshness_of(world.at(seq), standing).items()}
        assert told == {record: random.model.word(record, seq) for record in standing}
    assert rebuild(world.alice, check=True).n_differences == 0


def test_a_topic_counts_from_the_compilation_on_and_a_new_version_of_a_source_once(world: World) -> None:
    before = world.save("seen before", tags=("topic-a",)).id
    made = world.compile(before, covers="topic-a")
    assert freshness_of(world.now(), [made])[made].word == "current"
    world.save("of another topic", tags=("topic-b",))
    later = world.evolve(before, content="seen, corrected")
    public = world.compile(made, content="redacted", is_public=True)
    hidden = world.save("withdrawn again", tags=("topic-a", "topic-a")).id
    world.withdraw(hidden)
    found = freshness_of(world.now(), [made, public])
    assert [found[one].newer for one in (made, public)] == [(Newer(later, "newer"),)] * 2
    past = world.now()
    world.save("a third", tags=("topic-a",))
    now = freshness_of(world.now(), [made])[made]
    assert (now.word, freshness_of(past, [made])[made].word) == ("behind:2", "behind:1")


def test_what_is_erased_of_a_topic_is_forgotten_and_the_projection_is_rebuilt_to_the_same(world: World) -> None:
    made = world.compile(world.save("first").id, covers="topic-a")
    gone, kept = world.save("one", tags=("topic-a",)).id, world.save("two", tags=("topic-a", "x")).id
    compiled_too = world.compile(kept, tags=("topic-a",))
    rows = CoveredRecord.objects.filter(namespace=world.namespace)
    assert set(rows.values_list("record", flat=True)) == {gone, kept}
    world.erase(gone)
    assert set(rows.values_list("record", flat=True)) == {kept}
    assert rebuild(world.alice, check=True).n_differences == 0
    rows.delete()
    (projector,) = [one for one in projections.registered() if one.name == "covered_records"]
    projector.rebuild(world.namespace)
    assert set(rows.values_list("record", flat=True)) == {kept}
    assert freshness_of(world.now(), [made])[made].n_behind == 1
    name = Name.objects.get(namespace=world.namespace, text="topic-a")
    projector.forget(world.namespace, [(name.seq, name.item, "name")], seq=world.now().seq)
    assert not rows.exists()
    assert compiled_too


@pytest.mark.parametrize(
    ("output", "function"), [("compiled", "digest"), ("public", "digest"), ("compiled", "concatenate")]
)
def test_making_a_deleted_one_again_is_compared_by_its_text(world: World, output: str, function: str) -> None:
    one, two = (saved.id for saved in world.save_all("one", "two"))
    sources = [world.compile(one)] if output == "public" else [one, two]
    body: dict[str, Any] = {
        "kind": "compile", "sources": [str(one) for one in sources], "output": output, "redacted": output == "public",
        "function": {"name": function, "version": "1"},
        "content": None if function == "concatenate" else "what was made",
    }  # fmt: skip
    agent = caller(world, world.scout)
    first = agent.post("/derivations", body).json()
    assert first["rebuild"] is None
    agent.post(f"/records/{first['records'][0]}/withdraw", {"reason": "to make it again"})
    second = agent.post("/derivations", body).json()
    rebuild = second["rebuild"]
    assert (rebuild["of"], rebuild["equal"]) == (first["records"][0], True)
    assert rebuild["text_sha256"] == rebuild["earlier_sha256"]
    if function == "concatenate":
        assert agent.get(f"/records/{second['records'][0]}").json()["content"] == "one\n\n---\n\ntwo"
        return
    third = agent.post("/derivations", {**body, "content": "what was made this time"}).json()
    assert (third["rebuild"]["of"], third["rebuild"]["equal"]) == (second["records"][0], False)
    told = agent.get(f"/records/{third['records'][0]}/derivation").json()["compilation"]
    assert told["rebuild"] == third["rebuild"]
    world.erase(UUID(second["records"][0]))
    assert rebuild_of(world.now(), record=UUID(third["records"][0])).told == "unknown"  # type: ignore[union-attr]
    other = agent.post("/derivations", {**body, "function": {"name": function, "version": "2"}}).json()
    assert other["rebuild"] is None


def test_one_id_is_one_compiled_record(world: World) -> None:
    source, id = world.save("one").id, ids.new_id()
    assert world.compile(source, id=id, covers="topic-a") == world.compile(source, id=id, covers="topic-a") == id
    for other in ({"covers": "topic-b"}, {"content": "another text"}, {"version": "v2"}, {"tags": ("a",)}):
        with pytest.raises(Conflict):
            world.compile(source, id=id, **{"covers": "topic-a", **other})  # type: ignore[arg-type]
    saved = world.save("not compiled", id=ids.new_id())
    with pytest.raises(Conflict):
        world.compile(source, id=saved.id)
    world.erase(id)
    with pytest.raises(Erased):
        world.compile(source, id=id, covers="topic-a")


def test_what_cannot_be_compiled(world: World) -> None:
    raw, hidden, gone = (saved.id for saved in world.save_all("one", "two", "three"))
    world.withdraw(hidden)
    world.erase(gone)
    before = world.now().seq
    refused: list[tuple[type[Exception], tuple[UUID, ...], dict[str, Any], str]] = [
        (Withdrawn, (hidden,), {}, "is withdrawn"),
        (Erased, (gone,), {}, "is erased"),
        (Invalid, (raw, raw), {}, "distinct"),
        (Invalid, (raw,), {"content": None}, "what the function made"),
        (Invalid, (raw,), {"function": "concatenate", "version": "1"}, "runs concatenate itself"),
        (Invalid, (raw,), {"function": "concatenate", "version": "2", "content": None}, "expected 1"),
        (Invalid, (raw,), {"function": "merge", "version": "1", "content": None, "is_public": True}, "never rests"),
    ]
    for kind, sources, given_so, words in refused:
        with pytest.raises(kind, match=words):
            world.compile(*sources, **given_so)
    assert world.now().seq == before


def test_the_stores_own_copying_makes_public_only_what_is_public(world: World) -> None:
    made = world.compile(world.save("one").id)
    copying: dict[str, Any] = {"function": "concatenate", "version": "1", "content": None, "is_public": True}
    with pytest.raises(Invalid) as refused:
        world.compile(made, **copying)
    assert [place.code for place in refused.value.errors] == ["not_redacted"]
    assert world.compile(world.compile(made, content="redacted", is_public=True), **copying)


def test_what_waits_for_a_person_is_not_compiled_and_puts_nothing_behind(world: World) -> None:
    made = world.compile(world.save("seen").id, covers="topic-a")
    change_setting(world.alice, name="review_policy", value="type=rumour -> hold 14 d\n-> auto")
    held = world.save("heard", type="rumour", tags=("topic-a",)).id
    assert freshness_of(world.now(), [made])[made].word == "current"
    before = world.now()
    with pytest.raises(Conflict, match="held"):
        world.compile(held)
    reviewing.review(world.bob, confirm=[Target("record", held)], reason="looked at it")
    assert [freshness_of(at, [made])[made].word for at in (before, world.now())] == ["current", "behind:1"]
    assert world.compile(held, covers="topic-a") in {one.row.id for one in compiled_records(world.now()).items}


def test_no_evolve_or_merge_carries_the_name_of_compiled_on(world: World) -> None:
    public = world.compile(world.compile(world.save("one").id), content="redacted", is_public=True)
    for heir in (world.evolve(public, content="with a secret"), world.merge(public, world.save("two").id)):
        assert compiled(world.now(), record=heir) is None
        with pytest.raises(Invalid) as refused:
            world.compile(heir, is_public=True)
        assert [place.code for place in refused.value.errors] == ["public_from_raw"]


def test_the_database_takes_no_public_record_that_is_not_redacted(world: World) -> None:
    made = world.compile(world.save("one").id)
    row = Compilation.objects.filter(namespace=world.namespace, record=made).values().get()
    row |= {"record": world.save("two").id, "item": 900, "output": "public"}
    with pytest.raises(IntegrityError, match="compilation_redacted"), transaction.atomic():
        Compilation.objects.create(**row)


def test_recall_says_what_became_of_the_sources_and_nothing_public_comes_of_erased_ones(world: World) -> None:
    raw = world.save("an unlisted word", tags=("topic-a",)).id
    tainted = world.compile(raw, content="tamarind of one")
    over = world.compile(tainted, content="tamarind of a compiled one")
    behind = world.compile(world.save("another word").id, content="tamarind behind", covers="topic-b")
    world.save("newer", tags=("topic-b",))
    whole = world.compile(world.save("a third").id, content="tamarind whole")
    plain = world.save("tamarind plain").id
    by = caller(world, world.scout)

    def told() -> dict[str, tuple[str, str | None]]:
        items = by.post("/recall", {"query": "tamarind"}).json()["items"]
        return {one["id"]: (one["state"], one["made"]) for one in items}

    assert {made for _, made in told().values()} == {None, "behind:1"}
    world.erase(raw)

    words = {tainted: "stale:source_erased", over: "stale:source_erased", behind: "behind:1", whole: None, plain: None}
    assert told() == {str(id): ("current", word) for id, word in words.items()}
    before = world.now().seq
    for source in (tainted, over):
        body = {"kind": "compile", "sources": [str(source)], "function": {"name": "digest", "version": "1"},
                "output": "public", "redacted": True, "content": "redacted"}  # fmt: skip
        refused = by.post("/derivations", body)
        assert (refused.status_code, refused.json()["code"]) == (409, "conflict")
        assert world.now().seq == before
        assert by.post("/derivations", {**body, "sources": [str(behind)]}).status_code == 201
        before = world.now().seq
    with CaptureQueriesContext(connection) as few:
        recall(world.now(), query="tamarind", limit=2)
    with CaptureQueriesContext(connection) as many:
        recall(world.now(), query="tamarind", limit=5)
    assert len(many) <= len(few) + 2
    page = browser(world.bob).get(f"/records/{over}").text
    assert "stale: source erased" in page[: page.index("<h1>")]


def test_the_list_tells_states_hides_deleted_ones_and_asks_as_often_whatever_it_holds(world: World) -> None:
    counts = []
    for _ in range(2):
        for n in range(4):
            raw = world.save(f"a note {n}", tags=("topic-a",)).id
            made = world.compile(raw, covers="topic-a")
            world.compile(made, content="redacted", is_public=True)
            world.evolve(raw, content=f"a better note {n}")
        with CaptureQueriesContext(connection) as asked:
            found = compiled_records(world.now())
        counts.append(len(asked))
    assert counts[0] == counts[1]
    world.withdraw(made)
    world.erase(raw)
    hidden = compiled_records(world.now())
    assert (hidden.total, dict(hidden.hidden), hidden.n_stale) == (15, {"deleted": 1}, 1)
    assert [one.row.id for one in compiled_records(world.now(), state="deleted").items] == [made]
    (stale,) = compiled_records(world.now(), state="stale").items
    assert (stale.freshness.word, stale.statement.output) == ("stale:source_erased", "public")
    pages, after = [], ""
    while True:
        page = compiled_records(world.now(), output="public", after=after, limit=3)
        pages.append(len(page.items))
        if not (after := page.next):
            break
    assert (pages, found.total) == ([3, 3, 2], 16)
    body = caller(world, world.scout).get("/compilations", state="stale").json()
    assert [item["freshness"]["why"] for item in body["items"]] == ["source_erased"]
    assert json.dumps(body).count("topic-a") == 0
