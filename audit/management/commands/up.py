"""Start everything: tables, the first owner, the server and the worker."""

from argparse import ArgumentParser
from typing import Any

from audit.starting import start
from memory.management.refusals import DomainCommand, Refused

INTERRUPTED = 130


class Command(DomainCommand):
    help = "Bring the databases up to date, make the first owner on the first run, and serve until Ctrl-C."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8000)
        parser.add_argument("--demo", action="store_true", help="in a folder of its own, filled with real data")

    def handle(self, *, host: str, port: int, demo: bool, **options: Any) -> None:
        try:
            start(host=host, port=port, demo=demo, say=self._say)
        except KeyboardInterrupt:
            raise Refused("Stopped before it served; the next start goes on.", returncode=INTERRUPTED) from None

    def _say(self, text: str) -> None:
        self.stdout.write(text)
        self.stdout.flush()
