"""The pages of the ledger as a browser gets them."""

import json
import re
import subprocess
import sys
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from audit.frame import in_url
from memory.checks import tasks
from memory.ledger import verifier
from memory.ledger.models import Checkpoint, Entry
from memory.ledger.operations import checkpoints
from tests.browsers import browser
from tests.ledger.shown import edit, sign, strip, verdicts, words
from tests.query_counts import assert_baseline, count_queries
from tests.world import World

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_only]


@pytest.fixture(autouse=True)
def home(settings: Any, tmp_path: Path) -> Path:
    settings.PALIMPSEST_HOME = tmp_path
    settings.PALIMPSEST_SIGNING_KEY_FILE = tmp_path / "signing.key"
    settings.PALIMPSEST_CHECKPOINT_TO = ""
    return tmp_path


@pytest.fixture
def world() -> World:
    return World("acme")


@pytest.fixture
def alice(world: World) -> Client:
    return browser(world.alice)


# The list.


def test_the_list_tells_each_entry_in_words_with_its_leaf(world: World, alice: Client) -> None:
    saved = world.save("the first thing worth remembering")
    text = alice.get("/ledger").text
    assert "scout saved the first thing worth remembering" in words(text)
    leaf = bytes(Entry.objects.get(namespace=world.namespace, seq=saved.seq).leaf).hex()
    assert f'data-copy="{leaf}"' in text
    assert f"{saved.seq} entries" in words(text)


def test_nothing_is_green_before_anything_was_checked_or_signed(world: World, alice: Client) -> None:
    world.save("a note")
    text = alice.get("/ledger").text
    shown = words(text)
    assert "nothing was signed yet" in shown
    assert "never scanned" in shown
    assert "it has never left this house" in shown
    assert "whoever owns this server could still rewrite all" in shown
    assert set(strip(text)) == {"not_checked"}


def test_what_no_checkpoint_outside_covers_is_said(world: World, alice: Client, home: Path, settings: Any) -> None:
    settings.PALIMPSEST_CHECKPOINT_TO = str(home / "out")
    sign(world)
    assert "could still rewrite all" in words(alice.get("/ledger").text)
    checkpoints.deliver(world.namespace, home / "out")
    assert "A checkpoint held outside covers every entry" in words(alice.get("/ledger").text)
    seq = world.save("written later").seq
    shown = words(alice.get("/ledger").text)
    assert f"No checkpoint held outside covers entry {seq}:" in shown
    assert f"up to seq {seq - 1}" in shown


def test_the_strip_shows_where_a_scan_found_a_fault_and_where_none_has_been(world: World, alice: Client) -> None:
    saved = [world.save(f"note {n}").seq for n in range(25)]
    edit(world, saved[8])
    tasks.ask_scan(world.alice)
    for n in range(12):
        world.save(f"later {n}")
    text = alice.get("/ledger").text
    found = strip(text)
    assert found[(saved[8] - 1) // 10] == "failed"
    assert found[0] == "verified"
    assert found[-1] == "not_checked"
    assert "1 fault" in words(text)


def test_the_list_is_narrowed_by_links_that_say_what_they_narrow(world: World, alice: Client) -> None:
    for n in range(15):
        world.save(f"note {n}")
    text = alice.get("/ledger?verb=save&from=1&to=10").text
    shown = words(text)
    assert "the act is “saved”" in shown
    assert "seq is 1 to 10" in shown
    n_saved = Entry.objects.filter(namespace=world.namespace, verb="save", seq__lte=10).count()
    assert f"{n_saved} entries" in shown
    assert "Nothing matches" in words(alice.get("/ledger?verb=merge").text)


@pytest.mark.parametrize("query", ["from=x", "to=²", "who=nobody", "run=7", "after=x", "from=" + "9" * 40])
def test_an_address_that_means_nothing_is_refused_by_name(query: str, world: World, alice: Client) -> None:
    answer = alice.get(f"/ledger?{query}")
    assert answer.status_code == 422
    assert query.partition("=")[0] in words(answer.text)


def test_the_part_asked_by_htmx_is_the_list_alone(world: World, alice: Client) -> None:
    part = alice.get("/ledger", headers={"HX-Request": "true"}).text
    assert part.lstrip().startswith('<section id="ledger-entries"')
    assert "<html" not in part


def test_the_list_is_given_as_json_and_csv(world: World, alice: Client) -> None:
    seq = world.save("a note").seq
    told = json.loads(b"".join(alice.get("/ledger.json?verb=save").streaming_content))  # type: ignore[attr-defined]
    assert [item["seq"] for item in told["items"]] == [seq]
    assert told["truncated"] is False
    lines = b"".join(alice.get("/ledger.csv").streaming_content).decode().splitlines()  # type: ignore[attr-defined]
    assert lines[0].startswith("seq,recorded_at,verb")
    assert len(lines) == seq + 1


def test_at_a_past_point_the_log_ends_there(world: World, alice: Client) -> None:
    at = world.now()
    world.save("written later")
    point = f"valid_at={in_url(at.valid_at)}&known_at=seq:{at.seq}"
    text = alice.get(f"/ledger?{point}").text
    assert f"{at.seq} entries" in words(text)
    assert "written later" not in text
    assert alice.get(f"/ledger/{at.seq + 1}?{point}").status_code == 404


# One entry.


def test_an_entry_shows_three_verdicts_that_are_never_one(world: World, alice: Client) -> None:
    seq = world.save("the text that is proven").seq
    assert verdicts(alice.get(f"/ledger/{seq}").text) == ["ok", "not_checked", "not_checked"]
    sign(world)
    text = alice.get(f"/ledger/{seq}").text
    assert verdicts(text) == ["ok", "ok", "not_checked"]
    assert "scout saved the text that is proven" in words(text)
    assert "&quot;verb&quot;:&quot;save&quot;" in text


def test_an_edited_text_is_shown_with_what_was_committed_and_what_stands(world: World, alice: Client) -> None:
    seq = world.save("as it was said").seq
    sign(world)
    edit(world, seq)
    text = alice.get(f"/ledger/{seq}").text
    assert verdicts(text) == ["failed", "ok", "not_checked"]
    assert "expected" in words(text)
    assert text.count("<dt>got</dt>") == 1


def test_items_lead_to_their_pages_and_say_what_was_erased_by_which_entry(world: World, alice: Client) -> None:
    saved = world.save("a private matter")
    by = world.erase(saved.id).seq
    text = alice.get(f"/ledger/{saved.seq}").text
    assert f'href="/records/{saved.id}"' in text
    assert f'href="/ledger/{by}"' in text
    assert verdicts(text)[0] == "erased"
    assert "private matter" not in text


def test_the_checkpoint_that_the_reader_pastes_decides_the_third_verdict(world: World, alice: Client) -> None:
    seq = world.save("a note").seq
    kept = sign(world).note
    world.save("later")
    pasted = kept.replace("\n", "\r\n")
    answer = alice.post(f"/ledger/{seq}/consistency", {"kept": pasted})
    assert verdicts(answer.text) == ["ok", "ok", "ok"]
    wrong = alice.post(f"/ledger/{seq}/consistency", {"kept": "not one"})
    assert wrong.status_code == 422
    assert verdicts(wrong.text)[2] == "not_checked"
    assert "not one" in wrong.text
    other = World("other")
    foreign = checkpoints.checkpoint(other.namespace).note
    # Of two namespaces a form must name the one that it acts in.
    assert alice.post(f"/ledger/{seq}/consistency", {"kept": foreign}).status_code == 422
    answer = alice.post(f"/ledger/{seq}/consistency?ns={world.name}", {"kept": foreign})
    assert verdicts(answer.text)[2] == "failed"


def test_a_proof_taken_with_an_older_checkpoint_leads_from_it_to_the_newest(
    world: World, alice: Client, tmp_path: Path
) -> None:
    seq = world.save("the text that is proven").seq
    kept = sign(world).note
    world.save("later")
    sign(world)
    answer = alice.post(f"/ledger/{seq}/consistency", {"kept": kept})
    (url,) = set(re.findall(r'href="(/ledger/[^"]+proof.json[^"]+kept=[^"]+)"', answer.text))
    (command,) = re.findall(r'data-copy="(python3 verifier.py [^"]+)"', answer.text)
    proof = alice.get(unescape(url))
    (tmp_path / re.findall(r'filename="([^"]+)"', proof.headers["Content-Disposition"])[0]).write_bytes(proof.content)
    (tmp_path / "verifier.py").write_bytes(alice.get("/ledger/verifier.py").content)
    (tmp_path / "kept.txt").write_text(kept)
    line = unescape(command).replace("python3", sys.executable, 1)
    done = subprocess.run(line, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert re.search(r"^ok +consistency", done.stdout, re.MULTILINE), done.stdout
    assert alice.get(f"/ledger/{seq}/proof.json?kept=0").status_code == 422
    assert alice.get(f"/ledger/{seq}/proof.json?kept=99").status_code == 422


def test_the_proof_is_checked_by_the_script_in_an_empty_folder(world: World, alice: Client, tmp_path: Path) -> None:
    seq = world.save("the text that is proven").seq
    sign(world)
    text = alice.get(f"/ledger/{seq}").text
    (command,) = re.findall(r'data-copy="(python3 verifier.py [^"]+)"', text)
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    for url in (f"/ledger/{seq}/proof.json?item=0", "/ledger/verifier.py"):
        answer = alice.get(url)
        name = re.findall(r'filename="([^"]+)"', answer.headers["Content-Disposition"])[0]
        (folder / name).write_bytes(answer.content)
    assert (folder / "verifier.py").read_text() == Path(verifier.__file__).read_text()
    line = unescape(command).replace("python3", sys.executable, 1)
    done = subprocess.run(line, shell=True, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "failed" not in done.stdout
    edit(world, seq)
    (folder / f"proof-acme-{seq}-0.json").write_bytes(alice.get(f"/ledger/{seq}/proof.json?item=0").content)
    again = subprocess.run(line, shell=True, cwd=folder, capture_output=True, text=True, check=False)
    assert again.returncode == 3


@pytest.mark.parametrize("path", ["0", "999999", "9" * 30, "1/proof.json?item=77", "1?item=x", "1/proof.json?item=-1"])
def test_what_is_not_in_the_log_is_not_found(path: str, world: World, alice: Client) -> None:
    assert alice.get(f"/ledger/{path}").status_code == 404


# Checkpoints.


def test_an_owner_signs_the_log_as_it_stands(world: World, alice: Client, home: Path, settings: Any) -> None:
    checkpoints.signing_key(make=True)
    settings.PALIMPSEST_CHECKPOINT_TO = str(home / "out")
    answer = alice.post("/ledger/checkpoint", follow=True)
    (signed,) = Checkpoint.objects.filter(namespace=world.namespace)
    assert f"seq {signed.seq}" in words(answer.text)
    assert "delivered" in words(answer.text)
    assert [path.name for path in (home / "out").iterdir()] == [f"acme-{signed.seq:012d}.txt"]
    again = alice.post("/ledger/checkpoint", follow=True)
    assert "nothing was written twice" in words(again.text)
    assert Checkpoint.objects.count() == 1


@pytest.mark.parametrize(("who", "status"), [("bob", 403), ("charlie", 403)])
def test_only_an_owner_signs(who: str, status: int, world: World) -> None:
    checkpoints.signing_key(make=True)
    client = browser(getattr(world, who))
    assert client.post("/ledger/checkpoint").status_code == status
    assert "Sign a checkpoint now" not in client.get("/ledger").text
    assert not Checkpoint.objects.exists()


def test_a_node_without_a_key_says_why_it_signs_nothing(world: World, alice: Client) -> None:
    answer = alice.post("/ledger/checkpoint")
    assert answer.status_code == 503
    assert "holds no signing key" in words(answer.text)


def test_the_text_of_a_checkpoint_is_given_as_it_was_signed(world: World, alice: Client) -> None:
    signed = sign(world)
    answer = alice.get(f"/ledger/checkpoints/{signed.seq}.txt")
    assert answer.text == signed.note
    assert alice.get(f"/ledger/checkpoints/{signed.seq - 1}.txt").status_code == 404
    assert alice.get(f"/ledger/checkpoints/{'9' * 30}.txt").status_code == 404


def test_two_sizes_and_a_kept_checkpoint_are_compared(world: World, alice: Client) -> None:
    signed = sign(world)
    for n in range(9):
        world.save(f"later {n}")
    newest = sign(world)
    text = alice.get(f"/ledger/checkpoints?first={signed.seq}&second={newest.seq}").text
    assert verdicts(text) == ["ok"]
    assert bytes(signed.root).hex() in text
    assert verdicts(alice.post("/ledger/checkpoints/compare", {"kept": signed.note}).text) == ["ok"]
    wrong = alice.get("/ledger/checkpoints?first=5&second=2")
    assert wrong.status_code == 422
    assert "first" in words(wrong.text)


# What the pages cost.


def test_the_pages_cost_the_same_whatever_the_log_holds(world: World, alice: Client) -> None:
    counts: dict[str, dict[str, int]] = {"ledger:index": {}, "ledger:entry": {}, "ledger:checkpoints": {}}
    seq = world.save_all("one", "two")[0].seq
    world.save("three")
    for state in ("new", "50", "fault"):
        for k in range(50 if state == "50" else 0):
            world.save(f"note {k}")
        if state == "fault":
            edit(world, seq + 1)
        if state != "new":
            sign(world)
            tasks.ask_scan(world.alice)
        at = world.now()
        counts["ledger:index"][f"now {state}"] = count_queries(alice, "/ledger")
        counts["ledger:entry"][f"now {state}"] = count_queries(alice, f"/ledger/{seq}")
        counts["ledger:checkpoints"][f"now {state}"] = count_queries(alice, "/ledger/checkpoints")
        world.save("recorded later")
        point = f"?valid_at={in_url(at.valid_at)}&known_at=seq:{at.seq}"
        counts["ledger:index"][f"past {state}"] = count_queries(alice, f"/ledger{point}")
    for page, found in counts.items():
        assert_baseline(page, found)


def test_a_proof_is_never_of_something_else_than_was_asked(world: World, alice: Client) -> None:
    answer = alice.get("/ledger/1/proof.json?size=zz")
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["loc"] == ["size"]
    assert alice.get("/ledger/1/proof.json?ns=acme&item=0").status_code == 200
