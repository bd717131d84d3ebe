"""Make the derived tables anew, or only compare them."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from memory.agents.setup import stores_named, system
from memory.checks.rebuilding import rebuild
from memory.management.refusals import DomainCommand, Found
from memory.management.words import rebuild_words


class Command(DomainCommand):
    help = "Derive every projection anew from evidence and content, and tell what stood in them wrongly."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--check", action="store_true", help="change nothing; exit with 3 where rows differ")
        parser.add_argument("--namespace", default="", help="without it, all of them")

    def handle(self, *, check: bool, namespace: str, **options: Any) -> None:
        done = [rebuild(system(store.pk), check=check) for store in stores_named(namespace)]
        for each in done:
            self.stdout.write(rebuild_words(each))
        if check and any(each.n_differences for each in done):
            raise Found("Projections differ from what they are derived from.")
