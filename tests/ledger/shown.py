"""What a test reads on the pages of the ledger, and what it plants behind the ledger's back."""

import re
from html import unescape

from django.db import connection

from memory.ledger.models import Checkpoint
from memory.ledger.operations import checkpoints
from tests.conftest import lifted_triggers
from tests.world import World


def sign(world: World) -> Checkpoint:
    return checkpoints.checkpoint(world.namespace, make_key=True)


def words(text: str) -> str:
    """What a reader sees, without marks."""
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", text)))


def verdicts(text: str) -> list[str]:
    """The verdict of each of the answers of a page."""
    return re.findall(r'<li class="panel" data-verdict="(\w+)">', text)


def strip(text: str) -> list[str]:
    return re.findall(r'<a href="[^"]+" data-verdict="(\w+)" title="seq', text)


def edit(world: World, seq: int) -> None:
    """Another text where one was committed."""
    with lifted_triggers(connection), connection.cursor() as cursor:
        cursor.execute(
            "UPDATE memory_content SET payload = '\"never said\"' WHERE namespace_id = %s AND seq = %s",
            [world.namespace, seq],
        )
