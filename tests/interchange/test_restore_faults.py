"""A changed archive: each edit has its code and its line, and nothing of it gets in."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.apps import apps
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory.base.canonical import canonical
from memory.base.errors import DomainError, Invalid
from memory.interchange.jsonl import lines as archive_lines
from memory.ledger.kernel import commitment, merkle, note, signing
from memory.ledger.models import Namespace
from memory.ledger.operations.checkpoints import checkpoint
from memory.ledger.queries.leaves import SKIPPED
from memory.ledger.queries.proofs import evidence_models
from tests.interchange.archives import Line, archive_of, changed, joined, lines_of, lose, restored
from tests.world import World

pytestmark = pytest.mark.django_db

Change = Callable[[list[Line]], object]


@pytest.fixture
def archive() -> bytes:
    """Of a namespace that is gone from this store."""
    world = World()
    note_of_old = world.save("a note that is erased")
    world.erase(note_of_old.id)
    first, second = world.save_all("the first", "the second")
    world.merge(first.id, second.id)
    world.evolve(second.id, content="the second, reworded")
    checkpoint(world.namespace, make_key=True)
    world.save("after the checkpoint", metadata={"k": 1})
    found = archive_of(world.namespace)
    lose(world)
    return found


def n_rows() -> dict[str, int]:
    return {model.__name__: model._default_manager.count() for model in apps.get_app_config("memory").get_models()}


def refusal(archive: bytes, **told: Any) -> Invalid:
    """How the archive is refused; and nothing of it stands afterwards."""
    before = n_rows()
    with pytest.raises(Invalid) as caught:
        restored(archive, **told)
    assert n_rows() == before
    return caught.value


def fault_of(archive: bytes) -> tuple[str, int]:
    """(code, line) of the one fault."""
    (place,) = refusal(archive).errors
    assert place.loc[0] == "line"
    return place.code, int(place.loc[1])


def entry(lines: list[Line], verb: str) -> Line:
    return next(line for line in lines if line["type"] == "entry" and line["verb"] == verb)


def of_type(lines: list[Line], kind: str) -> Line:
    return next(line for line in lines if line["type"] == kind)


def last(lines: list[Line], kind: str) -> Line:
    return [line for line in lines if line["type"] == kind][-1]


def record_item(lines: list[Line]) -> dict[str, Any]:
    return next(item for item in last(lines, "entry")["items"] if item["kind"] == "record")


def text(lines: list[Line]) -> Line:
    return next(line for line in lines if line["type"] == "content" and line["part"] == "content")


def swap_two_entries(lines: list[Line]) -> None:
    at = [index for index, line in enumerate(lines) if line["type"] == "entry"]
    lines[at[1]], lines[at[2]] = lines[at[2]], lines[at[1]]


def drop_an_entry(lines: list[Line]) -> None:
    at = [index for index, line in enumerate(lines) if line["type"] == "entry"]
    del lines[at[2] : at[3]]


def drop_the_tail(lines: list[Line]) -> None:
    """From the newest entry on, so that it still is covered by no checkpoint; the header does not know."""
    at = [index for index, line in enumerate(lines) if line["type"] == "entry"]
    end = next(index for index, line in enumerate(lines) if line["type"] == "checkpoint")
    del lines[at[-1] : end]


def drop_the_tail_below_the_checkpoint(lines: list[Line]) -> None:
    at = [index for index, line in enumerate(lines) if line["type"] == "entry"]
    end = next(index for index, line in enumerate(lines) if line["type"] == "checkpoint")
    del lines[at[-3] : end]
    lines[0]["size"] = len(at) - 3


def forge_the_checkpoint(lines: list[Line]) -> None:
    point = of_type(lines, "checkpoint")
    signed = note.parse(point["note"])
    line = signed.signatures[0]
    forged = note.Signature(line.name, line.key_id, bytes([line.signature[0] ^ 1]) + line.signature[1:])
    point["note"] = lines[0]["checkpoint"] = note.format_note(note.SignedNote(signed.checkpoint, (forged,)))


def put_a_namespace_row_elsewhere(lines: list[Line]) -> None:
    """An item of a kind that stands once, with everything above it computed again."""
    item = last(lines, "entry")["items"][0]
    item.update(kind="namespace", row=entry(lines, "create_namespace")["items"][0]["row"], parts={})
    rehash(last(lines, "entry"))


def rehash(line: Line) -> None:
    """Make the entry agree with its items, as a forger would who does not hold the key."""
    hashes = []
    for item in line["items"]:
        model = evidence_models().get(item["kind"])
        row = {name: one for name, one in item["row"].items() if model and name not in model.uncommitted}
        parts = {name: bytes.fromhex(digest) for name, digest in item["parts"].items()}
        item["commitment"] = commitment.item_commitment(row, parts).hex()
        digest = commitment.item_hash(item["item"], item["kind"], item["object"], bytes.fromhex(item["commitment"]))
        item["hash"] = digest.hex()
        hashes.append(digest)
    line["items_root"] = merkle.root(hashes).hex()
    own = {name: one for name, one in line.items() if name not in (*SKIPPED, "type", "items")}
    line["leaf"] = commitment.entry_leaf(own).hex()


ATTACKS: dict[str, tuple[Change, str]] = {
    "a payload": (lambda lines: text(lines).update(payload="something else"), "payload_mismatch"),
    "a salt": (lambda lines: text(lines).update(salt="00" * 32), "payload_mismatch"),
    "a short salt": (lambda lines: text(lines).update(salt="00" * 31), "salt_invalid"),
    "a column": (lambda lines: record_item(lines)["row"].update(source_class="first_hand"), "row_mismatch"),
    "a column of no such kind": (lambda lines: record_item(lines)["row"].update(line=7), "row_mismatch"),
    "a column more": (lambda lines: record_item(lines)["row"].update(more=1), "row_mismatch"),
    "a column that no commitment covers": (
        lambda lines: record_item(lines)["row"].update(ancestry_digest="00" * 32), "row_mismatch",
    ),
    "the hash of an item": (lambda lines: record_item(lines).update(hash="00" * 32), "items_mismatch"),
    "the commitment of an item": (lambda lines: record_item(lines).update(commitment="00" * 32), "items_mismatch"),
    "the object of an item": (
        lambda lines: record_item(lines).update(object="00000000-0000-4000-8000-000000000000"), "items_mismatch",
    ),
    "an item less": (lambda lines: last(lines, "entry")["items"].pop(), "items_mismatch"),
    "who acted": (lambda lines: entry(lines, "merge").update(principal="system"), "leaf_mismatch"),
    "when": (lambda lines: entry(lines, "merge").update(recorded_at="2020-01-01T00:00:00.000000Z"), "leaf_mismatch"),
    "the verb": (lambda lines: entry(lines, "merge").update(verb="save"), "leaf_mismatch"),
    "a leaf": (lambda lines: entry(lines, "merge").update(leaf="00" * 32), "leaf_mismatch"),
    "the order of entries": (swap_two_entries, "order_mismatch"),
    "an entry from the middle": (drop_an_entry, "sequence_gap"),
    "the tail": (drop_the_tail, "log_truncated"),
    "the tail below a checkpoint": (drop_the_tail_below_the_checkpoint, "log_truncated"),
    "a signature": (forge_the_checkpoint, "signature_invalid"),
    "the root of a checkpoint": (
        lambda lines: of_type(lines, "checkpoint").update(root="00" * 32), "signature_invalid",
    ),
    "the header's checkpoint": (lambda lines: lines[0].update(checkpoint=""), "checkpoint_inconsistent"),
    "a published key": (lambda lines: last(lines, "public_key").update(key="another"), "key_unknown"),
    "the origin": (lambda lines: lines[0].update(origin="palimpsest/lab/another"), "origin_mismatch"),
    "a content that is gone": (lambda lines: lines.remove(text(lines)), "content_missing"),
    "a name that is gone": (lambda lines: lines.remove(of_type(lines, "name")), "content_missing"),
    "a content twice": (lambda lines: lines.insert(lines.index(text(lines)), dict(text(lines))), "malformed"),
    "the text of a name": (lambda lines: of_type(lines, "name").update(text="another"), "payload_mismatch"),
    "the id of a name": (
        lambda lines: of_type(lines, "name").update(id="00000000-0000-4000-8000-000000000000"), "row_mismatch",
    ),
    "a row of the namespace in another entry": (put_a_namespace_row_elsewhere, "row_mismatch"),
}  # fmt: skip


# A content that is gone is told of by its entry, a tail by the trailer, a header by what it does not agree with.
TOLD_ELSEWHERE = {"content_missing", "log_truncated", "origin_mismatch", "signature_invalid"}


@pytest.mark.parametrize("name", ATTACKS)
def test_an_edit_is_refused_by_its_code_and_its_line(archive: bytes, name: str) -> None:
    change, code = ATTACKS[name]
    edited = changed(archive, change)
    found, number = fault_of(edited)
    assert found == code
    pairs = zip(lines_of(archive), lines_of(edited), strict=False)
    first = 1 + next(index for index, (was, became) in enumerate(pairs) if was != became)
    # A line that is gone is missed where the next one stands, or where its entry told of it; a length at the end.
    assert number == first or code in TOLD_ELSEWHERE


def test_a_forged_entry_does_not_get_past_the_checkpoint(archive: bytes) -> None:
    def forge(lines: list[Line]) -> None:
        line = entry(lines, "merge")
        line["verb"] = "save"
        rehash(line)

    assert fault_of(changed(archive, forge))[0] == "checkpoint_inconsistent"


def test_a_checkpoint_by_a_key_that_no_entry_has_published_is_unknown(archive: bytes) -> None:
    def resign(lines: list[Line]) -> None:
        point = of_type(lines, "checkpoint")
        signed = signing.sign(note.parse(point["note"]).checkpoint, signing.generate())
        point["note"] = lines[0]["checkpoint"] = note.format_note(signed)

    assert fault_of(changed(archive, resign))[0] == "key_unknown"


def test_what_was_erased_cannot_be_put_back(archive: bytes) -> None:
    def put_back(lines: list[Line]) -> None:
        erasing = entry(lines, "erase")
        target = erasing["items"][0]["row"]
        at = next(i for i, line in enumerate(lines) if line["type"] == "entry" and line["seq"] == target["target_seq"])
        content = {**text(lines), "seq": target["target_seq"], "item": target["target_item"], "part": "content"}
        lines.insert(at + 1, content)

    # Its salt is gone, so nobody can make a text that the commitment would take.
    assert fault_of(changed(archive, put_back))[0] == "payload_mismatch"


@pytest.mark.parametrize(
    ("bytes_", "code"),
    [
        (b"", "malformed"),
        (b"\n", "malformed"),
        (b"not an archive\n", "malformed"),
        (b'{"type":"header"}\n', "missing"),
        (b"SQLite format 3\x00" + bytes(100), "malformed"),
        (b'{"type":"trailer","lines":0,"sha256":"' + b"0" * 64 + b'"}\n', "malformed"),
        (b'["header"]\n', "malformed"),
        (b'{"a":' * 200 + b"1" + b"}" * 200 + b"\n", "too_deep"),
        (b'{"type":"header","type":"header"}\n', "duplicate_key"),
        (b'{"type":"header","size":1e999}\n', "out_of_range"),
        (b'{"type":"\\u0000"}\n', "nul"),
        (b"\xff\xfe\n", "malformed"),
    ],
)  # fmt: skip
def test_what_is_no_archive_is_refused_at_its_first_line(bytes_: bytes, code: str) -> None:
    assert fault_of(bytes_) == (code, 1)


def test_a_line_is_bounded_before_it_is_read(archive: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    longest = max(len(line) + 1 for line in archive.splitlines())
    monkeypatch.setattr(archive_lines, "MOST_LINE_BYTES", longest - 1)
    assert fault_of(archive)[0] == "too_large"


def test_another_spelling_of_a_line_is_refused(archive: bytes) -> None:
    lines = archive.splitlines(keepends=True)
    lines[1] = json.dumps(json.loads(lines[1])).encode() + b"\n"
    assert fault_of(b"".join(lines)) == ("malformed", 2)


@pytest.mark.parametrize("cut", [1, 60, 400])
def test_an_archive_that_was_cut_short_is_refused(archive: bytes, cut: int) -> None:
    assert fault_of(archive[:-cut])[0] in ("malformed", "log_truncated")


def test_nothing_may_follow_the_trailer(archive: bytes) -> None:
    assert fault_of(archive + b"{}\n")[0] == "malformed"


def test_a_false_trailer_is_refused(archive: bytes) -> None:
    lines = archive.splitlines(keepends=True)
    trailer = {**json.loads(lines[-1]), "sha256": "00" * 32}
    assert fault_of(b"".join(lines[:-1]) + canonical(trailer) + b"\n") == ("archive_mismatch", len(lines))


def test_an_unknown_kind_version_or_field_is_refused(archive: bytes) -> None:
    for change in (
        lambda lines: lines[0].update(version=2),
        lambda lines: lines[0].update(format="another"),
        lambda lines: lines[0].update(namespace="No Name"),
        lambda lines: lines[2].update(type="another"),
    ):
        assert fault_of(changed(archive, change))[0] == "malformed"
    assert fault_of(changed(archive, lambda lines: lines[0].update(more=1)))[0] == "unknown"
    assert fault_of(changed(archive, lambda lines: text(lines).update(seq="1")))[0] == "wrong_type"


def test_rows_that_contradict_each_other_are_refused_as_a_whole(archive: bytes) -> None:
    """A key that stands twice is no fault of a line: only the tables know it."""

    def twice(lines: list[Line]) -> None:
        saved = last(lines, "entry")
        record_item(lines)["row"]["id"] = next(
            item["row"]["id"] for item in entry(lines, "merge")["items"] if item["kind"] == "record"
        )
        rehash(saved)

    assert "contradict" in refusal(changed(archive, twice)).detail


@pytest.mark.django_db(transaction=True)
def test_an_end_that_is_nowhere_is_found_when_the_transaction_ends() -> None:
    world = World()
    first, second = world.save_all("the first", "the second")
    world.link(first.id, "references", second.id)
    found = archive_of(world.namespace)
    lose(world)

    def nowhere(lines: list[Line]) -> None:
        line = entry(lines, "link")
        line["items"][0]["row"]["target"] = "00000000-0000-4000-8000-000000000000"
        rehash(line)

    assert "contradict" in refusal(changed(found, nowhere)).detail


def test_a_word_that_no_table_takes_is_refused_as_a_whole(archive: bytes) -> None:
    def unknown(lines: list[Line]) -> None:
        record_item(lines)["row"]["source_class"] = "hearsay"
        rehash(last(lines, "entry"))

    assert "Nothing was restored" in refusal(changed(archive, unknown)).detail


def test_a_key_that_is_none_is_refused_at_its_entry(archive: bytes) -> None:
    def shorten(lines: list[Line]) -> None:
        line = entry(lines, "publish_key")
        line["items"][0]["row"]["key"] = "00"
        rehash(line)

    assert fault_of(changed(archive, shorten))[0] == "row_mismatch"


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_changed_byte_gets_in(archive: bytes, data: st.DataObject) -> None:
    """Whatever is changed, the archive is refused in words: never a traceback, never a part of it."""
    at = data.draw(st.integers(0, len(archive) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda value: value != archive[at]))
    with pytest.raises(DomainError):
        restored(archive[:at] + bytes([byte]) + archive[at + 1 :])
    assert not Namespace.objects.exists()


# What canonical JSON can spell; that nothing else is read is tried byte by byte above.
SPELLABLE = st.characters(exclude_categories=("Cs",), exclude_characters="\0")


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_changed_value_gets_in_though_the_trailer_was_made_good(archive: bytes, data: st.DataObject) -> None:
    lines = lines_of(archive)
    line = data.draw(st.sampled_from(lines[:-1]))
    name = data.draw(st.sampled_from(sorted(line)))
    value = data.draw(
        st.one_of(
            st.none(), st.booleans(), st.integers(-5, 2**53), st.text(SPELLABLE, max_size=5), st.just([]), st.just({})
        )
    )
    if value == line[name] and type(value) is type(line[name]):
        return
    # What serves look-ups alone is covered by nothing: whoever restores trusts whom the archive is from.
    if (line["type"], name) == ("entry", "key"):
        return
    line[name] = value
    with pytest.raises(DomainError):
        restored(joined(lines))
    assert not Namespace.objects.exists()
