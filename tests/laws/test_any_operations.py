"""Whatever operations are made, in whatever order: every clause that the evidence decides holds, step by step."""

from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from audit.laws import ours
from memory.base.errors import DomainError
from memory.records.models import Record
from tests.laws.test_our_store import SOUND, verdicts
from tests.world import World

pytestmark = pytest.mark.django_db

VERBS = ("save", "evolve", "merge", "compile", "split", "supersede", "link", "withdraw", "restore", "erase")
RELATIONS = ("related_to", "contradicts", "references", "child_of", "depends_on", "evolved_from", "superseded_by")
numbers = count()

steps = some.tuples(some.sampled_from(VERBS), some.integers(0, 30), some.integers(0, 30), some.sampled_from(RELATIONS))


def act(world: World, verb: str, first: int, second: int, relation: str) -> None:
    """One operation on records that stand; whether it is allowed is the store's to say."""
    known = list(Record.objects.filter(namespace=world.namespace).order_by("seq", "item").values_list("id", flat=True))
    if verb == "save" or not known:
        world.save(f"note {first}", type=("note", "fact", "decision")[first % 3], summary=f"{second}")
        return
    one, other = known[first % len(known)], known[second % len(known)]
    acts = {
        "evolve": lambda: world.evolve(one, content=f"better {second}"),
        "merge": lambda: world.merge(*dict.fromkeys([one, other, known[-1]])),
        "compile": lambda: world.compile(*dict.fromkeys([one, other]), covers=relation),
        "split": lambda: world.split(one, f"part {first}", f"part {second}"),
        "supersede": lambda: world.supersede(one, other),
        "link": lambda: world.link(one, relation, other),
        "withdraw": lambda: world.withdraw(one),
        "restore": lambda: world.restore(one),
        "erase": lambda: world.erase(one, other),
    }
    acts[verb]()


@given(some.lists(steps, min_size=1, max_size=14))
@settings(max_examples=25)
def test_every_clause_holds_after_every_step(made: list[tuple[str, int, int, str]]) -> None:
    world, beside = World(f"any-{next(numbers)}"), World(f"beside-{next(numbers)}")
    beside.save("what the neighbours know")
    for step in made:
        try:
            act(world, *step)
        except DomainError:
            continue
        report = ours.check(world.now())
        assert (verdicts(report), report.asides) == (SOUND, ())
    assert verdicts(ours.check(beside.now())) == SOUND
