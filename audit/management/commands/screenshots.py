"""Take the pictures of README."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from audit.pictures import ROOT, NoPicture, take
from memory.management.refusals import DomainCommand, Refused


class Command(DomainCommand):
    help = "Take the pictures of README from a demo of their own; needs Chromium and the development environment."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--folder", type=Path, default=ROOT / ".github" / "pictures", help="where they go")

    def handle(self, *, folder: Path, **options: Any) -> None:
        try:
            take(folder, say=self._say)
        except NoPicture as error:
            raise Refused(str(error)) from error

    def _say(self, text: str) -> None:
        self.stdout.write(text)
        self.stdout.flush()
