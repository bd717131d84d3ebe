"""Erase text for good, or say what an erasure would take."""

from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import CommandParser

from memory.agents.setup import system
from memory.checks.scrubbing import scrub_and_record
from memory.ledger.models import REASONS
from memory.ledger.operations.erasing import erase, erase_subject
from memory.ledger.operations.previews import asked, preview
from memory.ledger.queries.asof import namespace_named
from memory.management.erasing import named, preview_words, receipt_words, scrub_words
from memory.management.refusals import DomainCommand


class Command(DomainCommand):
    help = (
        "Erase the text of records, of items, or of everything that names a subject. Digests and proofs stay. "
        "With --scrub the files of the database are written anew, so that no deleted row is left in them."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--namespace", default="")
        what = parser.add_mutually_exclusive_group()
        what.add_argument("--record", nargs="+", default=[], metavar="ID")
        what.add_argument("--item", nargs="+", default=[], metavar="SEQ.ITEM")
        what.add_argument("--subject", default="", metavar="TEXT", help="a word, phrase or name; - reads it from stdin")
        parser.add_argument("--reason", choices=REASONS, default="")
        parser.add_argument("--note", default="", help="the wording of the reason")
        parser.add_argument("--quoting", action="store_true", help="also records that repeat a line word for word")
        parser.add_argument("--dry-run", action="store_true", help="say what would go and write nothing")
        parser.add_argument("--scrub", action="store_true", help="write the files of the database anew afterwards")

    def handle(self, *, namespace: str, dry_run: bool, scrub: bool, **given: Any) -> None:
        what = named(given, scrub=scrub, dry_run=dry_run, namespace=namespace, stdin=sys.stdin)
        if what is not None:
            by = system(namespace_named(namespace).pk)
            if dry_run:
                found = asked(by.namespace, **what)
                n_inside = sum(not naming.is_whole for naming in found.namings)
                told = preview(by, found=found, quoting=given["quoting"])
                self.stdout.write(preview_words(told, n_inside=n_inside))
                return
            why = {"reason": given["reason"], "note": given["note"], "quoting": given["quoting"]}
            if "subject" in what:
                done = erase_subject(by, **what, **why)
            else:
                done = erase(by, items=asked(by.namespace, **what).items, **why)
            self.stdout.write(receipt_words(by.namespace, done))
        if scrub:
            self.stdout.write(scrub_words(scrub_and_record()))
