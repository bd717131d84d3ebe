"""One text in every place that a store has for it, as life would put it there."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from memory.base import jobs
from memory.base.actor import Actor
from memory.interchange import staging
from memory.interchange import tasks as uploads
from memory.interchange.contextfs.operations import Options
from memory.interchange.models import ImportedRow
from memory.interchange.operations import import_file
from memory.records.content import NewRecord
from memory.records.operations import save
from tests.interchange.foreign import ForeignFile
from tests.world import World

KEY = "asked once"


@dataclass(frozen=True, slots=True)
class Planted:
    """Where a canary was put. `merge` quotes `record` word for word; `asked` is the request that saved `record`."""

    canary: str
    record: UUID
    seq: int
    merge: UUID
    imported: UUID
    asked: NewRecord

    def again(self, by: Actor) -> None:
        """Send the first request once more, under its key."""
        save(by, records=[self.asked])


def plant(world: World, canary: str, folder: Path) -> Planted:
    """A record with its summary, index, notes and an idempotent retry; a merge; an import, staged and previewed."""
    text = f"The key is {canary}, and that is all.\n" + "filler of many words " * 400
    asked = NewRecord(
        "note", text, summary=f"about {canary}", tags=(canary,), metadata={"k": {canary: [canary]}}, origin=canary
    )
    by = world.keyed(KEY)
    (saved,) = save(by, records=[asked])
    save(by, records=[asked])
    world.withdraw(saved.id, reason=f"{canary} leaked")
    world.restore(saved.id, reason=f"{canary} was old")
    other = world.save("something else", metadata={"k": "another"}).id
    merge = world.merge(saved.id, other)
    path = folder / "other.db"
    ForeignFile(path).memory("only", content=f"imported words of {canary}", source_file=f"/home/{canary}").done()
    options = Options(world.name, source="another")
    import_file(world.alice, path, format="contextfs", options=options)
    preview = uploads.ask_import(
        world.alice, pieces=[path.read_bytes()], asked=uploads.Asked(name=f"{canary}.db", base=world.name, source="x")
    ).job
    waiting = jobs.ask(world.alice, kind=uploads.KIND, given=preview.given)
    (waiting.folder / uploads.FILE).write_bytes(path.read_bytes())
    staging.stage(world.namespace, bytes(32), [("memories", {"key": ["memories", canary], "row": {"content": canary}})])
    path.unlink()
    imported = ImportedRow.objects.get(namespace=world.namespace, became="record").object
    return Planted(canary, saved.id, saved.seq, merge, imported, asked)
