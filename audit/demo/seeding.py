"""The folder of the demo: filled on its first start, found again on the next.

Invariants
- The demo has its own folder, beside that of the real store, and SQLite files in it, whatever DATABASE_URL says.
- A mark in the folder tells that it is full and of which data. It is written last: a start that was cut short goes on.
- A folder filled with other data than this version's is used as it stands, and the start says so.
"""

import hashlib
import json
import lzma
import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.db import transaction

from audit.demo import digits, lines, loading
from audit.demo.cast import PEOPLE, Person
from audit.demo.story import story
from audit.laws import recording
from memory.agents.accounts import create_person, sign_in_path
from memory.agents.setup import FIRST_NAMESPACE, ensure_namespace, ensure_role, system
from memory.base.actor import Actor
from memory.checks.ledger_scan import verify
from memory.checks.rebuilding import rebuild
from memory.interchange import targets
from memory.interchange.contextfs.operations import Options, Report, import_store

Say = Callable[[str], None]
STORE = Path(__file__).with_name("contextfs.db.xz")
BASE = "demo"
SOURCE = "contextfs"
SUFFIX = "-demo"
MARK = "demo.json"


Link = tuple[Person, str]


@dataclass(frozen=True, slots=True)
class Seeded:
    """What a start found: whether it filled the folder, and whether it is filled with this version's data."""

    is_first: bool
    is_current: bool


def enter_home() -> None:
    """Return only in the demo's folder; otherwise start this program over there."""
    home = settings.PALIMPSEST_HOME
    if home.name.endswith(SUFFIX) and settings.DATABASES["default"]["NAME"] == str(home / "palimpsest.sqlite3"):
        return
    variables = {name: value for name, value in os.environ.items() if not name.startswith("DATABASE_URL")}
    variables["PALIMPSEST_HOME"] = str(home if home.name.endswith(SUFFIX) else home.with_name(home.name + SUFFIX))
    sys.stdout.flush()
    sys.stderr.flush()
    os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], variables)  # noqa: S606 - this very program


def data_digest() -> str:
    """What tells one version of the demo's data from another: its files and its steps."""
    digest = hashlib.sha256()
    told = [*story(), *digits.steps(digits.stated())]
    for part in (lines.FILE.read_bytes(), STORE.read_bytes(), digits.FILE.read_bytes(), repr(told).encode()):
        digest.update(hashlib.sha256(part).digest())
    return digest.hexdigest()


def make_people() -> None:
    """The cast's accounts, before any other is made."""
    for person in PEOPLE:
        create_person(person.email, id=person.id)


def seed(home: Path, *, say: Say) -> Seeded:
    """Fill the folder where it is not full.   Raises Unexpected (the story was answered otherwise than it tells)."""
    mark = home / MARK
    if mark.exists():
        return Seeded(False, json.loads(mark.read_text(encoding="utf-8")).get("data") == data_digest())
    _give_roles(FIRST_NAMESPACE)
    say("Replaying the story of the xz backdoor, call by call:")
    say(_words(lines.NAMESPACE, loading.load()))
    say("Replaying what a classifier stated of images, as they are and turned:")
    file = digits.stated()
    say(_words(digits.NAMESPACE, loading.load(digits.steps(file), piece=digits.piece(file))))
    say("Importing a store that ContextFS wrote:")
    applied = _imported().applied
    for each in applied:
        _give_roles(each.namespace)
        say(f"  {each.namespace}: {each.n_records} records, {each.n_edges} edges, {each.n_findings} findings")
    say("Verifying every ledger and checking every law.")
    # No part of a story; there it is written down at the instant of its end.
    for namespace in (lines.NAMESPACE, digits.NAMESPACE, *(each.namespace for each in applied)):
        _check(system(ensure_namespace(namespace)))
    mark.write_text(json.dumps({"data": data_digest()}), encoding="utf-8")
    return Seeded(is_first=True, is_current=True)


def _words(namespace: str, loaded: loading.Loaded) -> str:
    return f"  {namespace}: {loaded.n_steps} calls, {loaded.size} entries, root {loaded.root.hex()[:16]}…"


def _imported() -> Report:
    """One namespace for each of the source's; an import that was cut short goes on."""
    owners = [person.id for person in PEOPLE if person.role == "owner"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "contextfs.db"
        path.write_bytes(lzma.decompress(STORE.read_bytes()))
        options = Options(base=BASE, source=SOURCE)
        return import_store(system(0), path, options=options, ensure=targets.founder(system(0), owners=owners))


def _give_roles(namespace: str) -> None:
    """Everyone of the cast is a member of every namespace of the demo."""
    with transaction.atomic():
        by = system(ensure_namespace(namespace))
        for person in PEOPLE:
            ensure_role(by, person=person.id, role=person.role, expires_at=person.expires_at)


def _check(by: Actor) -> None:
    """Hash the whole log again, derive anew what is derived, check every law: the boards show what was found."""
    verify(by)
    rebuild(by, check=True)
    recording.run(by)


def fresh_links(*, with_owner: bool, is_first: bool) -> list[Link]:
    """One-time links: for the first owner, and on the first start for everyone else too."""
    wanted = [*(PEOPLE[:1] if with_owner else ()), *(PEOPLE[1:] if is_first else ())]
    return [(person, sign_in_path(create_person(person.email))) for person in wanted]
