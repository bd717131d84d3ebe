"""Start everything: tables, the first owner, the server and the worker."""

from argparse import ArgumentParser
from typing import Any

from audit.starting import start
from memory.management.refusals import DomainCommand


class Command(DomainCommand):
    help = "Bring the databases up to date, make the first owner on the first run, and serve until Ctrl-C."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8000)

    def handle(self, *, host: str, port: int, **options: Any) -> None:
        start(host=host, port=port, say=self._say)

    def _say(self, text: str) -> None:
        self.stdout.write(text)
        self.stdout.flush()
